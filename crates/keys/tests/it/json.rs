//! Values as JSON: what is taken, what is refused, and that nothing is rounded on the way.

use stonecrop_keys::{ErrorKind, Schema, TimestampMs, TimestampUs, Value};

fn value(ty: &str, json: &str) -> Value<'static> {
    let schema: Schema = format!("a {ty}").parse().unwrap();
    schema.values_from_json(&format!("[{json}]")).unwrap().remove(0)
}

fn refused(ty: &str, json: &str) -> String {
    let schema: Schema = format!("a {ty}").parse().unwrap();
    let error = schema.values_from_json(&format!("[{json}]")).unwrap_err();
    assert_eq!((error.kind(), error.field()), (ErrorKind::Value, Some("a")), "{ty} {json}");
    error.to_string()
}

#[test]
fn numbers_of_any_length_are_taken_as_they_are_written() {
    assert_eq!(value("u64", "18446744073709551615"), u64::MAX.into());
    assert_eq!(value("u128", "340282366920938463463374607431768211455"), u128::MAX.into());
    assert_eq!(value("i128", "\"-170141183460469231731687303715884105728\""), i128::MIN.into());
    let digits = "1234567890123456789012345678.9012345678";
    assert_eq!(value("decimal", digits).to_string(), digits);
    assert_eq!(value("decimal", &format!("{digits:?}")).to_string(), digits);
}

#[test]
fn numbers_that_are_not_of_the_type_are_refused() {
    assert_eq!(refused("i64", "1.0"), "field a: expected an integer, found 1.0");
    assert_eq!(refused("u8", "-1"), "field a: expected an integer from 0 up, found -1");
    assert!(refused("u8", "true").contains("found true"));
    assert!(refused("f64", "1e999").contains("expected a number in range"));
    assert!(refused("f32", "1e39").contains("expected a number in range"));
    assert!(refused("f64", "\"inf\"").contains("expected a number in range"));
    assert!(refused("f64", "\"bits:xyz\"").contains("expected a number"));
    assert!(refused("decimal", "\"1.2.3\"").contains("\"1.2.3\" is not a decimal number"));
    assert!(refused("decimal", "\"\"").contains("not a decimal"));
    assert!(refused("decimal", "\"1e\"").contains("not a decimal"));
    assert!(refused("decimal", "1e126").contains("magnitude"));
    assert!(refused("decimal", "1e-131").contains("magnitude"));
    let long = "1".repeat(39);
    assert!(refused("decimal", &long).contains("39 significant digits, and 38 can be stored"));
    assert_eq!(value("decimal", "0e999999999999").to_string(), "0");
}

#[test]
fn text_bytes_and_uuids_that_are_malformed_are_refused() {
    assert!(refused("string", "1").contains("expected a string, found 1"));
    assert!(refused("string", "\"\\ud800\"").contains("expected a string"));
    assert!(refused("bytes", "\"a\"").contains("\"a\" is not base64"));
    assert!(refused("uuid", "\"not-a-uuid\"").contains("expected a UUID"));
    assert!(refused("collated(de)", "{\"other\": 1}").contains("sort_key"));
    let long = format!("{:?}", "é".repeat(100));
    assert!(refused("bool", &long).ends_with('…'), "what is shown of it is short");
}

#[test]
fn times_are_taken_with_any_offset_and_refused_where_they_are_finer_than_the_field() {
    let noon: Value = TimestampMs(1_705_320_000_000).into();
    assert_eq!(value("timestamp", "\"2024-01-15T12:00:00Z\""), noon);
    assert_eq!(value("timestamp", "\"2024-01-15T14:00:00+02:00\""), noon);
    assert_eq!(value("timestamp", "1705320000000"), noon);
    assert_eq!(value("timestamp(us)", "\"1970-01-01T00:00:00.000001Z\""), TimestampUs(1).into());
    assert_eq!(
        refused("timestamp", "\"2024-01-15T12:00:00.0001Z\""),
        "field a: 2024-01-15T12:00:00.0001Z is finer than the field, which is timestamp; \
         use timestamp(us) or timestamp(ns)"
    );
    assert!(refused("timestamp(ns)", "\"2300-01-01T00:00:00Z\"").contains("out of the range"));
    assert!(refused("timestamp", "\"2024-02-30T12:00:00Z\"").contains("expected a time"));
    assert!(refused("timestamp", "\"yesterday\"").contains("expected a time such as"));
    assert!(refused("date", "\"2023-02-29\"").contains("expected a date such as"));
    assert!(refused("date", "\"2024-01-15T23:59:59\"").contains("expected a date such as"));
    assert!(refused("date", "3000000000").contains("expected a date such as"));
}

#[test]
fn arrays_need_as_many_elements_as_there_are_fields() {
    let schema: Schema = "a u8, b tuple(x u8, y u8)".parse().unwrap();
    let error = |json: &str| schema.values_from_json(json).unwrap_err().to_string();
    assert_eq!(error("[1]"), "1 value for 2 fields");
    assert_eq!(error("[1, [2]]"), "field b: 1 value for 2 fields");
    assert!(error("[1, [2, \"x\"]]").starts_with("field b.y: expected an integer"));
    assert!(error("{}").starts_with("expected a JSON array of values"));
    assert!(error("[1, [2, 3]] x").starts_with("expected a JSON array of values"));
    assert!(error("").starts_with("expected a JSON array of values"));
    assert!(error("[null, [1, 2]]").starts_with("field a: null, and the field is not null"));
}

#[test]
fn points_are_taken_to_the_last_bit() {
    // A longitude at the edge of a cell, which a careless parser puts into the one before.
    let Value::Point2(point) = value("geo2", "[-96.13365529105067, 0]") else { panic!() };
    assert_eq!(point.x, 1_000_564_466);
}

#[test]
fn points_are_refused_outside_of_the_world() {
    assert!(refused("geo2", "[0]").contains("[longitude, latitude]"));
    assert!(refused("geo2", "[0, 90.1]").contains("latitude 90.1 is not from -90 to 90"));
    assert!(refused("geo3", "[0, 0, 1e7]").contains("altitude"));
}
