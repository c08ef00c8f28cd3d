import { type ReactNode, useEffect, useRef } from "react";
import { Icon } from "./icons";

interface Props {
  title: ReactNode;
  label: string;
  onClose(): void;
  children: ReactNode;
}

/** The drawer on the right; on a narrow screen, a sheet over everything. */
export function Panel({ title, label, onClose, children }: Props) {
  const panel = useRef<HTMLElement>(null);
  useEffect(() => panel.current?.focus({ preventScroll: true }), []);
  return (
    <aside
      ref={panel}
      className="panel"
      aria-label={label}
      tabIndex={-1}
      onKeyDown={(event) => {
        if (event.key !== "Escape" || (event.target as HTMLElement).closest("textarea, select")) return;
        event.preventDefault();
        onClose();
      }}
    >
      <header className="panel-head">
        <h2>{title}</h2>
        <button type="button" className="quiet" onClick={onClose} aria-label="Close the panel" title="Close (Esc)">
          <Icon name="close" />
        </button>
      </header>
      <div className="panel-body">{children}</div>
    </aside>
  );
}
