import { type Table, type Value, facets } from "../api";
import { writeJson } from "../api/json";
import { number } from "../components/freshness-bar";
import { Loading } from "../components/states";
import { columnPath } from "../model/key";
import { showText, sameValue } from "../model/value";
import { type View, columnsOf, rowsOf } from "../model/view";
import { useLoad } from "../state/load";

interface Props {
  table: Table;
  view: View;
  column: string;
  chosen: Value[];
  onChange(values: Value[]): void;
}

/** The values of a column with how many rows have each, to choose among. */
export function FacetList({ table, view, column, chosen, onChange }: Props) {
  const { filter, freshness } = rowsOf(view, table);
  // What is stale is looked for among the columns that are shown.
  const columns = freshness && columnsOf(view, table);
  const part = { ...(filter && { filter }), ...(freshness && { freshness }), ...(columns && { columns }) };
  const found = useLoad(
    (signal) => facets({ table: table.name, column: columnPath(column), ...part }, 50, signal),
    writeJson([column, part]),
  );
  if (found.problem !== null) return <p className="dim facet-note">{found.problem.detail || found.problem.title}</p>;
  if (found.data === null) return <Loading label="Counting values" />;
  const { values, distinct } = found.data;
  const most = Math.max(1, ...values.map(({ rows }) => rows));
  return (
    <ul className="facets" aria-label={`Values of ${column}`}>
      {values.length === 0 && <li className="dim">No values.</li>}
      {values.map(({ value, rows }) => {
        const isChosen = chosen.some((each) => sameValue(each, value));
        return (
          <li key={writeJson(value)}>
            <label>
              <span className="facet-bar" style={{ width: `${(100 * rows) / most}%` }} />
              <input
                type="checkbox"
                checked={isChosen}
                onChange={() => onChange(isChosen ? chosen.filter((each) => !sameValue(each, value)) : [...chosen, value])}
              />
              <span className="facet-value">{showText(value) || <i className="dim">empty text</i>}</span>
              <span className="facet-rows">{number(rows)}</span>
            </label>
          </li>
        );
      })}
      {distinct > values.length && <li className="dim facet-note">and {number(distinct - values.length)} other values</li>}
    </ul>
  );
}
