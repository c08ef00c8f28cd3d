import { useEffect, useLayoutEffect, useRef, useState } from "react";
import type { Row, Table } from "../api";
import { ClockList } from "../components/clock-list";
import type { GridController } from "../grid/controller";
import { placeOf } from "../grid/selection";

interface Props {
  grid: GridController;
  root: HTMLElement;
  table: Table;
}

interface Hovered {
  column: string;
  columns: Row["columns"];
  box: DOMRect;
}

/** Rests the pointer on a cell, and it tells of its clock: which write, with what else, fresh until when, gone when. */
export function HoverCard({ grid, root, table }: Props) {
  const [hovered, setHovered] = useState<Hovered | null>(null);
  const card = useRef<HTMLDivElement>(null);

  useEffect(() => {
    let timer = 0;
    const entered = (event: MouseEvent) => {
      clearTimeout(timer);
      setHovered(null);
      const place = placeOf(event.target);
      if (place === null || event.buttons !== 0) return;
      timer = window.setTimeout(() => {
        const columns = grid.rowAt(place.row)?.columns;
        if (columns?.[place.column]?.written_at !== undefined && place.element.isConnected) {
          setHovered({ column: place.column, columns, box: place.element.getBoundingClientRect() });
        }
      }, 350);
    };
    const left = () => {
      clearTimeout(timer);
      setHovered(null);
    };
    root.addEventListener("mouseover", entered);
    for (const name of ["mouseleave", "mousedown", "keydown", "wheel"]) root.addEventListener(name, left, { passive: true });
    return () => {
      left();
      root.removeEventListener("mouseover", entered);
      for (const name of ["mouseleave", "mousedown", "keydown", "wheel"]) root.removeEventListener(name, left);
    };
  }, [grid, root]);

  useLayoutEffect(() => {
    const element = card.current;
    if (element === null || hovered === null) return;
    const { box } = hovered;
    const above = box.bottom + element.offsetHeight + 10 > innerHeight;
    element.style.left = `${Math.max(8, Math.min(box.left, innerWidth - element.offsetWidth - 8))}px`;
    element.style.top = `${above ? box.top - element.offsetHeight - 6 : box.bottom + 6}px`;
  }, [hovered]);

  if (hovered === null) return null;
  const { column, columns } = hovered;
  const keepsHistory = table.families.find(({ name }) => name === columns[column]?.family)?.history != null;
  return (
    <div ref={card} className="hover-card" role="tooltip">
      <ClockList columns={columns} column={column} />
      {keepsHistory && <p className="dim">Its history is in the row’s panel.</p>}
    </div>
  );
}
