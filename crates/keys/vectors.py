"""A decoder written from docs/format.md alone; `python3 vectors.py vectors.json` checks every vector."""
import base64, decimal, itertools, json, math, struct, sys, uuid

# A key is an iterator over its bytes. Where it ends too early, next() raises StopIteration.
def take(key, count):
    return bytes([next(key) for _ in range(count)])
def unsigned(key, width):
    return int.from_bytes(take(key, width), "big")
def signed(key, width):
    return unsigned(key, width) - (1 << 8 * width - 1)
def complement(key):
    return (byte ^ 0xFF for byte in key)

def variable(key, least, zero, bits):  # From `least` to F7, the first byte is the number plus `zero`.
    first = next(key)
    if first < least:
        return -1 - variable(complement(itertools.chain([first], key)), least, zero, bits)
    if first <= 0xF7:
        return first - zero
    number = unsigned(key, first - 0xF7)
    assert max(0xF8 - zero, 1 << 8 * (first - 0xF8)) <= number < 1 << bits
    return number

def floating(key, width, exact):
    bits, sign = unsigned(key, width), 1 << 8 * width - 1
    data = (bits ^ (sign if bits & sign else 2 * sign - 1)).to_bytes(width, "big")
    number, = struct.unpack(">f" if width == 4 else ">d", data)
    other_nan = math.isnan(number) and data.hex() not in ("7fc00000", "7ff8000000000000")
    assert exact or not other_nan and repr(number) != "-0.0"
    return number if math.isfinite(number) else f"bits:{data.hex()}"

def positive(key):
    exponent, pairs = next(key) - 128, [next(key)]
    while pairs[-1] % 2:
        pairs.append(next(key))
    assert -64 <= exponent <= 63 and max(pairs) // 2 <= 99 and pairs[0] // 2 and pairs[-1] // 2
    digits = "".join(f"{pair // 2:02}" for pair in pairs).rstrip("0")
    assert len(digits.lstrip("0")) <= 38
    number = decimal.Decimal(f"0.{digits}E{2 * exponent}")
    return format(number, "f" if -7 <= number.adjusted() <= 39 else "E")

def escaped(key):
    data = []
    while (byte := next(key)) != 0x00 or (after := next(key)) == 0xFF:
        data.append(byte)
    assert after == 0x01
    return bytes(data)

def point(key, n, hilbert):
    bits = f"{unsigned(key, 4 * n):0{32 * n}b}"
    x = [int(bits[i::n], 2) for i in range(n)]
    if hilbert:
        x = [x[0] ^ x[-1] >> 1] + [x[i] ^ x[i - 1] for i in range(1, n)]
        for b in range(1, 32):
            for i in reversed(range(n)):
                low = (1 << b) - 1
                if x[i] >> b & 1:
                    x[0] ^= low
                else:
                    t = (x[0] ^ x[i]) & low
                    x[0], x[i] = x[0] ^ t, x[i] ^ t
    axes = [(-180, 360), (-90, 180), (-1048576, 2097152)]
    return [(step + 0.5) / 2 ** 32 * span + least for step, (least, span) in zip(x, axes)]

def decode(key, field):
    tag = next(key)
    if tag == {"first": 0x02, "last": 0xFD}.get(field.get("nulls")):
        return None
    if field.get("desc"):
        tag, key = tag ^ 0xFF, complement(key)
    match tag, field["type"]:
        case 0x08 | 0x09, "bool": return tag == 0x09
        case (0x10, "u8") | (0x11, "u16") | (0x12, "u32") | (0x13, "u64"): return unsigned(key, 1 << tag % 8)
        case 0x14, "u128": return str(unsigned(key, 16))
        case (0x18, "i8") | (0x19, "i16") | (0x1A, "i32") | (0x1B, "i64"): return signed(key, 1 << tag % 8)
        case 0x1C, "i128": return str(signed(key, 16))
        case 0x20, "varuint": return variable(key, 0x00, 0x00, 64)
        case 0x21, "varint": return variable(key, 0x08, 0x80, 63)
        case (0x28, "f32") | (0x2A, "f32_exact"): return floating(key, 4, exact=tag == 0x2A)
        case (0x29, "f64") | (0x2B, "f64_exact"): return floating(key, 8, exact=tag == 0x2B)
        case 0x30, "decimal": return "-" + positive(complement(key))
        case 0x31, "decimal": return "0"
        case 0x32, "decimal": return positive(key)
        case 0x38, "string": return escaped(key).decode()
        case 0x39, "bytes": return base64.b64encode(escaped(key)).decode()
        case 0x3A, "bytes(n)": return base64.b64encode(take(key, field["n"])).decode()
        case 0x3C, "collated": return {"sort_key": base64.b64encode(escaped(key)).decode()}
        case 0x40, "uuid": return str(uuid.UUID(bytes=take(key, 16)))
        case 0x41, "uuid_v1":
            data = take(key, 16)
            assert data[0] >> 4 == 1
            return str(uuid.UUID(bytes=data[4:8] + data[2:4] + data[:2] + data[8:]))
        case (0x48, "timestamp") | (0x49, "timestamp(us)") | (0x4A, "timestamp(ns)"): return signed(key, 8)
        case 0x4C, "date": return signed(key, 4)
        case (0x50, "geo2") | (0x51, "geo2(hilbert)"): return point(key, 2, hilbert=tag == 0x51)
        case (0x52, "geo3") | (0x53, "geo3(hilbert)"): return point(key, 3, hilbert=tag == 0x53)
        case 0x60, "tuple":
            values = [decode(key, inner) for inner in field["fields"]]
            assert next(key) == 0x01
            return values
        case 0x61, "list":
            values = []
            while (first := next(key)) != 0x01:
                values.append(decode(itertools.chain([first], key), field["element"]))
            return values
        case 0x78, "raw": return base64.b64encode(bytes(key)).decode()
    assert False, "a tag that is not the field's"

vectors = json.load(open(sys.argv[1], encoding="utf-8"))
wrong = 0
for vector in vectors["valid"] + vectors["invalid"]:
    key = iter(bytes.fromhex(vector["hex"]))
    try:
        got = [decode(key, field) for field in vector["fields"]]
        assert not list(key) and len(vector["hex"]) <= 2 * 65535
    except (AssertionError, StopIteration, UnicodeDecodeError):
        got = "refused"
    want = vector.get("plain", vector.get("values", "refused"))
    if repr(got) != repr(want):  # repr tells 1 from 1.0 and from true, and 0.0 from -0.0.
        wrong += 1
        print(f"{vector['schema']} | {vector['hex']}: {got!r}, not {want!r}")
print(f"{len(vectors['valid'])} valid, {len(vectors['invalid'])} invalid, {wrong} wrong")
sys.exit(wrong > 0)
