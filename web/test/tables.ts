import type { Table } from "../src/api/types";

export const accounts: Table = {
  name: "accounts",
  version: 1,
  partition_key: "id string",
  sort_key: "",
  placement: "hash",
  key: [{ name: "id", type: "string", descending: false, nullable: false }],
  partition_fields: 1,
  families: [
    {
      name: "crm", ttl: "10m", keep: null, history: null,
      columns: [
        { name: "name", type: "string" },
        { name: "score", type: "int" },
        { name: "price", type: "decimal" },
        { name: "seen", type: "timestamp" },
        { name: "a.b", type: "any" },
      ],
    },
  ],
  indexes: [],
};

export const events: Table = {
  ...accounts,
  name: "events",
  partition_key: "tenant string",
  sort_key: "seq u64",
  key: [
    { name: "tenant", type: "string", descending: false, nullable: false },
    { name: "seq", type: "u64", descending: false, nullable: false },
  ],
};
