/** An answer that is no success, or none at all. */
export class Problem extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    readonly title: string,
    readonly detail: string,
    readonly hint?: string,
    readonly path?: string,
    readonly requestId?: string,
  ) {
    super(detail || title);
    this.name = "Problem";
  }

  /** No server answered. */
  get offline(): boolean {
    return this.status === 0;
  }
}

interface Document {
  title?: string;
  code?: string;
  detail?: string;
  hint?: string;
  path?: string;
  request_id?: string;
}

export async function problemOf(answer: Response): Promise<Problem> {
  const text = await answer.text();
  let document: Document = {};
  try {
    document = JSON.parse(text) as Document;
  } catch {
    document = { detail: text.slice(0, 300) };
  }
  return new Problem(
    answer.status,
    document.code ?? `http-${answer.status}`,
    document.title ?? (answer.statusText || `The server answered ${answer.status}`),
    document.detail ?? "",
    document.hint,
    document.path,
    document.request_id ?? answer.headers.get("x-request-id") ?? undefined,
  );
}

export function asProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  const detail = error instanceof Error ? error.message : String(error);
  return new Problem(-1, "client", "Something went wrong in the page", detail);
}
