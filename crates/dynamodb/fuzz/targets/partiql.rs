//! Text is a statement or an error, and what is a statement can be evaluated.
#![no_main]

use serde_json::json;
use stonecrop_dynamodb::partiql::{Statement, parse, split_key};
use stonecrop_dynamodb::value::decode_item;

libfuzzer_sys::fuzz_target!(|text: &str| {
    let item =
        decode_item(json!({"a": {"L": [{"N": "1"}]}, "b": {"M": {"c": {"S": "x"}}}})).unwrap();
    let Ok(statement) = parse(text, vec![1.into()]).or_else(|_| parse(text, vec![])) else {
        return;
    };
    let condition = match statement {
        Statement::Select(select) | Statement::Exists(select) => {
            if let Some(projection) = select.projection {
                projection.apply(&item);
            }
            select.condition
        }
        Statement::Update(update) => {
            let _ = update.update.apply(&item);
            Some(update.condition)
        }
        Statement::Delete(delete) => Some(delete.condition),
        _ => None,
    };
    if let Some(condition) = condition {
        let all = condition.matches(&item);
        let (key, rest) = split_key(condition, &["a", "b"]);
        if key.tests().is_empty() {
            assert_eq!(rest.is_none_or(|rest| rest.matches(&item)), all);
        }
    }
});
