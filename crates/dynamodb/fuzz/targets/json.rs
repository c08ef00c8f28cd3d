//! Bytes are a value in JSON or an error, and what is a value comes back from its own JSON. What is
//! read without JSON in between is the same.
#![no_main]

use stonecrop_dynamodb::ErrorKind;
use stonecrop_dynamodb::legacy::{Filter, attribute_updates, expected, filter, key_conditions};
use stonecrop_dynamodb::value::{
    check_shape, decode, decode_item, encode, read_items, read_json, value_size,
};

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    let request = [&b"{\"Item\":{\"a\":"[..], input, &b"}}"[..]].concat();
    for request in [input, &request] {
        if let Some((rest, items)) = read_items(request, &["Item", "Key"]) {
            let mut json = read_json(request).unwrap();
            for (name, item) in items {
                let read = json.as_object_mut().unwrap().remove(name).unwrap();
                assert!(read.as_object().unwrap().values().all(|value| check_shape(value).is_ok()));
                assert_eq!(decode_item(read).unwrap(), item);
            }
            assert_eq!(json.as_object(), Some(&rest));
        }
    }
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
