// What this browser remembers of a table: which columns, in which order and how wide.

const columnsName = (table: string) => `stonecrop.columns.${table}`;
const widthsName = (table: string) => `stonecrop.widths.${table}`;

function read<T>(name: string): T | null {
  try {
    return JSON.parse(localStorage.getItem(name) ?? "null") as T | null;
  } catch {
    return null;
  }
}

function write(name: string, value: unknown): void {
  try {
    localStorage.setItem(name, JSON.stringify(value));
  } catch {
    // A browser that stores nothing remembers nothing.
  }
}

export function columnsRemembered(table: string): string[] | null {
  const found = read<unknown>(columnsName(table));
  return Array.isArray(found) && found.every((each) => typeof each === "string") ? found : null;
}

export function rememberColumns(table: string, columns: string[] | null): void {
  if (columns === null) localStorage.removeItem(columnsName(table));
  else write(columnsName(table), columns);
}

export function widthsOf(table: string): Record<string, number> {
  return read<Record<string, number>>(widthsName(table)) ?? {};
}

export function rememberWidth(table: string, column: string, width: number): void {
  write(widthsName(table), { ...widthsOf(table), [column]: width });
}
