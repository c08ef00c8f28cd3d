//! Conditions against a plain model over decoded values, and their JSON there and back.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use serde_json::{Value as Json, json};
use stonecrop_keys::{Date, Uuid};

use super::*;
use crate::path::Step;
use crate::read::Source;
use crate::value::compare;
use crate::{
    Database, Error, Family, ManualClock, Options, RowKey, Scan, Table, TableSchema, Write,
};

const NOW: Timestamp = Timestamp::from_micros(1_000_000_000);
const COLUMNS: [&str; 6] = ["one", "two", "a.b", "a", "loose", "other"];
const PATHS: [&str; 18] = [
    "one",
    "two",
    "a.b",
    "\"a\".b",
    "\"a.b\".a",
    "a",
    "a.a",
    "loose",
    "other",
    "one[0]",
    "one.a",
    "two[1].a",
    "two.b[0]",
    "loose.a",
    "loose[0][0]",
    "id",
    "sort",
    "nothing.at.all",
];

/// A small world, so that values are often equal.
fn value() -> impl Strategy<Value = Value> + Clone {
    let decimal = prop::sample::select(vec!["-1", "0", "0.5", "1", "2", "1e40"])
        .prop_map(|text| text.parse().unwrap());
    let text = || "[ab]{0,3}";
    let bytes = || prop::collection::vec(0..2_u8, 0..4);
    let scalar = prop_oneof![
        2 => Just(Value::Null),
        1 => any::<bool>().prop_map(Value::Bool),
        4 => (-1..3_i64).prop_map(Value::Int),
        3 => prop::sample::select(vec![-0.0, 0.5, 1.0, 2.0, 0.1, f64::NAN, f64::INFINITY])
            .prop_map(Value::Float),
        3 => decimal.clone().prop_map(Value::Decimal),
        4 => text().prop_map(Value::String),
        3 => bytes().prop_map(Value::Bytes),
        1 => (0..2_i64).prop_map(|micros| Value::Timestamp(Timestamp::from_micros(micros))),
        1 => (0..2_i32).prop_map(|days| Value::Date(Date(days))),
        1 => (0..2_u8).prop_map(|byte| Value::Uuid(Uuid([byte; 16]))),
        1 => prop::collection::btree_set(text(), 0..3).prop_map(Value::StringSet),
        1 => prop::collection::btree_set(decimal, 0..3).prop_map(Value::NumberSet),
        1 => prop::collection::btree_set(bytes(), 0..3).prop_map(Value::BytesSet),
    ];
    scalar.prop_recursive(3, 8, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::List),
            prop::collection::btree_map("[ab]", inner, 0..3).prop_map(Value::Map),
        ]
    })
}

fn comparison() -> impl Strategy<Value = Comparison> + Clone {
    use Comparison::{Eq, Ge, Gt, Le, Lt, Ne};
    prop::sample::select(vec![Eq, Ne, Lt, Le, Gt, Ge])
}

/// Conditions that JSON can say, on these paths and columns.
fn condition(
    path: impl Strategy<Value = Path> + Clone + 'static,
    column: impl Strategy<Value = String> + Clone + 'static,
    value: impl Strategy<Value = Value> + Clone + 'static,
) -> impl Strategy<Value = Condition> {
    let time = (990..1_010_i64).prop_map(|seconds| Timestamp::from_micros(seconds * 1_000_000));
    let start = prop_oneof![
        "[ab]{0,2}".prop_map(Value::String),
        prop::collection::vec(0..2_u8, 0..3).prop_map(Value::Bytes),
    ];
    let (path, column) = (|| path.clone(), || column.clone());
    let leaf = prop_oneof![
        1 => Just(Condition::Exists),
        1 => Just(Condition::NotExists),
        1 => path().prop_map(Condition::Has),
        2 => path().prop_map(Condition::IsNull),
        2 => path().prop_map(Condition::HasValue),
        8 => (path(), comparison(), value.clone())
            .prop_map(|(path, how, value)| Condition::Compare(path, how, value)),
        3 => (path(), prop::collection::vec(value.clone(), 0..4))
            .prop_map(|(path, values)| Condition::In(path, values)),
        3 => (path(), value.clone(), value.clone())
            .prop_map(|(path, low, high)| Condition::Between(path, low, high)),
        3 => (path(), start).prop_map(|(path, start)| Condition::BeginsWith(path, start)),
        6 => (path(), value).prop_map(|(path, value)| Condition::Contains(path, value)),
        2 => (column(), comparison(), time)
            .prop_map(|(column, how, time)| Condition::WrittenAt(column, how, time)),
        1 => column().prop_map(Condition::IsFresh),
        1 => column().prop_map(Condition::IsStale),
    ];
    leaf.prop_recursive(3, 8, 3, |inner| {
        let some = prop::collection::vec(inner.clone(), 0..4);
        prop_oneof![
            some.clone().prop_map(Condition::All),
            some.prop_map(Condition::Any),
            inner.prop_map(Condition::not),
        ]
    })
}

/// A row as the model has it: columns by their names, when they were written, until when fresh.
type ModelRow = BTreeMap<String, (Value, Timestamp, Timestamp)>;

/// Columns, the seconds before now that each was written at, and for how many it is fresh.
type Columns = BTreeMap<&'static str, (Value, u64, u64)>;

fn columns() -> impl Strategy<Value = Columns> {
    let cell = (value(), 0..10_u64, 0..10_u64);
    prop::collection::btree_map(prop::sample::select(&COLUMNS[..]), cell, 0..5)
}

struct World {
    table: Table,
    rows: BTreeMap<u64, ModelRow>,
}

fn key(id: u64) -> RowKey<'static> {
    (id, if id.is_multiple_of(2) { "a" } else { "ab" }).into()
}

impl World {
    fn new(rows: Vec<Columns>) -> Self {
        let options = Options::default().clock(Arc::new(ManualClock::new(NOW)));
        let db = Database::open_with("memory:", options).unwrap();
        let schema = TableSchema::new("rows", "id u64", "sort string").unwrap();
        let schema = schema
            .family(Family::new("first").column("one").column("two"))
            .family(Family::new("second").column("a.b"));
        let table = db.create_table(schema).unwrap();
        let mut world = World { table, rows: BTreeMap::new() };
        (0..).zip(rows).for_each(|(id, columns)| world.put(id, columns));
        world
    }

    fn put(&mut self, id: u64, columns: Columns) {
        let row = self.rows.entry(id).or_default();
        self.table.write(Write::put(key(id))).unwrap();
        // Columns of a family age together.
        let mut first = None;
        for (name, (value, ago, fresh)) in columns {
            let (ago, fresh) = match name {
                "one" | "two" => *first.get_or_insert((ago, fresh)),
                _ => (ago, fresh),
            };
            let written_at = Timestamp::from_micros(NOW.as_micros() - ago as i64 * 1_000_000);
            let ttl = Duration::from_secs(fresh);
            let write = Write::put(key(id)).set(name, value.clone());
            self.table.write(write.written_at(written_at).ttl(ttl)).unwrap();
            row.insert(name.to_owned(), (value, written_at, written_at + ttl));
        }
        let key = key(id);
        for (name, value) in ["id", "sort"].into_iter().zip(key.values()) {
            let value = Value::from_key(value);
            row.insert(name.to_owned(), (value, Timestamp::NEVER, Timestamp::NEVER));
        }
    }

    /// Whether a write of a row would happen. Nothing is written.
    fn write_happens(&self, id: u64, condition: &Condition) -> bool {
        let writes = [condition.clone(), Condition::any([])];
        let writes = writes.map(|condition| Write::put(key(id)).when(condition));
        match self.table.write_all(writes) {
            Err(Error::ConditionFailed { write }) => write == 1,
            other => panic!("{other:?}"),
        }
    }

    fn scan(&self, condition: &Condition) -> BTreeSet<u64> {
        let rows = self.table.scan(Scan::all().filter(condition.clone())).unwrap();
        let id = |row: crate::Row| match row.key().values()[0] {
            stonecrop_keys::Value::Int(id) => id as u64,
            _ => unreachable!(),
        };
        rows.map(|row| id(row.unwrap())).collect()
    }
}

fn lookup(row: &ModelRow, path: &Path) -> Option<Value> {
    let text = path.to_string();
    if ["one", "two", "a.b", "id", "sort"].contains(&text.as_str()) {
        return row.get(&text).map(|(value, ..)| value.clone());
    }
    let (mut value, ..) = row.get(path.column())?.clone();
    for step in path.steps() {
        value = match (value, step) {
            (Value::Map(mut map), Step::Field(name)) => map.remove(name)?,
            (Value::List(list), Step::Index(index)) => list.get(*index)?.clone(),
            _ => return None,
        };
    }
    Some(value)
}

fn equal(a: &Value, b: &Value) -> bool {
    compare(a, b) == Some(Ordering::Equal)
}

fn contains(stored: &Value, value: &Value) -> bool {
    match (stored, value) {
        (Value::String(stored), Value::String(value)) => stored.contains(value.as_str()),
        (Value::Bytes(stored), Value::Bytes(value)) => {
            value.is_empty() || stored.windows(value.len()).any(|part| part == value)
        }
        (Value::List(list), value) => list.iter().any(|element| equal(element, value)),
        (Value::StringSet(set), Value::String(value)) => set.contains(value),
        (Value::NumberSet(set), value) => {
            set.iter().any(|element| equal(&Value::Decimal(*element), value))
        }
        (Value::BytesSet(set), Value::Bytes(value)) => set.contains(value),
        _ => false,
    }
}

fn holds(condition: &Condition, row: Option<&ModelRow>) -> bool {
    let test = |path: &Path, test: &dyn Fn(Value) -> bool| {
        row.and_then(|row| lookup(row, path)).is_some_and(test)
    };
    let cell = |column: &String| row.and_then(|row| row.get(column));
    match condition {
        Condition::Exists => row.is_some(),
        Condition::NotExists => row.is_none(),
        Condition::Has(path) => test(path, &|_| true),
        Condition::IsNull(path) => test(path, &|stored| stored == Value::Null),
        Condition::HasValue(path) => test(path, &|stored| stored != Value::Null),
        Condition::Compare(path, how, value) => {
            test(path, &|stored| how.holds(compare(&stored, value)))
        }
        Condition::In(path, values) => {
            test(path, &|stored| values.iter().any(|value| equal(&stored, value)))
        }
        Condition::Between(path, low, high) => test(path, &|stored| {
            compare(&stored, low).is_some_and(Ordering::is_ge)
                && compare(&stored, high).is_some_and(Ordering::is_le)
        }),
        Condition::BeginsWith(path, start) => test(path, &|stored| match (&stored, start) {
            (Value::String(stored), Value::String(start)) => stored.starts_with(start),
            (Value::Bytes(stored), Value::Bytes(start)) => stored.starts_with(start),
            _ => false,
        }),
        Condition::Contains(path, value) => test(path, &|stored| contains(&stored, value)),
        Condition::WrittenAt(column, how, time) => cell(column)
            .is_some_and(|(_, at, _)| *at != Timestamp::NEVER && how.holds(Some(at.cmp(time)))),
        Condition::IsFresh(column) => cell(column).is_some_and(|(.., until)| NOW < *until),
        Condition::IsStale(column) => cell(column).is_some_and(|(.., until)| NOW >= *until),
        Condition::All(all) => all.iter().all(|condition| holds(condition, row)),
        Condition::Any(any) => any.iter().any(|condition| holds(condition, row)),
        Condition::Not(condition) => !holds(condition, row),
    }
}

fn known_condition() -> impl Strategy<Value = Condition> {
    let path = prop::sample::select(&PATHS[..]).prop_map(Path::from);
    let column = prop::sample::select(vec!["one", "a.b", "a", "loose", "id", "nothing"]);
    condition(path, column.prop_map(str::to_owned), value())
}

fn any_condition() -> impl Strategy<Value = Condition> {
    let path = crate::path::tests::path().boxed();
    let value = crate::value::encode::tests::value().boxed();
    condition(path, ".{0,5}".prop_map(|name| name), value)
}

/// JSON of the words that conditions are made of, and of others.
fn any_json() -> impl Strategy<Value = Json> {
    let word = || {
        prop::sample::select(vec![
            "Condition",
            "logical",
            "children",
            "Group",
            "Not",
            "And",
            "Or",
            "field",
            "operator",
            "value",
            "Eq",
            "In",
            "Between",
            "WrittenLt",
            "RowExists",
            "IsFresh",
            "a.b",
            "\"",
            "List",
            "Map",
            "Int",
            "Float",
            "Timestamp",
            "Date",
            "Uuid",
            "Bytes",
            "NumberSet",
            "Null",
            "-1",
        ])
    };
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        any::<u64>().prop_map(Json::from),
        any::<f64>().prop_map(Json::from),
        ".{0,6}".prop_map(Json::from),
        word().prop_map(Json::from),
    ];
    leaf.prop_recursive(6, 40, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Json::from),
            prop::collection::btree_map(word(), inner.clone(), 0..3).prop_map(|map| map
                .into_iter()
                .map(|(name, json)| (name.to_owned(), json))
                .collect::<serde_json::Map<_, _>>()
                .into()),
            (word(), word(), inner.clone()).prop_map(|(field, operator, value)| json!(
                {"Condition": {"field": field, "operator": operator, "value": value}}
            )),
            (word(), prop::collection::vec(inner, 0..3)).prop_map(|(logical, children)| json!(
                {"logical": logical, "children": children}
            )),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_500))]

    #[test]
    fn rows_are_judged_by_their_bytes_as_by_their_values(
        rows in prop::collection::vec(columns(), 1..5),
        conditions in prop::collection::vec(known_condition(), 1..5),
    ) {
        let world = World::new(rows);
        for condition in &conditions {
            let expected = world.rows.iter().filter(|(_, row)| holds(condition, Some(row)));
            let expected: BTreeSet<u64> = expected.map(|(id, _)| *id).collect();
            prop_assert_eq!(world.scan(condition), expected.clone(), "{:?}", condition);
            for id in world.rows.keys() {
                let happens = world.write_happens(*id, condition);
                prop_assert_eq!(happens, expected.contains(id), "{} {:?}", id, condition);
            }
            let absent = world.write_happens(99, condition);
            prop_assert_eq!(absent, holds(condition, None), "{:?}", condition);
        }
    }

    #[test]
    fn every_condition_comes_back_from_its_json(condition in any_condition()) {
        let json = serde_json::to_string(&condition).unwrap();
        prop_assert_eq!(serde_json::from_str::<Condition>(&json).unwrap(), condition);
    }

    #[test]
    fn any_json_is_a_condition_or_an_error(json in any_json()) {
        let text = json.to_string();
        if let Err(error) = serde_json::from_str::<Condition>(&text) {
            prop_assert!(error.to_string().starts_with("filter"), "{}", error);
        }
        let _ = serde_json::from_str::<Value>(&text);
    }
}

fn read(json: Json) -> Result<Condition, String> {
    serde_json::from_value(json).map_err(|error| error.to_string())
}

fn leaf(field: &str, operator: &str, value: Json) -> Json {
    json!({"Condition": {"field": field, "operator": operator, "value": value}})
}

#[test]
fn other_forms_of_groups_are_read() {
    let (one, two) = (Condition::eq("a", 1), Condition::has("b"));
    let json_one = leaf("a", "Eq", json!({"Int": 1}));
    let json_two = json!({"Condition": {"field": "b", "operator": "Exists"}});
    let group = json!({"Group": {"logical": "Or", "children": [json_one, json_two]}});
    assert_eq!(read(group), Ok(Condition::any([one.clone(), two.clone()])));
    assert_eq!(read(json!({"Not": json_one})), Ok(one.clone().not()));
    let none = json!({"logical": "Not", "children": [json_one, json_two]});
    assert_eq!(read(none), Ok(Condition::any([one, two]).not()));
    assert_eq!(read(leaf("a", "Eq", json!(null))), Ok(Condition::eq("a", Value::Null)));
    let stale = json!({"Condition": {"field": "a.b", "operator": "IsStale"}});
    assert_eq!(read(stale), Ok(Condition::is_stale("a.b")));
}

#[test]
fn an_error_names_the_node_and_what_is_wrong_with_it() {
    let good = leaf("a", "Eq", json!({"Int": 1}));
    for (node, error) in [
        (leaf("a", "Equals", json!({"Int": 1})), r#".operator: "Equals" is none of Eq, Ne, Lt"#),
        (leaf("a", "Eq", json!({"Int": "x"})), r#".value: Int: "x" is no whole number"#),
        (leaf("a[", "Eq", json!({"Int": 1})), r#".field: "a[" is no path: a bracket"#),
        (leaf("a", "In", json!({"Int": 1})), ".value: In takes a list, not int"),
        (
            leaf("a", "Between", json!({"List": []})),
            ".value: Between takes a list of two, not of 0",
        ),
        (leaf("a", "BeginsWith", json!({"Int": 1})), ".value: BeginsWith takes a string or bytes"),
        (leaf("a", "WrittenLt", json!({"Int": 1})), ".value: WrittenLt takes a timestamp, not int"),
        (leaf("a", "IsNull", json!(null)), ".value: IsNull takes none"),
        (leaf("a", "RowExists", json!(null)), ".field: RowExists takes none"),
        (json!({"Condition": {"operator": "Eq", "value": null}}), ".field: it is missing"),
        (json!({"Condition": {"field": "a", "operator": "Eq"}}), ".value: it is missing"),
        (json!({"Condition": {"field": "a"}}), ".operator: it is missing"),
        (json!({"Condition": {"field": 1, "operator": "IsNull"}}), ".field: it is no string"),
        (
            json!({"Condition": {"field": "\"a\".b", "operator": "IsFresh"}}),
            ".field: IsFresh is asked of a column",
        ),
        (json!({"Condition": {"fild": "a"}}), r#": "fild" is none of field, operator, value"#),
        (json!({"logical": "Nor", "children": []}), r#".logical: "Nor" is none of And, Or, Not"#),
        (json!({"logical": "And", "children": {}}), ".children: it is no array"),
        (json!({"logical": "And"}), ": a node is"),
        (json!({"logical": "And", "children": [], "x": 1}), r#": "x" is none of logical"#),
        (json!([]), ": a node is"),
        (json!({"Not": 1}), ".Not: a node is"),
    ] {
        let found = read(json!({"logical": "And", "children": [good, good, node]})).unwrap_err();
        assert!(found.starts_with(&format!("filter.children[2]{error}")), "{found}");
    }
}

#[test]
fn the_tree_is_bounded() {
    let nested = |depth| {
        (0..depth)
            .fold(json!({"Condition": {"operator": "RowExists"}}), |node, _| json!({"Not": node}))
    };
    assert!(read(nested(32)).is_ok());
    assert!(read(nested(33)).unwrap_err().contains("nested more than 32 deep"));
    let wide = |count| {
        let one = json!({"Condition": {"operator": "RowExists"}});
        json!({"logical": "Or", "children": vec![one; count]})
    };
    assert!(read(wide(999)).is_ok());
    let error = read(wide(1_000)).unwrap_err();
    assert!(error.starts_with("filter.children[999]: there are more than 1000 nodes"), "{error}");
}

#[test]
fn a_not_of_several_at_the_bounds_is_refused_or_can_be_read_again() {
    let one = json!({"Condition": {"operator": "RowExists"}});
    let none_of = |nodes: Vec<Json>| json!({"logical": "Not", "children": nodes});
    let nested = |depth, node| (0..depth).fold(node, |node, _| json!({"Not": node}));
    let several = none_of(vec![one.clone(), one.clone()]);
    let wide = |count| none_of(vec![one.clone(); count]);
    for good in [nested(30, several.clone()), nested(31, none_of(Vec::new())), wide(998)] {
        let condition = read(good).unwrap();
        assert_eq!(read(serde_json::to_value(&condition).unwrap()), Ok(condition));
    }
    for deep in [nested(31, several), nested(32, none_of(Vec::new()))] {
        assert!(read(deep).unwrap_err().contains("nested more than 32 deep"));
    }
    assert!(read(wide(999)).unwrap_err().contains("more than 1000 nodes"));
}

#[test]
fn a_compiled_condition_knows_where_it_looks() {
    let schema = TableSchema::new("rows", "id u64", "").unwrap();
    let schema = schema.family(Family::new("first").column("one").column("a.b"));
    let table = crate::catalog::new_table(schema, 1, 1).unwrap();
    let condition = Condition::all([
        Condition::eq("one.x", 1),
        Condition::any([Condition::eq("a.b", 1), Condition::is_stale("loose")]).not(),
        Condition::Exists,
        Condition::gt("id", 1),
    ]);
    let compiled = Compiled::new(&condition, &table);
    let declared = |name| Source::Declared(table.column(name).unwrap());
    let sources: Vec<_> = compiled.sources().cloned().collect();
    let loose = Source::Loose("loose".to_owned());
    assert_eq!(sources, [declared("one"), declared("a.b"), loose, Source::Key(0)]);
    assert_eq!(compiled.needs_one_of(), Some(vec![&declared("one")]));
    let key = Compiled::new(&Condition::gt("id", 1), &table);
    assert_eq!(key.needs_one_of(), None);
}
