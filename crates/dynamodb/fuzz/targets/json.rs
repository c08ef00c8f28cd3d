//! Bytes are a value in JSON or an error, and what is a value comes back from its own JSON.
#![no_main]

use stonecrop_dynamodb::ErrorKind;
use stonecrop_dynamodb::legacy::{Filter, attribute_updates, expected, filter, key_conditions};
use stonecrop_dynamodb::value::{check_shape, decode, encode, read_json, value_size};

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    let Ok(json) = read_json(input) else { return };
    let shape = check_shape(&json);
    match decode(json.clone()) {
        Ok(value) => {
            assert_eq!(shape, Ok(()));
            value_size(&value);
            assert_eq!(decode(encode(&value)).unwrap(), value);
        }
        Err(error) => assert!(shape.is_err() || error.kind() == ErrorKind::Validation),
    }
    let _ = expected(json.clone(), Some("OR"));
    let _ = filter(Filter::Query, json.clone(), None);
    let _ = key_conditions(json.clone());
    let _ = attribute_updates(json);
});
