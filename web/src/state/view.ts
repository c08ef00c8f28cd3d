// The view, kept in the address: going back and forth in the browser goes through the views.

import { useSyncExternalStore } from "react";
import { fromHash, toHash } from "../model/url";
import { EMPTY, type View } from "../model/view";
import { columnsRemembered, rememberColumns } from "../grid/remember";

let current = opened(fromHash(location.hash));
const listeners = new Set<() => void>();

addEventListener("popstate", () => set(opened(fromHash(location.hash))));
addEventListener("hashchange", () => {
  if (location.hash !== toHash(current)) set(opened(fromHash(location.hash)));
});

/** A view whose address does not say which columns: those that this browser remembers. */
function opened(view: View): View {
  if (view.table === null || view.columns !== null) return view;
  return { ...view, columns: columnsRemembered(view.table) };
}

function set(view: View): void {
  current = view;
  listeners.forEach((tell) => tell());
}

/** Changes the view; a change that is no step of its own replaces the address. */
export function updateView(change: Partial<View>, replace = false): void {
  const next = { ...current, ...change };
  const hash = toHash(next);
  if (hash !== location.hash) {
    if (replace) history.replaceState(null, "", hash);
    else history.pushState(null, "", hash);
  }
  if (change.columns !== undefined && next.table !== null) rememberColumns(next.table, change.columns);
  set(next);
}

export function openTable(table: string, replace = false): void {
  const { panel } = current;
  const kept = panel === "row" ? null : panel;
  updateView(opened({ ...EMPTY, table, panel: kept }), replace);
}

export function useView(): View {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => current,
  );
}

export function currentView(): View {
  return current;
}

/** The address of the view, with its columns, so that it looks the same elsewhere. */
export function shareAddress(columns: string[]): string {
  return `${location.origin}${location.pathname}${toHash({ ...current, columns })}`;
}
