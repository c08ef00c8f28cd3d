import { readJson } from "../api/json";
import type { Json } from "../api/types";

/** Sample values as they are typed: a JSON array a line, or plain text with commas. */
export function sampleRows(text: string): Json[][] {
  return text.split("\n").filter((line) => line.trim() !== "").map(sampleRow);
}

function sampleRow(line: string): Json[] {
  if (line.trim().startsWith("[")) {
    try {
      const json = readJson(line) as Json;
      if (Array.isArray(json)) return json;
    } catch {
      // It is text that begins with a bracket.
    }
  }
  return line.split(",").map((part) => sampleValue(part.trim()));
}

/** What JSON reads as a number, a truth or null is that; all else is text. */
function sampleValue(text: string): Json {
  if (!/^(-?\d|true$|false$|null$|")/.test(text)) return text;
  try {
    return readJson(text) as Json;
  } catch {
    return text;
  }
}
