import { type RefObject, useRef, useState } from "react";
import { type Table, asProblem } from "../api";
import { number } from "../components/freshness-bar";
import { Icon } from "../components/icons";
import { Popover } from "../components/popover";
import { exportCsv, save } from "../grid/export";
import type { AnyColumn } from "../model/columns";
import { type View, requestOf } from "../model/view";
import { shareAddress, updateView } from "../state/view";
import { Chips } from "./chips";
import { ColumnsPopup } from "./columns-popup";
import { SearchBox } from "./search-box";

interface Props {
  table: Table;
  view: View;
  columns: AnyColumn[];
  count: number | null;
  search: RefObject<HTMLInputElement | null>;
  onImport(): void;
  onReload(): void;
  onMessage(text: string): void;
}

export function Toolbar({ table, view, columns, count, search, onImport, onReload, onMessage }: Props) {
  const columnsButton = useRef<HTMLButtonElement>(null);
  const [choosing, setChoosing] = useState(false);
  const shown = view.columns ?? columns.map(({ name }) => name);

  const share = async () => {
    const address = shareAddress(shown);
    try {
      await navigator.clipboard.writeText(address);
      onMessage("The link to this view is copied");
    } catch {
      onMessage(address);
    }
  };

  return (
    <div className="toolbar" role="toolbar" aria-label="View">
      <SearchBox table={table} view={view} columns={columns} input={search} />
      <button
        type="button"
        className="toggle"
        aria-pressed={view.staleOnly}
        onClick={() => updateView({ staleOnly: !view.staleOnly })}
        title="Only rows with something stale"
      >
        <span className="swatch bar-stale" /> Only stale
      </button>
      <Chips table={table} view={view} />
      <span className="grow" />
      <div className="tools">
        <button type="button" className="quiet" onClick={onReload} title="Read again" aria-label="Read again">
          <Icon name="refresh" />
        </button>
        <button type="button" className="quiet" ref={columnsButton} aria-expanded={choosing}
          onClick={() => setChoosing(!choosing)} title="Columns">
          <Icon name="columns" />
          <span className="tool-word">
            {shown.length === columns.length ? "Columns" : `${shown.length} of ${columns.length}`}
          </span>
        </button>
        <button type="button" className="quiet" onClick={() => void share()} title="Copy a link to this view">
          <Icon name="link" />
          <span className="tool-word">Share</span>
        </button>
        <ExportButton table={table} view={view} shown={shown} count={count} onMessage={onMessage} />
        <button type="button" className="quiet" onClick={onImport} title="Import a file">
          <Icon name="upload" />
          <span className="tool-word">Import</span>
        </button>
        <button type="button" className="quiet" aria-pressed={view.panel === "query"} title="The request as JSON, and its plan"
          onClick={() => updateView({ panel: view.panel === "query" ? null : "query", row: null })}>
          <Icon name="code" />
          <span className="tool-word">Query</span>
        </button>
      </div>
      {choosing && (
        <Popover anchor={columnsButton.current!} label="Columns" onClose={() => setChoosing(false)}>
          <ColumnsPopup columns={columns} shown={shown} />
        </Popover>
      )}
    </div>
  );
}

interface ExportProps {
  table: Table;
  view: View;
  shown: string[];
  count: number | null;
  onMessage(text: string): void;
}

/** Exports what is shown: these rows, these columns, in this order. */
function ExportButton({ table, view, shown, count, onMessage }: ExportProps) {
  const [rows, setRows] = useState<number | null>(null);
  const stop = useRef<AbortController | null>(null);
  const run = async () => {
    if (stop.current !== null) return stop.current.abort();
    const control = (stop.current = new AbortController());
    setRows(0);
    try {
      const blob = await exportCsv(table, requestOf(view, table), shown, setRows, control.signal);
      save(blob, `${table.name}.csv`);
    } catch (error) {
      onMessage(control.signal.aborted ? "The export was stopped" : asProblem(error).message);
    } finally {
      stop.current = null;
      setRows(null);
    }
  };
  const share = rows === null || !count ? null : Math.min(100, Math.round((100 * rows) / count));
  return (
    <button type="button" className="quiet" onClick={() => void run()}
      title={rows === null ? "Export these rows as CSV" : `${number(rows)} rows so far; click to stop`}>
      <Icon name={rows === null ? "download" : "close"} />
      <span className="tool-word">{rows === null ? "CSV" : share === null ? number(rows) : `${share}%`}</span>
    </button>
  );
}
