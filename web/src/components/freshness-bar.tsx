import type { FamilyFreshness } from "../api";

/** What part of a family is fresh, stale or missing; told by pattern as well as by colour. */
export function FreshnessBar({ of, compact }: { of: FamilyFreshness; compact?: boolean }) {
  const total = of.fresh + of.stale + of.missing;
  const share = (part: number) => (total === 0 ? 0 : (100 * part) / total);
  const text = `${of.family}: ${number(of.fresh)} fresh, ${number(of.stale)} stale, ${number(of.missing)} missing`;
  return (
    <div className="fresh-bar-line" title={text}>
      {!compact && <span className="fresh-bar-name">{of.family}</span>}
      <span className="fresh-bar" role="img" aria-label={text}>
        <span className="bar-fresh" style={{ width: `${share(of.fresh)}%` }} />
        <span className="bar-stale" style={{ width: `${share(of.stale)}%` }} />
      </span>
      {!compact && <span className="fresh-bar-share">{percent(of.stale, total)}</span>}
    </div>
  );
}

function percent(part: number, total: number): string {
  if (total === 0) return "empty";
  if (part === 0) return "fresh";
  const share = (100 * part) / total;
  return `${share < 1 ? "<1" : Math.round(share)}% stale`;
}

export function number(value: number): string {
  return value.toLocaleString("en-US");
}
