import { type ReactNode, useEffect, useLayoutEffect, useRef } from "react";
import { createPortal } from "react-dom";

interface Props {
  anchor: HTMLElement | DOMRect;
  label: string;
  onClose(): void;
  children: ReactNode;
}

/** A small sheet beside what it belongs to; Escape or a click elsewhere closes it. */
export function Popover({ anchor, label, onClose, children }: Props) {
  const sheet = useRef<HTMLDivElement>(null);

  useLayoutEffect(() => {
    const element = sheet.current!;
    const box = anchor instanceof HTMLElement ? anchor.getBoundingClientRect() : anchor;
    const left = Math.max(8, Math.min(box.left, innerWidth - element.offsetWidth - 8));
    const below = innerHeight - box.bottom - 12;
    const top = below >= element.offsetHeight || below > box.top
      ? box.bottom + 4
      : Math.max(8, box.top - element.offsetHeight - 4);
    element.style.left = `${left}px`;
    element.style.top = `${top}px`;
    element.style.maxHeight = `${innerHeight - top - 8}px`;
  }, [anchor]);

  useEffect(() => {
    const before = document.activeElement as HTMLElement | null;
    sheet.current?.querySelector<HTMLElement>("[data-first], input, select, button")?.focus();
    const pressed = (event: PointerEvent) => {
      const target = event.target as Node;
      const within = sheet.current?.contains(target);
      const onAnchor = anchor instanceof HTMLElement && anchor.contains(target);
      if (!within && !onAnchor) onClose();
    };
    document.addEventListener("pointerdown", pressed, true);
    return () => {
      document.removeEventListener("pointerdown", pressed, true);
      before?.focus?.();
    };
  }, []);

  return createPortal(
    <div
      ref={sheet}
      className="popover"
      role="dialog"
      aria-label={label}
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        event.stopPropagation();
        onClose();
      }}
    >
      {children}
    </div>,
    document.body,
  );
}
