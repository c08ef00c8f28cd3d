//! Two small tables with the same rows: one placed by hash, one by range.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use stonecrop::{
    ColumnType, Database, Durability, Family, History, Index, ManualClock, Options, Placement,
    TableSchema, Timestamp, Value, Write,
};

pub const TABLES: [(&str, Placement); 2] =
    [("accounts", Placement::Hash), ("ranged", Placement::Range)];
const ROWS: i64 = 60;

/// It is never written to again, and its clock stands still.
pub static DATABASE: LazyLock<Database> = LazyLock::new(|| {
    let clock = Arc::new(ManualClock::new(minute(80)));
    let options = Options::default().clock(clock).durability(Durability::None);
    let db = Database::open_with("memory:", options).unwrap();
    for (name, placement) in TABLES {
        let table = db.create_table(schema(name).placement(placement)).unwrap();
        table.write_all((0..ROWS).map(row)).unwrap();
        let again = (0..ROWS).step_by(7).map(|number| {
            let write = Write::put((region(number), number)).set("score", number - 3);
            write.remove("note").written_at(minute(60))
        });
        table.write_all(again).unwrap();
    }
    db
});

/// Rows are written one a minute: at the end the oldest scores are gone, others are stale, and some
/// are fresh.
fn minute(count: i64) -> Timestamp {
    Timestamp::from_micros(1_800_000_000_000_000 + count * 60_000_000)
}

fn schema(name: &str) -> TableSchema {
    let minutes = |count: u64| Duration::from_secs(count * 60);
    let crm = Family::new("crm")
        .column("name")
        .typed("owner", ColumnType::String)
        .column("status")
        .column("address")
        .ttl(minutes(45));
    let scores = Family::new("scores")
        .typed("score", ColumnType::Int)
        .column("rating")
        .ttl(minutes(30))
        .keep(minutes(30))
        .history(History::Versions(3));
    TableSchema::new(name, "region string", "id i64")
        .unwrap()
        .family(crm)
        .family(scores)
        .index(Index::new("by_owner", "owner string, score i64 desc nulls last").unwrap())
        .index(Index::new("by_status", "status string nulls first").unwrap().covering(["name"]))
        .index(Index::new("by_note", "note string desc").unwrap())
}

fn region(number: i64) -> &'static str {
    ["eu", "us", ""][number as usize % 3]
}

fn row(number: i64) -> Write<'static> {
    let mixed = (number as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
    let city = ["Bern", "Kyiv", ""][mixed as usize % 3];
    let address = match number % 5 {
        0 => Value::Null,
        1 => Value::List(vec![city.into(), number.into(), Value::Null]),
        _ => Value::Map(BTreeMap::from([
            ("city".to_owned(), city.into()),
            ("zip".to_owned(), Value::List(vec![(number % 4).into(), 2.5.into()])),
        ])),
    };
    let rating: Value = match number % 6 {
        0 => f64::NAN.into(),
        1 => (-0.0).into(),
        2 => "2.50".parse::<stonecrop::keys::Decimal>().unwrap().into(),
        3 => (number % 4).into(),
        4 => "high".into(),
        _ => Value::Bytes(vec![0xFF, number as u8]),
    };
    let write = Write::put((region(number), number))
        .set("name", format!("Account {}", number % 20))
        .set("address", address)
        .written_at(minute(number));
    let write = match number % 4 {
        0 => write.set("status", Value::Null),
        1 => write.set("status", "active"),
        2 => write.set("status", "closed").set("score", Value::Null),
        _ => write.set("score", number % 9 - 3).set("rating", rating),
    };
    let write = match number % 3 {
        0 => write.set("owner", "u:adam"),
        1 => write.set("owner", Value::Null).set("note", "call back"),
        _ => write.set("note", ["", "a", "ab", "\u{10FFFF}"][number as usize % 4]),
    };
    match number % 10 {
        0 => write.set("tags", Value::StringSet(["new", "vip"].map(str::to_owned).into())),
        1 => write.set("a.b", number),
        2 => write.set("seen", Timestamp::from_micros(number)),
        _ => write,
    }
}
