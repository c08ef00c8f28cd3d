//! Text is an expression of each kind or an error, and what is one can be evaluated.
#![no_main]

use serde_json::json;
use stonecrop_dynamodb::expression::{Condition, KeyConditions, Placeholders, Projection, Update};
use stonecrop_dynamodb::value::{check_nesting, decode_item};

libfuzzer_sys::fuzz_target!(|text: &str| {
    let placeholders = || {
        Placeholders::from_json(
            Some(json!({"#a": "a", "#b": "b"})),
            Some(json!({
                ":n": {"N": "1"}, ":s": {"S": "a"}, ":l": {"L": [{"N": "1"}]}, ":ss": {"SS": ["a"]},
                ":b": {"B": "YQ=="}, ":t": {"BOOL": true}, ":m": {"M": {"a": {"N": "1"}}},
            })),
        )
        .unwrap()
    };
    let item = decode_item(json!({
        "a": {"L": [{"N": "1"}, {"M": {"a": {"S": "a"}}}]}, "b": {"SS": ["a", "b"]}, "c": {"N": "5"},
    }))
    .unwrap();
    if let Ok(condition) = Condition::parse(text, &mut placeholders()) {
        condition.matches(&item);
        let _ = KeyConditions::new(&condition);
    }
    if let Ok(projection) = Projection::parse(text, &mut placeholders()) {
        let part = projection.apply(&item);
        assert_eq!(projection.apply(&item), part);
    }
    if let Ok(update) = Update::parse(text, &mut placeholders()) {
        update.updated_old(&item);
        if let Ok(updated) = update.apply(&item) {
            check_nesting(&updated).unwrap();
            update.updated_new(&item, &updated).unwrap();
        }
    }
});
