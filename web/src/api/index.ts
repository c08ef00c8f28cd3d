// A function a request of docs/http.md.

import { keyAddress } from "../model/key";
import { call } from "./client";
import type * as t from "./types";

export type * from "./types";
export { Problem, asProblem } from "./problem";

const name = encodeURIComponent;
const rowPath = (table: string, key: t.Key) => `/v1/tables/${name(table)}/rows/${keyAddress(key)}`;

export const whoami = () => call<t.WhoAmI>("GET", "/v1/whoami");

export const tables = () =>
  call<{ tables: t.Table[] }>("GET", "/v1/tables").then((answer) => answer.tables);

export const createTable = (schema: t.NewTable) => call<t.Table>("POST", "/v1/tables", { body: schema });

export const freshness = (table: string) =>
  call<t.Freshness>("GET", `/v1/tables/${name(table)}/freshness`);

export const query = (request: t.Request, signal?: AbortSignal) =>
  call<t.Response>("POST", "/v1/query", { body: request, signal });

export const count = (request: t.Request, signal?: AbortSignal) =>
  call<{ count: number }>("POST", "/v1/query", { body: { ...request, count: true }, signal }).then(
    (answer) => answer.count,
  );

export const explain = (request: t.Request, analyze: boolean, signal?: AbortSignal) =>
  call<t.Explanation>("POST", "/v1/explain", { body: { request, analyze }, signal });

export interface Part {
  table: string;
  column: string;
  filter?: t.Filter;
  freshness?: t.Request["freshness"];
  /** Those that `freshness` is about. */
  columns?: string[];
}

export const facets = (of: Part, limit: number, signal?: AbortSignal) =>
  call<t.Facets>("POST", "/v1/facets", { body: { ...of, limit }, signal });

export const summary = (of: Part, signal?: AbortSignal) =>
  call<t.Summary>("POST", "/v1/summary", { body: of, signal });

export const row = (table: string, key: t.Key) => call<t.Row>("GET", rowPath(table, key));

export const getRows = (table: string, keys: t.Key[], columns?: string[], signal?: AbortSignal) =>
  call<{ rows: (t.Row | null)[] }>("POST", `/v1/tables/${name(table)}/get`, {
    body: { keys, columns },
    signal,
  }).then((answer) => answer.rows);

export const patchRow = (table: string, key: t.Key, write: t.Write) =>
  call<t.Receipt>("PATCH", rowPath(table, key), { body: write });

export const deleteRow = (table: string, key: t.Key, when: t.Filter) =>
  call<t.Receipt>("DELETE", rowPath(table, key), { body: { when } });

export const history = (table: string, key: t.Key, family: string) =>
  call<{ versions: t.Version[] }>("GET", `${rowPath(table, key)}/history?family=${name(family)}`).then(
    (answer) => answer.versions,
  );

export const anatomy = (table: string, key: t.Key) =>
  call<t.Anatomy>("GET", `${rowPath(table, key)}/anatomy`);

export const importLines = (table: string, lines: string, signal?: AbortSignal) =>
  call<t.Imported>("POST", `/v1/tables/${name(table)}/import`, { lines, signal });

export const designKeys = (schema: string, rows: t.Json[][], signal?: AbortSignal) =>
  call<{ rows: t.DesignedKey[] }>("POST", "/v1/keys", { body: { schema, rows }, signal }).then(
    (answer) => answer.rows,
  );
