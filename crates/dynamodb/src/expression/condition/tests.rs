use serde_json::{Value as Json, json};

use super::*;
use crate::value::{Item, decode_item};

fn placeholders() -> Placeholders {
    let names = json!({"#a": "a", "#b": "b"});
    let values = json!({
        ":s": {"S": "a"}, ":n": {"N": "1"}, ":z": {"S": "z"}, ":b": {"B": "YQ=="},
        ":bool": {"BOOL": true}, ":null": {"NULL": true}, ":l": {"L": []}, ":m": {"M": {}},
        ":ss": {"SS": ["a"]}, ":type": {"S": "N"},
    });
    Placeholders::from_json(Some(names), Some(values)).unwrap()
}

fn parse(text: &str) -> Result<Condition> {
    Condition::parse(text, &mut placeholders())
}

fn problem(text: &str) -> String {
    let error = parse(text).expect_err(text);
    error.message().strip_prefix("Invalid ConditionExpression: ").expect(text).to_owned()
}

fn check_problems(cases: &[(&str, &str)]) {
    for (text, expected) in cases {
        assert_eq!(problem(text), *expected, "{text}");
    }
}

fn matches(text: &str, item: Json) -> bool {
    let item: Item = decode_item(item).unwrap();
    parse(text).expect(text).matches(&item)
}

#[test]
fn the_token_that_does_not_fit_is_shown_between_its_neighbours() {
    check_problems(&[
        ("a-b", r#"Syntax error; token: "-", near: "a-b""#),
        ("NOT #a", r##"Syntax error; token: "<EOF>", near: "#a""##),
        ("a", r#"Syntax error; token: "<EOF>", near: "a""#),
        (" ", r#"Syntax error; token: "<EOF>", near: " ""#),
        ("things are not gonna be ok", r#"Syntax error; token: "are", near: "things are not""#),
        ("a > 4", r#"Syntax error; token: "4", near: "> 4""#),
        ("(size(a))[0] > a", r#"Syntax error; token: "[", near: ")[0""#),
        ("attribute_type()", r#"Syntax error; token: ")", near: "()""#),
        ("(a AND b = c)", r#"Syntax error; token: "AND", near: "a AND b""#),
        ("(b = c AND a)", r#"Syntax error; token: ")", near: "a)""#),
        ("(NOT a)", r#"Syntax error; token: ")", near: "a)""#),
        ("(a = b) = c", r#"Syntax error; token: "=", near: ") = c""#),
        ("a = b c", r#"Syntax error; token: "c", near: "b c""#),
        ("a IN ()", r#"Syntax error; token: ")", near: "()""#),
        ("a BETWEEN b OR c", r#"Syntax error; token: "OR", near: "b OR c""#),
        ("a.", r#"Syntax error; token: "<EOF>", near: ".""#),
        ("a[b] = :n", r#"Syntax error; token: "b", near: "[b]""#),
        ("a = :", r#"Syntax error; token: ":", near: "= :""#),
        ("(a = b", r#"Syntax error; token: "<EOF>", near: "b""#),
        ("a = \"x\"", r#"Syntax error; token: """, near: "= "x""#),
    ]);
}

#[test]
fn parentheses_can_be_around_operands_paths_and_conditions_once() {
    for text in [
        "(a = b)",
        "(a) = (b)",
        "((a) = b)",
        "(a = b) AND (c = d)",
        "((a = b) AND c = d)",
        "(size(a)) > :n",
        "size((a)) > :n",
        "(contains(a, b))",
        "(a.b)[0].c = d",
        "(a IN ((b), c))",
        "NOT (NOT a = b)",
        "not Not NOT a = b",
    ] {
        parse(text).expect(text);
    }
    let redundant = "The expression has redundant parentheses;";
    check_problems(&[
        ("((a = b))", redundant),
        ("((a)) = b", redundant),
        ("a = ((b))", redundant),
        ("(((a) = b))", redundant),
        ("((contains(a, b)))", redundant),
        ("contains(((a)), b)", redundant),
        ("((a = b)) AND nothing(c)", redundant),
    ]);
}

#[test]
fn and_binds_closer_than_or_and_not_closest() {
    let item = || json!({"a": {"N": "1"}});
    assert!(matches("a = :n OR a = :s AND a = :s", item()));
    assert!(!matches("(a = :n OR a = :s) AND a = :s", item()));
    assert!(matches("NOT a = :s AND a = :n", item()));
    assert!(!matches("NOT (a = :s OR a = :n)", item()));
}

#[test]
fn functions_are_known_and_in_their_place() {
    let misused =
        "The function is not allowed to be used this way in an expression; function: ".to_owned();
    check_problems(&[
        ("nothing(a)", "Invalid function name; function: nothing"),
        ("Size(a) > :n", "Invalid function name; function: Size"),
        (
            "if_not_exists(a, b) = :n",
            "The function is not allowed in a condition expression; function: if_not_exists",
        ),
        ("size(a)", &format!("{misused}size")),
        ("a = b AND size(a)", &format!("{misused}size")),
        ("NOT size(a)", &format!("{misused}size")),
        ("contains(a, b) = :n", &format!("{misused}contains")),
        ("size(contains(a, b)) = :n", &format!("{misused}contains")),
        ("a IN (attribute_exists(b))", &format!("{misused}attribute_exists")),
    ]);
}

#[test]
fn faults_are_told_in_the_services_order() {
    let reserved = "Attribute name is a reserved keyword; reserved keyword: abort";
    check_problems(&[
        ("abort = :undefined", reserved),
        ("a.abort = b", reserved),
        ("size(abort) > :n AND nothing(a)", "Invalid function name; function: nothing"),
        (
            "contains(:x)",
            "An expression attribute value used in expression is not defined; attribute value: :x",
        ),
        (
            "#x = :x",
            "An expression attribute name used in the document path is not defined; attribute name: #x",
        ),
        (
            "contains(a) AND #x = :x",
            "Incorrect number of operands for operator or function; operator or function: contains, \
             number of operands: 1",
        ),
        (
            "size(a, b) = :n",
            "Incorrect number of operands for operator or function; operator or function: size, \
             number of operands: 2",
        ),
    ]);
}

#[test]
fn an_operand_is_compared_with_others_than_itself() {
    let same = |operator: &str, path: &str| {
        format!(
            "The first operand must be distinct from the remaining operands for this operator or \
             function; operator: {operator}, first operand: {path}"
        )
    };
    check_problems(&[
        ("a = a", &same("=", "[a]")),
        ("a[1].b <> #a[1].#b", &same("<>", "[a, [1], b]")),
        ("contains(a, #a)", &same("contains", "[a]")),
        ("a BETWEEN b AND a", &same("BETWEEN", "[a]")),
        ("a IN (b, a)", &same("IN", "[a]")),
    ]);
}

#[test]
fn operands_that_are_given_must_be_of_types_that_fit() {
    let wrong = |operator: &str, of: &str| {
        format!(
            "Incorrect operand type for operator or function; operator or function: {operator}, \
             operand type: {of}"
        )
    };
    check_problems(&[
        ("a < :bool", &wrong("<", "BOOL")),
        (":l >= a", &wrong(">=", "L")),
        ("a BETWEEN :ss AND :ss", &wrong("BETWEEN", "SS")),
        ("begins_with(a, :n)", &wrong("begins_with", "N")),
        ("begins_with(size(a), b)", &wrong("begins_with", "N")),
        ("size(:n) = a", &wrong("size", "N")),
        ("size(size(a)) = b", &wrong("size", "N")),
        ("attribute_type(a, :n)", &wrong("attribute_type", "N")),
        (
            "attribute_type(a, :s)",
            "Invalid attribute type name found; type: a, \
             valid types: {S,SS,N,NS,B,BS,BOOL,NULL,L,M}",
        ),
        (
            "attribute_exists(:n)",
            "Operator or function requires a document path; operator or function: attribute_exists",
        ),
        (
            "a BETWEEN :z AND :s",
            "The BETWEEN operator requires upper bound to be greater than or equal to lower bound; \
             lower bound operand: AttributeValue: {S:z}, upper bound operand: AttributeValue: {S:a}",
        ),
        (
            "a BETWEEN :n AND :b",
            "The BETWEEN operator requires same data type for lower and upper bounds; lower bound \
             operand: AttributeValue: {N:1}, upper bound operand: AttributeValue: {B:YQ==}",
        ),
    ]);
    assert!(problem("attribute_type(a, b)").contains("operand type: {S,SS,"));
}

#[test]
fn there_are_limits() {
    let operators = |count: usize| vec!["a = b"; count.div_ceil(2)].join(" OR ");
    assert!(parse(&operators(299)).is_ok());
    check_problems(&[
        (&operators(301), "The expression contains too many operators; operator count: 301"),
        (
            &format!("{} = :n", "a".repeat(4092)),
            "Expression size has exceeded the maximum allowed size; expression size: 4097",
        ),
        ("", "The expression can not be empty;"),
        ("a[4294967295] = :n", "List index is not within the allowable range; index: [4294967295]"),
        (
            &format!("a{} = :n", ".a".repeat(32)),
            "The document path has too many nesting levels; nesting levels: 33",
        ),
        (
            &format!("a IN ({})", ["b"; 101].join(", ")),
            "The IN operator is provided with too many operands; number of operands: 101",
        ),
    ]);
    assert!(parse(&format!("a IN ({})", ["b"; 100].join(", "))).is_ok());
    assert!(parse(&format!("{} = :n", "a".repeat(4091))).is_ok());
}

#[test]
fn deep_nesting_is_an_error_and_not_the_end_of_the_stack() {
    let nested = |count: usize, open: &str, close: &str| {
        format!("{}a = b{}", open.repeat(count), close.repeat(count))
    };
    // What is allowed fits on a small stack, and the rest is refused on it.
    let small = std::thread::Builder::new().stack_size(1 << 20);
    let done = small.spawn(move || {
        assert!(parse(&nested(299, "NOT (", ")")).is_ok());
        let many = "The expression contains too many operators; operator count: 301";
        assert_eq!(problem(&nested(800, "NOT ", "")), many);
        let redundant = "The expression has redundant parentheses;";
        assert_eq!(problem(&nested(2000, "(", ")")), redundant);
        assert_eq!(problem(&format!("a = {}", "(".repeat(4000))), redundant);
        assert_eq!(problem(&format!("{} = a", "size(".repeat(800))), many);
        for (open, close) in [("(", ")"), ("NOT ", ""), ("size(", ")"), ("a = b AND (", ")")] {
            assert!(parse(&nested(10_000, open, close)).is_err());
        }
    });
    done.unwrap().join().unwrap();
}

#[test]
fn values_of_different_types_are_unequal_and_without_order() {
    let item = || json!({"n": {"N": "1"}, "s": {"S": "1"}, "t": {"BOOL": true}, "l": {"L": []}});
    for (text, expected) in [
        ("n = s", false),
        ("n <> s", true),
        ("n < s", false),
        ("n >= s", false),
        ("t < l", false),
        ("t = :bool", true),
        ("l = :l", true),
        ("n = :n", true),
        ("n BETWEEN s AND s", false),
        ("n IN (s, :n)", true),
        ("n IN (s)", false),
        ("gone <> n", true),
        ("gone = n", false),
        ("gone < n", false),
        ("NOT gone < n", true),
        ("gone IN (n)", false),
        ("gone BETWEEN n AND n", false),
        ("gone = absent", false),
        ("gone <> absent", true),
    ] {
        assert_eq!(matches(text, item()), expected, "{text}");
    }
}

#[test]
fn functions_look_at_what_is_there() {
    let item = || {
        json!({
            "s": {"S": "é𝄞a"}, "b": {"B": "YWI="}, "n": {"N": "1.0"}, "nil": {"NULL": true},
            "l": {"L": [{"N": "1"}, {"M": {"a": {"S": "a"}}}]}, "m": {"M": {"x": {"S": "a"}}},
            "ss": {"SS": ["a", "b"]}, "ns": {"NS": ["1", "2"]}, "bs": {"BS": ["YQ=="]},
            "three": {"N": "3"}, "four": {"N": "4"}, "two": {"N": "2"}, "mm": {"M": {"a": {"S": "a"}}},
        })
    };
    for (text, expected) in [
        ("attribute_exists(m.x)", true),
        ("attribute_exists(m.y)", false),
        ("attribute_exists(l[1].a)", true),
        ("attribute_exists(l[2])", false),
        ("attribute_exists(l.x)", false),
        ("attribute_not_exists(m[0])", true),
        ("attribute_type(n, :type)", true),
        ("attribute_type(s, :type)", false),
        ("attribute_type(gone, :type)", false),
        ("attribute_type(:n, :type)", true),
        ("attribute_type(size(s), :type)", true),
        ("begins_with(m.x, :s)", true),
        ("begins_with(b, :b)", true),
        ("begins_with(n, :s)", false),
        ("contains(s, :s)", true),
        ("contains(b, :b)", true),
        ("contains(ss, :s)", true),
        ("contains(ss, :n)", false),
        ("contains(ns, :n)", true),
        ("contains(bs, :b)", true),
        ("contains(l, :n)", true),
        ("contains(l, mm)", true),
        ("contains(l, :s)", false),
        ("contains(n, :n)", false),
        ("contains(gone, :n)", false),
        ("size(s) = four", true),
        ("size(b) = two", true),
        ("size(ss) = two", true),
        ("size(l) = two", true),
        ("size(m) = :n", true),
        ("size(n) = :n", false),
        ("size(nil) <> :n", true),
        ("size(gone) = :n", false),
        ("size(s) BETWEEN three AND four", true),
        ("size(l) IN (three, two)", true),
        ("size(:z) = n", true),
    ] {
        assert_eq!(matches(text, item()), expected, "{text}");
    }
}
