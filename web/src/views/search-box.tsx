import { type KeyboardEvent, type RefObject, useRef, useState } from "react";
import type { Table } from "../api";
import { Icon } from "../components/icons";
import { Popover } from "../components/popover";
import type { AnyColumn } from "../model/columns";
import { typedFilter } from "../model/filter";
import type { View } from "../model/view";
import { updateView } from "../state/view";
import { FilterPopup } from "./filter-popup";

interface Props {
  table: Table;
  view: View;
  columns: AnyColumn[];
  input: RefObject<HTMLInputElement | null>;
}

/** Takes `score >= 10`, `name ~ ada`, the name of a column, or a text to look for anywhere. */
export function SearchBox({ table, view, columns, input }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const [text, setText] = useState("");
  const [open, setOpen] = useState(false);
  const [place, setPlace] = useState(-1);
  const [wrong, setWrong] = useState<string | null>(null);
  const [filtering, setFiltering] = useState<string | null>(null);

  const word = /^\s*([^\s<>=!~^]*)$/.exec(text)?.[1]?.toLowerCase();
  const matching = word === undefined ? [] : columns.filter(({ name }) => name.toLowerCase().includes(word)).slice(0, 8);

  const pick = (column: string) => {
    setText("");
    setOpen(false);
    setFiltering(column);
  };
  const submit = () => {
    if (place >= 0 && matching[place]) return pick(matching[place].name);
    if (text.trim() === "") return;
    try {
      updateView({ filters: [...view.filters, typedFilter(text, table)] });
      setText("");
      setOpen(false);
    } catch (error) {
      setWrong(error instanceof Error ? error.message : String(error));
    }
  };
  const pressed = (event: KeyboardEvent) => {
    if (event.key === "Enter") submit();
    else if (event.key === "ArrowDown") setPlace(Math.min(place + 1, matching.length - 1));
    else if (event.key === "ArrowUp") setPlace(Math.max(place - 1, -1));
    else if (event.key === "Escape") input.current?.blur();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };

  const listed = open && (matching.length > 0 || text.trim() !== "");
  return (
    <div className="search" ref={box}>
      <Icon name="search" />
      <input
        ref={input}
        type="text"
        role="combobox"
        aria-label="Filter"
        aria-expanded={listed}
        aria-controls="search-list"
        aria-activedescendant={place >= 0 ? `search-${place}` : undefined}
        placeholder="Filter: text, or score >= 10"
        spellCheck={false}
        autoComplete="off"
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setWrong(null);
          setPlace(-1);
          setOpen(true);
        }}
        onFocus={() => setOpen(true)}
        onBlur={() => setOpen(false)}
        onKeyDown={pressed}
      />
      <kbd className="only-wide">/</kbd>
      {listed && (
        <ul className="search-list" id="search-list" role="listbox">
          {wrong !== null && <li className="search-wrong">{wrong}</li>}
          {text.trim() !== "" && wrong === null && (
            <li className="dim search-hint"><kbd>Enter</kbd> {hint(text, table)}</li>
          )}
          {matching.map(({ name, family, type }, index) => (
            <li
              key={name}
              id={`search-${index}`}
              role="option"
              aria-selected={index === place}
              onMouseDown={(event) => {
                event.preventDefault();
                pick(name);
              }}
            >
              <b>{name}</b> <span className="dim">{family ?? "key"} · {type}</span>
            </li>
          ))}
        </ul>
      )}
      {filtering !== null && (
        <Popover anchor={box.current!} label={`Filter ${filtering}`} onClose={() => setFiltering(null)}>
          <FilterPopup table={table} view={view} column={filtering} onClose={() => setFiltering(null)} />
        </Popover>
      )}
    </div>
  );
}

function hint(text: string, table: Table): string {
  try {
    const filter = typedFilter(text, table);
    return "column" in filter ? `filters ${filter.column}` : `looks for “${text.trim()}” in every text column`;
  } catch (error) {
    return error instanceof Error ? error.message : "";
  }
}
