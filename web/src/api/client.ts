import { readJson, writeJson } from "./json";
import { Problem, problemOf } from "./problem";
import { askForToken, token } from "./token";

export interface Options {
  body?: unknown;
  /** Newline-delimited JSON, as it is. */
  lines?: string;
  signal?: AbortSignal;
}

export type Connection = "connecting" | "online" | "offline";

let connection: Connection = "connecting";
const listeners = new Set<() => void>();

export function connectionState(): Connection {
  return connection;
}

export function onConnection(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function connected(now: Connection): void {
  if (now === connection) return;
  connection = now;
  listeners.forEach((tell) => tell());
}

/** Asks the server; the answer's JSON, or a thrown Problem. */
export async function call<T>(method: string, path: string, options: Options = {}): Promise<T> {
  for (;;) {
    const sent = token();
    const answer = await send(method, path, options, sent);
    if (answer.status === 401) {
      await answer.body?.cancel();
      await askForToken(sent);
      continue;
    }
    if (!answer.ok) throw await problemOf(answer);
    if (answer.status === 204) return undefined as T;
    return readJson(await answer.text()) as T;
  }
}

async function send(
  method: string,
  path: string,
  { body, lines, signal }: Options,
  bearer: string | null,
): Promise<Response> {
  const headers: Record<string, string> = { accept: "application/json" };
  if (bearer !== null) headers.authorization = `Bearer ${bearer}`;
  if (body !== undefined) headers["content-type"] = "application/json";
  if (lines !== undefined) headers["content-type"] = "application/x-ndjson";
  try {
    const answer = await fetch(path, {
      method,
      headers,
      body: lines ?? (body === undefined ? undefined : writeJson(body)),
      signal: signal ?? null,
      credentials: "omit",
      cache: "no-store",
    });
    connected("online");
    return answer;
  } catch (error) {
    if (signal?.aborted) throw error;
    connected("offline");
    throw new Problem(0, "offline", "The server does not answer", "Is it running?");
  }
}
