// The server's clock: whether a value is fresh is for it to say, and this machine's clock may be off.

import { whoami } from "../api";

let offset = 0;

/** Milliseconds since 1970, as the server counts them. */
export function now(): number {
  return Date.now() + offset;
}

/** Sets the clock by the server's; the answer says who we are, too. */
export async function setClock() {
  const sent = Date.now();
  const answer = await whoami();
  const received = Date.now();
  const time = Date.parse(answer.now);
  // Half of the way there and back is when the server looked at its clock, give or take the other half.
  if (!Number.isNaN(time)) offset = time - (sent + received) / 2;
  return answer;
}
