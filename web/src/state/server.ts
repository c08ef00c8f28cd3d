import { useCallback, useEffect, useRef, useState } from "react";
import { type Freshness, type Problem, type Table, type WhoAmI, asProblem, freshness, tables } from "../api";
import { setClock } from "../grid/clock";

export interface Server {
  who: WhoAmI | null;
  tables: Table[] | null;
  problem: Problem | null;
  reload(): Promise<void>;
}

/** Who we are to the server, and its tables. */
export function useServer(): Server {
  const [who, setWho] = useState<WhoAmI | null>(null);
  const [list, setList] = useState<Table[] | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const reload = useCallback(async () => {
    try {
      const [answer, found] = await Promise.all([setClock(), tables()]);
      setWho(answer);
      setList((before) => (JSON.stringify(before) === JSON.stringify(found) ? before : found));
      setProblem(null);
    } catch (error) {
      setProblem(asProblem(error));
    }
  }, []);
  useEffect(() => void reload(), [reload]);
  // New tables and columns, and a clock that drifts, are noticed within half a minute; a server that
  // came back within seconds.
  useInterval(() => void reload(), problem === null ? 30_000 : 3000);
  return { who, tables: list, problem, reload };
}

/** How fresh each table is: the one that is looked at often, the others now and then. */
export function useFreshness(list: Table[] | null, looked: string | null): Record<string, Freshness> {
  const [found, setFound] = useState<Record<string, Freshness>>({});
  const ask = useCallback(async (names: string[]) => {
    for (const name of names) {
      try {
        const answer = await freshness(name);
        setFound((before) => ({ ...before, [name]: answer }));
      } catch {
        // A table that was just dropped; the list says so soon.
      }
    }
  }, []);
  const names = (list ?? []).map((table) => table.name).join("\n");
  useEffect(() => {
    const all = names.split("\n").filter(Boolean);
    void ask([...all.filter((name) => name === looked), ...all.filter((name) => name !== looked)]);
  }, [names, looked, ask]);
  useInterval(() => looked !== null && names.split("\n").includes(looked) && void ask([looked]), 5000);
  useInterval(() => void ask(names.split("\n").filter(Boolean)), 30_000);
  return found;
}

/** Does something now and then while the page is visible. */
export function useInterval(action: () => void, milliseconds: number): void {
  const latest = useRef(action);
  latest.current = action;
  useEffect(() => {
    const timer = setInterval(() => !document.hidden && latest.current(), milliseconds);
    return () => clearInterval(timer);
  }, [milliseconds]);
}
