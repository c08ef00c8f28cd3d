//! Every byte is in exactly one part, and explain agrees with decode.
#![no_main]

mod schemas;

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    let Some((schema, key)) = schemas::pick(input) else { return };
    let explanation = schema.explain(key);
    let mut at = 0;
    for part in &explanation.parts {
        assert!(part.start == at && part.end > at);
        assert!(part.field <= schema.fields().len());
        at = part.end;
    }
    assert_eq!(at, key.len());
    match (schema.decode(key), explanation.error) {
        (Ok(values), None) => assert_eq!(values.len(), explanation.values.len()),
        (Err(decode), Some(explain)) => assert_eq!(decode, explain),
        (decode, explain) => panic!("decode {decode:?}, explain {explain:?}"),
    }
});
