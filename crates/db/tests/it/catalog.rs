//! Tables: how they are declared, altered, dropped, and found again.

use stonecrop::{ColumnType, Error, Family, History, Placement, Scan, TableSchema, Write};

use crate::harness::{Fixture, State, in_every_state, on_every_engine, rows, seconds, value};

fn schema() -> TableSchema {
    let family = Family::new("crm").column("name").typed("age", ColumnType::Int).ttl(seconds(10));
    let history = Family::new("prices").column("price").history(History::Versions(3));
    let schema = TableSchema::new("table", "id u64", "at timestamp(us) desc").unwrap();
    schema.placement(Placement::Range).family(family).family(history.keep(seconds(5)))
}

fn create_simple(fixture: &Fixture) {
    let family = Family::new("crm").column("name").ttl(seconds(10));
    let schema = TableSchema::new("table", "id u64", "").unwrap().family(family);
    fixture.db.create_table(schema).unwrap();
}

#[test]
fn a_definition_is_the_same_after_it_is_opened_again() {
    let fill = |fixture: &Fixture| drop(fixture.db.create_table(schema()).unwrap());
    in_every_state(fill, |fixture| {
        assert_eq!(*fixture.table().schema().unwrap(), schema());
        assert_eq!(fixture.table().version().unwrap(), 1);
        assert_eq!(fixture.db.tables(), ["table"]);
    });
}

#[test]
fn tables_are_listed_in_the_order_of_their_names() {
    let fill = |fixture: &Fixture| {
        for name in ["b", "c", "a", "d"] {
            fixture.db.create_table(TableSchema::new(name, "id u64", "").unwrap()).unwrap();
        }
        fixture.db.drop_table("c").unwrap();
    };
    in_every_state(fill, |fixture| assert_eq!(fixture.db.tables(), ["a", "b", "d"]));
}

#[test]
fn each_change_of_a_definition_counts_as_a_version() {
    let fill = |fixture: &Fixture| {
        create_simple(fixture);
        let table = fixture.table();
        table.add_column("crm", "email", ColumnType::String).unwrap();
        table.add_family(Family::new("billing").column("plan")).unwrap();
        table.set_lifetime("crm", None, None).unwrap();
        assert!(table.set_lifetime("crn", None, None).is_err());
    };
    in_every_state(fill, |fixture| {
        assert_eq!(fixture.table().version().unwrap(), 4);
        let columns: Vec<Vec<String>> = fixture
            .table()
            .schema()
            .unwrap()
            .families()
            .iter()
            .map(|family| family.columns().map(str::to_owned).collect())
            .collect();
        assert_eq!(columns, [vec!["name", "email"], vec!["plan"]]);
    });
}

#[test]
fn a_column_that_was_added_is_not_there_in_older_rows_and_can_be_written() {
    let fill = |fixture: &Fixture| {
        create_simple(fixture);
        fixture.table().write(Write::put(1).set("name", "Ann")).unwrap();
        fixture.table().add_column("crm", "age", ColumnType::Int).unwrap();
    };
    in_every_state(fill, |fixture| {
        assert_eq!(value(fixture, "age"), None);
        fixture.table().write(Write::put(1).set("age", 41)).unwrap();
        assert_eq!(value(fixture, "age"), Some(41.into()));
        assert_eq!(value(fixture, "name"), Some("Ann".into()));
    });
}

#[test]
fn a_lifetime_that_was_changed_counts_for_what_is_written_from_then_on() {
    on_every_engine(|fixture| {
        create_simple(fixture);
        let table = fixture.table();
        table.write(Write::put(1).set("name", "Ann")).unwrap();
        table.set_lifetime("crm", Some(seconds(100)), Some(seconds(1))).unwrap();
        table.write(Write::put(2).set("name", "Bob")).unwrap();
        fixture.pass(50);
        let fresh = |id: u64| table.get(id).unwrap().map(|row| row.cell("name").unwrap().fresh);
        assert_eq!([fresh(1), fresh(2)], [Some(false), Some(true)]);
        fixture.pass(51);
        assert_eq!([fresh(1), fresh(2)], [Some(false), None]);
    });
}

#[test]
fn a_name_that_is_taken_is_refused_for_a_column_or_a_family() {
    on_every_engine(|fixture| {
        create_simple(fixture);
        let table = fixture.table();
        let errors = [
            table.add_column("crm", "name", ColumnType::Any).unwrap_err(),
            table.add_column("crm", "id", ColumnType::Any).unwrap_err(),
            table.add_column("nowhere", "age", ColumnType::Any).unwrap_err(),
            table.add_family(Family::new("crm").column("age")).unwrap_err(),
            table.add_family(Family::new("other").column("name")).unwrap_err(),
        ];
        for (error, named) in errors.iter().zip(["name", "id", "nowhere", "crm", "name"]) {
            assert!(matches!(error, Error::Schema { .. }), "{error:?}");
            assert!(error.to_string().contains(&format!("{named:?}")), "{error}");
        }
        assert_eq!(table.version().unwrap(), 1);
    });
}

#[test]
fn a_column_that_rows_have_undeclared_is_not_declared_over_them() {
    let fill = |fixture: &Fixture| {
        create_simple(fixture);
        fixture.table().write(Write::put(1).set("age", 41)).unwrap();
    };
    in_every_state(fill, |fixture| {
        let error = fixture.table().add_column("crm", "age", ColumnType::Int).unwrap_err();
        assert!(matches!(&error, Error::Column { column, .. } if column == "age"), "{error:?}");
        assert_eq!(value(fixture, "age"), Some(41.into()));
    });
}

#[test]
fn a_column_that_was_removed_from_all_rows_can_be_declared() {
    let fill = |fixture: &Fixture| {
        create_simple(fixture);
        fixture.table().write(Write::put(1).set("age", 41)).unwrap();
        fixture.table().write(Write::put(1).remove("age")).unwrap();
        let short = Write::put(2).set("age", 42).ttl(seconds(1)).keep(seconds(1));
        fixture.table().write(short).unwrap();
        fixture.pass(2);
    };
    in_every_state(fill, |fixture| {
        fixture.table().add_column("crm", "age", ColumnType::Int).unwrap();
        fixture.table().write(Write::put(1).set("age", 43)).unwrap();
        assert_eq!(value(fixture, "age"), Some(43.into()));
        assert_eq!(fixture.table().get(2).unwrap(), None);
    });
}

#[test]
fn a_truncated_table_is_empty_and_keeps_its_definition() {
    let fill = |fixture: &Fixture| {
        create_simple(fixture);
        let table = fixture.table();
        table.add_column("crm", "email", ColumnType::Any).unwrap();
        table.write(Write::put(1).set("name", "Ann").set("loose", 1)).unwrap();
        table.truncate().unwrap();
    };
    in_every_state(fill, |fixture| {
        let table = fixture.table();
        assert!(rows(&table, Scan::all()).is_empty());
        assert_eq!(table.get(1).unwrap(), None);
        assert_eq!(table.version().unwrap(), 2);
        table.write(Write::put(1).set("email", "ann@example")).unwrap();
        assert_eq!(value(fixture, "name"), None);
    });
}

#[test]
fn a_table_that_is_made_again_has_none_of_the_rows_of_the_one_before() {
    let fill = |fixture: &Fixture| {
        create_simple(fixture);
        fixture.table().write(Write::put(1).set("name", "Ann").set("loose", 1)).unwrap();
        fixture.db.drop_table("table").unwrap();
        create_simple(fixture);
    };
    in_every_state(fill, |fixture| {
        assert!(rows(&fixture.table(), Scan::all()).is_empty());
        assert_eq!(fixture.table().version().unwrap(), 1);
    });
}

#[test]
fn an_id_is_not_used_again_after_the_last_table_was_dropped_and_all_was_opened_again() {
    on_every_engine(|fixture| {
        create_simple(fixture);
        fixture.table().write(Write::put(1).set("name", "Ann")).unwrap();
        fixture.db.drop_table("table").unwrap();
        fixture.bring(State::Reopened);
        create_simple(fixture);
        assert!(rows(&fixture.table(), Scan::all()).is_empty());
        fixture.bring(State::Compacted);
        fixture.table().write(Write::put(2).set("name", "Bob")).unwrap();
        fixture.bring(State::Compacted);
        assert_eq!(rows(&fixture.table(), Scan::all()).len(), 1);
    });
}

#[test]
fn undeclared_columns_are_found_after_it_is_opened_again() {
    let fill = |fixture: &Fixture| {
        create_simple(fixture);
        fixture.table().write(Write::put(1).set("loose", 1)).unwrap();
    };
    in_every_state(fill, |fixture| {
        assert_eq!(value(fixture, "loose"), Some(1.into()));
        assert_eq!(rows(&fixture.table(), Scan::all()).len(), 1);
    });
}
