import type { Types } from "../model/import";
import type { Head } from "./import-file";

/** The first rows of a file, under the columns that they will be. */
export function ImportPreview({ head, types }: { head: Head; types: Types }) {
  if (head.columns.length === 0) return <p className="dim">Rows as the server writes them; they say their keys and types themselves.</p>;
  return (
    <div className="preview">
      <table>
        <thead>
          <tr>
            {head.columns.map((name) => (
              <th key={name}>{name} <span className="dim">{types.get(name) ?? "undeclared"}</span></th>
            ))}
          </tr>
        </thead>
        <tbody>
          {head.samples.slice(0, 5).map((sample, row) => (
            <tr key={row}>{head.columns.map((name, index) => <td key={name}>{sample[index]}</td>)}</tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
