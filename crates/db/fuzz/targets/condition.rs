//! Text is a condition, a value, a path or an error; and what it is comes back from its own text.
#![no_main]

use std::fmt::Debug;

use stonecrop::{Condition, Path, Value};

/// As it is shown, because NaN is not equal to itself.
fn shown(it: &impl Debug) -> String {
    format!("{it:?}")
}

/// A deep value in a deep filter: `{"Not": …}` is not as deep as what it is written as, and
/// serde_json reads no more than 127 arrays and objects in each other.
fn is_too_deep(error: &serde_json::Error) -> bool {
    error.is_syntax() && error.to_string().starts_with("recursion limit exceeded")
}

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    if let Ok(condition) = serde_json::from_slice::<Condition>(input) {
        let text = serde_json::to_string(&condition).unwrap();
        match serde_json::from_str::<Condition>(&text) {
            Ok(again) => assert_eq!(shown(&again), shown(&condition), "{text}"),
            Err(error) => assert!(is_too_deep(&error), "{text}: {error}"),
        }
    }
    if let Ok(value) = serde_json::from_slice::<Value>(input) {
        let text = serde_json::to_string(&value).unwrap();
        let again: Value = serde_json::from_str(&text).expect(&text);
        assert_eq!(shown(&again), shown(&value), "{text}");
    }
    let Ok(text) = std::str::from_utf8(input) else { return };
    match text.parse::<Path>() {
        Ok(path) => {
            assert_eq!(path.to_string().parse::<Path>().expect(text), path);
            assert_eq!(Path::from(text), path);
        }
        Err(_) => assert_eq!(Path::from(text), Path::new(text)),
    }
});
