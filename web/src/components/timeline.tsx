import type { Clock } from "../api";
import { ago, millis, timeText } from "../model/freshness";
import { useNow } from "./clock-list";

/** A family's clock as a line: written, fresh until, gone; and where on it we are now. */
export function Timeline({ clock }: { clock: Clock }) {
  const moment = useNow();
  const written = millis(clock.written_at);
  const stale = clock.fresh_until === null ? null : millis(clock.fresh_until);
  const gone = clock.gone_at === null ? null : millis(clock.gone_at);
  // What never ends is drawn a quarter longer than what we know.
  const last = Math.max(moment, stale ?? 0, gone ?? 0);
  const end = gone !== null && gone >= moment ? gone : last + (last - written) * 0.25;
  const place = (time: number) => Math.max(0, Math.min(100, (100 * (time - written)) / Math.max(1, end - written)));
  const fresh = place(stale ?? end);
  return (
    <div className="timeline">
      <div className="timeline-bar" aria-hidden="true">
        <span className="bar-fresh" style={{ width: `${fresh}%` }} />
        <span className="bar-stale" style={{ width: `${100 - fresh}%` }} />
        <span className="timeline-now" style={{ left: `${place(moment)}%` }} />
      </div>
      <dl>
        <div><dt>written</dt><dd title={clock.written_at}>{timeText(clock.written_at)} <span className="dim">{ago(clock.written_at, moment)}</span></dd></div>
        <div>
          <dt>{stale !== null && stale <= moment ? "stale since" : "fresh until"}</dt>
          <dd title={clock.fresh_until ?? ""}>{clock.fresh_until === null ? "for ever" : <>{timeText(clock.fresh_until)} <span className="dim">{ago(clock.fresh_until, moment)}</span></>}</dd>
        </div>
        <div><dt>gone</dt><dd title={clock.gone_at ?? ""}>{clock.gone_at === null ? "never" : <>{timeText(clock.gone_at)} <span className="dim">{ago(clock.gone_at, moment)}</span></>}</dd></div>
      </dl>
    </div>
  );
}
