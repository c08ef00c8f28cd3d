//! The first byte of the input picks one of these schemas, the rest is a key of it.

use std::sync::LazyLock;

use stonecrop_keys::Schema;

/// New ones go to the end: the committed inputs pick by number.
const NOTATIONS: [&str; 44] = [
    "a bool",
    "a u8",
    "a u16 desc",
    "a u32 nulls last",
    "a u64",
    "a u128 desc nulls first",
    "a i8",
    "a i16 desc",
    "a i32",
    "a i64 nulls first",
    "a i128",
    "a varuint",
    "a varuint desc",
    "a varint",
    "a varint desc nulls last",
    "a f32",
    "a f64 desc",
    "a f32_exact",
    "a f64_exact desc",
    "a decimal",
    "a decimal desc nulls first",
    "a string",
    "a string desc nulls last",
    "a bytes",
    "a bytes desc",
    "a bytes(4)",
    "a collated(de)",
    "a uuid",
    "a uuid_v1 desc",
    "a timestamp",
    "a timestamp(us) desc",
    "a timestamp(ns)",
    "a date",
    "a geo2",
    "a geo2(hilbert) desc",
    "a geo3",
    "a geo3(hilbert)",
    "a raw",
    "a string, b raw nulls last",
    "tenant string, at timestamp desc, score f64 nulls last",
    "a tuple(x i16, y string desc nulls last) desc",
    "a list(string desc nulls last), b varint",
    "a list(tuple(k bytes, v decimal desc) nulls first) desc nulls last",
    "a tuple(t tuple(u list(list(varuint))), b bool) nulls first, c decimal, d string desc",
];

static SCHEMAS: LazyLock<Vec<Schema>> =
    LazyLock::new(|| NOTATIONS.iter().map(|text| text.parse().unwrap()).collect());

pub fn pick(input: &[u8]) -> Option<(&'static Schema, &[u8])> {
    let (first, key) = input.split_first()?;
    SCHEMAS.get(usize::from(*first)).map(|schema| (schema, key))
}
