import { useState } from "react";
import type { KeyPart, StoredKey } from "../api";

const tint = (index: number) => `byte tint-${index % 8}`;

/** A stored key, byte by byte: a colour a part, and below what each part says. */
export function Bytes({ stored, legend = true }: { stored: StoredKey; legend?: boolean }) {
  const [picked, setPicked] = useState<number | null>(null);
  const bytes = stored.hex.match(/../g) ?? [];
  const part = (at: number) => stored.parts.findIndex(({ start, end }) => at >= start && at < end);
  return (
    <div className="bytes">
      <div className="bytes-hex" aria-label={`${bytes.length} bytes`}>
        {stored.parts.map((each, index) => (
          <span
            key={each.start}
            className={`byte-run ${picked === index ? "is-picked" : ""}`}
            onMouseEnter={() => setPicked(index)}
            onMouseLeave={() => setPicked(null)}
            title={describe(each)}
          >
            {bytes.slice(each.start, each.end).map((hex, offset) => (
              <span key={each.start + offset} className={tint(part(each.start + offset))}>
                {hex}
              </span>
            ))}
          </span>
        ))}
      </div>
      {legend && (
        <ol className="bytes-legend">
          {stored.parts.map((each, index) => (
            <li
              key={each.start}
              className={picked === index ? "is-picked" : ""}
              onMouseEnter={() => setPicked(index)}
              onMouseLeave={() => setPicked(null)}
            >
              <span className={`${tint(index)} byte-range`}>
                {each.end - each.start === 1 ? each.start : `${each.start}–${each.end - 1}`}
              </span>
              <span className="byte-name">{each.name}</span>
              <span className="byte-value">{each.value}</span>
              <span className="byte-note">{[each.type, each.note].filter(Boolean).join(" · ")}</span>
            </li>
          ))}
        </ol>
      )}
    </div>
  );
}

function describe(part: KeyPart): string {
  const range = part.end - part.start === 1 ? `byte ${part.start}` : `bytes ${part.start}–${part.end - 1}`;
  return `${range}: ${part.name} (${part.type}) = ${part.value}${part.note ? `, ${part.note}` : ""}`;
}
