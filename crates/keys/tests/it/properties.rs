//! What must hold for every key: order, round trip, one key a value, no key begins another, exact
//! ranges. Each type is tried in each direction with each place for nulls, then all of them
//! composed at random.

use std::cmp::Ordering;

use proptest::prelude::*;
use stonecrop_keys::{Field, Predicate, Schema, Type, Value};

use crate::model::{
    Row, all_types, any_row, any_schema, compare, compare_ascending, compare_rows, identical,
    normal, orders, row_pair, run,
};

/// One schema for each type, direction and place for nulls, with a field behind it.
fn schemas() -> Vec<Schema> {
    let fields = all_types().into_iter().flat_map(|ty| {
        orders().into_iter().map(move |(d, n)| Field::new("a", ty.clone()).ordered(d, n))
    });
    let schemas = fields.map(|field| Schema::new(vec![field, Field::new("b", Type::I8)]).unwrap());
    let raw = ["a raw", "a raw nulls first", "a raw nulls last", "a u8, b raw nulls last"];
    schemas.chain(raw.iter().map(|text| text.parse().unwrap())).collect()
}

fn for_each_schema(test: impl Fn(&Schema) + Sync) {
    let schemas = schemas();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let next = std::sync::atomic::AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(schema) =
                    schemas.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed))
                {
                    test(schema);
                }
            });
        }
    });
}

/// A schema composed to depth 3, with two rows of it.
fn composed() -> BoxedStrategy<(Schema, (Row, Row))> {
    any_schema(3).prop_flat_map(|schema| (Just(schema.clone()), row_pair(&schema))).boxed()
}

fn check_order(schema: &Schema, a: &Row, b: &Row) -> Result<(), TestCaseError> {
    let (key_a, key_b) = (schema.encode(a).unwrap(), schema.encode(b).unwrap());
    let expected = compare_rows(schema.fields(), a, b);
    prop_assert_eq!(key_a.cmp(&key_b), expected, "{}: {:02x?} {:02x?}", schema, key_a, key_b);
    // Equal values have one key, different ones two; and none of the two begins the other.
    let ends_itself = schema.fields().last().unwrap().field_type() != &Type::Raw;
    if expected.is_ne() && ends_itself {
        prop_assert!(!key_a.starts_with(&key_b) && !key_b.starts_with(&key_a), "{}", schema);
    }
    Ok(())
}

fn check_round_trip(schema: &Schema, row: &Row) -> Result<(), TestCaseError> {
    let key = schema.encode(row).unwrap();
    let decoded = schema.decode(&key).unwrap();
    for ((field, given), got) in schema.fields().iter().zip(row).zip(&decoded) {
        let expected = normal(field.field_type(), given);
        prop_assert!(identical(&expected, got), "{}: {:?} became {:?}", field, given, got);
    }
    prop_assert_eq!(schema.encode(&decoded).unwrap(), key.clone());

    let json = schema.values_to_json(&decoded);
    let again = schema.values_from_json(&json).unwrap();
    prop_assert_eq!(schema.encode(&again).unwrap(), key.clone(), "{} by way of {}", schema, json);

    let explanation = schema.explain(&key);
    prop_assert_eq!(explanation.error, None);
    let mut at = 0;
    for part in &explanation.parts {
        prop_assert_eq!((part.start, part.end > part.start), (at, true), "{}: {:?}", schema, part);
        at = part.end;
    }
    prop_assert_eq!(at, key.len());
    Ok(())
}

/// Asks for `bounds` in every way, and compares the answer for `row` with the plain one.
fn check_ranges(schema: &Schema, row: &Row, bounds: (&Row, &Row)) -> Result<(), TestCaseError> {
    let key = schema.encode(row).unwrap();
    let fields = schema.fields();
    for known in 0..=fields.len() {
        let equal = &bounds.0[..known];
        let begins = compare_rows(&fields[..known], row, equal).is_eq();
        let any = schema.range(equal, &Predicate::Any).unwrap();
        prop_assert_eq!(any.contains(&key), begins, "{} = {:?}", schema, equal);
        let Some(field) = fields.get(known) else { continue };
        for (predicate, holds) in predicates(field, &row[known], &bounds.0[known], &bounds.1[known])
        {
            let range = schema.range(equal, &predicate).unwrap();
            prop_assert_eq!(
                range.contains(&key),
                begins && holds,
                "{}: {:?} {:?} in {:02x?}..{:02x?}",
                schema,
                equal,
                predicate,
                range.start,
                range.end
            );
            prop_assert!(!(range.is_empty() && range.contains(&key)));
        }
    }
    Ok(())
}

/// Every predicate that can be asked with these two values, and whether it is true of `value`.
fn predicates<'v>(
    field: &Field,
    value: &Value<'v>,
    low: &Value<'v>,
    high: &Value<'v>,
) -> Vec<(Predicate<'v>, bool)> {
    let not_null = !value.is_null();
    let mut asked = vec![(Predicate::NotNull, not_null)];
    if low.is_null() {
        return asked;
    }
    let order = |a: &Value<'v>, b: &Value<'v>| match (a.is_null(), b.is_null()) {
        (false, false) => compare_ascending(field.field_type(), a, b),
        _ => compare(field, a, b),
    };
    let to_low = order(value, low);
    let is = |wanted: &[Ordering]| not_null && wanted.contains(&to_low);
    asked.push((Predicate::Lt(low.clone()), is(&[Ordering::Less])));
    asked.push((Predicate::Le(low.clone()), is(&[Ordering::Less, Ordering::Equal])));
    asked.push((Predicate::Gt(low.clone()), is(&[Ordering::Greater])));
    asked.push((Predicate::Ge(low.clone()), is(&[Ordering::Greater, Ordering::Equal])));
    if !high.is_null() {
        let within = not_null && to_low.is_ge() && order(value, high).is_le();
        asked.push((Predicate::Between(low.clone(), high.clone()), within));
    }
    asked.extend(beginnings(field.field_type(), value, low));
    asked
}

/// Begins-with for every beginning of `whole`.
fn beginnings<'v>(ty: &Type, value: &Value<'v>, whole: &Value<'v>) -> Vec<(Predicate<'v>, bool)> {
    match (ty, whole) {
        (Type::String, Value::String(whole)) => {
            let ends = whole.char_indices().map(|(at, _)| at).chain([whole.len()]).take(8);
            let holds =
                |start: &str| matches!(value, Value::String(text) if text.starts_with(start));
            ends.map(|end| {
                let start = whole[..end].to_owned();
                (Predicate::BeginsWith(start.clone().into()), holds(&start))
            })
            .collect()
        }
        (Type::Bytes | Type::FixedBytes(_) | Type::Raw, Value::Bytes(whole)) => {
            let holds =
                |start: &[u8]| matches!(value, Value::Bytes(bytes) if bytes.starts_with(start));
            let starts = (0..=whole.len()).take(8).map(|end| whole[..end].to_vec());
            starts.map(|s| (Predicate::BeginsWith(s.clone().into()), holds(&s))).collect()
        }
        _ => Vec::new(),
    }
}

#[test]
fn byte_order_is_value_order_for_every_type_and_no_key_begins_another() {
    for_each_schema(|schema| {
        run(&row_pair(schema), |(a, b)| check_order(schema, &a, &b));
    });
}

#[test]
fn byte_order_is_value_order_for_composed_schemas_and_no_key_begins_another() {
    run(&composed(), |(schema, (a, b))| check_order(&schema, &a, &b));
}

#[test]
fn keys_decode_to_their_values_for_every_type_and_explain_assigns_every_byte() {
    for_each_schema(|schema| run(&any_row(schema), |row| check_round_trip(schema, &row)));
}

#[test]
fn keys_decode_to_their_values_for_composed_schemas_and_explain_assigns_every_byte() {
    run(&composed(), |(schema, (row, _))| check_round_trip(&schema, &row));
}

#[test]
fn a_key_is_in_a_range_exactly_if_the_predicate_holds_for_every_type() {
    for_each_schema(|schema| {
        let rows = (row_pair(schema), any_row(schema));
        run(&rows, |((row, low), high)| check_ranges(schema, &row, (&low, &high)));
    });
}

#[test]
fn a_key_is_in_a_range_exactly_if_the_predicate_holds_for_composed_schemas() {
    let rows = any_schema(3)
        .prop_flat_map(|schema| (Just(schema.clone()), row_pair(&schema), any_row(&schema)));
    run(&rows, |(schema, (row, low), high)| check_ranges(&schema, &row, (&low, &high)));
}

#[test]
fn sorting_keys_sorts_rows() {
    let rows = any_schema(2)
        .prop_flat_map(|schema| (Just(schema.clone()), prop::collection::vec(any_row(&schema), 8)));
    run(&rows, |(schema, mut rows)| {
        rows.sort_by_cached_key(|row| schema.encode(row).unwrap());
        let sorted = |pair: &[Row]| compare_rows(schema.fields(), &pair[0], &pair[1]).is_le();
        prop_assert!(rows.windows(2).all(sorted), "{}: {:?}", schema, rows);
        Ok(())
    });
}
