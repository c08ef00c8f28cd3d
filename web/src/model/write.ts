import type { Cell, Row } from "../api/types";

/** So many columns are named, the rest is counted. */
const NAMED = 2;

/**
 * What the write of a cell wrote beside it, of the columns that are known here: those of its family
 * by name, then the other families of the row. Empty if there is nothing else.
 */
export function writtenWith(columns: Row["columns"], column: string): string {
  const { family, written_at } = columns[column] ?? {};
  if (family === undefined || written_at === undefined) return "";
  const others = Object.entries(columns).filter(([name, cell]) => name !== column && cell.written_at === written_at);
  const isBeside = ([, cell]: [string, Cell]) => cell.family === family;
  const beside = others.filter(isBeside).map(([name]) => name);
  const families = others.filter((other) => !isBeside(other)).map(([, cell]) => cell.family!);
  const parts = [beside.length > 0 && `${few(beside)} of ${family}`, families.length > 0 && few([...new Set(families)])];
  return parts.filter(Boolean).join("; also ");
}

/** `a`, `a and b`, `a, b and c`, `a, b and 2 more`. */
export function few(names: string[]): string {
  const named = names.length <= NAMED + 1 ? names : [...names.slice(0, NAMED), `${names.length - NAMED} more`];
  return named.length === 1 ? named[0]! : `${named.slice(0, -1).join(", ")} and ${named.at(-1)}`;
}
