//! Superseded versions: how many are kept, for how long, and what was there at a time.

use stonecrop::{Error, Family, History, TableSchema, Value, Write};

use crate::harness::{Fixture, at, in_every_state, on_every_engine, seconds, value};

fn create(fixture: &Fixture, history: History) {
    let family = Family::new("prices").column("price").column("currency").history(history);
    let schema = TableSchema::new("table", "id u64", "").unwrap().family(family);
    fixture.db.create_table(schema).unwrap();
}

/// Writes prices, one each ten seconds from the beginning on.
fn write_prices(fixture: &Fixture, prices: &[i64]) {
    for price in prices {
        fixture.table().write(Write::put(1).set("price", *price)).unwrap();
        fixture.pass(10);
    }
}

fn versions(fixture: &Fixture) -> Vec<i64> {
    let versions = fixture.table().versions(1, "prices").unwrap();
    assert!(versions.is_sorted_by_key(|version| std::cmp::Reverse(version.written_at)));
    let price = |value: &Value| if let Value::Int(price) = value { *price } else { panic!() };
    versions.iter().map(|version| price(&version.columns[0].1)).collect()
}

fn price_at(fixture: &Fixture, seconds: i64) -> Option<Value> {
    fixture.table().get_as_of(1, at(seconds)).unwrap()?.value("price").cloned()
}

#[test]
fn so_many_versions_are_kept_as_were_asked_for_the_newest_first() {
    let fill = |fixture: &Fixture| {
        create(fixture, History::Versions(3));
        write_prices(fixture, &[1, 2, 3, 4, 5]);
    };
    in_every_state(fill, |fixture| assert_eq!(versions(fixture), [5, 4, 3]));
}

#[test]
fn versions_are_kept_for_so_long_after_they_were_superseded() {
    let fill = |fixture: &Fixture| {
        create(fixture, History::For(seconds(100)));
        write_prices(fixture, &[1, 2, 3]);
    };
    in_every_state(fill, |fixture| {
        assert_eq!(versions(fixture), [3, 2, 1]);
        fixture.clock.set(at(109));
        assert_eq!(versions(fixture), [3, 2, 1]);
        fixture.clock.set(at(110));
        assert_eq!(versions(fixture), [3, 2]);
        fixture.clock.set(at(100_000));
        assert_eq!(versions(fixture), [3]);
    });
}

#[test]
fn without_a_history_only_the_present_version_is_there() {
    let fill = |fixture: &Fixture| {
        create(fixture, History::None);
        write_prices(fixture, &[1, 2]);
    };
    in_every_state(fill, |fixture| {
        assert_eq!(versions(fixture), [2]);
        assert_eq!([0, 10].map(|time| price_at(fixture, time)), [None, Some(2.into())]);
    });
}

#[test]
fn a_row_can_be_read_as_it_was_at_a_time() {
    let fill = |fixture: &Fixture| {
        create(fixture, History::Versions(10));
        write_prices(fixture, &[1, 2, 3]);
    };
    in_every_state(fill, |fixture| {
        let expected = [None, Some(1), Some(1), Some(2), Some(2), Some(3), Some(3)];
        let found = [-1, 0, 9, 10, 19, 20, 1_000].map(|time| price_at(fixture, time));
        assert_eq!(found, expected.map(|price| price.map(Value::from)));
    });
}

#[test]
fn a_row_is_not_there_in_the_stretch_in_which_it_was_deleted() {
    for history in [History::Versions(10), History::For(seconds(1_000))] {
        let fill = |fixture: &Fixture| {
            create(fixture, history);
            write_prices(fixture, &[1]);
            fixture.table().write(Write::delete(1)).unwrap();
            fixture.pass(10);
            write_prices(fixture, &[3]);
        };
        in_every_state(fill, |fixture| {
            let found = [5, 10, 19, 20].map(|time| price_at(fixture, time));
            assert_eq!(found, [Some(1.into()), None, None, Some(3.into())]);
            assert_eq!(versions(fixture), [3, 1]);
        });
    }
}

#[test]
fn a_value_as_it_was_tells_whether_it_was_fresh_then() {
    let fill = |fixture: &Fixture| {
        let family = Family::new("prices").column("price").history(History::Versions(9));
        let schema = TableSchema::new("table", "id u64", "").unwrap();
        fixture.db.create_table(schema.family(family.ttl(seconds(5)))).unwrap();
        write_prices(fixture, &[1, 2]);
    };
    in_every_state(fill, |fixture| {
        let fresh = [4, 5, 14, 15].map(|time| {
            let row = fixture.table().get_as_of(1, at(time)).unwrap().unwrap();
            row.cell("price").unwrap().fresh
        });
        assert_eq!(fresh, [true, false, true, false]);
    });
}

#[test]
fn a_version_has_all_columns_of_the_family() {
    on_every_engine(|fixture| {
        create(fixture, History::Versions(3));
        fixture.table().write(Write::put(1).set("price", 1).set("currency", "EUR")).unwrap();
        fixture.pass(10);
        write_prices(fixture, &[2]);
        for version in fixture.table().versions(1, "prices").unwrap() {
            assert_eq!(version.columns[1].1, "EUR".into());
        }
    });
}

#[test]
fn a_late_write_is_no_version() {
    on_every_engine(|fixture| {
        create(fixture, History::Versions(3));
        write_prices(fixture, &[1, 2]);
        fixture.table().write(Write::put(1).set("price", 9).written_at(at(5))).unwrap();
        assert_eq!(versions(fixture), [2, 1]);
        assert_eq!(price_at(fixture, 5), Some(1.into()));
    });
}

#[test]
fn the_versions_of_an_unknown_family_are_refused() {
    on_every_engine(|fixture| {
        create(fixture, History::None);
        let error = fixture.table().versions(1, "prizes").unwrap_err();
        assert!(matches!(error, Error::Schema { .. }) && error.to_string().contains("\"prizes\""));
    });
}

/// The second price is gone after ten seconds, the first would have been kept for ever.
fn write_a_short_lived_second_price(fixture: &Fixture, history: History) {
    create(fixture, history);
    write_prices(fixture, &[1]);
    let short = Write::put(1).set("price", 2).ttl(seconds(5)).keep(seconds(5));
    fixture.table().write(short).unwrap();
    fixture.pass(90);
}

#[test]
fn an_older_version_does_not_resurface_in_the_stretch_after_a_newer_one_was_gone() {
    let fill = |fixture: &Fixture| write_a_short_lived_second_price(fixture, History::Versions(9));
    in_every_state(fill, |fixture| {
        assert_eq!(value(fixture, "price"), None);
        assert_eq!(price_at(fixture, 30), None);
        assert_eq!(price_at(fixture, 5), Some(1.into()));
    });
}

#[test]
fn an_older_version_does_not_resurface_in_the_stretch_of_a_newer_one_that_may_be_dropped() {
    let fill = |fixture: &Fixture| {
        write_a_short_lived_second_price(fixture, History::For(seconds(10_000)));
        assert_eq!(price_at(fixture, 15), None, "dropped or not, it is not looked at any more");
    };
    in_every_state(fill, |fixture| assert_eq!(price_at(fixture, 15), None));
}

#[test]
fn an_older_version_does_not_resurface_where_a_gone_one_was_overwritten() {
    let fill = |fixture: &Fixture| {
        write_a_short_lived_second_price(fixture, History::Versions(9));
        write_prices(fixture, &[3]);
    };
    in_every_state(fill, |fixture| {
        assert_eq!(price_at(fixture, 30), None);
        assert_ne!(price_at(fixture, 15), Some(1.into()));
    });
}
