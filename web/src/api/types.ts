// The shapes of docs/http.md.

/** A value of a column; it says its own type. */
export type Value =
  | "Null"
  | { Bool: boolean }
  | { Int: number | bigint }
  | { Float: number | string }
  | { Decimal: string }
  | { String: string }
  | { Bytes: string }
  | { Timestamp: string | number }
  | { Date: string | number }
  | { Uuid: string }
  | { List: Value[] }
  | { Map: Record<string, Value> }
  | { StringSet: string[] }
  | { NumberSet: string[] }
  | { BytesSet: string[] };

export type Json = null | boolean | number | bigint | string | Json[] | { [name: string]: Json };

/** The key's one value, or the list of its values. */
export type Key = Json;

export type ColumnType =
  | "any" | "bool" | "int" | "float" | "decimal" | "string" | "bytes" | "timestamp" | "date"
  | "uuid" | "list" | "map" | "string_set" | "number_set" | "bytes_set";

export interface KeyField {
  name: string;
  type: string;
  descending: boolean;
  nullable: boolean;
}

export interface Column {
  name: string;
  type: ColumnType;
}

export interface Family {
  name: string;
  ttl: string | null;
  keep: string | null;
  history: null | { versions: number } | { for: string };
  columns: Column[];
}

export interface Index {
  name: string;
  columns: string;
  unique: boolean;
  covering: string[];
  progress?: "Complete" | { Partial: { left_out: number } } | { Building: { rows: number } } | { Failed: { problem: string } };
}

export interface Table {
  name: string;
  version: number;
  key: KeyField[];
  partition_fields: number;
  partition_key: string;
  /** Empty if there is none. */
  sort_key: string;
  placement: "hash" | "range";
  families: Family[];
  indexes: Index[];
}

export interface NewTable {
  name: string;
  partition_key: string;
  sort_key?: string;
  families: { name: string; ttl?: string; columns: Column[] }[];
}

export interface FamilyFreshness {
  family: string;
  fresh: number;
  stale: number;
  missing: number;
}

export interface Freshness {
  rows: number;
  families: FamilyFreshness[];
  taken_at: string;
}

export interface Clock {
  written_at: string;
  /** Null is never. */
  fresh_until: string | null;
  gone_at: string | null;
}

export interface Cell extends Partial<Clock> {
  value: Value;
  fresh: boolean;
  family?: string;
}

export interface Row {
  row_key: Key;
  columns: Record<string, Cell>;
}

export type Operator =
  | "Eq" | "Ne" | "Lt" | "Le" | "Gt" | "Ge" | "In" | "Between" | "BeginsWith" | "Contains"
  | "Exists" | "IsNull" | "HasValue" | "IsFresh" | "IsStale"
  | "WrittenEq" | "WrittenNe" | "WrittenLt" | "WrittenLe" | "WrittenGt" | "WrittenGe"
  | "RowExists" | "RowNotExists";

export type Filter =
  | { Condition: { field?: string; operator: Operator; value?: Value } }
  | { logical: "And" | "Or" | "Not"; children: Filter[] };

export interface Sort {
  field: string;
  direction: "Asc" | "Desc";
  nulls?: "First" | "Last";
}

export interface Request {
  prefixes: string[];
  columns?: string[];
  filter?: Filter;
  sort?: Sort[];
  take?: number;
  skip?: number;
  after?: string;
  before?: string;
  freshness?: "SomeStale" | "AllFresh";
  as_of?: string;
  index?: string;
  clocks?: boolean;
  count?: boolean;
}

export interface Response {
  rows: Row[];
  next?: string | null;
  previous?: string | null;
}

export interface Write {
  key?: Key;
  op?: "put" | "replace" | "delete";
  set?: Record<string, Value>;
  remove?: string[];
  when?: Filter;
}

export interface Receipt {
  durability: string;
  writes: { written_at: string; ignored: string[] }[];
}

export interface Version extends Pick<Clock, "written_at" | "fresh_until"> {
  columns: Record<string, Value>;
}

export interface KeyPart {
  start: number;
  end: number;
  name: string;
  /** What the bytes are for. */
  role: "layout" | "tag" | "payload" | "escape" | "terminator" | "unread";
  field_type: string | null;
  /** With the first part of a field that shows it. */
  value: string | null;
}

export interface StoredKey {
  hex: string;
  parts: KeyPart[];
}

export interface Anatomy {
  row_key: Key;
  families: (Clock & {
    family: string;
    declared: boolean;
    fresh: boolean;
    value_bytes: number;
    key: StoredKey;
  })[];
  indexes: { index: string; key: StoredKey }[];
}

export interface PlanPart {
  plan: string;
  access: string;
  ordered: boolean;
  filter?: Json;
  estimated_candidates?: number | null;
  actual_candidates?: number | null;
  actual_rows?: number | null;
  actual_entries?: number | null;
}

export interface Explanation {
  text: string;
  parts: PlanPart[];
  plans: string[];
}

export interface Facets {
  distinct: number;
  values: Facet[];
}

export interface Facet {
  value: Value;
  rows: number;
}

export interface Summary {
  rows: number;
  values: number;
  min: Value | null;
  max: Value | null;
  numbers: number;
  sum: Value | null;
  average: number | null;
}

export interface DesignedKey {
  values: Json[];
  key?: StoredKey;
  rank?: number;
  error?: string;
}

export interface Imported {
  rows: number;
  rejected: number;
  rejects: { line: number; detail: string; code: string }[];
}

export interface WhoAmI {
  scope: "read" | "write" | "admin";
  authentication: boolean;
  now: string;
}
