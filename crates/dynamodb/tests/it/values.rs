//! Values to and from JSON, and what is refused.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use serde_json::{Map, Value as Json, json};
use stonecrop::Value;
use stonecrop::keys::{Date, Decimal, Uuid};
use stonecrop_dynamodb::ErrorKind;
use stonecrop_dynamodb::value::{
    AttributeType, ItemAction, ItemWrite, check_shape, decode, decode_item, encode, encode_item,
    equal, item_size, read_actions, read_item, read_json, read_writes, value_size,
};

fn refused(json: Json) -> (ErrorKind, String) {
    let error = decode(json.clone()).expect_err(&json.to_string());
    (error.kind(), error.message().to_owned())
}

#[test]
fn values_that_break_a_rule_are_refused_in_the_services_words() {
    let invalid = "One or more parameter values were invalid: ";
    let empty =
        "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes";
    let many = "Supplied AttributeValue has more than one datatypes set, \
                must contain exactly one of the supported datatypes";
    for (json, message) in [
        (json!({}), empty.to_owned()),
        (json!({"a": ""}), empty.to_owned()),
        (json!({"S": null}), empty.to_owned()),
        (json!({"S": "a", "N": "1"}), many.to_owned()),
        (json!({"S": "a", "N": ""}), "The parameter cannot be converted to a numeric value".into()),
        (
            json!({"NULL": false}),
            format!("{invalid}Null attribute value types must have the value of true"),
        ),
        (json!({"SS": []}), format!("{invalid}An string set  may not be empty")),
        (json!({"NS": []}), format!("{invalid}An number set  may not be empty")),
        (json!({"BS": []}), format!("{invalid}Binary sets should not be empty")),
        (
            json!({"SS": ["a", "a"]}),
            format!("{invalid}Input collection [a, a] contains duplicates."),
        ),
        (json!({"NS": ["1", "1.0"]}), "Input collection contains duplicates".into()),
        (
            json!({"BS": ["YQ==", "YQ=="]}),
            format!("{invalid}Input collection [YQ==, YQ==]of type BS contains duplicates."),
        ),
        (json!({"L": [{"M": {"a": {}}}]}), empty.to_owned()),
    ] {
        assert_eq!(check_shape(&json), Ok(()), "{json}");
        assert_eq!(refused(json), (ErrorKind::Validation, message));
    }
}

#[test]
fn json_of_another_shape_is_refused_as_such() {
    for (json, message) in [
        (json!("a"), "Unexpected value type in payload"),
        (
            json!([]),
            "Unrecognized collection type class com.amazonaws.dynamodb.v20120810.AttributeValue",
        ),
        (json!({"S": true}), "TRUE_VALUE cannot be converted to String"),
        (json!({"N": 1}), "NUMBER_VALUE cannot be converted to String"),
        (json!({"N": 1.5}), "DECIMAL_VALUE cannot be converted to String"),
        (json!({"S": []}), "Unrecognized collection type class java.lang.String"),
        (json!({"S": {}}), "Start of structure or map found where not expected"),
        (json!({"BOOL": "perhaps"}), "Unexpected token received from parser"),
        (json!({"BOOL": 1}), "NUMBER_VALUE cannot be converted to Boolean"),
        (json!({"B": true}), "only base-64-encoded strings are convertible to bytes"),
        (
            json!({"B": "YQ"}),
            "Base64 encoded length is expected a multiple of 4 bytes but found: 2",
        ),
        (json!({"B": "YQ=a"}), "Invalid last non-pad Base64 character dectected"),
        (json!({"B": "YR=="}), "Invalid last non-pad Base64 character dectected"),
        (json!({"L": {}}), "Start of structure or map found where not expected"),
        (json!({"SS": "a"}), "Unexpected field type"),
        (json!({"NS": [1]}), "NUMBER_VALUE cannot be converted to String"),
        (json!({"M": "a"}), "Unexpected field type"),
        (json!({"L": [1]}), "Unexpected value type in payload"),
    ] {
        let error = check_shape(&json).expect_err(&json.to_string());
        assert_eq!(error.message(), message, "{json}");
        assert_eq!(refused(json), (ErrorKind::Serialization, message.to_owned()));
    }
}

#[test]
fn booleans_can_be_words() {
    assert_eq!(decode(json!({"BOOL": "yes"})).unwrap(), Value::Bool(true));
    assert_eq!(decode(json!({"BOOL": "False"})).unwrap(), Value::Bool(false));
    assert_eq!(decode(json!({"NULL": "1"})).unwrap(), Value::Null);
}

#[test]
fn json_of_ten_thousand_levels_is_an_error_and_not_the_end_of_the_stack() {
    for open in [r#"{"L":["#, r#"{"M":{"a":"#, "[", r#"{"a":"#] {
        let error = read_json(open.repeat(10_000).as_bytes()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Validation);
    }
    assert_eq!(read_json(b"{").unwrap_err().kind(), ErrorKind::Serialization);
    // As deep as JSON is read at all.
    let deep = format!("{}{}", r#"{"L":["#.repeat(63), "]}".repeat(63));
    let json = read_json(deep.as_bytes()).unwrap();
    assert_eq!(check_shape(&json), Ok(()));
    assert!(refused(json).1.starts_with("Nesting Levels"));
}

#[test]
fn native_types_are_told_as_the_nearest_of_the_service() {
    for (value, json) in [
        (Value::Int(-5), json!({"N": "-5"})),
        (Value::Float(1.5e3), json!({"N": "1500"})),
        (Value::Float(f64::INFINITY), json!({"S": "inf"})),
        (Value::Float(-0.0), json!({"N": "0"})),
        (Value::Date(Date(0)), json!({"S": "1970-01-01"})),
        (Value::Uuid(Uuid([0; 16])), json!({"S": "00000000-0000-0000-0000-000000000000"})),
    ] {
        assert_eq!(encode(&value), json);
        assert!(equal(&value, &decode(json).unwrap()));
    }
    let time = stonecrop::Timestamp::from_micros(0);
    assert_eq!(encode(&Value::Timestamp(time)), json!({"S": "1970-01-01T00:00:00Z"}));
}

#[test]
fn sizes_are_those_of_the_service() {
    for (json, size) in [
        (json!({"S": "a€"}), 4),
        (json!({"N": "0"}), 1),
        (json!({"N": "-12.5"}), 4),
        (json!({"N": "12345678901234567890123456789012345678"}), 20),
        (json!({"B": "YWJj"}), 3),
        (json!({"BOOL": false}), 1),
        (json!({"SS": ["a", "bc"]}), 3),
        (json!({"NS": ["1", "22"]}), 4),
        (json!({"L": []}), 3),
        (json!({"M": {"ab": {"S": "c"}}}), 3 + 1 + 2 + 1),
        (json!({"L": [{"L": [{"NULL": true}]}]}), 3 + 1 + 3 + 1 + 1),
    ] {
        assert_eq!(value_size(&decode(json.clone()).unwrap()), size, "{json}");
    }
}

/// Any value that a client can write.
pub(crate) fn any_value() -> impl Strategy<Value = Value> {
    let number = || {
        (any::<i64>(), -60i32..60).prop_map(|(digits, exponent)| -> Decimal {
            format!("{digits}e{exponent}").parse().unwrap()
        })
    };
    let bytes = || prop::collection::vec(any::<u8>(), 0..4);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        number().prop_map(Value::Decimal),
        "\\PC{0,6}".prop_map(Value::String),
        bytes().prop_map(Value::Bytes),
        prop::collection::btree_set("\\PC{0,3}", 1..4).prop_map(Value::StringSet),
        prop::collection::btree_set(number(), 1..4).prop_map(Value::NumberSet),
        prop::collection::btree_set(bytes(), 1..4).prop_map(Value::BytesSet),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::List),
            prop::collection::btree_map("\\PC{0,3}", inner, 0..4).prop_map(Value::Map),
        ]
    })
}

/// JSON that is nearly a value.
fn any_json() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        any::<i32>().prop_map(Json::from),
        "[a1=Y-]{0,4}".prop_map(Json::from),
    ];
    let code =
        prop::sample::select(vec!["S", "N", "B", "BOOL", "NULL", "M", "L", "SS", "NS", "BS", "x"]);
    leaf.prop_recursive(5, 24, 3, move |inner| {
        let field = (code.clone().prop_map(str::to_owned), inner.clone());
        prop_oneof![
            prop::collection::vec(inner, 0..3).prop_map(Json::from),
            prop::collection::vec(field, 0..3)
                .prop_map(|fields| Json::Object(fields.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn a_value_comes_back_from_its_json(value in any_value()) {
        let json = encode(&value);
        prop_assert_eq!(json.as_object().unwrap().len(), 1);
        prop_assert!(json.get(AttributeType::of(&value).code()).is_some());
        prop_assert_eq!(check_shape(&json), Ok(()));
        let again = decode(json).unwrap();
        prop_assert!(equal(&value, &again));
        prop_assert_eq!(again, value);
    }

    #[test]
    fn any_json_is_a_value_or_an_error(json in any_json()) {
        let shape = check_shape(&json);
        match decode(json) {
            Ok(value) => {
                prop_assert_eq!(shape, Ok(()));
                prop_assert_eq!(decode(encode(&value)).unwrap(), value);
            }
            Err(error) if error.kind() == ErrorKind::Serialization => {
                prop_assert!(shape.is_err());
            }
            Err(_) => {}
        }
    }

    #[test]
    fn an_item_is_read_from_bytes_as_it_was_told(
        item in prop::collection::btree_map("\\PC{0,3}", any_value(), 0..5),
    ) {
        let request = json!({"Item": encode_item(&item)}).to_string();
        prop_assert_eq!(read_item(request.as_bytes(), "Item"), Some((Map::new(), item.clone())));
        let (put, delete) = (encode_item(&item), encode_item(&item));
        let writes = json!([{"PutRequest": {"Item": put}}, {"DeleteRequest": {"Key": delete}}]);
        let request = json!({"RequestItems": {"a": writes, "b": []}, "x": 1}).to_string();
        let writes = vec![ItemWrite::Put(item.clone()), ItemWrite::Delete(item.clone())];
        let tables = BTreeMap::from([("a".to_owned(), writes), ("b".to_owned(), Vec::new())]);
        let rest = Map::from_iter([("x".to_owned(), 1.into())]);
        prop_assert_eq!(read_writes(request.as_bytes()), Some((rest.clone(), tables)));
        let kinds = ItemAction::KINDS.into_iter();
        let told = kinds.clone().map(|kind| {
            json!({kind: {ItemAction::item_of(kind): encode_item(&item), "x": 1}})
        });
        let request = json!({"TransactItems": told.collect::<Json>(), "x": 1}).to_string();
        let action = |kind| ItemAction { kind, parameters: rest.clone(), item: item.clone() };
        let actions = kinds.map(action).collect();
        prop_assert_eq!(read_actions(request.as_bytes()), Some((rest.clone(), actions)));
    }

    #[test]
    fn what_is_read_from_bytes_is_what_its_json_is(value in any_json(), other in any_json()) {
        let request = json!({"Item": {"a": value}, "x": other});
        if let Some((rest, item)) = read_item(request.to_string().as_bytes(), "Item") {
            prop_assert_eq!(check_shape(&value), Ok(()));
            prop_assert_eq!(decode_item(json!({"a": value})), Ok(item));
            prop_assert_eq!(Json::from(rest), json!({"x": other}));
        }
    }

    #[test]
    fn the_size_of_an_item_is_that_of_its_names_and_values(value in any_value()) {
        let item = BTreeMap::from([("name".to_owned(), value.clone())]);
        prop_assert_eq!(item_size(&item), 4 + value_size(&value));
        let nested = Value::Map(item.clone());
        prop_assert_eq!(value_size(&nested), 3 + 1 + item_size(&item));
    }

    #[test]
    fn equality_holds_both_ways(a in any_value(), b in any_value()) {
        prop_assert!(equal(&a, &a));
        prop_assert_eq!(equal(&a, &b), equal(&b, &a));
        prop_assert_eq!(equal(&a, &b), a == b);
    }
}

#[test]
fn a_set_of_the_same_elements_is_the_same_set() {
    let set = |texts: [&str; 2]| decode(json!({"SS": texts})).unwrap();
    assert_eq!(set(["a", "b"]), set(["b", "a"]));
    assert_eq!(set(["a", "b"]), Value::StringSet(BTreeSet::from(["a".into(), "b".into()])));
}

#[test]
fn a_batch_that_is_not_simple_is_not_read_from_bytes() {
    let put = r#""PutRequest": {"Item": {"a": {"S": "1"}}}"#;
    let batch = |write: &str| format!(r#"{{"RequestItems": {{"people": [{{{write}}}]}}}}"#);
    assert!(read_writes(batch(put).as_bytes()).is_some());
    let delete = r#""DeleteRequest": {"Key": {"a": {"S": "1"}}}"#;
    for request in [
        batch(""),
        batch(&format!("{put}, {put}")),
        batch(&format!("{put}, {delete}")),
        batch(&format!(r#"{put}, "more": 1"#)),
        batch(r#""PutRequest": null"#),
        batch(r#""PutRequest": {}"#),
        batch(r#""PutRequest": {"Item": null}"#),
        batch(r#""PutRequest": {"Key": {"a": {"S": "1"}}}"#),
        batch(r#""PutRequest": {"Item": {"a": {"S": "1"}}, "more": 1}"#),
        batch(r#""PutRequest": {"Item": {"a": {"N": "one"}}}"#),
        batch(r#""OtherRequest": {"Item": {"a": {"S": "1"}}}"#),
        r#"{"RequestItems": {"people": [], "people": []}}"#.to_owned(),
        r#"{"RequestItems": {"people": {}}}"#.to_owned(),
        r#"{"RequestItems": {"people": [null]}}"#.to_owned(),
        r#"{"RequestItems": []}"#.to_owned(),
        "{}".to_owned(),
    ] {
        assert_eq!(read_writes(request.as_bytes()), None, "{request}");
    }
}

#[test]
fn a_transaction_that_is_not_simple_is_not_read_from_bytes() {
    let put = r#""Put": {"TableName": "people", "Item": {"a": {"S": "1"}}}"#;
    let transaction = |action: &str| format!(r#"{{"TransactItems": [{{{action}}}]}}"#);
    assert!(read_actions(transaction(put).as_bytes()).is_some());
    for request in [
        transaction(""),
        transaction(&format!("{put}, {put}")),
        transaction(&format!(r#"{put}, "Delete": null"#)),
        transaction(r#""Put": null"#),
        transaction(r#""Put": {}"#),
        transaction(r#""Put": {"Item": null}"#),
        transaction(r#""Put": {"Key": {"a": {"S": "1"}}}"#),
        transaction(r#""Update": {"Item": {"a": {"S": "1"}}}"#),
        transaction(r#""Put": {"Item": {"a": {"N": "one"}}}"#),
        transaction(r#""Put": {"Item": {}, "TableName": "a", "TableName": "b"}"#),
        transaction(r#""Get": {"Key": {"a": {"S": "1"}}}"#),
        r#"{"TransactItems": [null]}"#.to_owned(),
        r#"{"TransactItems": {}}"#.to_owned(),
        r#"{"TransactItems": [], "TransactItems": []}"#.to_owned(),
        "{}".to_owned(),
    ] {
        assert_eq!(read_actions(request.as_bytes()), None, "{request}");
    }
}

#[test]
fn an_item_that_is_not_simple_is_not_read_from_bytes() {
    let deep = |levels| (1..levels).fold(json!({"S": ""}), |inner, _| json!({"L": [inner]}));
    for value in [
        json!({}),
        json!({"S": null}),
        json!({"S": "a", "N": "1"}),
        json!({"S": "a", "other": null}),
        json!({"N": "one"}),
        json!({"N": 1}),
        json!({"BOOL": "true"}),
        json!({"NULL": false}),
        json!({"SS": ["a", "a"]}),
        json!({"B": "YQ"}),
        json!({"M": []}),
        json!({"L": [{"M": {"a": {}}}]}),
        json!([]),
        json!("a"),
        deep(33),
    ] {
        let request = json!({"Item": {"a": value}}).to_string();
        assert_eq!(read_item(request.as_bytes(), "Item"), None, "{request}");
    }
    for request in [
        r#"{"Item": {"a": {"S": "1"}, "a": {"S": "2"}}}"#,
        r#"{"Item": {"a": {"S": "1", "S": "2"}}}"#,
        r#"{"Item": {}, "Item": {}}"#,
        r#"{"TableName": "a", "TableName": "b"}"#,
        r#"{"Item": null}"#,
        r#"{"Item": {}} more"#,
        r#"{"Item": {"a": {"S": "1"}"#,
        "[]",
        "",
    ] {
        assert_eq!(read_item(request.as_bytes(), "Item"), None, "{request}");
    }
    let request = json!({"Item": {"a": deep(32)}}).to_string();
    assert!(read_item(request.as_bytes(), "Item").is_some());
}

#[test]
fn an_item_of_all_types_is_the_same_with_json_in_between_and_without() {
    let item = json!({
        "text \u{1f600} \"": {"S": "a\n\u{e9}"}, "number": {"N": "-1.50E3"}, "bytes": {"B": "YQ=="},
        "true": {"BOOL": true}, "null": {"NULL": true}, "list": {"L": [{"N": "1"}, {"L": []}]},
        "map": {"M": {"a": {"M": {}}, "": {"S": ""}}}, "texts": {"SS": ["b", "a"]},
        "numbers": {"NS": ["2", "1"]}, "blobs": {"BS": ["Yg==", "YQ=="]},
    });
    let request = json!({"TableName": "t", "Item": item, "ReturnValues": null, "Limit": 1.5});
    let (rest, read) = read_item(request.to_string().as_bytes(), "Item").unwrap();
    assert_eq!(read, decode_item(item).unwrap());
    assert_eq!(Json::from(rest), json!({"TableName": "t", "ReturnValues": null, "Limit": 1.5}));
}
