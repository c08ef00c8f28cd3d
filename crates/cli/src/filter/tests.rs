//! Filters as data, and properties of all of them.

use proptest::prelude::*;
use stonecrop::keys::{Date, Uuid};
use stonecrop::{Comparison, Condition, Path, Timestamp, Value};

use super::print::print;
use super::*;

#[track_caller]
fn reads(text: &str, condition: Condition) {
    assert_eq!(parse(text).map_err(|error| error.to_string()), Ok(condition), "{text}");
}

/// The problem, and what stands at the caret.
fn fault(text: &str) -> (String, &str) {
    let error = parse(text).unwrap_err();
    (error.problem, &text[error.offset..])
}

#[test]
fn a_filter_reads_as_it_sounds() {
    let active = Condition::eq("status", "active");
    let high = Condition::gt("score", 10);
    reads(r#"status = "active" and score > 10"#, Condition::all([active.clone(), high.clone()]));
    reads("status='active' OR score>10", Condition::any([active.clone(), high.clone()]));
    reads(
        "not status = 'active' and (score > 10 or exists)",
        Condition::all([active.not(), Condition::any([high, Condition::Exists])]),
    );
}

#[test]
fn and_binds_before_or() {
    let [a, b, c] = ["a", "b", "c"].map(|name| Condition::eq(name, 1));
    let both = Condition::all([b.clone(), c.clone()]);
    reads("a = 1 or b = 1 and c = 1", Condition::any([a.clone(), both]));
    let either = Condition::any([a, b]);
    reads("(a = 1 or b = 1) and c = 1", Condition::all([either, c]));
}

#[test]
fn every_test_can_be_written() {
    for how in [("=", Comparison::Eq), ("==", Comparison::Eq), ("!=", Comparison::Ne)] {
        reads(&format!("n {} 1", how.0), Condition::Compare("n".into(), how.1, 1.into()));
    }
    reads("n <> 1", Condition::ne("n", 1));
    reads("n<=1", Condition::le("n", 1));
    reads("n >=-1", Condition::ge("n", -1));
    reads("n in (1, 'two', null)", {
        Condition::In("n".into(), vec![1.into(), "two".into(), Value::Null])
    });
    reads("n not in (1)", Condition::is_in("n", [1]).not());
    reads("n between 1 and 2 and m = 3", {
        Condition::all([Condition::between("n", 1, 2), Condition::eq("m", 3)])
    });
    reads("n begins with \"a\"", Condition::begins_with("n", "a"));
    reads("n contains x'00FF'", Condition::contains("n", vec![0, 255]));
    reads("n exists", Condition::has("n"));
    reads("not n exists", Condition::has("n").not());
    reads("not exists", Condition::NotExists);
    reads("n is null", Condition::is_null("n"));
    reads("n is not null", Condition::has_value("n"));
    reads("n is fresh", Condition::is_fresh("n"));
    reads("a.b Is Not Stale", Condition::is_stale("a.b").not());
    let time = Timestamp::from_micros(1_705_312_800_000_000);
    for (text, how) in
        [("after", Comparison::Gt), ("before", Comparison::Lt), (">=", Comparison::Ge)]
    {
        reads(
            &format!("n written {text} \"2024-01-15T10:00:00Z\""),
            Condition::WrittenAt("n".to_owned(), how, time),
        );
    }
}

#[test]
fn every_literal_can_be_written() {
    let decimal = |text: &str| Value::Decimal(text.parse().unwrap());
    for (text, value) in [
        (r#""a\u0062\n""#, "ab\n".into()),
        ("'it''s'", "it's".into()),
        ("-9223372036854775808", i64::MIN.into()),
        ("1.5", 1.5.into()),
        ("1e3", 1000.0.into()),
        ("9.99d", decimal("9.99")),
        ("100000000000000000000d", decimal("100000000000000000000")),
        ("TRUE", true.into()),
        ("null", Value::Null),
        ("timestamp \"2024-01-15T10:00:00Z\"", {
            Timestamp::from_micros(1_705_312_800_000_000).into()
        }),
        ("date '1970-01-02'", Date(1).into()),
        ("uuid \"00000000-0000-0000-0000-000000000001\"", { Uuid(1_u128.to_be_bytes()).into() }),
        ("x\"00ff\"", vec![0, 255].into()),
    ] {
        reads(&format!("n = {text}"), Condition::eq("n", value));
    }
}

#[test]
fn names_can_lead_into_values_and_be_quoted() {
    reads("address.city = 1", Condition::eq("address.city", 1));
    reads("tags[0].x = 1", Condition::eq("tags[0].x", 1));
    reads("first-name = 1", Condition::eq("first-name", 1));
    reads("größe = 1", Condition::eq("größe", 1));
    reads(r#""first name" = 1"#, Condition::eq(Path::new("first name"), 1));
    reads(r#""and" = 1"#, Condition::eq(Path::new("and"), 1));
    reads(r#""a"."b c"[2] = 1"#, Condition::eq(Path::new("a").field("b c").index(2), 1));
}

#[test]
fn an_error_points_at_the_fault() {
    for (text, problem, at) in [
        ("", "here should be a condition", ""),
        ("score >", "here should be a value", ""),
        ("score > 10 and", "here should be a condition", ""),
        ("score > 10 status = 1", "after a condition comes", "status = 1"),
        ("score ~ 10", "here should be a test", "~ 10"),
        ("score = active", "here should be a value", "active"),
        ("(score = 1", "here should be \")\"", ""),
        ("score in 1", "a list of values in parentheses", "1"),
        ("score in ()", "here should be a value", ")"),
        ("score in (1 2)", "a comma or \")\"", "2)"),
        ("score between 1 or 2", "\"and\" and the other end", "or 2"),
        ("n = \"abc", "do not end", "\"abc"),
        ("n = 'abc", "do not end", "'abc"),
        ("\"n = 1", "do not end", "\"n = 1"),
        ("n = 99999999999999999999", "99999999999999999999d is a decimal", "99999999999999999999"),
        ("n = 1e999", "1e999d is a decimal", "1e999"),
        ("n = 12ab", "a number ends before this", "ab"),
        ("n = date \"2024-13-01\"", "2024-13-01", "date \"2024-13-01\""),
        ("n = x\"0g\"", "not a hex digit", "x\"0g\""),
        ("n is old", "null, fresh or stale", "old"),
        ("\"a\".b is fresh", "asked of a column", "\"a\".b is fresh"),
        ("n begins with 7", "a text or bytes", "7"),
        ("and = 1", "needs quotes", "and = 1"),
        ("n written yesterday", "before, after, at", "yesterday"),
    ] {
        let (found, place) = fault(text);
        assert!(found.contains(problem), "{text}: {found}");
        assert_eq!(place, at, "{text}: {found}");
    }
}

#[test]
fn the_caret_stands_under_the_fault() {
    let error = parse("größe = 1 and score ~ 10").unwrap_err().to_string();
    let lines: Vec<_> = error.lines().collect();
    assert!(lines[0].starts_with("in the filter, here should be a test"), "{error}");
    assert_eq!(lines[1], "  größe = 1 and score ~ 10");
    assert_eq!(lines[2], "                      ^");
}

#[test]
fn nesting_has_an_end() {
    for (open, close) in [("(", ")"), ("not ", ""), ("not (", ")")] {
        let text = format!("{}n = 1{}", open.repeat(100_000), close.repeat(100_000));
        assert!(fault(&text).0.contains("nested more than"));
    }
    let deep = format!("{}n = 1", "not ".repeat(33));
    assert!(fault(&deep).0.contains("more than 32 deep"));
    assert!(parse(&deep["not ".len()..]).is_ok());
    let many = vec!["n = 1"; 1_000].join(" or ");
    assert!(fault(&many).0.contains("more than 1000 conditions"));
}

fn literal() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::Int),
        any::<f64>().prop_filter("written", |value| value.is_finite()).prop_map(Value::Float),
        (any::<i64>(), 0..30_u8).prop_map(|(digits, scale)| {
            Value::Decimal(format!("{digits}e-{scale}").parse().unwrap())
        }),
        any::<String>().prop_map(Value::String),
        prop::collection::vec(any::<u8>(), 0..5).prop_map(Value::Bytes),
        (0..4_000_000_000_000_000_i64)
            .prop_map(|micros| Value::Timestamp(Timestamp::from_micros(micros))),
        (-100_000..100_000_i32).prop_map(|days| Value::Date(Date(days))),
        any::<[u8; 16]>().prop_map(|bytes| Value::Uuid(Uuid(bytes))),
    ]
}

fn path() -> impl Strategy<Value = Path> {
    let name = || prop_oneof!["[a-z_][a-z0-9_-]{0,4}", any::<String>()];
    let step = || prop_oneof![name().prop_map(Ok), (0..9_usize).prop_map(Err)];
    let built = (name(), prop::collection::vec(step(), 0..3)).prop_map(|(column, steps)| {
        steps.into_iter().fold(Path::new(column), |path, step| match step {
            Ok(name) => path.field(name),
            Err(index) => path.index(index),
        })
    });
    prop_oneof![built, "[abc](\\.[abc]|\\[[0-9]\\]){0,3}".prop_map(Path::from)]
}

fn comparison() -> impl Strategy<Value = Comparison> {
    use Comparison::{Eq, Ge, Gt, Le, Lt, Ne};
    prop::sample::select(vec![Eq, Ne, Lt, Le, Gt, Ge])
}

fn condition() -> impl Strategy<Value = Condition> {
    let text = any::<String>().prop_map(Value::String);
    let leaf = prop_oneof![
        Just(Condition::Exists),
        Just(Condition::NotExists),
        path().prop_map(Condition::Has),
        path().prop_map(Condition::IsNull),
        path().prop_map(Condition::HasValue),
        (path(), comparison(), literal()).prop_map(|(p, c, v)| Condition::Compare(p, c, v)),
        (path(), prop::collection::vec(literal(), 1..4)).prop_map(|(p, v)| Condition::In(p, v)),
        (path(), literal(), literal()).prop_map(|(p, a, b)| Condition::Between(p, a, b)),
        (path(), text).prop_map(|(p, v)| Condition::BeginsWith(p, v)),
        (path(), literal()).prop_map(|(p, v)| Condition::Contains(p, v)),
        (any::<String>(), comparison(), 0..4_000_000_000_000_000_i64)
            .prop_map(|(n, c, t)| Condition::WrittenAt(n, c, Timestamp::from_micros(t))),
        any::<String>().prop_map(Condition::IsFresh),
        any::<String>().prop_map(Condition::IsStale),
    ];
    leaf.prop_recursive(4, 20, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 2..4).prop_map(Condition::All),
            prop::collection::vec(inner.clone(), 2..4).prop_map(Condition::Any),
            inner.prop_map(Condition::not),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn what_is_printed_reads_the_same(condition in condition()) {
        let text = print(&condition);
        prop_assert_eq!(parse(&text).map_err(|error| error.to_string()), Ok(condition), "{}", text);
    }

    #[test]
    fn any_text_is_a_filter_or_an_error_with_a_place(text in prop_oneof![
        any::<String>(),
        r#"( |a|b\.c|1|'|"|\(|\)|\[|\]|,|=|<|>|!|-|\.|e|d|x|not|and|or|in|is|null|exists|é){0,12}"#,
        prop::collection::vec(prop::sample::select(vec![
            "a", "b.c", "tags[0]", "\"x y\"", "=", "!=", "<", "(", ")", ",", "1", "2.5", "3d", "'t'",
            "and", "or", "not", "in", "between", "begins", "with", "contains", "exists", "is", "null",
            "fresh", "stale", "written", "after", "timestamp", "date", "uuid", "x",
        ]), 0..12).prop_map(|words| words.join(" ")),
    ]) {
        match parse(&text) {
            Ok(condition) => prop_assert_eq!(parse(&print(&condition)), Ok(condition)),
            Err(error) => prop_assert!(text.is_char_boundary(error.offset), "{:?}", error),
        }
    }
}
