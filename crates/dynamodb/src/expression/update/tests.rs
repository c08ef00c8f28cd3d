use serde_json::{Value as Json, json};

use super::*;
use crate::value::{decode_item, encode_item};

fn placeholders() -> Placeholders {
    let names = json!({"#a": "a", "#c": "c", "#d": "[3]"});
    let values = json!({
        ":s": {"S": "a"}, ":n": {"N": "1"}, ":b": {"B": "YQ=="}, ":bool": {"BOOL": true},
        ":null": {"NULL": true}, ":l": {"L": [{"N": "9"}]}, ":m": {"M": {}}, ":ss": {"SS": ["a"]},
        ":ns": {"NS": ["1"]}, ":sb": {"SS": ["b"]},
    });
    Placeholders::from_json(Some(names), Some(values)).unwrap()
}

fn parse(text: &str) -> Result<Update> {
    Update::parse(text, &mut placeholders())
}

fn check_problems(cases: &[(&str, &str)]) {
    for (text, expected) in cases {
        let error = parse(text).expect_err(text);
        let problem = error.message().strip_prefix("Invalid UpdateExpression: ").expect(text);
        assert_eq!(problem, *expected, "{text}");
    }
}

fn item() -> Json {
    json!({
        "n": {"N": "5"}, "s": {"S": "text"}, "ss": {"SS": ["a", "b"]}, "one": {"SS": ["a"]},
        "l": {"L": [{"N": "0"}, {"N": "1"}, {"N": "2"}, {"L": [{"S": "x"}, {"S": "y"}]}]},
        "m": {"M": {"x": {"N": "1"}, "tags": {"NS": ["1"]}}},
    })
}

/// What the update makes of the attributes that it is about.
fn updated(text: &str) -> Json {
    let item = decode_item(item()).unwrap();
    let updated = parse(text).expect(text).apply(&item).expect(text);
    let changed: Item =
        updated.into_iter().filter(|(name, value)| item.get(name) != Some(value)).collect();
    encode_item(&changed)
}

fn refused(text: &str) -> String {
    let item = decode_item(item()).unwrap();
    parse(text).expect(text).apply(&item).expect_err(text).message().to_owned()
}

#[test]
fn what_is_no_update_is_a_syntax_error() {
    for text in [
        "whatever",
        "set a",
        "add a",
        "delete a",
        "set a=set",
        "remove a = b",
        "add a = b",
        "delete a = b",
        "delete a b",
        "delete a if_not_exist(b)",
        "add abort b",
        "add a if_not_exist(b)",
        "remove a b",
        "set a b",
        "set :a = b",
        "add :a b",
        "delete :a b",
        "remove :a",
        "set a = b / c",
        "set a = b * c",
        "set a[1] = \"eight\"",
        "set a[1] = 1",
        "SET a = if_not_exist(a, 100)",
        "SET if_not_exist(a, b) = a",
        "set (a = (b + c))",
        "set a = (b.c).d + e",
        "set a = (b.c)[0] + e",
        "set a = b + c + d",
        "set a = (b + c) + d",
        "set a = b + (c + d)",
        "set _a = :n",
        "set",
        "set a = :n,",
        "set a = :n set",
        "add a :n b :n",
    ] {
        let error = parse(text).expect_err(text);
        let expected = "Invalid UpdateExpression: Syntax error; token: ";
        assert!(error.message().starts_with(expected), "{text}: {error}");
    }
    for text in ["set a = (b + c)", "set a = ((b.c.d)+(e))", "set a = if_not_exists(a, b) - :n"] {
        parse(text).expect(text);
    }
}

#[test]
fn faults_are_told_in_the_services_order() {
    check_problems(&[
        (
            " set #x = :x set abOrt = true ",
            "Attribute name is a reserved keyword; reserved keyword: abOrt",
        ),
        ("set #x = nothing(:x) set c = d", "Invalid function name; function: nothing"),
        (
            "set a = size(b) set a = c",
            "The function is not allowed in an update expression; function: size",
        ),
        (
            "remove #x set a = b remove e",
            "The \"REMOVE\" section can only be used once in an update expression;",
        ),
        (
            "SET a = :x, #x = if_not_exists(:x)",
            "An expression attribute name used in the document path is not defined; \
             attribute name: #x",
        ),
        (
            "SET #a = if_not_exists(:x)",
            "An expression attribute value used in expression is not defined; attribute value: :x",
        ),
        (
            "set d[1] = a, d.b = a, c[1].a = a, #c = if_not_exists(a)",
            "Two document paths overlap with each other; must remove or rewrite one of these \
             paths; path one: [c, [1], a], path two: [c]",
        ),
        (
            "set #c[3].#d = a, #c.#d[3] = if_not_exists(a)",
            "Two document paths conflict with each other; must remove or rewrite one of these \
             paths; path one: [c, [3], [3]], path two: [c, [3], [3]]",
        ),
        (
            "set b = list_append(:s, a), c = if_not_exists(a) add a.b :s",
            "Incorrect operand type for operator or function; operator: ADD, operand type: STRING, \
             typeSet: ALLOWED_FOR_ADD_OPERAND",
        ),
    ]);
}

#[test]
fn operands_that_are_given_must_be_of_types_that_fit() {
    let operator = |keyword: &str, of: &str| {
        format!(
            "Incorrect operand type for operator or function; operator: {keyword}, \
             operand type: {of}, typeSet: ALLOWED_FOR_{keyword}_OPERAND"
        )
    };
    let function = |name: &str, of: &str| {
        format!(
            "Incorrect operand type for operator or function; operator or function: {name}, \
             operand type: {of}"
        )
    };
    check_problems(&[
        ("add a :l", &operator("ADD", "LIST")),
        ("add a :null", &operator("ADD", "NULL")),
        ("delete a :n", &operator("DELETE", "NUMBER")),
        ("delete a :bool", &operator("DELETE", "BOOLEAN")),
        ("set a = list_append(:m, a)", &function("list_append", "M")),
        ("set a = a + :s", &function("+", "S")),
        ("set a = :b - :s", &function("-", "B")),
        (
            "set a = list_append(c)",
            "Incorrect number of operands for operator or function; operator or function: \
             list_append, number of operands: 1",
        ),
        (
            "set a = if_not_exists(if_not_exists(a, b), c)",
            "Operator or function requires a document path; operator or function: if_not_exists",
        ),
    ]);
}

#[test]
fn all_is_read_from_the_item_as_it_was() {
    assert_eq!(updated("SET n = s, s = n"), json!({"n": {"S": "text"}, "s": {"N": "5"}}));
    assert_eq!(updated("SET a = n + :n REMOVE n"), json!({"a": {"N": "6"}}));
    assert_eq!(
        refused("SET a = :n, b = a"),
        "The provided expression refers to an attribute that does not exist in the item"
    );
}

#[test]
fn values_are_put_together_from_what_is_there() {
    for (text, expected) in [
        ("SET a = n + :n", json!({"a": {"N": "6"}})),
        ("SET n = :n - n", json!({"n": {"N": "-4"}})),
        ("SET n = if_not_exists(n, :s)", json!({})),
        ("SET a = if_not_exists(a, :n) + :n", json!({"a": {"N": "2"}})),
        (
            "SET a = list_append(:l, l[3])",
            json!({"a": {"L": [{"N": "9"}, {"S": "x"}, {"S": "y"}]}}),
        ),
        (
            "SET m.y = :s",
            json!({"m": {"M": {"x": {"N": "1"}, "y": {"S": "a"}, "tags": {"NS": ["1"]}}}}),
        ),
        ("ADD n :n", json!({"n": {"N": "6"}})),
        ("ADD fresh :n, tags :ss", json!({"fresh": {"N": "1"}, "tags": {"SS": ["a"]}})),
        ("ADD one :sb", json!({"one": {"SS": ["a", "b"]}})),
        ("DELETE ss :sb", json!({"ss": {"SS": ["a"]}})),
        ("DELETE gone :sb", json!({})),
        ("REMOVE gone", json!({})),
    ] {
        assert_eq!(updated(text), expected, "{text}");
    }
}

#[test]
fn a_set_without_elements_is_gone() {
    let item = decode_item(item()).unwrap();
    let updated = parse("DELETE one :ss, m.tags :ns").unwrap().apply(&item).unwrap();
    assert!(!updated.contains_key("one"));
    assert_eq!(encode_item(&updated)["m"], json!({"M": {"x": {"N": "1"}}}));
}

#[test]
fn places_in_lists_are_those_of_the_list_as_it_was() {
    let numbers = |list: &[&str]| {
        let mut list: Vec<Json> = list.iter().map(|number| json!({"N": number})).collect();
        list.push(json!({"L": [{"S": "x"}, {"S": "y"}]}));
        json!({"l": {"L": list}})
    };
    assert_eq!(updated("REMOVE l[0], l[1]"), numbers(&["2"]));
    assert_eq!(updated("REMOVE l[0] SET l[1] = :n, l[2] = n"), numbers(&["1", "5"]));
    assert_eq!(
        updated("REMOVE l[2], l[3][0]"),
        json!({"l": {"L": [{"N": "0"}, {"N": "1"}, {"L": [{"S": "y"}]}]}})
    );
    assert_eq!(
        updated("SET l[3][9] = :n, l[3][7] = :s REMOVE l[0], l[1], l[2], l[10]"),
        json!({"l": {"L": [{"L": [{"S": "x"}, {"S": "y"}, {"S": "a"}, {"N": "1"}]}]}})
    );
}

#[test]
fn an_update_that_does_not_fit_the_item_is_refused() {
    let path = "The document path provided in the update expression is invalid for update";
    let operand = "An operand in the update expression has an incorrect data type";
    let absent = "The provided expression refers to an attribute that does not exist in the item";
    for (text, expected) in [
        ("SET gone.a = :n", path),
        ("SET s.a = :n", path),
        ("SET s[0] = :n", path),
        ("SET l.a = :n", path),
        ("SET m[0] = :n", path),
        ("REMOVE gone.a", path),
        ("DELETE gone[0] :ss", path),
        ("ADD s :n", operand),
        ("ADD n :ns", operand),
        ("ADD ss :ns", operand),
        ("DELETE ss :ns", operand),
        ("DELETE n :ns", operand),
        ("SET a = s + :n", operand),
        ("SET a = list_append(n, :l)", operand),
        ("SET a = list_append(gone, :l)", absent),
        ("SET a = gone", absent),
        ("SET a = m.gone + :n", absent),
        ("SET a = gone ADD s :n", absent),
    ] {
        assert_eq!(refused(text), expected, "{text}");
    }
}

#[test]
fn a_sum_that_is_no_number_is_refused() {
    let mut placeholders = Placeholders::from_json(
        None,
        Some(json!({":huge": {"N": "9e125"}, ":fine": {"N": "1e-100"}})),
    )
    .unwrap();
    let update = Update::parse("SET a = n + :huge, b = n + :fine", &mut placeholders).unwrap();
    let item = |n: &str| decode_item(json!({"n": {"N": n}})).unwrap();
    assert!(update.apply(&item("9e125")).unwrap_err().message().starts_with("Number overflow"));
    assert!(update.apply(&item("0")).is_ok());
    let problem = "Attempting to store more than 38 significant digits in a Number";
    assert_eq!(update.apply(&item("1")).unwrap_err().message(), problem);
}

#[test]
fn an_update_can_not_nest_an_item_too_deep() {
    let deep = (1..32).fold(json!({"N": "1"}), |inner, _| json!({"M": {"a": inner}}));
    let item = decode_item(json!({"deep": deep, "m": {"M": {}}})).unwrap();
    assert!(parse("SET m = deep").unwrap().apply(&item).is_ok());
    let error = parse("SET m.a = deep").unwrap().apply(&item).unwrap_err();
    assert!(error.message().starts_with("Nesting Levels"), "{error}");
}

#[test]
fn the_parts_that_were_touched_are_told() {
    let item = decode_item(item()).unwrap();
    let text =
        "SET m.x = :s, l[1] = :s, l[9] = :n, fresh = :n REMOVE n, l[0] DELETE one :ss, ss :ss";
    let update = parse(text).unwrap();
    assert_eq!(
        encode_item(&update.updated_old(&item)),
        json!({
            "m": {"M": {"x": {"N": "1"}}}, "l": {"L": [{"N": "0"}, {"N": "1"}]}, "n": {"N": "5"},
            "one": {"SS": ["a"]}, "ss": {"SS": ["a", "b"]},
        })
    );
    assert_eq!(
        encode_item(&update.updated_new(&item, &update.apply(&item).unwrap()).unwrap()),
        json!({
            "m": {"M": {"x": {"S": "a"}}}, "l": {"L": [{"S": "a"}]}, "fresh": {"N": "1"},
            "ss": {"SS": ["b"]},
        })
    );
}

#[test]
fn whole_attributes_that_were_touched_are_told_as_they_are_then() {
    let item = decode_item(item()).unwrap();
    let update = parse("SET fresh = :n, m = n REMOVE l ADD n :n DELETE one :ss, ss :ss").unwrap();
    let updated = update.apply(&item).unwrap();
    assert_eq!(
        encode_item(&update.updated_new(&item, &updated).unwrap()),
        json!({
            "fresh": {"N": "1"}, "m": {"N": "5"}, "n": {"N": "6"}, "ss": {"SS": ["b"]},
        })
    );
}
