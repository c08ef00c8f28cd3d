//! Parameters as the service repeats them in its messages, which is as Java prints them.

use serde_json::Value as Json;

/// What is longer is only hinted at: a message should not be as long as its request.
const MOST_SHOWN: usize = 1_000;

/// A parameter of a few words, lists or maps.
pub(super) fn shown(json: &Json) -> String {
    match json {
        Json::String(text) => text.clone(),
        Json::Array(list) => shown_list(list),
        Json::Object(fields) => {
            let field = |(name, json)| format!("{name}={}", shown(json));
            in_brackets("{", fields.iter().map(field), "}")
        }
        other => other.to_string(),
    }
}

pub(super) fn shown_list(list: &[Json]) -> String {
    in_brackets("[", list.iter().map(shown), "]")
}

/// The attributes of a key.
pub(super) fn shown_key(schema: &[Json]) -> String {
    let element = |json: &Json| {
        let word = |name: &str| shown(&json[name]);
        format!(
            "KeySchemaElement(attributeName={}, keyType={})",
            word("AttributeName"),
            word("KeyType")
        )
    };
    in_brackets("[", schema.iter().map(element), "]")
}

fn in_brackets(open: &str, parts: impl Iterator<Item = String>, close: &str) -> String {
    let mut text = open.to_owned();
    for (number, part) in parts.enumerate() {
        if number > 0 {
            text.push_str(", ");
        }
        if text.len() + part.len() > MOST_SHOWN {
            text.push_str("...");
            break;
        }
        text.push_str(&part);
    }
    text + close
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn lists_and_maps_are_shown_without_quotes() {
        let json = json!({"a": [{"b": "c"}, 1], "d": null});
        assert_eq!(shown(&json), "{a=[{b=c}, 1], d=null}");
        let key = [json!({"AttributeName": "pk", "KeyType": "HASH"}), json!({})];
        assert_eq!(
            shown_key(&key),
            "[KeySchemaElement(attributeName=pk, keyType=HASH), \
             KeySchemaElement(attributeName=null, keyType=null)]"
        );
    }

    #[test]
    fn what_is_long_is_cut_short() {
        let long = json!([["x".repeat(400), "y".repeat(700)], "z".repeat(700)]);
        assert_eq!(shown(&long), format!("[[{}, ...], ...]", "x".repeat(400)));
        assert_eq!(shown(&json!({"t": ["x".repeat(5_000)]})), "{t=[...]}");
    }
}
