import { useEffect, useState } from "react";
import { type Request, type Table, explain } from "../api";
import { readJson, writeJson } from "../api/json";
import { Panel } from "../components/panel";
import { ProblemNote } from "../components/states";
import { viewOf } from "../model/request";
import { type View, requestOf } from "../model/view";
import { useLoad } from "../state/load";
import { updateView } from "../state/view";
import { Plan } from "./plan";

interface Props {
  table: Table;
  view: View;
  onClose(): void;
}

/** The request of this view as JSON, which can be changed, and how the server answers it. */
export function QueryPanel({ table, view, onClose }: Props) {
  const request: Request = { ...requestOf(view, table), take: 100 };
  const written = pretty(request);
  const [text, setText] = useState(written);
  const [wrong, setWrong] = useState<string | null>(null);
  const [analyze, setAnalyze] = useState(true);
  useEffect(() => {
    setText(written);
    setWrong(null);
  }, [written]);

  const found = useLoad((signal) => explain(request, analyze, signal), `${written} ${analyze}`, 150);
  const run = () => {
    try {
      updateView(viewOf(readJson(text) as Request));
      setWrong(null);
    } catch (error) {
      setWrong(error instanceof Error ? error.message : String(error));
    }
  };
  const curl = `curl ${location.origin}/v1/query -H 'content-type: application/json' -d '${writeJson(request).replace(/'/g, "'\\''")}'`;
  return (
    <Panel label="Query" title="Query" onClose={onClose}>
      <section className="panel-section">
        <h3>
          Request <span className="dim">POST /v1/query</span>
          <button type="button" className="quiet" onClick={() => void navigator.clipboard?.writeText(curl)} title="Copy as a curl command">
            Copy as curl
          </button>
        </h3>
        <textarea
          className="code"
          aria-label="Request as JSON"
          spellCheck={false}
          rows={Math.min(15, text.split("\n").length + 1)}
          value={text}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) run();
          }}
        />
        {wrong !== null && <p className="problem" role="alert">{wrong}</p>}
        <div className="row">
          <button type="button" className="primary" disabled={text === written} onClick={run}>Show in the grid</button>
          <span className="dim">{text === written ? "It follows the grid, and the grid follows it." : "Ctrl+Enter"}</span>
        </div>
      </section>
      <section className="panel-section">
        <h3>
          Plan
          <label className="check">
            <input type="checkbox" checked={analyze} onChange={(event) => setAnalyze(event.target.checked)} /> and run it
          </label>
        </h3>
        {found.problem !== null && <ProblemNote problem={found.problem} onRetry={found.again} />}
        {found.data !== null && <Plan explanation={found.data} request={request} loading={found.loading} />}
      </section>
    </Panel>
  );
}

/** JSON with short lists and objects on one line. */
function pretty(json: unknown): string {
  const short = (value: unknown, indent: string): string => {
    const line = writeJson(value);
    if (typeof value !== "object" || value === null || line.length + indent.length < 46) {
      return line.replace(/([:,])(?=["[{\d-]|true|false|null)(?=(?:[^"]*"[^"]*")*[^"]*$)/g, "$1 ");
    }
    const deeper = `${indent}  `;
    const inner = Array.isArray(value)
      ? value.map((each) => `${deeper}${short(each, deeper)}`)
      : Object.entries(value).map(([name, each]) => `${deeper}${JSON.stringify(name)}: ${short(each, deeper)}`);
    const [open, close] = Array.isArray(value) ? "[]" : "{}";
    return `${open}\n${inner.join(",\n")}\n${indent}${close}`;
  };
  return short(json, "");
}
