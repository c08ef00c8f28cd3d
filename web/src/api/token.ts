// The bearer token of this tab, and who asks for it when the server wants one.

const NAME = "stonecrop.token";
const listeners = new Set<() => void>();
let wanted = false;
let waiting: (() => void)[] = [];

export function token(): string | null {
  return sessionStorage.getItem(NAME);
}

/** Whether a request waits for a token. */
export function tokenWanted(): boolean {
  return wanted;
}

export function onTokenWanted(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Waits until the user gave a token. */
export function askForToken(refused: string | null): Promise<void> {
  // A request that was under way while another got the token only has to be sent again.
  if (refused !== token()) return Promise.resolve();
  wanted = true;
  listeners.forEach((tell) => tell());
  return new Promise((resolve) => waiting.push(resolve));
}

export function giveToken(text: string): void {
  sessionStorage.setItem(NAME, text);
  wanted = false;
  const asked = waiting;
  waiting = [];
  asked.forEach((go) => go());
  listeners.forEach((tell) => tell());
}
