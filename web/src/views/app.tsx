import { Suspense, lazy, useCallback, useEffect, useState } from "react";
import { Blank, Loading, ProblemNote } from "../components/states";
import { openTable, updateView, useView } from "../state/view";
import { useFreshness, useServer } from "../state/server";
import { KeyDesigner } from "./key-designer";
import { Rail } from "./rail";
import { TokenDialog } from "./token-dialog";
import { TopBar } from "./top-bar";
import { ImportDialog } from "./import-dialog";
import { useDrop } from "./use-drop";

// The grid is most of the code; the page is there before it.
const gridView = import("./table-view");
const TableView = lazy(() => gridView.then((module) => ({ default: module.TableView })));

export function App() {
  const view = useView();
  const server = useServer();
  const freshness = useFreshness(server.tables, view.table);
  const [railOpen, setRailOpen] = useState(false);
  const [file, setFile] = useState<File | "choose" | null>(null);
  const over = useDrop(setFile);
  const table = server.tables?.find(({ name }) => name === view.table);

  useEffect(() => {
    document.title = view.table === null ? "Stonecrop" : `${view.table} · Stonecrop`;
  }, [view.table]);

  // Without a table in the address it is the first one.
  const first = server.tables?.[0]?.name;
  useEffect(() => {
    if (view.table === null && first !== undefined) openTable(first, true);
  }, [view.table, first]);

  const choose = useCallback((name: string) => {
    openTable(name);
    setRailOpen(false);
  }, []);

  return (
    <div className="shell">
      <TopBar server={server} onMenu={() => setRailOpen((open) => !open)} />
      <div className={railOpen ? "rail-wrap is-open" : "rail-wrap"}>
        <Rail tables={server.tables} freshness={freshness} current={view.table} onChoose={choose} onImport={() => setFile("choose")} />
        <button type="button" className="rail-shade" aria-label="Close the list of tables" onClick={() => setRailOpen(false)} />
      </div>
      <main className="main">
        {table !== undefined ? (
          <Suspense fallback={<Loading label="Loading the grid" />}>
            <TableView
              key={table.name}
              table={table}
              view={view}
              rows={freshness[table.name]?.rows}
              writable={server.who !== null && server.who.scope !== "read"}
              onImport={() => setFile("choose")}
            />
          </Suspense>
        ) : (
          <NoTable server={server} name={view.table} onImport={() => setFile("choose")} />
        )}
        {table === undefined && view.panel === "keys" && (
          <KeyDesigner table={null} onClose={() => updateView({ panel: null })} />
        )}
      </main>
      {over && <div className="drop-hint">Drop a CSV or JSON-lines file to import it</div>}
      {file !== null && (
        <ImportDialog
          file={file === "choose" ? null : file}
          tables={server.tables ?? []}
          current={table ?? null}
          mayCreate={server.who?.scope === "admin"}
          onDone={server.reload}
          onClose={() => setFile(null)}
        />
      )}
      <TokenDialog />
    </div>
  );
}

function NoTable({ server, name, onImport }: { server: ReturnType<typeof useServer>; name: string | null; onImport(): void }) {
  if (server.problem !== null && server.tables === null) {
    return (
      <Blank icon="plug" title="No answer from the server">
        <ProblemNote problem={server.problem} onRetry={() => void server.reload()} />
      </Blank>
    );
  }
  if (server.tables === null) return <Loading label="Loading the tables" />;
  if (name !== null && server.tables.length > 0) {
    return (
      <Blank icon="table" title={`There is no table “${name}”`}>
        <p>It may have been dropped. The tables there are stand on the left.</p>
      </Blank>
    );
  }
  return (
    <Blank icon="table" title="No tables yet">
      <p>Drop a CSV or JSON-lines file here, and it becomes a table.</p>
      <button type="button" className="primary" onClick={onImport}>
        Import a file
      </button>
      <p className="dim">
        Or make one with <code>POST /v1/tables</code>.
      </p>
    </Blank>
  );
}
