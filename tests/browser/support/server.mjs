// A server of its own for a test: the binary STONECROP_BIN, in memory, on a free port.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

const BINARY = process.env.STONECROP_BIN;

export const startServer = (...options) => start("serve", "memory:", ...options);

/** With the demo's tables, and nothing that changes them. */
export const startDemo = (rows) => start("demo", "memory:", "--still", "--rows", String(rows));

async function start(...options) {
  if (!BINARY) throw new Error("STONECROP_BIN must be the path of the stonecrop binary");
  const child = spawn(BINARY, [...options, "--listen", "127.0.0.1:0"], { stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(child, "exit");
  for await (const line of createInterface({ input: child.stdout })) {
    const found = /(http:\/\/[\d.:]+)/.exec(line);
    if (found) return new Server(found[1], child, ended);
  }
  throw new Error(`${BINARY} ended without a word`);
}

class Server {
  constructor(url, child, ended) {
    Object.assign(this, { url, child, ended });
  }

  /** Asks the server; `token` if it wants one. */
  async call(method, path, body, token) {
    const answer = await fetch(this.url + path, {
      method,
      headers: {
        ...(body !== undefined && { "content-type": typeof body === "string" ? "application/x-ndjson" : "application/json" }),
        ...(token && { authorization: `Bearer ${token}` }),
      },
      body: typeof body === "string" || body === undefined ? body : JSON.stringify(body),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return text === "" ? null : JSON.parse(text);
  }

  query(request) {
    return this.call("POST", "/v1/query", request);
  }

  async value(table, key, column) {
    const row = await this.call("GET", `/v1/tables/${table}/rows/${encodeURIComponent(JSON.stringify(key))}`);
    return row.columns[column]?.value;
  }

  patch(table, key, body) {
    return this.call("PATCH", `/v1/tables/${table}/rows/${encodeURIComponent(JSON.stringify(key))}`, body);
  }

  async stop() {
    this.child.kill();
    await this.ended;
  }
}
