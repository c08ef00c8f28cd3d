//! An order from outside: FoundationDB's tuple layer, for the types in common, ascending.

use foundationdb_tuple::{Element, pack};
use proptest::prelude::*;
use stonecrop_keys::{Schema, Value};

use crate::model::{Row, any_schema, row_pair, run};

/// The element that FoundationDB has for a value, with its floats normalised as ours are.
fn element<'v>(value: &'v Value<'_>) -> Element<'v> {
    match value {
        Value::Null => Element::Nil,
        Value::Bool(value) => Element::Bool(*value),
        Value::Int(value) => Element::Int(i64::try_from(*value).unwrap()),
        Value::Uint(value) => Element::Int(i64::try_from(*value).unwrap()),
        Value::F32(value) => {
            Element::Float(if value.is_nan() { f32::NAN.abs() } else { value + 0.0 })
        }
        Value::F64(value) => {
            Element::Double(if value.is_nan() { f64::NAN.abs() } else { value + 0.0 })
        }
        Value::String(value) => Element::String(value.as_ref().into()),
        Value::Bytes(value) => Element::Bytes(value.as_ref().into()),
        Value::Tuple(values) => Element::Tuple(values.iter().map(element).collect()),
        other => panic!("not a type in common: {other}"),
    }
}

fn packed(row: &Row) -> Vec<u8> {
    pack(&row.iter().map(element).collect::<Vec<_>>())
}

/// The types in common have these names; everything is ascending with nulls first.
fn in_common(schema: &Schema) -> Schema {
    const TYPES: [&str; 10] = [
        "bool",
        "u32",
        "i64",
        "varint",
        "f32",
        "f64",
        "string",
        "bytes",
        "tuple(x string nulls first, y i32)",
        "list(i16 nulls first)",
    ];
    let fields = schema.fields().iter().enumerate().map(|(index, field)| {
        // Any spread over the types will do, as long as every schema has its own.
        let which = field.to_string().bytes().map(usize::from).sum::<usize>() % TYPES.len();
        format!("f{index} {} nulls first", TYPES[which])
    });
    fields.collect::<Vec<_>>().join(", ").parse().unwrap()
}

#[test]
fn keys_sort_as_foundationdb_tuples_do() {
    let rows = any_schema(1).prop_flat_map(|schema| {
        let schema = in_common(&schema);
        (Just(schema.clone()), row_pair(&schema))
    });
    run(&rows, |(schema, (a, b))| {
        let ours = schema.encode(&a).unwrap().cmp(&schema.encode(&b).unwrap());
        prop_assert_eq!(ours, packed(&a).cmp(&packed(&b)), "{}: {:?} {:?}", schema, a, b);
        Ok(())
    });
}
