import { useState } from "react";
import { type Json, type Table, designKeys } from "../api";
import { Bytes } from "../components/bytes";
import { Panel } from "../components/panel";
import { ProblemNote } from "../components/states";
import { sampleRows } from "../model/samples";
import { useLoad } from "../state/load";

const SCHEMA = "tenant string, at timestamp desc, seq u32";
const SAMPLES = `acme, 2024-01-15T10:00:00Z, 1
acme, 2024-01-16T09:30:00Z, 2
acme, 2024-01-16T09:30:00Z, 10
acmeco, 2024-01-14T23:59:59Z, 1`;

interface Props {
  table: Table | null;
  onClose(): void;
}

/** Type a key's schema and some values: these are the bytes, and this is how they sort. */
export function KeyDesigner({ table, onClose }: Props) {
  const [schema, setSchema] = useState(SCHEMA);
  const [text, setText] = useState(SAMPLES);
  const rows = sampleRows(text);
  const found = useLoad((signal) => designKeys(schema, rows, signal), `${schema}\n${text}`, 200);
  const designed = found.data?.map((each, line) => ({ ...each, line })) ?? [];
  const sorted = designed.filter(({ key }) => key !== undefined).sort((a, b) => (a.rank ?? 0) - (b.rank ?? 0));
  const refused = designed.filter(({ error }) => error !== undefined);
  const own = table && [table.partition_key, table.sort_key].filter(Boolean).join(", ");
  return (
    <Panel label="Key designer" title="Key designer" onClose={onClose}>
      <section className="panel-section">
        <label className="field">
          Fields of the key
          <input className="code" spellCheck={false} value={schema} onChange={(event) => setSchema(event.target.value)} />
        </label>
        {own && own !== schema && (
          <button type="button" className="quiet" onClick={() => setSchema(own)}>Take the key of {table.name}</button>
        )}
        <label className="field">
          Values, a key a line
          <textarea className="code" spellCheck={false} rows={Math.min(12, text.split("\n").length + 1)} value={text} onChange={(event) => setText(event.target.value)} />
        </label>
        <p className="dim">With commas between them, or as a JSON array. A field can be <code>desc</code>, <code>nulls first</code> or <code>nulls last</code>.</p>
      </section>
      <section className="panel-section">
        <h3>In byte order</h3>
        {found.problem !== null && <ProblemNote problem={found.problem} />}
        <ol className={found.loading ? "designed is-loading" : "designed"}>
          {sorted.map(({ key, values, line }) => (
            <li key={line}>
              <details open={line === sorted[0]!.line}>
                <summary>
                  <span className="designed-values">{values.map(shown).join(" / ")}</span>
                  <span className="dim">line {line + 1} · {key!.hex.length / 2} bytes</span>
                  <Bytes stored={key!} only="hex" />
                </summary>
                <Bytes stored={key!} only="legend" />
              </details>
            </li>
          ))}
        </ol>
        {refused.map(({ error, line }) => (
          <p key={line} className="problem">line {line + 1}: {error}</p>
        ))}
      </section>
    </Panel>
  );
}

function shown(value: Json): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
