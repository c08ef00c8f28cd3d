import { type ReactNode, useEffect, useRef } from "react";
import { Icon } from "./icons";

interface Props {
  title: string;
  /** Without it the dialog cannot be closed without an answer. */
  onClose?: () => void;
  wide?: boolean;
  children: ReactNode;
}

export function Dialog({ title, onClose, wide, children }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const element = dialog.current!;
    if (!element.open) element.showModal();
    return () => element.close();
  }, []);
  return (
    <dialog
      ref={dialog}
      className={wide ? "dialog is-wide" : "dialog"}
      aria-label={title}
      onCancel={(event) => {
        event.preventDefault();
        onClose?.();
      }}
    >
      <header className="dialog-head">
        <h2>{title}</h2>
        {onClose && (
          <button type="button" className="quiet" onClick={onClose} aria-label="Close">
            <Icon name="close" />
          </button>
        )}
      </header>
      {children}
    </dialog>
  );
}
