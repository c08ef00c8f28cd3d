import { useEffect, useState } from "react";

/** Takes a file that is dropped anywhere on the page; tells whether one hovers over it. */
export function useDrop(take: (file: File) => void): boolean {
  const [over, setOver] = useState(false);
  useEffect(() => {
    const hasFile = (event: DragEvent) => event.dataTransfer?.types.includes("Files") ?? false;
    const moved = (event: DragEvent) => {
      if (!hasFile(event)) return;
      event.preventDefault();
      setOver(true);
    };
    const left = (event: DragEvent) => {
      if (event.relatedTarget === null) setOver(false);
    };
    const dropped = (event: DragEvent) => {
      if (!hasFile(event)) return;
      event.preventDefault();
      setOver(false);
      const file = event.dataTransfer?.files[0];
      if (file) take(file);
    };
    addEventListener("dragover", moved);
    addEventListener("dragleave", left);
    addEventListener("drop", dropped);
    return () => {
      removeEventListener("dragover", moved);
      removeEventListener("dragleave", left);
      removeEventListener("drop", dropped);
    };
  }, [take]);
  return over;
}
