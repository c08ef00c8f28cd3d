// The rows that the tests look at: accounts in the order of their ids, so that row n is known.

const OWNERS = ["adam", "eve", "noah", "mia", "liam", "zoe"];
const CITIES = ["Bern", "Basel", "Chur", "Genf", "Thun"];
const STAGES = ["lead", "trial", "customer", "churned"];

export const ROWS = 120_000;

export const accounts = {
  name: "accounts",
  partition_key: "id string",
  placement: "range",
  families: [
    {
      name: "crm", ttl: "1h", history: { versions: 5 },
      columns: [
        { name: "name", type: "string" }, { name: "owner", type: "string" },
        { name: "city", type: "string" }, { name: "stage", type: "string" },
      ],
    },
    {
      name: "billing", ttl: "10m", keep: "1d",
      columns: [{ name: "mrr", type: "decimal" }, { name: "seats", type: "int" }, { name: "renews", type: "date" }],
    },
    { name: "usage", ttl: "30m", columns: [{ name: "score", type: "float" }, { name: "last_seen", type: "timestamp" }] },
  ],
  indexes: [{ name: "by_owner", columns: "owner string, score f64 desc", covering: ["name"] }],
};

export function id(row) {
  return `a${String(row).padStart(6, "0")}`;
}

/** A number below another that looks as if by chance, and is always the same for a row. */
function random(row, below) {
  return (Math.imul(row + 1, 0x9e3779b1) >>> 0) % below;
}

/** A row's values; every seventh has no billing, and that of every third is old. */
function* lines(row) {
  const text = (value) => ({ String: value });
  const day = (value) => new Date(Date.UTC(2027, 0, 1 + value)).toISOString().slice(0, 10);
  yield {
    key: id(row),
    set: {
      name: text(`Account ${row}`), owner: text(OWNERS[random(row, 6)]), city: text(CITIES[random(row + 3, 5)]),
      stage: text(STAGES[random(row + 5, 4)]), score: { Float: random(row, 10_000) / 100 },
      last_seen: { Timestamp: new Date(Date.UTC(2026, 0, 1) + random(row, 1e7) * 1000).toISOString() },
    },
  };
  if (row % 7 === 0) return;
  const billing = {
    key: id(row),
    set: {
      mrr: { Decimal: (random(row, 100_000) / 100).toFixed(2) }, seats: { Int: random(row, 500) },
      renews: { Date: day(random(row, 365)) },
    },
  };
  const old = new Date(Date.now() - 3_600_000).toISOString();
  yield row % 3 === 0 ? { ...billing, written_at: old } : billing;
}

export async function fill(server, rows = ROWS) {
  await server.call("POST", "/v1/tables", accounts);
  for (let start = 1; start <= rows; start += 20_000) {
    const batch = [];
    for (let row = start; row < Math.min(start + 20_000, rows + 1); row++) batch.push(...lines(row));
    await server.call("POST", "/v1/tables/accounts/import?durability=none", batch.map((line) => JSON.stringify(line)).join("\n"));
  }
}
