import { useEffect, useRef, useState } from "react";
import { type ColumnType, type Table, asProblem, createTable } from "../api";
import { Dialog } from "../components/dialog";
import { number } from "../components/freshness-bar";
import { commonType, tableFor, typesOf } from "../model/import";
import { openTable } from "../state/view";
import { type Head, type Progress, lookInto, sendFile } from "./import-file";
import { ImportPreview } from "./import-preview";

interface Props {
  file: File | null;
  tables: Table[];
  current: Table | null;
  mayCreate: boolean;
  onDone(): Promise<void>;
  onClose(): void;
}

const NEW = "\u0000new";

/** A file becomes rows: of the table that is open, of another, or of a new one. */
export function ImportDialog({ file: dropped, tables, current, mayCreate, onDone, onClose }: Props) {
  const [file, setFile] = useState(dropped);
  const [head, setHead] = useState<Head | null>(null);
  const [target, setTarget] = useState(current?.name ?? tables[0]?.name ?? NEW);
  const [name, setName] = useState("");
  const [key, setKey] = useState("");
  const [ttl, setTtl] = useState("");
  const [progress, setProgress] = useState<Progress | null>(null);
  const [finished, setFinished] = useState(false);
  const [wrong, setWrong] = useState<string | null>(null);
  const stop = useRef(new AbortController());

  useEffect(() => {
    if (file === null) return;
    setName(file.name.replace(/\.[^.]*$/, "").replace(/[^A-Za-z0-9_-]+/g, "_").toLowerCase());
    lookInto(file)
      .then((found) => {
        setHead(found);
        setKey(found.columns.find((column) => /^(id|key)$/i.test(column)) ?? found.columns[0] ?? "");
      })
      .catch((error: unknown) => setWrong(`The file cannot be read: ${asProblem(error).message}`));
  }, [file]);

  const table = tables.find((each) => each.name === target);
  const missing = head !== null && head.columns.length > 0 && table !== undefined
    ? table.key.filter((field) => !head.columns.includes(field.name)).map((field) => field.name)
    : [];

  const start = async () => {
    if (file === null || head === null) return;
    setWrong(null);
    setProgress({ bytes: 0, rows: 0, rejected: 0, rejects: [] });
    try {
      const into = table ?? (await createTable(tableFor(name, guessed(head), key, ttl)));
      const fields = into.key.map((field) => field.name);
      await sendFile(file, head, { table: into.name, key: fields, types: typesOf(into) }, setProgress, stop.current.signal);
      setFinished(true);
      await onDone();
      openTable(into.name);
    } catch (error) {
      setProgress(null);
      if (!stop.current.signal.aborted) setWrong(asProblem(error).message);
    }
  };
  const close = () => {
    stop.current.abort();
    onClose();
  };

  return (
    <Dialog title="Import a file" onClose={close} wide>
      {file === null && (
        <label className="drop-zone">
          Drop a CSV or JSON-lines file anywhere on the page, or choose one
          <input type="file" accept=".csv,.tsv,.txt,.json,.jsonl,.ndjson" onChange={(event) => setFile(event.target.files?.[0] ?? null)} />
        </label>
      )}
      {file !== null && (
        <p className="import-file"><b>{file.name}</b> <span className="dim">{number(file.size)} bytes{head && ` · ${head.kind === "csv" ? "CSV" : "JSON lines"}`}</span></p>
      )}
      {wrong !== null && <p className="problem" role="alert">{wrong}</p>}
      {head !== null && progress === null && (
        <form className="stack" onSubmit={(event) => { event.preventDefault(); void start(); }}>
          <label className="field">
            Into
            <select value={target} onChange={(event) => setTarget(event.target.value)}>
              {tables.map((each) => <option key={each.name} value={each.name}>{each.name}</option>)}
              {mayCreate && head.columns.length > 0 && <option value={NEW}>a new table</option>}
            </select>
          </label>
          {table === undefined && head.columns.length > 0 && (
            <div className="row fields">
              <label className="field">Name<input value={name} onChange={(event) => setName(event.target.value)} /></label>
              <label className="field">Key
                <select value={key} onChange={(event) => setKey(event.target.value)}>
                  {head.columns.map((column) => <option key={column}>{column}</option>)}
                </select>
              </label>
              <label className="field">Fresh for<input placeholder="ever, or 10m, 1h, 30d" value={ttl} onChange={(event) => setTtl(event.target.value)} /></label>
            </div>
          )}
          {missing.length > 0 && <p className="problem">The file has no column {missing.join(", ")}, which {table!.name} has in its key.</p>}
          <ImportPreview head={head} types={table ? typesOf(table) : new Map(guessed(head).map((each) => [each.name, each.type]))} />
          <div className="dialog-foot">
            <button type="button" onClick={close}>Cancel</button>
            <button type="submit" className="primary" disabled={missing.length > 0 || (table === undefined && name === "")}>Import</button>
          </div>
        </form>
      )}
      {progress !== null && file !== null && <Report progress={progress} size={file.size} finished={finished} onClose={close} />}
    </Dialog>
  );
}

/** The columns of a file with the types that their first values have. */
function guessed(head: Head): { name: string; type: ColumnType }[] {
  return head.columns.map((name, index) => ({ name, type: commonType(head.samples.map((each) => each[index] ?? "")) }));
}

function Report({ progress, size, finished, onClose }: { progress: Progress; size: number; finished: boolean; onClose(): void }) {
  const share = finished ? 100 : Math.min(99, Math.round((100 * progress.bytes) / Math.max(1, size)));
  return (
    <div className="stack">
      <progress max={100} value={share} aria-label="Progress" />
      <p role="status">
        {finished ? "Done: " : `${share}% · `}{number(progress.rows)} rows{progress.rejected > 0 && `, ${number(progress.rejected)} lines left out`}
      </p>
      {progress.rejects.length > 0 && (
        <ul className="rejects">
          {progress.rejects.slice(0, 20).map((each) => <li key={each.line}><b>line {each.line}</b> {each.detail}</li>)}
        </ul>
      )}
      <div className="dialog-foot"><button type="button" className={finished ? "primary" : ""} onClick={onClose}>{finished ? "Close" : "Stop"}</button></div>
    </div>
  );
}
