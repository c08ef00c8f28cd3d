//! Expressions with their placeholders, and items that have something to do with them.

use proptest::prelude::*;
use serde_json::{Value as Json, json};

/// An expression, and the item that it is about.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) kind: &'static str,
    pub(crate) expression: String,
    pub(crate) names: Json,
    pub(crate) values: Json,
    pub(crate) item: Json,
}

impl Case {
    pub(crate) fn to_json(&self) -> Json {
        json!({
            "kind": self.kind, "expression": self.expression, "names": self.names,
            "values": self.values, "item": self.item,
        })
    }
}

const VALUES: usize = 5;

fn case(kind: &'static str, text: impl Strategy<Value = String>) -> impl Strategy<Value = Case> {
    let values = prop::collection::vec(value(), VALUES);
    let names = || prop::sample::select(vec!["a", "b", "c", "d"]);
    let item = prop::collection::btree_map(names(), value(), 0..5);
    (text, values, item).prop_map(move |(expression, values, item)| {
        let values = values.into_iter().enumerate();
        Case {
            kind,
            expression,
            names: json!({"#d": "d", "#x": "x"}),
            values: values.map(|(at, value)| (format!(":v{at}"), value)).collect(),
            item: json!(item),
        }
    })
}

/// Values of all types, few of each, so that some are equal.
fn value() -> impl Strategy<Value = Json> {
    let number = || {
        prop::sample::select(vec![
            "0", "1", "2", "3", "4", "-1", "1.5", "10", "1e20", "-2.5e-7", "9e125",
        ])
    };
    let text = || prop::sample::select(vec!["", "a", "ab", "b", "S", "N", "é𝄞"]);
    let bytes = || prop::sample::select(vec!["", "YQ==", "YWI=", "/w=="]);
    let leaf = prop_oneof![
        4 => number().prop_map(|number| json!({"N": number})),
        3 => text().prop_map(|text| json!({"S": text})),
        2 => bytes().prop_map(|bytes| json!({"B": bytes})),
        1 => any::<bool>().prop_map(|value| json!({"BOOL": value})),
        1 => Just(json!({"NULL": true})),
        1 => prop::collection::btree_set(text(), 1..4).prop_map(|set| json!({"SS": set})),
        1 => prop::collection::btree_set(number(), 1..4).prop_map(|set| json!({"NS": set})),
        1 => prop::collection::btree_set(bytes(), 1..4).prop_map(|set| json!({"BS": set})),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        let name = prop::sample::select(vec!["x", "y"]);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(|list| json!({"L": list})),
            prop::collection::btree_map(name, inner, 0..3).prop_map(|map| json!({"M": map})),
        ]
    })
}

fn path() -> impl Strategy<Value = String> {
    let name = prop::sample::select(vec!["a", "b", "c", "#d"]);
    let step = prop::sample::select(vec![".x", ".y", ".#x", "[0]", "[1]", "[2]", "[9]"]);
    let steps = prop_oneof![
        3 => Just(Vec::new()),
        2 => prop::collection::vec(step, 1..3),
    ];
    (name, steps).prop_map(|(name, steps)| format!("{name}{}", steps.concat()))
}

fn placeholder() -> impl Strategy<Value = String> {
    (0..VALUES).prop_map(|at| format!(":v{at}"))
}

fn operand() -> impl Strategy<Value = String> {
    prop_oneof![
        5 => path(),
        3 => placeholder(),
        1 => path().prop_map(|path| format!("size({path})")),
        1 => path().prop_map(|path| format!("({path})")),
        1 => placeholder().prop_map(|value| format!("size({value})")),
    ]
}

fn test() -> impl Strategy<Value = String> {
    let how = || prop::sample::select(vec!["=", "<>", "<", "<=", ">", ">="]);
    prop_oneof![
        6 => (operand(), how(), operand()).prop_map(|(a, how, b)| format!("{a} {how} {b}")),
        2 => (path(), how(), operand()).prop_map(|(a, how, b)| format!("size({a}) {how} {b}")),
        2 => (operand(), operand(), operand())
            .prop_map(|(a, low, high)| format!("{a} BETWEEN {low} AND {high}")),
        2 => (operand(), prop::collection::vec(operand(), 1..4))
            .prop_map(|(a, others)| format!("{a} in ({})", others.join(", "))),
        2 => (operand(), operand()).prop_map(|(a, b)| format!("contains({a}, {b})")),
        1 => (operand(), operand()).prop_map(|(a, b)| format!("begins_with({a}, {b})")),
        1 => (operand(), placeholder()).prop_map(|(a, of)| format!("attribute_type({a}, {of})")),
        1 => path().prop_map(|path| format!("attribute_exists({path})")),
        1 => path().prop_map(|path| format!("attribute_not_exists({path})")),
    ]
}

/// An item with a text, a number, a list and a map of them, and values to compare them with.
fn comparable() -> impl Strategy<Value = (Json, Json)> {
    let number = || (0..7).prop_map(|number: i32| json!({"N": number.to_string()}));
    let text = || {
        let texts = vec!["", "a", "ab", "é𝄞", "𝄞", "abc"];
        prop::sample::select(texts).prop_map(|text| json!({"S": text}))
    };
    let item = (text(), number(), text(), number(), text(), number()).prop_map(|(a, b, c, d, x, y)| {
        json!({"a": a, "b": b, "c": {"L": [c, d]}, "d": {"M": {"x": x, "y": y}}})
    });
    let set = prop::collection::btree_set(prop::sample::select(vec!["a", "é𝄞", "b"]), 1..3);
    let values = (number(), text(), number(), set, value()).prop_map(
        |(n, t, m, set, any)| json!({":v0": n, ":v1": t, ":v2": m, ":v3": {"SS": set}, ":v4": any}),
    );
    (item, values)
}

pub(crate) fn conditions() -> impl Strategy<Value = Case> {
    let condition = test().prop_recursive(3, 8, 3, |inner| {
        let group = |word: &'static str, inner: BoxedStrategy<String>| {
            prop::collection::vec(inner, 2..4).prop_map(move |parts| parts.join(word))
        };
        prop_oneof![
            group(" AND ", inner.clone().boxed()),
            group(" OR ", inner.clone().boxed()),
            inner.clone().prop_map(|inner| format!("NOT {inner}")),
            inner.clone().prop_map(|inner| match inner.starts_with('(') {
                // Twice the same parentheses are refused, and here that could be.
                true => inner,
                false => format!("({inner})"),
            }),
            inner.prop_map(|inner| format!("not (attribute_exists(a) AND {inner})")),
        ]
    });
    replaced(case("condition", condition), comparable())
}

/// Most cases with another item and other values.
fn replaced(
    case: impl Strategy<Value = Case>,
    with: impl Strategy<Value = (Json, Json)>,
) -> impl Strategy<Value = Case> {
    (case, prop::option::weighted(0.7, with)).prop_map(|(case, with)| match with {
        Some((item, values)) => Case { item, values, ..case },
        None => case,
    })
}

pub(crate) fn projections() -> impl Strategy<Value = Case> {
    let paths = prop::collection::vec(path(), 1..4);
    case("projection", paths.prop_map(|paths| paths.join(", ")))
}

/// Paths that mostly lead somewhere in a shaped item.
fn update_path() -> impl Strategy<Value = String> {
    let likely =
        vec!["a", "a[0]", "a[1]", "a[2]", "a[7]", "a[8]", "b", "b.x", "b.#x[0]", "b.y", "c"];
    let rest = vec!["c", "#d", "e", "f"];
    prop_oneof![
        6 => prop::sample::select([likely, rest].concat()).prop_map(str::to_owned),
        1 => path(),
    ]
}

fn set_value() -> impl Strategy<Value = String> {
    let path = update_path;
    let simple = || prop_oneof![path(), placeholder()];
    let number = || prop::sample::select(vec!["c", ":v0", "if_not_exists(e, :v0)"]);
    let list = || prop::sample::select(vec!["a", ":v3", "if_not_exists(f, :v3)"]);
    let function = prop_oneof![
        (path(), simple()).prop_map(|(path, value)| format!("if_not_exists({path}, {value})")),
        (list(), list()).prop_map(|(a, b)| format!("list_append({a}, {b})")),
        (simple(), simple()).prop_map(|(a, b)| format!("list_append({a}, {b})")),
    ];
    let term = prop_oneof![3 => simple(), 1 => function];
    let how = || prop::sample::select(vec!["+", "-"]);
    let sum = prop_oneof![
        (number(), how(), number()).prop_map(|(a, how, b)| format!("{a} {how} {b}")),
        (term.clone(), how(), term.clone()).prop_map(|(a, how, b)| format!("{a} {how} {b}")),
    ];
    prop_oneof![4 => term, 1 => sum.clone(), 1 => sum.prop_map(|sum| format!("({sum})"))]
}

/// An item whose attributes are a list, a map, a number and a set; values that go with them.
fn shaped() -> impl Strategy<Value = (Json, Json)> {
    let number = || prop::sample::select(vec!["0", "1", "2.5", "-1", "1e20", "9e125", "1e-100"]);
    let set = || {
        let texts = prop::sample::subsequence(vec!["a", "b", "c"], 1..4);
        let numbers = prop::sample::subsequence(vec!["1", "2", "3"], 1..4);
        prop_oneof![
            texts.prop_map(|set| json!({"SS": set})),
            numbers.prop_map(|set| json!({"NS": set})),
        ]
    };
    let list = || prop::collection::vec(value(), 1..4).prop_map(|list| json!({"L": list}));
    let map = (value(), list()).prop_map(|(x, y)| json!({"M": {"x": y, "y": x}}));
    let item = (list(), map, number(), set())
        .prop_map(|(a, b, c, d)| json!({"a": a, "b": b, "c": {"N": c}, "d": d}));
    let values = (number(), set(), set(), list(), value()).prop_map(
        |(n, s, t, l, any)| json!({":v0": {"N": n}, ":v1": s, ":v2": t, ":v3": l, ":v4": any}),
    );
    (item, values)
}

pub(crate) fn updates() -> impl Strategy<Value = Case> {
    let pair = |value: &'static str| update_path().prop_map(move |path| format!("{path} {value}"));
    let sets = || prop_oneof![pair(":v1"), pair(":v2"), Just("#d :v1".to_owned())];
    let add = prop_oneof![sets(), pair(":v0"), Just("c :v0".to_owned())];
    let some = |of: BoxedStrategy<String>| prop::collection::vec(of, 0..3);
    let set = (update_path(), set_value()).prop_map(|(path, value)| format!("{path} = {value}"));
    let sections = (
        some(set.boxed()),
        some(update_path().boxed()),
        prop::option::weighted(0.3, add),
        prop::option::weighted(0.3, sets()),
    );
    let text = sections.prop_map(|(set, remove, add, delete)| {
        let section = |word: &str, of: Vec<String>| match of.is_empty() {
            true => String::new(),
            false => format!("{word} {} ", of.join(", ")),
        };
        let add = section("ADD", add.into_iter().collect());
        let delete = section("DELETE", delete.into_iter().collect());
        format!("{}{}{add}{delete}", section("SET", set), section("REMOVE", remove))
    });
    let text = text.prop_filter("an update does something", |text| !text.is_empty());
    replaced(case("update", text), shaped())
}
