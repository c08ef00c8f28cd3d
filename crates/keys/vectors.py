#!/usr/bin/env python3
"""A decoder of Stonecrop keys, written from docs/format.md alone, to check the vectors with:

    python3 crates/keys/vectors.py crates/keys/vectors.json
"""
import json, re, struct, sys
from base64 import b64encode
from contextlib import contextmanager
from ctypes import c_float
from datetime import date
from decimal import Decimal
from uuid import UUID

class DecodeError(Exception):
    pass

def need(condition, otherwise):
    if not condition:
        raise DecodeError(otherwise)

class Key:
    def __init__(self, data):
        need(1 <= len(data) <= 65535, "a key of no bytes or of too many")
        self.rest = data

    def take(self, count):
        need(count <= len(self.rest), "the key ends within a field")
        taken, self.rest = self.rest[:count], self.rest[count:]
        return taken

    def number(self, width=1):
        return int.from_bytes(self.take(width), "big")

    @contextmanager
    def complemented(self, yes):
        mask = 0xFF if yes else 0x00
        self.rest = bytes(byte ^ mask for byte in self.rest)
        yield
        self.rest = bytes(byte ^ mask for byte in self.rest)

# The types, from the payload to the value as JSON. `group` is what the schema has in parentheses.

def integer(key, tag, group):
    width = 1 << tag % 8
    number = key.number(width) - (1 << 8 * width - 1 if tag >= 0x18 else 0)
    return str(number) if width == 16 else number

def shortest(key, width, least):
    number = key.number(width)
    need(number >= max(least, 1 << 8 * (width - 1)), "a number that has a shorter form")
    return number

def varuint(key, tag, group):
    first = key.number()
    return first if first <= 0xF7 else shortest(key, first - 0xF7, 248)

def varint(key, tag, group):
    negative = key.rest[:1] < b"\x08"
    with key.complemented(negative):
        first = key.number()
        number = first - 128 if first <= 0xF7 else shortest(key, first - 0xF7, 120)
    need(number < 1 << 63, "a number of more than 64 bits")
    return -1 - number if negative else number

def floating(key, tag, group):
    code, width, nan = [(">f", 4, 0x7FC00000), (">d", 8, 0x7FF8000000000000)][tag % 2]
    bits, sign = key.number(width), 1 << 8 * width - 1
    bits ^= sign if bits & sign else 2 * sign - 1
    value, = struct.unpack(code, bits.to_bytes(width, "big"))
    normal = bits == nan or value == value and bits != sign
    need(normal or tag >= 0x2A, "a float that is not normalised")
    if value != value:
        return "NaN" if bits == nan else f"bits:{bits:0{2 * width}x}"
    if abs(value) == float("inf"):
        return "Infinity" if value > 0 else "-Infinity"
    rounded = (float(f"{value:.{digits}g}") for digits in range(1, 10))
    return value if width == 8 else next(short for short in rounded if c_float(short).value == value)

def decimal(key, tag, group):
    if tag == 0x31:
        return "0"
    with key.complemented(tag == 0x30):
        exponent, pairs = key.number(), [key.number()]
        while pairs[-1] % 2:
            pairs.append(key.number())
    need(0x40 <= exponent <= 0xBF, "a decimal's exponent out of range")
    need(max(pairs) // 2 <= 99, "a pair above 99")
    need(pairs[0] // 2 and pairs[-1] // 2, "a pair of zeros at an end of a decimal")
    digits = "".join(f"{pair // 2:02}" for pair in pairs).rstrip("0")
    need(len(digits.lstrip("0")) <= 38, "a decimal of more than 38 digits")
    value = Decimal(f"{'-' if tag == 0x30 else ''}0.{digits}E{2 * (exponent - 128)}")
    return format(value, "f" if -7 <= value.adjusted() <= 39 else "E")

def escaped(key):
    found = re.match(rb"((?:[^\x00]|\x00\xFF)*)\x00\x01", key.rest)
    need(found, "no terminator, or an escape that is not one of the two")
    key.take(found.end())
    return found[1].replace(b"\x00\xFF", b"\x00")

def string(key, tag, group):
    try:
        return escaped(key).decode()
    except UnicodeDecodeError as error:
        raise DecodeError("text that is not UTF-8") from error

def base64(data):
    return b64encode(data).decode()

def uuid_v1(key, tag, group):
    high, middle, low, rest = (key.take(count) for count in (2, 2, 4, 8))
    need(high[0] >> 4 == 1, "a UUID that is not of version 1")
    return str(UUID(bytes=low + middle + high + rest))

def calendar(days):
    days_of_400_years = 146097
    cycles, days = divmod(days + date(1970, 1, 1).toordinal() - 1, days_of_400_years)
    day = date.fromordinal(days + 1)
    year = day.year + 400 * cycles
    return f"{year:04}-{day:%m-%d}" if 0 <= year <= 9999 else None

def day(key, tag, group):
    count = key.number(4) - (1 << 31)
    return calendar(count) or count

def timestamp(key, tag, group):
    count, digits = key.number(8) - (1 << 63), 3 * (tag - 0x47)
    seconds, fraction = divmod(count, 10 ** digits)
    days, second = divmod(seconds, 86400)
    time = f"{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}"
    fraction = f".{fraction:0{digits}}".rstrip("0.")
    written = calendar(days) and count <= 253402207200 * 10 ** digits
    return f"{calendar(days)}T{time}{fraction}Z" if written else count

def undo_hilbert(x):
    t = x[-1] >> 1
    for i in reversed(range(1, len(x))):
        x[i] ^= x[i - 1]
    x[0] ^= t
    for b in range(1, 32):
        low = (1 << b) - 1
        for i in reversed(range(len(x))):
            if x[i] >> b & 1:
                x[0] ^= low
            else:
                t = (x[0] ^ x[i]) & low
                x[0] ^= t
                x[i] ^= t

def point(key, tag, group):
    axes = [(-180, 360), (-90, 180), (-1048576, 2097152)][:2 if tag <= 0x51 else 3]
    bits = f"{key.number(4 * len(axes)):0{32 * len(axes)}b}"
    steps = [int(bits[axis::len(axes)], 2) for axis in range(len(axes))]
    if tag in (0x51, 0x53):
        undo_hilbert(steps)
    return [(step + 0.5) / 2 ** 32 * span + least for step, (least, span) in zip(steps, axes)]

def tuple_(key, tag, group):
    values = [field(key, *words) for name, *words in group]
    need(key.take(1) == b"\x01", "a tuple that does not end")
    return values

def list_(key, tag, group):
    values = []
    while key.rest[:1] != b"\x01":
        values.append(field(key, *group[0]))
    key.take(1)
    return values

TYPES = {
    "bool": (lambda key, tag, group: tag == 0x09, 0x08, 0x09),
    "u8": (integer, 0x10), "u16": (integer, 0x11), "u32": (integer, 0x12), "u64": (integer, 0x13),
    "u128": (integer, 0x14), "i8": (integer, 0x18), "i16": (integer, 0x19), "i32": (integer, 0x1A),
    "i64": (integer, 0x1B), "i128": (integer, 0x1C), "varuint": (varuint, 0x20), "varint": (varint, 0x21),
    "f32": (floating, 0x28), "f64": (floating, 0x29),
    "f32_exact": (floating, 0x2A), "f64_exact": (floating, 0x2B),
    "decimal": (decimal, 0x30, 0x31, 0x32), "string": (string, 0x38),
    "bytes": (lambda key, tag, group: base64(escaped(key)), 0x39),
    "bytes(...)": (lambda key, tag, group: base64(key.take(int(group[0][0]))), 0x3A),
    "collated(...)": (lambda key, tag, group: {"sort_key": base64(escaped(key))}, 0x3C),
    "uuid": (lambda key, tag, group: str(UUID(bytes=key.take(16))), 0x40), "uuid_v1": (uuid_v1, 0x41),
    "timestamp": (timestamp, 0x48), "timestamp(ms)": (timestamp, 0x48),
    "timestamp(us)": (timestamp, 0x49), "timestamp(ns)": (timestamp, 0x4A), "date": (day, 0x4C),
    "geo2": (point, 0x50), "geo2(morton)": (point, 0x50), "geo2(hilbert)": (point, 0x51),
    "geo3": (point, 0x52), "geo3(morton)": (point, 0x52), "geo3(hilbert)": (point, 0x53),
    "tuple(...)": (tuple_, 0x60), "list(...)": (list_, 0x61),
    "raw": (lambda key, tag, group: base64(key.take(len(key.rest))), 0x78),
}

def field(key, name, *order):
    group = None
    if order and isinstance(order[0], list):
        group, *order = order
        name = f"{name}({group[0][0]})" if f"{name}({group[0][0]})" in TYPES else f"{name}(...)"
    payload, *tags = TYPES[name]
    order = re.fullmatch("(asc|desc|) ?(nulls first|nulls last|not null|)", " ".join(order))
    if key.rest[:1] == {"nulls first": b"\x02", "nulls last": b"\xFD"}.get(order[2]):
        key.take(1)
        return None
    with key.complemented(order[1] == "desc"):
        tag = key.number()
        need(tag in tags, f"the tag {tag:02x}")
        return payload(key, tag, group)

def groups(words):
    items = [[]]
    while (word := words.pop(0)) != ")":
        if word == ",":
            items.append([])
        else:
            items[-1].append(groups(words) if word == "(" else word)
    return items

def decode(schema, data):
    words = re.findall(r'"(?:\\.|[^"\\])*"|[\w.#-]+|\S', schema.lower() + ")")
    key = Key(data)
    values = [field(key, *words) for name, *words in groups(words)]
    need(not key.rest, "bytes after the last field")
    return values

def main(path):
    with open(path, encoding="utf-8") as file:
        vectors = json.load(file)
    wrong = 0
    for vector in vectors["valid"] + vectors["invalid"]:
        want = vector.get("values", DecodeError)
        try:
            got = decode(vector["schema"], bytes.fromhex(vector["hex"]))
        except Exception as error:
            got = error
        # repr tells 1 from 1.0 and from true, and 0.0 from -0.0.
        if type(got) is not want and repr(got) != repr(want):
            wrong += 1
            print(f"{vector['schema']} | {vector['hex']}: {got!r}, not {want!r}")
    print(f"{len(vectors['valid'])} valid, {len(vectors['invalid'])} invalid, {wrong} wrong")
    return wrong > 0

if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
