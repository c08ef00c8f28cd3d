//! The older parameters: what they refuse, and what they mean.

use serde_json::{Value as Json, json};
use stonecrop_dynamodb::Result;
use stonecrop_dynamodb::expression::KeyAttribute;
use stonecrop_dynamodb::legacy::{
    Filter, attribute_updates, check_conditional_operator, check_parameters, expected, filter,
    key_conditions,
};
use stonecrop_dynamodb::value::{AttributeType, decode_item, encode_item};

const INVALID: &str = "One or more parameter values were invalid: ";

fn message<T: std::fmt::Debug>(result: Result<T>) -> String {
    result.unwrap_err().message().to_owned()
}

fn compared(operator: &str, values: Json) -> Json {
    json!({"a": {"ComparisonOperator": operator, "AttributeValueList": values}})
}

#[test]
fn an_expectation_is_a_value_an_absence_or_a_comparison() {
    let value = json!({"S": "a"});
    for (fields, problem) in [
        (json!({}), "Value must be provided when Exists is null for Attribute: a"),
        (json!({"Exists": true}), "Value must be provided when Exists is true for Attribute: a"),
        (
            json!({"Exists": false, "Value": value}),
            "Value cannot be used when Exists is false for Attribute: a",
        ),
        (
            json!({"Value": value, "AttributeValueList": [value]}),
            "Value and AttributeValueList cannot be used together for Attribute: a",
        ),
        (
            json!({"AttributeValueList": [value]}),
            "AttributeValueList can only be used with a ComparisonOperator for Attribute: a",
        ),
        (
            json!({"ComparisonOperator": "LT", "Exists": true}),
            "Exists and ComparisonOperator cannot be used together for Attribute: a",
        ),
        (
            json!({"ComparisonOperator": "LT"}),
            "Value or AttributeValueList must be used with ComparisonOperator: LT for Attribute: a",
        ),
        (
            json!({"ComparisonOperator": "NULL", "Value": value}),
            "Invalid number of argument(s) for the NULL ComparisonOperator",
        ),
    ] {
        assert_eq!(message(expected(json!({"a": fields}), None)), format!("{INVALID}{problem}"));
    }
}

#[test]
fn operators_take_values_in_their_number_and_of_their_types() {
    let (one, two) = (json!([{"S": "a"}]), json!([{"S": "a"}, {"S": "a"}]));
    let none = json!([]);
    for (operator, values) in [
        ("EQ", &none),
        ("EQ", &two),
        ("NULL", &one),
        ("NOT_NULL", &one),
        ("IN", &none),
        ("BETWEEN", &one),
        ("CONTAINS", &two),
        ("BEGINS_WITH", &none),
    ] {
        let expected =
            format!("{INVALID}Invalid number of argument(s) for the {operator} ComparisonOperator");
        assert_eq!(
            message(filter(Filter::Query, compared(operator, values.clone()), None)),
            expected
        );
        assert_eq!(message(key_conditions(compared(operator, values.clone()))), expected);
    }
    for (operator, value, code) in [
        ("LT", json!({"BOOL": true}), "BOOL"),
        ("IN", json!({"NULL": true}), "NULL"),
        ("GE", json!({"SS": ["a"]}), "SS"),
        ("CONTAINS", json!({"M": {}}), "M"),
        ("NOT_CONTAINS", json!({"NS": ["1"]}), "NS"),
        ("BEGINS_WITH", json!({"N": "1"}), "N"),
    ] {
        assert_eq!(
            message(filter(Filter::Scan, compared(operator, json!([value])), None)),
            format!(
                "{INVALID}ComparisonOperator {operator} is not valid for {code} AttributeValue type"
            )
        );
    }
    assert_eq!(
        message(filter(Filter::Scan, compared("IN", json!([{"S": "a"}, {"N": "1"}])), None)),
        format!("{INVALID}AttributeValues inside AttributeValueList must be of same type")
    );
    assert_eq!(
        message(filter(Filter::Scan, compared("BETWEEN", json!([{"S": "b"}, {"S": "a"}])), None)),
        "The BETWEEN condition was provided a range where the lower bound is greater than the \
         upper bound"
    );
    assert_eq!(
        message(filter(Filter::Scan, compared("LIKE", one), None)),
        "1 validation error detected: Value 'LIKE' at 'scanFilter.a.member.comparisonOperator' \
         failed to satisfy constraint: Member must satisfy enum value set: [IN, NULL, BETWEEN, LT, \
         NOT_CONTAINS, EQ, GT, NOT_NULL, NE, LE, BEGINS_WITH, GE, CONTAINS]"
    );
}

#[test]
fn conditions_mean_what_their_expressions_mean() {
    let item = || json!({"a": {"S": "abc"}, "n": {"N": "5"}, "l": {"L": [{"N": "1"}]}});
    for (name, operator, values, is_true) in [
        ("a", "EQ", json!([{"S": "abc"}]), true),
        ("a", "NE", json!([{"S": "abc"}]), false),
        ("gone", "NE", json!([{"S": "abc"}]), true),
        ("n", "LT", json!([{"N": "10"}]), true),
        ("n", "GE", json!([{"S": "10"}]), false),
        ("n", "BETWEEN", json!([{"N": "5"}, {"N": "6"}]), true),
        ("n", "IN", json!([{"N": "4"}, {"N": "5.0"}]), true),
        ("a", "BEGINS_WITH", json!([{"S": "ab"}]), true),
        ("a", "CONTAINS", json!([{"S": "bc"}]), true),
        ("l", "CONTAINS", json!([{"N": "1"}]), true),
        ("a", "NOT_CONTAINS", json!([{"S": "x"}]), true),
        ("n", "NOT_CONTAINS", json!([{"S": "x"}]), true),
        ("gone", "NOT_CONTAINS", json!([{"S": "x"}]), false),
        ("gone", "NULL", json!([]), true),
        ("a", "NOT_NULL", json!([]), true),
    ] {
        let test = json!({name: {"ComparisonOperator": operator, "AttributeValueList": values}});
        let item = decode_item(item()).unwrap();
        let condition = filter(Filter::Query, test.clone(), None).unwrap();
        assert_eq!(condition.matches(&item), is_true, "{test}");
        assert_eq!(expected(test, None).unwrap(), condition);
    }
}

#[test]
fn names_are_names_and_no_paths() {
    let condition = expected(json!({"a.b[0]": {"Exists": false}}), None).unwrap();
    assert!(condition.matches(&decode_item(json!({"a": {"S": "x"}})).unwrap()));
    assert!(!condition.matches(&decode_item(json!({"a.b[0]": {"S": "x"}})).unwrap()));
}

#[test]
fn conditions_are_joined_by_and_or_or() {
    let item = decode_item(json!({"a": {"N": "1"}})).unwrap();
    let both = || json!({"a": {"Value": {"N": "1"}}, "b": {"Value": {"N": "1"}}});
    assert!(!expected(both(), None).unwrap().matches(&item));
    assert!(!expected(both(), Some("AND")).unwrap().matches(&item));
    assert!(expected(both(), Some("OR")).unwrap().matches(&item));
    assert!(message(expected(both(), Some("XOR"))).contains("[OR, AND]"));
    assert!(check_conditional_operator(Some("OR"), 2).is_ok());
    assert!(check_conditional_operator(Some("OR"), 1).is_err());
}

#[test]
fn key_conditions_fit_keys_as_expressions_do() {
    let partition = [KeyAttribute::new("a", AttributeType::String)];
    let search = |json| key_conditions(json).unwrap().search(&partition, &[]);
    assert!(search(compared("EQ", json!([{"S": "a"}]))).is_ok());
    assert_eq!(
        message(search(compared("IN", json!([{"S": "a"}])))),
        "Attempted conditional constraint is not an indexable operation"
    );
    assert_eq!(
        message(search(compared("LE", json!([{"S": "a"}])))),
        "Query key condition not supported"
    );
}

#[test]
fn updates_put_add_and_delete() {
    let update = attribute_updates(json!({
        "l": {"Action": "ADD", "Value": {"L": [{"N": "2"}]}},
        "n": {"Action": "ADD", "Value": {"N": "2"}},
        "new": {"Action": "ADD", "Value": {"SS": ["a"]}},
        "s": {"Action": "DELETE", "Value": {"SS": ["a"]}},
        "gone": {"Action": "DELETE", "Value": {"SS": ["a"]}},
    }))
    .unwrap();
    let item = json!({"l": {"L": [{"N": "1"}]}, "n": {"N": "1"}, "s": {"SS": ["a", "b"]}});
    let updated = update.apply(&decode_item(item).unwrap()).unwrap();
    assert_eq!(
        encode_item(&updated),
        json!({
            "l": {"L": [{"N": "1"}, {"N": "2"}]}, "n": {"N": "3"}, "new": {"SS": ["a"]},
            "s": {"SS": ["b"]},
        })
    );
    let text = decode_item(json!({"n": {"S": "a"}})).unwrap();
    assert_eq!(message(update.apply(&text)), "Type mismatch for attribute to update");
}

#[test]
fn updates_that_make_no_sense_are_refused() {
    for (fields, problem) in [
        (json!({}), "Only DELETE action is allowed when no attribute value is specified"),
        (
            json!({"Action": "DELETE", "Value": {"S": "a"}}),
            "DELETE action with value is not supported for the type S",
        ),
        (
            json!({"Action": "ADD", "Value": {"M": {}}}),
            "ADD action is not supported for the type M",
        ),
    ] {
        assert_eq!(message(attribute_updates(json!({"a": fields}))), format!("{INVALID}{problem}"));
    }
}

#[test]
fn parameters_of_both_kinds_can_not_be_mixed() {
    let filter = [
        ("ProjectionExpression", false),
        ("FilterExpression", true),
        ("KeyConditionExpression", false),
    ];
    let keys = [("QueryFilter", false), ("KeyConditions", true)];
    assert!(check_parameters(&filter, &keys, true, true).is_ok());
    let none = [("ProjectionExpression", false), ("FilterExpression", false)];
    assert_eq!(
        message(check_parameters(&none, &[], true, true)),
        "ExpressionAttributeNames can only be specified when using expressions"
    );
    let projection = [("ProjectionExpression", true), ("FilterExpression", false)];
    assert_eq!(
        message(check_parameters(&projection, &[], true, true)),
        "ExpressionAttributeValues can only be specified when using expressions: \
         FilterExpression is null"
    );
}
