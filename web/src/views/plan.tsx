import type { Explanation, PlanPart, Request } from "../api";
import { number } from "../components/freshness-bar";
import { chipText, fromFilter } from "../model/filter";

interface Props {
  explanation: Explanation;
  request: Request;
  loading: boolean;
}

/** The plan as a flow from what is read to what is answered; a bar says how many at each step. */
export function Plan({ explanation, request, loading }: Props) {
  return (
    <div className={loading ? "plan is-loading" : "plan"}>
      {explanation.parts.map((part, index) => (
        <ol key={index} className="plan-steps">
          {steps(part, request).map((step) => (
            <li key={step.name}>
              <span className="plan-name">{step.name}</span>
              <span className="plan-what">{step.what}</span>
              {step.rows !== null && <Amount {...step} rows={step.rows} most={most(part)} />}
            </li>
          ))}
        </ol>
      ))}
      {explanation.plans.length > 1 && (
        <p className="dim">
          Weighed: {explanation.plans.map((plan) => (
            <span key={plan} className={explanation.parts.some((part) => part.plan === plan) ? "plan-choice is-chosen" : "plan-choice"}>{plan}</span>
          ))}
        </p>
      )}
      <details className="stored">
        <summary>In words</summary>
        <pre className="code">{explanation.text}</pre>
      </details>
    </div>
  );
}

interface Step {
  name: string;
  what: string;
  rows: number | null;
  unit?: string;
  guessed?: boolean;
}

function steps(part: PlanPart, request: Request): Step[] {
  const actual = part.actual_candidates ?? null;
  const found: Step[] = [
    {
      name: part.plan,
      what: part.access,
      rows: actual ?? part.estimated_candidates ?? null,
      unit: "candidates",
      guessed: actual === null,
    },
  ];
  if (part.actual_entries != null) {
    found.push({ name: "read", what: "entries of the store touched", rows: part.actual_entries, unit: "entries" });
  }
  if (part.filter != null) found.push({ name: "filter", what: filterText(part.filter), rows: null });
  if (request.sort !== undefined && request.sort.length > 0) {
    const by = request.sort.map(({ field, direction }) => `${field} ${direction === "Desc" ? "↓" : "↑"}`).join(", ");
    found.push({ name: "order", what: part.ordered ? `${by}, as it is read` : `by ${by}, sorted in memory`, rows: null });
  }
  found.push({ name: "answer", what: `the first ${number(request.take ?? 200)}`, rows: part.actual_rows ?? null, unit: "rows" });
  return found;
}

function filterText(filter: unknown): string {
  if (typeof filter === "string") return filter;
  try {
    const texts = fromFilter(filter as Parameters<typeof fromFilter>[0]).map(chipText);
    return texts.map(({ name, rest }) => `${name} ${rest}`).join(" and ");
  } catch {
    return JSON.stringify(filter);
  }
}

function most(part: PlanPart): number {
  return Math.max(1, part.actual_candidates ?? part.estimated_candidates ?? 1, part.actual_entries ?? 1, part.actual_rows ?? 1);
}

/** A number with its bar, which grows with the logarithm: from one row to a million there is much to show. */
function Amount({ rows, most: all, unit, guessed }: Step & { rows: number; most: number }) {
  const width = rows <= 0 ? 0 : (100 * Math.log10(rows + 1)) / Math.log10(all + 1);
  return (
    <span className="plan-amount">
      <span className={guessed ? "plan-bar is-guessed" : "plan-bar"} style={{ width: `${width}%` }} />
      <span>{guessed ? "about " : ""}{number(rows)} {unit}</span>
    </span>
  );
}
