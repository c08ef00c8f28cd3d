import type { ReactNode } from "react";
import type { Problem } from "../api";
import { Icon, type IconName } from "./icons";

interface Props {
  icon: IconName;
  title: string;
  children?: ReactNode;
}

/** What stands where there is nothing to show. */
export function Blank({ icon, title, children }: Props) {
  return (
    <div className="blank" role="status">
      <Icon name={icon} />
      <h2>{title}</h2>
      {children}
    </div>
  );
}

export function ProblemNote({ problem, onRetry }: { problem: Problem; onRetry?: () => void }) {
  return (
    <div className="problem" role="alert">
      <p>
        <strong>{problem.title}</strong>
        {problem.detail && <> — {problem.detail}</>}
      </p>
      {problem.hint && <p className="dim">{problem.hint}</p>}
      {problem.requestId && <p className="dim">request {problem.requestId}</p>}
      {onRetry && (
        <button type="button" onClick={onRetry}>
          Try again
        </button>
      )}
    </div>
  );
}

export function Loading({ label }: { label: string }) {
  return (
    <div className="loading" role="status" aria-label={label}>
      <span />
      <span />
      <span />
    </div>
  );
}
