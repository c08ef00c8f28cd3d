import { FreshnessBar, number } from "../components/freshness-bar";
import { Icon } from "../components/icons";
import { Loading } from "../components/states";
import type { Freshness, Table } from "../api";

interface Props {
  tables: Table[] | null;
  freshness: Record<string, Freshness>;
  current: string | null;
  onChoose(name: string): void;
  onImport(): void;
}

/** The tables, each with its rows and a bar a family. */
export function Rail({ tables, freshness, current, onChoose, onImport }: Props) {
  return (
    <nav className="rail" aria-label="Tables">
      <div className="rail-head">
        <h2>Tables</h2>
        <button type="button" className="quiet" onClick={onImport} title="Import a file" aria-label="Import a file">
          <Icon name="upload" />
        </button>
      </div>
      {tables === null && <Loading label="Loading the tables" />}
      {tables?.length === 0 && <p className="dim rail-empty">None yet.</p>}
      <ul>
        {tables?.map((table) => (
          <li key={table.name}>
            <button
              type="button"
              className="rail-table"
              aria-current={table.name === current ? "page" : undefined}
              onClick={() => onChoose(table.name)}
            >
              <span className="rail-name">
                <span>{table.name}</span>
                <span className="rail-count">{count(freshness[table.name])}</span>
              </span>
              {freshness[table.name]?.families.map((family) => (
                <FreshnessBar key={family.family} of={family} />
              ))}
              {indexNote(table) && <span className="rail-note">{indexNote(table)}</span>}
            </button>
          </li>
        ))}
      </ul>
      <p className="rail-legend dim" aria-hidden="true">
        <span className="swatch bar-fresh" /> fresh <span className="swatch bar-stale" /> stale{" "}
        <span className="swatch bar-missing" /> missing
      </p>
    </nav>
  );
}

function count(freshness: Freshness | undefined): string {
  return freshness === undefined ? "…" : number(freshness.rows);
}

function indexNote(table: Table): string | null {
  const building = table.indexes.filter(({ progress }) => typeof progress === "object" && "Building" in progress);
  const failed = table.indexes.filter(({ progress }) => typeof progress === "object" && "Failed" in progress);
  if (failed.length > 0) return `index ${failed[0]!.name} failed`;
  return building.length > 0 ? `building index ${building[0]!.name} …` : null;
}
