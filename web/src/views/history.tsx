import { type Key, type Version, history } from "../api";
import { Loading, ProblemNote } from "../components/states";
import { useNow } from "../components/clock-list";
import { ago, timeText } from "../model/freshness";
import { keyId } from "../model/key";
import { sameValue, showText } from "../model/value";
import { useLoad } from "../state/load";

interface Props {
  table: string;
  rowKey: Key;
  family: string;
}

/** What a family said before; what changed from one version to the next stands out. */
export function History({ table, rowKey, family }: Props) {
  const found = useLoad(() => history(table, rowKey, family), `${table} ${keyId(rowKey)} ${family}`);
  const moment = useNow();
  if (found.problem !== null) return <ProblemNote problem={found.problem} onRetry={found.again} />;
  if (found.data === null) return <Loading label="Loading the history" />;
  const versions = found.data;
  if (versions.length === 0) return <p className="dim">No earlier versions.</p>;
  return (
    <ol className="history">
      {versions.map((version, index) => (
        <li key={version.written_at}>
          <h4>{timeText(version.written_at)} <span className="dim">{ago(version.written_at, moment)}</span></h4>
          <dl className="cells">
            {changed(version, versions[index + 1]).map((name) => (
              <div key={name}>
                <dt>{name}</dt>
                <dd>
                  {shown(version, name)}
                  {versions[index + 1] !== undefined && <del>{shown(versions[index + 1]!, name)}</del>}
                </dd>
              </div>
            ))}
          </dl>
          {changed(version, versions[index + 1]).length === 0 && <p className="dim">written again, the same</p>}
        </li>
      ))}
    </ol>
  );
}

/** The columns that a version changed; all of those of the oldest. */
function changed(version: Version, older: Version | undefined): string[] {
  const names = new Set([...Object.keys(version.columns), ...Object.keys(older?.columns ?? {})]);
  return [...names].filter((name) => older === undefined || !sameValue(version.columns[name], older.columns[name]));
}

function shown(version: Version, name: string): string {
  return version.columns[name] === undefined ? "no value" : showText(version.columns[name]);
}
