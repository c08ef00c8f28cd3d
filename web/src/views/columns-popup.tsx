import { useState } from "react";
import { Icon } from "../components/icons";
import type { AnyColumn } from "../model/columns";
import { updateView } from "../state/view";

/** Which columns are shown, and in which order: by dragging, or with Alt and the arrow keys. */
export function ColumnsPopup({ columns, shown }: { columns: AnyColumn[]; shown: string[] }) {
  const [dragged, setDragged] = useState<string | null>(null);
  const known = new Map(columns.map((column) => [column.name, column]));
  const listed = [...shown.filter((name) => known.has(name)), ...columns.map(({ name }) => name).filter((name) => !shown.includes(name))];

  const toggle = (name: string) => {
    const next = shown.includes(name) ? shown.filter((each) => each !== name) : [...shown, name];
    if (next.length > 0) updateView({ columns: next }, true);
  };
  const move = (name: string, place: number) => {
    const others = shown.filter((each) => each !== name);
    others.splice(Math.max(0, place), 0, name);
    updateView({ columns: others }, true);
  };
  return (
    <div className="columns-popup">
      <header>
        <b>Columns</b>
        <span className="grow" />
        <button type="button" onClick={() => updateView({ columns: null }, true)}>All, as declared</button>
      </header>
      <ul>
        {listed.map((name) => {
          const column = known.get(name)!;
          const isShown = shown.includes(name);
          return (
            <li
              key={name}
              draggable={isShown}
              className={dragged === name ? "is-dragged" : ""}
              onDragStart={() => setDragged(name)}
              onDragEnd={() => setDragged(null)}
              onDragOver={(event) => {
                if (dragged === null || !isShown) return;
                event.preventDefault();
                if (dragged !== name) move(dragged, shown.indexOf(name));
              }}
            >
              <label>
                <input
                  type="checkbox"
                  checked={isShown}
                  onChange={() => toggle(name)}
                  onKeyDown={(event) => {
                    const step = event.key === "ArrowUp" ? -1 : event.key === "ArrowDown" ? 1 : 0;
                    if (!event.altKey || step === 0 || !isShown) return;
                    event.preventDefault();
                    move(name, shown.indexOf(name) + step);
                  }}
                />
                <span>{name}</span>
                <span className="dim">{column.family ?? "key"}</span>
              </label>
              {isShown && <Icon name="drag" />}
            </li>
          );
        })}
      </ul>
      <p className="dim">Drag to reorder, or <kbd>Alt</kbd> <kbd>↑</kbd> <kbd>↓</kbd></p>
    </div>
  );
}
