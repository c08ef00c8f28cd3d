import "ag-grid-community/styles/ag-grid.css";
import "../styles/grid.css";
import { useCallback, useEffect, useRef, useState } from "react";
import type { Key, Problem, Table } from "../api";
import { Blank, ProblemNote } from "../components/states";
import { Popover } from "../components/popover";
import { GridController, type Status } from "../grid/controller";
import type { Conflict, SeenRow } from "../grid/edit";
import { allColumns, nextSort, problemOfView } from "../model/columns";
import type { View } from "../model/view";
import { currentView, updateView } from "../state/view";
import { ConflictDialog } from "./conflict-dialog";
import { DeleteDialog } from "./delete-dialog";
import { FilterPopup } from "./filter-popup";
import { HoverCard } from "./hover-card";
import { KeyDesigner } from "./key-designer";
import { QueryPanel } from "./query-panel";
import { RowPanel } from "./row-panel";
import { StatusBar } from "./status-bar";
import { Toolbar } from "./toolbar";

interface Props {
  table: Table;
  view: View;
  /** How many rows the whole table has, as far as is known. */
  rows: number | undefined;
  writable: boolean;
  onImport(): void;
}

const NOTHING: Status = { count: null, loaded: false, focus: null, first: 0, last: 0 };

export function TableView({ table, view, rows, writable, onImport }: Props) {
  const root = useRef<HTMLDivElement>(null);
  const search = useRef<HTMLInputElement>(null);
  const [grid, setGrid] = useState<GridController | null>(null);
  const [status, setStatus] = useState(NOTHING);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [message, setMessage] = useMessage();
  const [conflict, setConflict] = useState<Conflict | null>(null);
  const [deleting, setDeleting] = useState<SeenRow | null>(null);
  const [undeclared, setUndeclared] = useState<string[]>([]);
  const [filtering, setFiltering] = useState<{ column: string; at: HTMLElement } | null>(null);

  const openRow = useCallback((row: Key) => updateView({ panel: "row", row }), []);

  useEffect(() => {
    const made = new GridController(root.current!, table, writable, {
      status: (change) => setStatus((before) => ({ ...before, ...change })),
      problem: setProblem,
      message: setMessage,
      conflict: setConflict,
      discovered: (found) => setUndeclared((before) => [...new Set([...before, ...found])].sort()),
      openRow,
      deleteRow: setDeleting,
      sortBy: (column, more) => updateView({ sort: nextSort(currentView().sort, column, more) }),
      filterBy: (column, at) => setFiltering({ column, at }),
      columnsMoved: (columns) => updateView({ columns }, true),
      searched: () => search.current?.focus(),
    });
    setGrid(made);
    return () => {
      made.destroy();
      setGrid(null);
    };
    // A table that was altered is another table to the grid; one whose index grows is not.
  }, [table.name, table.version, writable, openRow, setMessage]);

  const wrong = problemOfView(view, table);
  useEffect(() => {
    if (grid !== null && wrong === null) grid.show(view, undeclared);
  }, [grid, view, undeclared, wrong]);

  useEffect(() => {
    if (grid !== null && rows !== undefined) grid.setRows(rows);
  }, [grid, rows]);

  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      const target = event.target as HTMLElement;
      const typing = target.closest("input, textarea, select, dialog, [contenteditable]") !== null;
      if (event.key === "/" && !typing) {
        event.preventDefault();
        search.current?.focus();
      }
      if (event.key === "Escape" && !typing && !event.defaultPrevented && currentView().panel !== null) {
        updateView({ panel: null, row: null });
        grid?.focusGrid();
      }
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  }, [grid]);

  const columns = allColumns(table, undeclared);
  const closePanel = () => updateView({ panel: null, row: null });
  const filtered = view.filters.length > 0 || view.staleOnly;
  return (
    <div className="table-view">
      <Toolbar table={table} view={view} columns={columns} count={status.count} search={search}
        onImport={onImport} onMessage={setMessage} onReload={() => grid?.reload()} />
      <div className={view.panel === null ? "work" : "work has-panel"}>
        <section className="grid-wrap" aria-label={`Rows of ${table.name}`}>
          <div ref={root} className="grid ag-theme-stonecrop" />
          {wrong !== null && <Over><Blank icon="search" title="This filter cannot be asked"><p>{wrong}</p></Blank></Over>}
          {problem !== null && wrong === null && (
            <Over><Blank icon="plug" title="No rows"><ProblemNote problem={problem} onRetry={() => grid?.reload()} /></Blank></Over>
          )}
          {problem === null && wrong === null && status.count === 0 && status.loaded && (
            <Over>{filtered ? <NoMatch view={view} /> : <NoRows table={table} onImport={onImport} />}</Over>
          )}
          {grid !== null && <HoverCard grid={grid} root={root.current!} table={table} />}
          <StatusBar status={status} table={table} onGo={(index) => grid?.goTo(index)} />
        </section>
        {view.panel === "row" && view.row !== null && (
          <RowPanel table={table} rowKey={view.row} onClose={closePanel} {...(writable && { onDelete: (row) => setDeleting({ row, columns: undefined }) })} />
        )}
        {view.panel === "query" && <QueryPanel table={table} view={view} onClose={closePanel} />}
        {view.panel === "keys" && <KeyDesigner table={table} onClose={closePanel} />}
      </div>
      {filtering !== null && (
        <Popover anchor={filtering.at} label={`Filter ${filtering.column}`} onClose={() => setFiltering(null)}>
          <FilterPopup key={filtering.column} table={table} view={view} column={filtering.column} onClose={() => setFiltering(null)} />
        </Popover>
      )}
      {conflict !== null && (
        <ConflictDialog table={table} conflict={conflict} onMessage={setMessage}
          onDone={(row) => {
            if (row) grid?.replaced(row);
            setConflict(null);
          }} />
      )}
      {deleting !== null && (
        <DeleteDialog table={table} seen={deleting} onMessage={setMessage}
          onDone={(isDeleted) => {
            setDeleting(null);
            if (!isDeleted) return;
            if (view.panel === "row") closePanel();
            grid?.removed();
            grid?.focusGrid();
          }} />
      )}
      <div className="toasts" role="status" aria-live="polite">{message && <div className="toast">{message}</div>}</div>
    </div>
  );
}

function Over({ children }: { children: React.ReactNode }) {
  return <div className="grid-over">{children}</div>;
}

function NoMatch({ view }: { view: View }) {
  return (
    <Blank icon="search" title={view.staleOnly && view.filters.length === 0 ? "Nothing is stale" : "No row matches"}>
      <button type="button" onClick={() => updateView({ filters: [], staleOnly: false })}>Show all rows</button>
    </Blank>
  );
}

function NoRows({ table, onImport }: { table: Table; onImport(): void }) {
  return (
    <Blank icon="table" title={`${table.name} is empty`}>
      <p>Drop a CSV or JSON-lines file here to fill it.</p>
      <button type="button" className="primary" onClick={onImport}>Import a file</button>
    </Blank>
  );
}

/** A message that goes away by itself. */
function useMessage(): [string | null, (text: string) => void] {
  const [message, setMessage] = useState<{ text: string } | null>(null);
  useEffect(() => {
    if (message === null) return;
    const timer = setTimeout(() => setMessage(null), 5000);
    return () => clearTimeout(timer);
  }, [message]);
  const tell = useCallback((text: string) => setMessage({ text }), []);
  return [message?.text ?? null, tell];
}
