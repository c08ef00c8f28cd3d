//! Indexes over fields of the key, alone and with columns.

use super::*;
use stonecrop::keys::Value as KeyValue;
use stonecrop::{IndexProgress, Placement};

/// The ids of the rows that an index has, in its order.
fn ids(fixture: &Fixture) -> Vec<u64> {
    let page = fixture.table().query(&Query::new().index("index")).unwrap();
    let id = |row: &stonecrop::Row| match row.key().values() {
        [KeyValue::Int(id)] => *id as u64,
        other => panic!("{other:?}"),
    };
    page.rows.iter().map(id).collect()
}

#[test]
fn an_index_over_the_key_alone_has_every_row_in_its_own_order() {
    let mut fixture = with_index(Engine::Fjall, index("id u64 desc"));
    write(&fixture, Write::put(1).set("name", "Ann"));
    write(&fixture, Write::put(2).set("loose", 1));
    write(&fixture, Write::put(3));
    write(&fixture, Write::put(4).set("seen", 1));
    assert_eq!(ids(&fixture), [4, 3, 2, 1]);
    // The same row again writes nothing, and one that is deleted is out of it.
    let before = entries(&mut fixture);
    write(&fixture, Write::put(1).set("email", "a").set("seen", 7));
    write(&fixture, Write::replace(2).set("name", "Bob"));
    assert_eq!(entries(&mut fixture), before);
    write(&fixture, Write::delete(3));
    assert_eq!((ids(&fixture), entries(&mut fixture).len()), (vec![4, 2, 1], 3));
    assert_clean(&fixture);
}

#[test]
fn a_row_is_in_it_until_the_last_of_it_is_gone() {
    in_every_state(
        |fixture| {
            fixture.db.create_table(schema().index(index("id u64"))).unwrap();
            // One family is gone after ten seconds, the other is never.
            write(fixture, Write::put(1).set("seen", 1));
            write(fixture, Write::put(2).set("seen", 1).set("name", "Bob"));
            write(fixture, Write::put(3).set("seen", 1));
            write(fixture, Write::put(4).set("loose", 1).keep(seconds(5)).ttl(seconds(1)));
        },
        |fixture| {
            assert_eq!(ids(fixture), [1, 2, 3, 4]);
            fixture.pass(7);
            assert_eq!(ids(fixture), [1, 2, 3]);
            assert_clean(fixture);
            // It is refreshed, or goes on without what goes.
            write(fixture, Write::put(1).set("seen", 2));
            fixture.pass(4);
            assert_eq!(ids(fixture), [1, 2]);
            assert_clean(fixture);
            write(fixture, Write::put(1).set("name", "Ann"));
            write(fixture, Write::put(2).set("seen", 1));
            write(fixture, Write::put(3).set("page", "p"));
            fixture.pass(9);
            assert_eq!(ids(fixture), [1, 2, 3]);
            fixture.pass(90);
            assert_eq!(ids(fixture), [1, 2]);
            assert_clean(fixture);
        },
    );
}

#[test]
fn a_row_whose_lasting_columns_are_removed_goes_with_the_others() {
    let fixture = with_index(Engine::Memory, index("id u64"));
    write(&fixture, Write::put(1).set("loose", 1).set("seen", 1));
    write(&fixture, Write::put(1).remove("loose"));
    assert_eq!(ids(&fixture), [1]);
    fixture.pass(11);
    assert_eq!(ids(&fixture), [0; 0]);
    assert_clean(&fixture);
}

#[test]
fn a_field_of_the_key_among_columns_takes_its_value_from_the_key() {
    for placement in [Placement::Hash, Placement::Range] {
        let fixture = Fixture::new(Engine::Memory);
        let schema = TableSchema::new("table", "artist string", "song u64").unwrap();
        let index = index("artist string, year i64 desc, song u64");
        let table = fixture.db.create_table(schema.placement(placement).index(index)).unwrap();
        for (song, year) in [(1, 2001), (2, 1999), (3, 2001)] {
            table.write(Write::put(("ann", song)).set("year", year)).unwrap();
            table.write(Write::put(("bob", song)).set("year", year + 1)).unwrap();
        }
        table.write(Write::put(("ann", 9)).set("name", "no year")).unwrap();
        let filter = Condition::All(vec![
            Condition::eq("artist", "ann"),
            Condition::between("year", 1999, 2001),
        ]);
        let sorted = Query::new()
            .filter(filter)
            .sort([stonecrop::Sort::desc("year"), stonecrop::Sort::asc("song")])
            .columns(["year"]);
        let explained = table.explain(&sorted).unwrap();
        assert!(explained.plans.contains(&"index index".to_owned()), "{explained}");
        let sorted = sorted.plan("index index");
        let explained = table.explain(&sorted).unwrap();
        assert!(explained.parts[0].ordered, "{explained}");
        let page = table.query(&sorted).unwrap();
        let songs: Vec<_> = page.rows.iter().map(|row| row.key().values()[1].clone()).collect();
        assert_eq!(songs, [1, 3, 2].map(KeyValue::from));
        assert_clean(&fixture);
    }
}

#[test]
fn an_inverted_index_finds_the_partitions_of_a_sort_key() {
    let fixture = Fixture::new(Engine::Memory);
    let schema = TableSchema::new("table", "user string", "group string").unwrap();
    let table = fixture.db.create_table(schema).unwrap();
    for user in 0..300 {
        for group in [user % 7, user % 11] {
            table.write(Write::put((format!("u{user}"), format!("g{group}")))).unwrap();
        }
    }
    table.create_index(index("group string, user string")).unwrap();
    table.wait_for_index("index").unwrap();
    assert_eq!(table.index_progress("index").unwrap(), IndexProgress::Complete);
    let members = Query::new().filter(Condition::eq("group", "g9")).columns(["user"]);
    assert_eq!(table.explain(&members).unwrap().parts[0].plan, "index index");
    let found = table.query(&members).unwrap().rows.len();
    assert_eq!(found, (0..300).filter(|user| user % 11 == 9).count());
    let cursor = table.index_cursor(
        &members.clone().index("index"),
        &["g9".into(), "u20".into()],
        ("u20", "g9"),
    );
    let rest = table.query(&members.index("index").after(cursor.unwrap())).unwrap();
    assert!(rest.rows.len() < found && !rest.rows.is_empty());
    assert_clean(&fixture);
}

#[test]
fn every_type_of_key_can_be_indexed_with_the_type_that_it_has() {
    let fixture = Fixture::new(Engine::Memory);
    let key = "a u16, b f32, c timestamp(ns), d uuid, e bytes(2), f tuple(x u8, y string), g decimal desc";
    let schema = TableSchema::new("table", key, "").unwrap();
    let of_index = "g decimal, f tuple(x u8, y string) desc, e bytes(2), d uuid, c timestamp(ns), b f32, a u16";
    let table = fixture.db.create_table(schema.clone().index(index(of_index))).unwrap();
    for number in 0..20_u16 {
        let f = KeyValue::Tuple(vec![1.into(), "x".into()]);
        let key: Vec<KeyValue<'_>> = vec![
            number.into(),
            (f32::from(number) / 3.0).into(),
            stonecrop::keys::TimestampNs(i64::from(number) * 7 + 1).into(),
            KeyValue::Uuid([number as u8; 16]),
            KeyValue::Bytes(vec![number as u8, 0].into()),
            f,
            KeyValue::Decimal(i64::from(20 - number).into()),
        ];
        table.write(Write::put(stonecrop::RowKey::from(key)).set("n", i64::from(number))).unwrap();
    }
    assert_clean(&fixture);
    let rows = table.query(&Query::new().index("index")).unwrap().rows;
    let numbers: Vec<_> = rows.iter().map(|row| row.value("n").unwrap().clone()).collect();
    assert_eq!(numbers, (0..20).rev().map(Value::Int).collect::<Vec<_>>());
    let error = fixture
        .db
        .create_table(TableSchema::new("other", "a u16", "").unwrap().index(index("a i64")));
    let error = error.unwrap_err().to_string();
    assert!(error.contains("\"a\"") && error.contains("u16") && error.contains("i64"), "{error}");
}

#[test]
fn a_null_in_the_key_has_a_place_only_if_the_index_has_one() {
    for (columns, count) in [("s u64", 1), ("s u64 nulls last", 2), ("s u64 nulls first, p u64", 2)]
    {
        let fixture = Fixture::new(Engine::Memory);
        let schema = TableSchema::new("table", "p u64", "s u64 nulls first").unwrap();
        let table = fixture.db.create_table(schema.index(index(columns))).unwrap();
        for sort in [KeyValue::Null, 1.into()] {
            let key = stonecrop::RowKey::from(vec![KeyValue::from(1_u64), sort]);
            table.write(Write::put(key)).unwrap();
        }
        let found = table.query(&Query::new().index("index")).unwrap().rows.len();
        assert_eq!(found, count, "{columns}");
        // Nor is such an index used for rows that are not in it.
        assert_eq!(
            table.query(&Query::new().sort([stonecrop::Sort::asc("s")])).unwrap().rows.len(),
            2
        );
        assert_clean(&fixture);
    }
}

#[test]
fn a_missing_entry_of_an_index_over_the_key_is_found_once_and_put_back() {
    let mut fixture = with_index(Engine::Fjall, index("id u64").covering(["name"]));
    write(&fixture, Write::put(1).set("name", "Ann").set("seen", 1).set("loose", 1).set("more", 1));
    write(&fixture, Write::put(2));
    let right = entries(&mut fixture);
    change(&mut fixture, right.iter().map(|(key, _)| (key.clone(), None)).collect::<Vec<_>>());
    let report = fixture.db.check().unwrap();
    assert_eq!(report.found, 2, "{report:#?}");
    assert_eq!(fixture.db.repair().unwrap().mended, 2);
    assert_clean(&fixture);
    assert_eq!(entries(&mut fixture), right);
}
