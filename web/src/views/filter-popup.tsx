import { type FormEvent, useState } from "react";
import type { Table, Value } from "../api";
import { type ColumnFilter, LABELS, type Test, oneFilter, operands, testsFor, typeIn } from "../model/filter";
import type { View } from "../model/view";
import { updateView } from "../state/view";
import { Icon } from "../components/icons";
import { FacetList } from "./facet-list";

interface Props {
  table: Table;
  view: View;
  column: string;
  onClose(): void;
}

type OfColumn = Extract<ColumnFilter, { column: string }>;

/** The filter of one column: a test with its values, or a choice among the values that there are. */
export function FilterPopup({ table, view, column, onClose }: Props) {
  const present = view.filters.find((each): each is OfColumn => "column" in each && each.column === column);
  const isKey = table.key.some(({ name }) => name === column);
  const type = typeIn(table, column);
  const tests = testsFor(type, isKey);
  const [test, setTest] = useState<Test>(present?.test ?? tests[0]!);
  const [text, setText] = useState(present?.text ?? "");
  const [to, setTo] = useState(present?.to ?? "");
  const [chosen, setChosen] = useState<Value[]>(present?.values ?? []);
  const [wrong, setWrong] = useState<string | null>(null);

  const others = view.filters.filter((each) => each !== present);
  const apply = (filter: OfColumn | null) => {
    try {
      if (filter !== null) oneFilter(filter, table);
    } catch (error) {
      return setWrong(error instanceof Error ? error.message : String(error));
    }
    updateView({ filters: filter === null ? others : view.filters.map((each) => (each === present ? filter : each)).concat(present ? [] : [filter]) });
    onClose();
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (test === "in") return apply(chosen.length === 0 ? null : { column, test, values: chosen });
    const count = operands(test);
    apply({ column, test, ...(count > 0 && { text }), ...(count === 2 && { to }) });
  };
  const sorted = view.sort.find(({ field }) => field === column)?.direction;
  const sort = (direction: "Asc" | "Desc") => {
    updateView({ sort: sorted === direction ? [] : [{ field: column, direction }] });
    onClose();
  };
  return (
    <form className="filter-popup" onSubmit={submit}>
      <header>
        <b>{column}</b> <span className="dim">{type}</span>
        <span className="grow" />
        <button type="button" className="quiet" aria-pressed={sorted === "Asc"} onClick={() => sort("Asc")} title="Sort ascending" aria-label="Sort ascending"><Icon name="up" /></button>
        <button type="button" className="quiet" aria-pressed={sorted === "Desc"} onClick={() => sort("Desc")} title="Sort descending" aria-label="Sort descending"><Icon name="down" /></button>
      </header>
      <select value={test} onChange={(event) => setTest(event.target.value as Test)} aria-label="Test">
        {tests.map((each) => <option key={each} value={each}>{LABELS[each]}</option>)}
      </select>
      {operands(test) >= 1 && (
        <input data-first aria-label="Value" value={text} placeholder={placeholder(test, type)}
          onChange={(event) => { setText(event.target.value); setWrong(null); }} />
      )}
      {operands(test) === 2 && (
        <input aria-label="and" value={to} placeholder="and" onChange={(event) => { setTo(event.target.value); setWrong(null); }} />
      )}
      {wrong !== null && <p className="problem">{wrong}</p>}
      <FacetList
        table={table}
        view={{ ...view, filters: others }}
        column={column}
        chosen={test === "in" ? chosen : []}
        onChange={(values) => {
          setTest("in");
          setChosen(values);
        }}
      />
      <footer>
        {present !== undefined && <button type="button" onClick={() => apply(null)}>Clear</button>}
        <span className="grow" />
        <button type="submit" className="primary">Apply</button>
      </footer>
    </form>
  );
}

function placeholder(test: Test, type: string): string {
  if (test === "write") return "2024-01-15T10:00:00.123456Z";
  if (test === "before" || test === "after" || type === "timestamp") return "2024-01-15 10:00";
  return type === "date" ? "2024-01-15" : type === "bool" ? "true or false" : "value";
}

