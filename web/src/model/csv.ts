/** Reads CSV (RFC 4180, and with tabs or semicolons) piece by piece, as it arrives. */
export class CsvReader {
  private field = "";
  private record: string[] = [];
  private state: "start" | "plain" | "quoted" | "quote" = "start";

  constructor(readonly separator: string) {}

  /** The records that end in this piece. */
  push(text: string): string[][] {
    const done: string[][] = [];
    for (const character of text) this.step(character, done);
    return done;
  }

  /** The record that the end of the text ends, if there is one. */
  end(): string[][] {
    const done: string[][] = [];
    if (this.field !== "" || this.record.length > 0 || this.state === "quote") this.endRecord(done);
    return done;
  }

  private step(character: string, done: string[][]): void {
    if (this.state === "quoted") {
      if (character === '"') this.state = "quote";
      else this.field += character;
    } else if (character === '"' && this.state === "start") {
      this.state = "quoted";
    } else if (character === '"' && this.state === "quote") {
      this.field += '"';
      this.state = "quoted";
    } else if (character === this.separator) {
      this.record.push(this.field);
      this.field = "";
      this.state = "start";
    } else if (character === "\n") {
      this.endRecord(done);
    } else if (character !== "\r") {
      this.field += character;
      this.state = "plain";
    }
  }

  private endRecord(done: string[][]): void {
    const record = [...this.record, this.field];
    this.field = "";
    this.record = [];
    this.state = "start";
    // An empty line is no record.
    if (record.length > 1 || record[0] !== "") done.push(record);
  }
}

/** The separator that the first line of a file uses most. */
export function separatorOf(head: string): string {
  const line = head.split("\n", 1)[0] ?? "";
  const counts = [",", "\t", ";", "|"].map((each) => [each, line.split(each).length] as const);
  return counts.reduce((best, each) => (each[1] > best[1] ? each : best))[0];
}

/** A record as a line of CSV. */
export function csvLine(fields: string[]): string {
  return `${fields.map(csvField).join(",")}\r\n`;
}

function csvField(text: string): string {
  return /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
}
