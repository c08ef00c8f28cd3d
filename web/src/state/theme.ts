import { useState } from "react";

export type Theme = "auto" | "light" | "dark";

const NAME = "stonecrop.theme";
const ORDER: Theme[] = ["auto", "light", "dark"];

function apply(theme: Theme): void {
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

function stored(): Theme {
  const found = localStorage.getItem(NAME) as Theme | null;
  return found !== null && ORDER.includes(found) ? found : "auto";
}

apply(stored());

/** Light, dark, or as the system has it. */
export function useTheme(): [Theme, () => void] {
  const [theme, setTheme] = useState(stored);
  const next = () => {
    const chosen = ORDER[(ORDER.indexOf(theme) + 1) % ORDER.length]!;
    localStorage.setItem(NAME, chosen);
    apply(chosen);
    setTheme(chosen);
  };
  return [theme, next];
}
