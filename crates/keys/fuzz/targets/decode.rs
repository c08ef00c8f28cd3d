//! Whatever decodes encodes to the same bytes, and goes through JSON unchanged; whatever does not
//! has a field and an offset.
#![no_main]

mod schemas;

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    let Some((schema, key)) = schemas::pick(input) else { return };
    match schema.decode(key) {
        Ok(values) => {
            assert_eq!(schema.encode(&values).unwrap(), key);
            let json = schema.values_to_json(&values);
            let again = schema.values_from_json(&json).unwrap();
            assert_eq!(schema.encode(&again).unwrap(), key, "{json}");
        }
        Err(error) if key.len() <= stonecrop_keys::MAX_KEY_BYTES => {
            assert!(error.field().is_some() && error.offset().unwrap() <= key.len(), "{error}");
        }
        Err(_) => {}
    }
});
