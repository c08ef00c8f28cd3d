//! A schema in its notation, a line break, values in JSON: parsed, or refused without a panic.
#![no_main]

use stonecrop_keys::{Decimal, Schema};

libfuzzer_sys::fuzz_target!(|input: &str| {
    let (notation, json) = input.split_once('\n').unwrap_or((input, "[]"));
    if let Ok(decimal) = json.parse::<Decimal>() {
        assert_eq!(decimal.to_string().parse(), Ok(decimal));
    }
    let Ok(schema) = notation.parse::<Schema>() else { return };
    assert_eq!(schema.to_string().parse(), Ok(schema.clone()));
    let Ok(values) = schema.values_from_json(json) else { return };
    let Ok(key) = schema.encode(&values) else { return };
    assert!(schema.decode(&key).is_ok());
});
