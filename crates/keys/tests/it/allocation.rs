//! Encoding into a buffer with room allocates nothing, and neither does a borrowed decoding.

use std::borrow::Cow;

use stonecrop_keys::{Decimal, DecodeKey, Key, KeyBuilder, Schema, TimestampMs, Value, Var};

fn allocations(run: impl FnOnce()) -> u64 {
    allocation_counter::measure(run).count_total
}

#[test]
fn encoding_rust_values_allocates_nothing() {
    let mut buffer = Vec::with_capacity(4_096);
    let (text, zeros, long) = ("a name", [0_u8; 40], [7_u8; 1_024]);
    let decimal: Decimal = "12345678901234567890.12345".parse().unwrap();
    let count = allocations(|| {
        let mut key = KeyBuilder::new(&mut buffer);
        key.push(42_u64).push(-1_i8).push(text).push(&zeros[..]).push(&long[..]);
        key.push_desc(text).push_desc(TimestampMs(7)).push(decimal).push(Var(-5_000_i64));
        key.push(None::<f64>).push(1.5_f64).push(true);
        assert!(key.finish().is_ok());
    });
    assert_eq!(count, 0);
}

#[test]
fn encoding_by_schema_allocates_nothing() {
    let schema: Schema =
        "tenant string, at timestamp desc, price decimal, x u8 nulls last".parse().unwrap();
    let price: Decimal = "19.90".parse().unwrap();
    let values = ["acme".into(), TimestampMs(5).into(), price.into(), Value::Null];
    let mut buffer = Vec::with_capacity(256);
    let count = allocations(|| assert!(schema.encode_into(&values, &mut buffer).is_ok()));
    assert_eq!(count, 0);
}

#[test]
fn decoding_borrowed_text_allocates_nothing() {
    let key = (7_i64, "sixteen letters!".to_owned(), 9_u64).encode().unwrap();
    let count = allocations(|| {
        assert!(matches!(<(i64, Cow<str>, u64)>::decode(&key), Ok((7, Cow::Borrowed(_), 9))));
    });
    assert_eq!(count, 0);
}
