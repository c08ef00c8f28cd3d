import { useCallback, useEffect, useState } from "react";
import { type Problem, asProblem } from "../api";

export interface Loaded<T> {
  data: T | null;
  problem: Problem | null;
  loading: boolean;
  again(): void;
}

/** Loads something whenever what it depends on changes; keeps the old until the new is there. */
export function useLoad<T>(load: (signal: AbortSignal) => Promise<T>, on: string, delay = 0): Loaded<T> {
  const [state, setState] = useState<{ data: T | null; problem: Problem | null; on: string | null }>({
    data: null,
    problem: null,
    on: null,
  });
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    const stop = new AbortController();
    const go = () =>
      load(stop.signal)
        .then((data) => !stop.signal.aborted && setState({ data, problem: null, on }))
        .catch((error: unknown) => !stop.signal.aborted && setState({ data: null, problem: asProblem(error), on }));
    const timer = setTimeout(go, delay);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
    // What is loaded is told by `on` alone.
  }, [on, turn]);
  const again = useCallback(() => setTurn((before) => before + 1), []);
  return { data: state.data, problem: state.problem, loading: state.on !== on, again };
}
