import type { IHeaderComp, IHeaderParams } from "ag-grid-community";
import type { ColumnType } from "../api";

export interface HeaderParams extends IHeaderParams {
  type: ColumnType | string;
  isKey: boolean;
  filtered(): boolean;
  sortBy(more: boolean): void;
  filterBy(at: HTMLElement): void;
}

const GLYPHS: Record<string, string> = {
  int: "#", float: "#", decimal: "#", string: "A", any: "∗", bool: "✓", timestamp: "◷", date: "◷",
  uuid: "id", bytes: "01", list: "[ ]", map: "{ }", string_set: "{A}", number_set: "{#}", bytes_set: "{01}",
};

/** A column's head: its type and name, how it is sorted, and the button of its filter. */
export class Header implements IHeaderComp {
  private readonly gui = document.createElement("div");
  private readonly sort = document.createElement("span");
  private readonly button = document.createElement("button");
  private params!: HeaderParams;

  init(params: HeaderParams): void {
    this.params = params;
    this.gui.className = "head";
    const glyph = element("span", params.isKey ? "head-type is-key" : "head-type", params.isKey ? "" : (GLYPHS[params.type] ?? "∗"));
    glyph.title = params.isKey ? `part of the key, ${params.type}` : params.type;
    const label = element("span", "head-name", params.displayName);
    label.title = params.displayName;
    this.sort.className = "head-sort";
    this.button.className = "head-filter";
    this.button.type = "button";
    this.button.tabIndex = -1;
    this.button.setAttribute("aria-label", `Filter ${params.displayName}`);
    this.button.addEventListener("click", (event) => {
      event.stopPropagation();
      this.params.filterBy(this.button);
    });
    this.gui.addEventListener("click", (event) => this.params.sortBy(event.shiftKey));
    this.gui.append(glyph, label, this.sort, this.button);
    params.column.addEventListener("sortChanged", this.show);
    this.show();
  }

  private readonly show = (): void => {
    const sort = this.params.column.getSort();
    const place = this.params.column.getSortIndex();
    this.sort.textContent = sort == null ? "" : `${sort === "asc" ? "↑" : "↓"}${place ? place + 1 : ""}`;
    this.gui.classList.toggle("is-sorted", sort != null);
    this.button.classList.toggle("is-on", this.params.filtered());
  };

  getGui(): HTMLElement {
    return this.gui;
  }

  refresh(params: HeaderParams): boolean {
    this.params = params;
    this.show();
    return true;
  }

  destroy(): void {
    this.params.column.removeEventListener("sortChanged", this.show);
  }
}

function element(tag: string, name: string, text: string): HTMLElement {
  const made = document.createElement(tag);
  made.className = name;
  made.textContent = text;
  return made;
}
