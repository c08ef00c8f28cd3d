//! Key conditions, and the keys that they fit.

use serde_json::json;
use stonecrop_dynamodb::expression::{
    Condition, KeyAttribute, KeyConditions, KeySearch, KeyTest, Placeholders,
};
use stonecrop_dynamodb::value::AttributeType;
use stonecrop_dynamodb::{Error, Result};

fn conditions(text: &str) -> Result<KeyConditions> {
    let values = json!({
        ":s": {"S": "s"}, ":t": {"S": "t"}, ":n": {"N": "1"}, ":m": {"N": "2"}, ":b": {"B": "YQ=="},
    });
    let mut placeholders = Placeholders::from_json(None, Some(values)).unwrap();
    let condition = Condition::parse_key_condition(text, &mut placeholders).expect(text);
    KeyConditions::new(&condition)
}

fn string(name: &str) -> KeyAttribute<'_> {
    KeyAttribute::new(name, AttributeType::String)
}

fn search(text: &str, partition: &[&str], sort: &[&str]) -> Result<KeySearch> {
    let partition: Vec<_> = partition.iter().map(|name| string(name)).collect();
    let sort: Vec<_> = sort.iter().map(|name| string(name)).collect();
    conditions(text).expect(text).search(&partition, &sort)
}

fn message<T: std::fmt::Debug>(result: Result<T, Error>) -> String {
    result.unwrap_err().message().to_owned()
}

#[test]
fn what_is_no_key_condition_is_refused() {
    let operator = "Invalid operator used in KeyConditionExpression: ";
    let invalid = "Invalid condition in KeyConditionExpression: ";
    for (text, expected) in [
        ("a > b AND size(b) > c OR a > c", format!("{operator}OR")),
        ("a IN (b, size(c), d)", format!("{operator}IN")),
        ("attribute_exists(a)", format!("{operator}attribute_exists")),
        ("attribute_not_exists(a)", format!("{operator}attribute_not_exists")),
        ("contains(a.d, b)", format!("{operator}contains")),
        ("NOT a > b", format!("{operator}NOT")),
        ("a <> b", format!("{operator}<>")),
        (
            ":n BETWEEN size(b) AND size(a) AND b > :n",
            format!("{invalid}BETWEEN operator must have the key attribute as its first operand"),
        ),
        (
            "begins_with(:s, b) AND a > :s",
            format!(
                "{invalid}begins_with operator must have the key attribute as its first operand"
            ),
        ),
        (
            "size(b) > a AND a.b > b",
            "KeyConditionExpressions cannot contain nested operations".into(),
        ),
        ("a > size(b.d)", "KeyConditionExpressions cannot contain nested operations".into()),
        ("b > a.b", format!("{invalid}Multiple attribute names used in one condition")),
        ("begins_with(a, b)", format!("{invalid}Multiple attribute names used in one condition")),
        ("a.d > c", "KeyConditionExpressions cannot have conditions on nested attributes".into()),
        ("a[0] > c", "KeyConditionExpressions cannot have conditions on nested attributes".into()),
        (":n > :m AND a < :n", format!("{invalid}No key attribute specified")),
        (
            "b > :n AND b < :n AND c = :n",
            "KeyConditionExpressions must only contain one condition per key".into(),
        ),
    ] {
        assert_eq!(message(conditions(text)), expected, "{text}");
    }
}

#[test]
fn a_partition_and_a_range_of_it_are_found_in_either_order() {
    let expected = KeySearch {
        partition: vec!["s".into()],
        sort: vec![],
        range: Some(KeyTest::Above("t".into())),
    };
    for text in ["p = :s AND c > :t", "(:t < c) AND (:s = p)"] {
        assert_eq!(search(text, &["p"], &["c"]).unwrap(), expected);
    }
    let all = search("p = :s", &["p"], &["c"]).unwrap();
    assert_eq!((all.sort.len(), all.range), (0, None));
    let one = search("p = :s AND c = :t", &["p"], &["c"]).unwrap();
    assert_eq!((one.sort, one.range), (vec!["t".into()], None));
    for text in ["p = :s AND begins_with(c, :t)", "p = :s AND c BETWEEN :s AND :t"] {
        assert!(search(text, &["p"], &["c"]).unwrap().range.is_some());
    }
}

#[test]
fn conditions_that_do_not_fit_the_key_are_refused() {
    let not_supported = "Query key condition not supported";
    let missed = "Query condition missed key schema element: ";
    let wrong_type = "One or more parameter values were invalid: \
                      Condition parameter type does not match schema type";
    for (text, sort, expected) in [
        ("p > :s", &["c"][..], not_supported.to_owned()),
        ("begins_with(p, :s)", &["c"], not_supported.to_owned()),
        ("p = :s AND c = :t", &[], not_supported.to_owned()),
        ("c = :s", &["c"], format!("{missed}p")),
        ("p = :s AND d = :n", &["c"], format!("{missed}c")),
        ("p = :n", &["c"], wrong_type.to_owned()),
        ("p > :n", &["c"], wrong_type.to_owned()),
        ("p = :s AND c > :b", &["c"], wrong_type.to_owned()),
        (
            "p = :s AND c = :s AND d = :s",
            &["c"],
            "Conditions can be of length 1 or 2 only".to_owned(),
        ),
    ] {
        assert_eq!(message(search(text, &["p"], sort)), expected, "{text}");
    }
}

#[test]
fn keys_of_many_attributes_are_given_from_the_left() {
    let (partition, sort) = (["p", "q"], ["c", "d", "e"]);
    let search = |text| search(text, &partition, &sort);
    let found = search("q = :t AND p = :s AND c = :s AND d >= :t").unwrap();
    assert_eq!(found.partition, ["s".into(), "t".into()]);
    assert_eq!(found.sort, ["s".into()]);
    assert_eq!(found.range, Some(KeyTest::AtLeast("t".into())));
    let all = search("p = :s AND q = :s AND c = :s AND d = :s AND e = :s").unwrap();
    assert_eq!((all.sort.len(), all.range), (3, None));

    let not_supported = "Query key condition not supported";
    let missed = |name: &str| format!("Query condition missed key schema element: {name}");
    assert_eq!(message(search("p = :s")), missed("q"));
    assert_eq!(message(search("p = :s AND q > :s")), not_supported);
    let order = |earlier: &str, later: &str| {
        format!(
            "RANGE key attributes {earlier} must have equality conditions specified in the query \
             because a condition is present on key attribute {later}"
        )
    };
    assert_eq!(message(search("p = :s AND q = :s AND d = :s")), order("c", "d"));
    assert_eq!(message(search("p = :s AND q = :s AND c > :s AND d = :s")), order("c", "d"));
    assert_eq!(message(search("p = :s AND q = :s AND x = :s")), missed("c"));
    assert_eq!(
        message(search("p = :s AND q = :s AND c = :s AND d = :s AND e = :s AND x = :s")),
        not_supported
    );
}
