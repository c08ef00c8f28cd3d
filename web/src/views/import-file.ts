// A file on its way to the server: read piece by piece, sent a few thousand lines at a time.

import { type Imported, type Write, importLines } from "../api";
import { readJson, writeJson } from "../api/json";
import type { Json } from "../api";
import { CsvReader, separatorOf } from "../model/csv";
import { type Types, csvWrite, jsonWrite } from "../model/import";

export interface Head {
  kind: "csv" | "json";
  separator: string;
  columns: string[];
  /** Texts of the first rows. */
  samples: string[][];
}

export interface Progress {
  bytes: number;
  rows: number;
  rejected: number;
  rejects: { line: number; detail: string }[];
}

const BATCH = 2000;
const KEPT_REJECTS = 100;

/** Looks at the beginning of a file: what it is, and which columns it has. */
export async function lookInto(file: File): Promise<Head> {
  const text = await file.slice(0, 64 * 1024).text();
  const whole = file.size <= 64 * 1024 ? text : text.slice(0, text.lastIndexOf("\n") + 1);
  return text.trimStart().startsWith("{") ? jsonHead(whole) : csvHead(whole);
}

function csvHead(text: string): Head {
  const separator = separatorOf(text);
  const reader = new CsvReader(separator);
  const records = [...reader.push(text.replace(/^\ufeff/, "")), ...reader.end()];
  const [columns = [], ...samples] = records;
  if (columns.length === 0) throw new Error("The file is empty.");
  return { kind: "csv", separator, columns, samples: samples.slice(0, 100) };
}

function jsonHead(text: string): Head {
  const objects = text.split("\n").filter((line) => line.trim() !== "").slice(0, 100).map((line) => readJson(line) as { [name: string]: Json });
  const isWrite = objects.some((each) => "row_key" in each || ("key" in each && "set" in each));
  const columns = isWrite ? [] : [...new Set(objects.flatMap((each) => Object.keys(each)))];
  const shown = (json: Json | undefined) => (json == null ? "" : typeof json === "string" ? json : writeJson(json));
  return { kind: "json", separator: "", columns, samples: objects.map((each) => columns.map((name) => shown(each[name]))) };
}

export async function sendFile(
  file: File,
  head: Head,
  target: { table: string; key: string[]; types: Types },
  told: (progress: Progress) => void,
  signal: AbortSignal,
): Promise<Progress> {
  const progress: Progress = { bytes: 0, rows: 0, rejected: 0, rejects: [] };
  let batch: { line: number; text: string }[] = [];
  const reject = (line: number, detail: string) => {
    progress.rejected += 1;
    if (progress.rejects.length < KEPT_REJECTS) progress.rejects.push({ line, detail });
  };
  const flush = async () => {
    if (batch.length === 0) return;
    const sent = batch;
    batch = [];
    const answer: Imported = await importLines(target.table, sent.map(({ text }) => text).join("\n"), signal);
    progress.rows += answer.rows;
    for (const each of answer.rejects) reject(sent[each.line - 1]?.line ?? each.line, each.detail);
    progress.rejected += answer.rejected - answer.rejects.length;
    told({ ...progress });
  };
  for await (const { line, write } of writes(file, head, target, (bytes) => (progress.bytes = bytes))) {
    if (typeof write === "string") reject(line, write);
    else batch.push({ line, text: writeJson(write) });
    if (batch.length >= BATCH) await flush();
  }
  await flush();
  progress.bytes = file.size;
  told({ ...progress });
  return progress;
}

/** The writes of a file, or why there is none, each with its line. */
async function* writes(
  file: File,
  head: Head,
  { key, types }: { key: string[]; types: Types },
  read: (bytes: number) => void,
): AsyncGenerator<{ line: number; write: Write | string }> {
  let line = 0;
  for await (const record of records(file, head, read)) {
    line += 1;
    if (head.kind === "csv" && line === 1) continue;
    let write: Write | string;
    try {
      write = typeof record === "string"
        ? jsonWrite(readJson(record) as Json, key, types)
        : csvWrite(head.columns, record, key, types);
    } catch (error) {
      write = error instanceof Error ? error.message : String(error);
    }
    yield { line, write };
  }
}

async function* records(file: File, head: Head, read: (bytes: number) => void): AsyncGenerator<string[] | string> {
  const csv = new CsvReader(head.separator);
  const decoder = new TextDecoder();
  let rest = "";
  let bytes = 0;
  const pieces = file.stream().getReader();
  for (;;) {
    const { done, value } = await pieces.read();
    bytes += value?.length ?? 0;
    read(bytes);
    // The decoder takes a byte order mark away.
    const text = done ? decoder.decode() : decoder.decode(value, { stream: true });
    if (head.kind === "csv") {
      yield* csv.push(text);
      if (done) yield* csv.end();
    } else {
      const lines = (rest + text).split("\n");
      rest = done ? "" : lines.pop()!;
      yield* lines.filter((each) => each.trim() !== "");
    }
    if (done) return;
  }
}
