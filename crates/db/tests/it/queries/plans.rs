//! Which plans there are, what they say of themselves, and faults that were found in them.

use serde_json::json;
use stonecrop::{
    Condition, Database, Family, History, Index, Placement, Query, Sort, Table, TableSchema, Value,
    Write,
};

use super::model::key_text;
use crate::harness::{Engine, Fixture, at};

/// Rows 0 to 99 with an owner of three, a score, and a name.
fn accounts(index: Index) -> (Database, Table) {
    let db = Database::memory();
    let crm = Family::new("crm").column("owner").column("score").column("name");
    let schema = TableSchema::new("accounts", "id u64", "").unwrap().family(crm).index(index);
    let table = db.create_table(schema).unwrap();
    let rows = (0..100_i32).map(|id| {
        let owner = ["adam", "bob", "cem"][id as usize % 3];
        Write::put(id).set("owner", owner).set("score", id % 10).set("name", format!("n{id}"))
    });
    table.write_all(rows).unwrap();
    (db, table)
}

fn by_owner() -> Index {
    Index::new("by_owner", "owner string").unwrap()
}

fn adam() -> Query {
    Query::new().filter(Condition::eq("owner", "adam"))
}

#[test]
fn a_covering_index_answers_without_reading_the_rows() {
    let (_db, table) = accounts(by_owner().covering(["name"]));
    let explanation = table.explain_analyze(&adam().columns(["name"])).unwrap();
    assert_eq!(
        explanation.parts[0].access,
        "walk over 1 range of the index by_owner, rows from its copies"
    );
    let page = table.query(&adam().columns(["name"])).unwrap();
    assert_eq!(page.rows.len(), 34);
    let scanned = table.query(&adam().columns(["name"]).plan("scan")).unwrap();
    let names = |rows: &[stonecrop::Row]| {
        let mut names: Vec<_> = rows.iter().map(|row| format!("{:?}", row.value("name"))).collect();
        names.sort();
        names
    };
    assert_eq!(names(&page.rows), names(&scanned.rows));
    let with_score = adam().columns(["name", "score"]).plan("index by_owner");
    let explanation = table.explain_analyze(&with_score).unwrap();
    assert!(explanation.parts[0].access.ends_with("read each row"));
}

#[test]
fn a_sort_that_an_index_has_stops_after_a_page() {
    let (_db, table) = accounts(Index::new("by_score", "score i64").unwrap());
    let query = Query::new().sort([Sort::desc("score")]).take(5);
    let part = table.explain_analyze(&query).unwrap().parts.remove(0);
    assert_eq!((part.plan.as_str(), part.ordered), ("index by_score", true));
    assert_eq!(part.access, "walk over the whole index by_score, backward, read each row");
    assert!(part.actual_candidates.unwrap() <= 7, "{part:?}");
}

#[test]
fn the_key_is_known_of_a_row_that_an_index_covers_without_copies() {
    let (_db, table) = accounts(by_owner());
    let query = Query::new()
        .filter(Condition::all([Condition::eq("owner", "adam"), Condition::lt("id", 10)]))
        .plan("index by_owner");
    assert_eq!(table.count(&query).unwrap(), 4);
    let facets = table.facets(&adam().plan("index by_owner"), "id").unwrap();
    assert_eq!(facets.values.len() as u64, table.count(&adam()).unwrap());
    assert_eq!(table.query(&query.columns(["id"])).unwrap().rows.len(), 4);
}

#[test]
fn rows_without_columns_are_sorted_by_what_the_index_does_not_copy() {
    let (_db, table) = accounts(Index::new("by_score", "score i64").unwrap());
    let query = Query::new()
        .columns(Vec::<String>::new())
        .filter(Condition::ge("score", 0))
        .sort([Sort::desc("score")])
        .take(20);
    // The first page is sorted after a scan, and the second one found through the index.
    let first = table.query(&query.clone().plan("scan")).unwrap();
    let rest = query.after(first.next.unwrap()).plan("index by_score");
    let second = table.query(&rest).unwrap();
    let score = |row: &stonecrop::Row| {
        let row = table.get(row.key()).unwrap().unwrap();
        row.value("score").cloned()
    };
    let scores: Vec<_> = second.rows.iter().map(score).collect();
    assert_eq!(scores[..10], vec![Some(Value::Int(7)); 10]);
    assert_eq!(scores[10..], vec![Some(Value::Int(6)); 10]);
}

#[test]
fn a_forced_plan_is_used_by_the_parts_that_have_it() {
    let (_db, table) = accounts(Index::new("by_score", "score i64").unwrap());
    table.write(Write::put(100).set("name", "without a score")).unwrap();
    let query = Query::new().sort([Sort::asc("score")]);
    let plans = table.explain_analyze(&query).unwrap().plans;
    assert_eq!(plans, ["index by_score", "scan"]);
    for plan in plans {
        assert_eq!(table.query(&query.clone().plan(plan)).unwrap().rows.len(), 101);
    }
    let error = table.query(&query.plan("keys")).unwrap_err();
    assert_eq!(error.to_string(), "query: there is no plan \"keys\" for it");
}

#[test]
fn explain_lists_the_plans_of_parts_that_were_not_needed() {
    let (_db, table) = accounts(Index::new("by_score", "score i64").unwrap());
    table.write(Write::put(100).set("name", "without a score")).unwrap();
    let query = Query::new().sort([Sort::asc("score").nulls_first()]).take(1);
    assert_eq!(table.explain_analyze(&query).unwrap().plans, ["index by_score", "scan"]);
}

#[test]
fn an_index_that_is_asked_for_gives_only_the_rows_that_are_in_it() {
    let (_db, table) = accounts(by_owner());
    table.write(Write::put(200).set("name", "of nobody")).unwrap();
    table.write(Write::put(201).set("owner", Value::Null)).unwrap();
    assert_eq!(table.query(&Query::new()).unwrap().rows.len(), 102);
    assert_eq!(table.query(&Query::new().index("by_owner")).unwrap().rows.len(), 100);
    assert_eq!(table.count(&Query::new().index("by_owner")).unwrap(), 100);
    let error = table.query(&Query::new().index("by_name")).unwrap_err().to_string();
    assert!(error.contains("by_name"), "{error}");
}

#[test]
fn explain_is_text_and_json() {
    let (_db, table) = accounts(by_owner());
    let query =
        adam().filter(Condition::all([Condition::eq("owner", "adam"), Condition::ge("score", 5)]));
    let explanation =
        table.explain_analyze(&query.sort([Sort::asc("name")]).plan("index by_owner"));
    let explanation = explanation.unwrap();
    let part = |rows, filter| {
        json!({
            "plan": "index by_owner",
            "access": "walk over 1 range of the index by_owner, read each row",
            "ordered": false,
            "filter": filter,
            "estimated_candidates": null,
            "actual_candidates": 34,
            "actual_rows": rows,
        })
    };
    let has_name = json!({"Condition": {"field": "name", "operator": "HasValue"}});
    let score = json!({"Condition": {"field": "score", "operator": "Ge", "value": {"Int": 5}}});
    let and =
        |child: serde_json::Value| json!({"logical": "And", "children": [score.clone(), child]});
    let without = and(json!({"logical": "Not", "children": [has_name.clone()]}));
    let with = and(has_name);
    assert_eq!(
        serde_json::to_value(&explanation).unwrap(),
        json!({
            "parts": [part(17, with), part(0, without)],
            "plans": ["index by_owner", "scan"],
        })
    );
    let text = explanation.to_string();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "walk over 1 range of the index by_owner, read each row");
    assert!(lines[1].starts_with("  keep those with {"), "{text}");
    assert_eq!(lines[2], "  sort them");
    assert_eq!(lines[3], "  candidates: any number expected, 34 looked at; rows: 17");
    assert_eq!(lines[8], "plans: index by_owner, scan");
}

#[test]
fn a_query_as_of_a_time_sees_the_rows_as_they_were() {
    let fixture = Fixture::new(Engine::Memory);
    let family = Family::new("f").column("owner").history(History::Versions(10));
    let schema = TableSchema::new("table", "id u64", "").unwrap().family(family).index(by_owner());
    let table = fixture.db.create_table(schema).unwrap();
    table.write_all([1, 2].map(|id| Write::put(id).set("owner", "adam"))).unwrap();
    fixture.pass(10);
    table.write(Write::put(1).set("owner", "bob")).unwrap();
    table.write(Write::put(3).set("owner", "adam")).unwrap();
    table.write(Write::delete(2)).unwrap();
    let keys = |query: &Query| {
        let mut keys: Vec<_> = table.query(query).unwrap().rows.iter().map(key_text).collect();
        keys.sort();
        keys
    };
    assert_eq!(keys(&adam()), ["[Int(3)]"]);
    assert_eq!(keys(&adam().as_of(at(5))), ["[Int(1)]", "[Int(2)]"]);
    assert_eq!(table.count(&adam().as_of(at(5))).unwrap(), 2);
    assert!(keys(&adam().as_of(at(-5))).is_empty());
    assert_eq!(table.explain_analyze(&adam().as_of(at(5))).unwrap().plans, ["scan"]);
}

#[test]
fn an_index_can_not_be_asked_for_a_time_that_has_passed() {
    let (_db, table) = accounts(by_owner());
    let error = table.query(&adam().index("by_owner").as_of(at(0))).unwrap_err();
    assert_eq!(
        error.to_string(),
        "query: the index \"by_owner\" has no history; ask without it, or without a time"
    );
}

#[test]
fn facets_are_by_value_whatever_the_type_of_a_number() {
    let table =
        Database::memory().create_table(TableSchema::new("table", "id u64", "").unwrap()).unwrap();
    let values: [Value; 5] =
        [5.into(), 5.0.into(), Value::Decimal("5.0".parse().unwrap()), 0.0.into(), (-0.0).into()];
    table.write_all((0..).zip(values).map(|(id, value)| Write::put(id).set("n", value))).unwrap();
    let facets = table.facets(&Query::new(), "n").unwrap();
    assert_eq!(facets.values, [(5.into(), 3), (0.0.into(), 2)]);
}

/// Version 1 UUIDs are stored by their time, and compare by their bytes.
#[test]
fn keys_whose_bytes_are_in_another_order_than_their_values_are_sorted() {
    use stonecrop::keys::UuidV1;
    let schema = TableSchema::new("table", "id uuid_v1", "").unwrap().placement(Placement::Range);
    let table = Database::memory().create_table(schema).unwrap();
    // The first bytes of a UUID are the low ones of its time.
    let uuid = |low: u8, high: u8| {
        let mut bytes = [0; 16];
        (bytes[3], bytes[5], bytes[6], bytes[8]) = (low, high, 0x10, 0x80);
        UuidV1::new(bytes).unwrap()
    };
    table.write(Write::put(uuid(1, 2)).set("n", 1)).unwrap();
    table.write(Write::put(uuid(2, 1)).set("n", 2)).unwrap();
    let page = table.query(&Query::new().sort([Sort::asc("id")])).unwrap();
    let found: Vec<_> = page.rows.iter().map(|row| row.value("n").unwrap().clone()).collect();
    assert_eq!(found, [Value::Int(1), Value::Int(2)]);
}

#[test]
fn times_that_conditions_see_rounded_are_sorted_by_what_follows() {
    use stonecrop::keys::TimestampNs;
    let schema = TableSchema::new("table", "at timestamp(ns), n i64", "").unwrap();
    let table = Database::memory().create_table(schema.placement(Placement::Range)).unwrap();
    table.write(Write::put((TimestampNs(1_001), 2_i64)).set("x", 2)).unwrap();
    table.write(Write::put((TimestampNs(1_002), 1_i64)).set("x", 1)).unwrap();
    let page = table.query(&Query::new().sort([Sort::asc("at"), Sort::asc("n")])).unwrap();
    let found: Vec<_> = page.rows.iter().map(|row| row.value("x").unwrap().clone()).collect();
    assert_eq!(found, [Value::Int(1), Value::Int(2)]);
}

/// So many rows that a scan is shared among threads, and that a sort keeps only the first.
#[test]
fn many_rows_are_sorted_counted_and_added_up_by_several_threads() {
    let schema = TableSchema::new("table", "id u64", "").unwrap();
    let family = Family::new("f").column("n").column("m");
    let schema = schema.family(family).index(Index::new("by_n", "n i64").unwrap());
    let table = Database::memory().create_table(schema).unwrap();
    let m = |id: i64| id * 7919 % 30_011;
    table
        .write_all((0..30_000_i64).map(|id| Write::put(id).set("n", id % 7).set("m", m(id))))
        .unwrap();
    let mut expected: Vec<i64> = (0..30_000).map(m).collect();
    expected.sort();
    expected.reverse();
    let query = Query::new().sort([Sort::desc("m")]).take(700);
    let first = table.query(&query).unwrap();
    let second = table.query(&query.clone().after(first.next.clone().unwrap())).unwrap();
    let back = table.query(&query.before(second.previous.clone().unwrap())).unwrap();
    assert_eq!(back.rows, first.rows);
    let found = first.rows.iter().chain(&second.rows).map(|row| row.value("m").unwrap().clone());
    let found: Vec<Value> = found.collect();
    let expected: Vec<Value> = expected.into_iter().take(1400).map(Value::Int).collect();
    assert!(found == expected);
    let scan = Query::new().plan("scan");
    assert_eq!(table.count(&scan).unwrap(), 30_000);
    let facets = table.facets(&scan, "n").unwrap();
    assert_eq!(facets.values.iter().map(|(_, count)| count).sum::<u64>(), 30_000);
    assert_eq!(facets.values[0], (Value::Int(0), 4286));
    let summary = table.summarize(&scan, "m").unwrap();
    assert_eq!(summary.sum, Some(Value::Int((0..30_000).map(m).sum())));
    assert_eq!(table.freshness(&scan).unwrap()[0].fresh, 30_000);
    // Along the index almost nothing passes, so that it is given up for a scan.
    let rare = Query::new().filter(Condition::eq("m", 5)).sort([Sort::asc("n")]).take(3);
    assert_eq!(table.query(&rare).unwrap().rows.len(), 1);
    let one_in_seven = Condition::all([Condition::ge("n", 0), Condition::lt("m", 40)]);
    let few = Query::new().filter(one_in_seven).sort([Sort::asc("n")]).take(30);
    let page = table.query(&few).unwrap();
    let forced = table.query(&few.clone().plan("index by_n")).unwrap();
    let n = |rows: &[stonecrop::Row]| -> Vec<Value> {
        rows.iter().map(|row| row.value("n").unwrap().clone()).collect()
    };
    assert_eq!(n(&page.rows), n(&forced.rows));
    assert!(n(&page.rows).len() == 30);
}

#[test]
fn two_indexes_are_intersected_before_rows_are_read() {
    let db = Database::memory();
    let schema = TableSchema::new("accounts", "id u64", "").unwrap();
    let schema = schema.family(Family::new("crm").column("owner").column("status").column("name"));
    let schema = ["owner", "status"].into_iter().fold(schema, |schema, column| {
        let index = Index::new(format!("by_{column}"), &format!("{column} i64")).unwrap();
        schema.index(index)
    });
    let table = db.create_table(schema).unwrap();
    let row = |id: i64| Write::put(id).set("owner", id % 40).set("status", id / 40 % 40);
    table.write_all((0..40_000).map(|id| row(id).set("name", "x"))).unwrap();
    let query = Query::new()
        .filter(Condition::all([Condition::eq("owner", 3), Condition::eq("status", 7)]));
    let part = table.explain_analyze(&query).unwrap().parts.remove(0);
    assert_eq!((part.plan.as_str(), part.filter), ("index by_owner among by_status", None));
    assert_eq!(part.actual_rows, Some(25));
    assert!(part.access.contains("only rows that are in by_status too"), "{}", part.access);
}

#[test]
fn a_column_with_a_dot_in_its_name_is_counted_through_an_index_that_covers_another() {
    let schema = TableSchema::new("table", "id u64", "").unwrap();
    let family = Family::new("f").column("owner").column("address").column("address.city");
    let index = Index::new("by_owner", "owner string").unwrap().covering(["address"]);
    let table = Database::memory().create_table(schema.family(family).index(index)).unwrap();
    let row = |id: i64| Write::put(id).set("owner", "adam").set("address", "x");
    table.write_all((0..10).map(|id| row(id).set("address.city", "Bern"))).unwrap();
    let query = Query::new().filter(Condition::eq("owner", "adam"));
    for plan in ["scan", "index by_owner"] {
        let facets = table.facets(&query.clone().plan(plan), "address.city").unwrap();
        assert_eq!(facets.values, [("Bern".into(), 10)], "{plan}");
    }
}

#[test]
fn wide_ranges_of_two_indexes_are_no_reason_to_read_rows_one_by_one() {
    let schema = TableSchema::new("table", "id u64", "").unwrap();
    let schema = schema.family(Family::new("f").column("a").column("b"));
    let schema = ["a", "b"].into_iter().fold(schema, |schema, column| {
        schema.index(Index::new(format!("by_{column}"), &format!("{column} i64")).unwrap())
    });
    let table = Database::memory().create_table(schema).unwrap();
    let row = |id: i64| Write::put(id).set("a", id % 10).set("b", id / 10 % 10);
    table.write_all((0..40_000).map(row)).unwrap();
    let query = Query::new().filter(Condition::all([Condition::ge("a", 1), Condition::ge("b", 1)]));
    assert_eq!(table.explain(&query).unwrap().parts[0].plan, "scan");
    assert_eq!(table.count(&query).unwrap(), 32_400);
}
