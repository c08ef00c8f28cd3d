import { Fragment, useState } from "react";
import type { KeyPart, StoredKey } from "../api";

interface Field {
  name: string;
  type: string | null;
  value: string | null;
  start: number;
  end: number;
  parts: KeyPart[];
}

const ROLES: Record<KeyPart["role"], string> = {
  layout: "", tag: "type tag", payload: "value", escape: "escaped zero", terminator: "end mark", unread: "not readable",
};

/** A stored key, byte by byte: a colour a field, and below what its bytes say. */
export function Bytes({ stored, only }: { stored: StoredKey; only?: "hex" | "legend" }) {
  const [picked, setPicked] = useState<number | null>(null);
  const bytes = stored.hex.match(/../g) ?? [];
  const fields = fieldsOf(stored.parts);
  const hover = (index: number) => ({ onMouseEnter: () => setPicked(index), onMouseLeave: () => setPicked(null) });
  return (
    <div className="bytes">
      {only !== "legend" && <div className="bytes-hex" aria-label={`${bytes.length} bytes`}>
        {fields.map((field, index) => (
          <Fragment key={field.start}>
            <span className={`byte-run tint-${index % 8} ${picked === index ? "is-picked" : ""}`} {...hover(index)}>
              {field.parts.flatMap((part) =>
                bytes.slice(part.start, part.end).map((hex, offset) => (
                  <span key={part.start + offset} className={`byte is-${part.role}`} title={describe(part)}>{hex}</span>
                )))}
            </span>{" "}
          </Fragment>
        ))}
      </div>}
      {only !== "hex" && (
        <ol className="bytes-legend">
          {fields.map((field, index) => (
            <li key={field.start} className={picked === index ? "is-picked" : ""} {...hover(index)}>
              <span className={`tint-${index % 8} byte-range`}>{range(field)}</span>
              <span className="byte-name">{field.name}</span>
              <span className="byte-value">{field.value}</span>
              <span className="byte-note">{noteOf(field)}</span>
            </li>
          ))}
        </ol>
      )}
    </div>
  );
}

/** Neighbouring parts of one name are a field. */
function fieldsOf(parts: KeyPart[]): Field[] {
  const fields: Field[] = [];
  for (const part of parts) {
    const last = fields.at(-1);
    // A tag begins a field, even if the one before has the same name.
    if (last !== undefined && last.name === part.name && part.role !== "tag" && part.role !== "layout") {
      last.parts.push(part);
      last.end = part.end;
      last.value ??= part.value;
    } else {
      fields.push({ name: part.name, type: part.field_type, value: part.value, start: part.start, end: part.end, parts: [part] });
    }
  }
  return fields;
}

function range({ start, end }: { start: number; end: number }): string {
  return end - start === 1 ? `${start}` : `${start}–${end - 1}`;
}

function noteOf(field: Field): string {
  const roles = field.parts.filter(({ role }) => role !== "layout").map((part) => `${ROLES[part.role]} ${range(part)}`);
  return [field.type, roles.length > 1 || field.parts[0]!.role === "unread" ? roles.join(", ") : null].filter(Boolean).join(" · ");
}

function describe(part: KeyPart): string {
  const place = part.end - part.start === 1 ? `byte ${part.start}` : `bytes ${range(part)}`;
  return [place, part.name, ROLES[part.role], part.value].filter(Boolean).join(" · ");
}
