import { useState } from "react";
import type { Table } from "../api";
import { Icon } from "../components/icons";
import { Popover } from "../components/popover";
import { chipText } from "../model/filter";
import type { View } from "../model/view";
import { updateView } from "../state/view";
import { FilterPopup } from "./filter-popup";

/** What narrows and orders the rows, a chip each; each can be changed or taken away. */
export function Chips({ table, view }: { table: Table; view: View }) {
  const [editing, setEditing] = useState<{ column: string; at: HTMLElement } | null>(null);
  const without = (index: number) => updateView({ filters: view.filters.filter((_, at) => at !== index) });
  return (
    <div className="chips">
      {view.filters.map((filter, index) => {
        const { name, rest } = chipText(filter);
        return (
          <span className="chip" key={`${name}${rest}${index}`}>
            <button
              type="button"
              onClick={(event) =>
                "column" in filter
                  ? setEditing({ column: filter.column, at: event.currentTarget })
                  : updateView("json" in filter ? { panel: "query" } : {})
              }
            >
              <b>{name}</b> {rest}
            </button>
            <button type="button" onClick={() => without(index)} aria-label={`Take away the filter ${name} ${rest}`}>
              <Icon name="close" />
            </button>
          </span>
        );
      })}
      {view.asOf !== null && (
        <span className="chip">
          <button type="button" onClick={() => updateView({ panel: "query" })}><b>as of</b> {view.asOf}</button>
          <button type="button" onClick={() => updateView({ asOf: null })} aria-label="Back to now"><Icon name="close" /></button>
        </span>
      )}
      {editing !== null && (
        <Popover anchor={editing.at} label={`Filter ${editing.column}`} onClose={() => setEditing(null)}>
          <FilterPopup table={table} view={view} column={editing.column} onClose={() => setEditing(null)} />
        </Popover>
      )}
    </div>
  );
}
