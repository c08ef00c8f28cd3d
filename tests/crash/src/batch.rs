//! Numbered batches: what each writes is known from its number alone.

use std::collections::BTreeMap;
use std::time::Duration;

use stonecrop::keys::Value as KeyValue;
use stonecrop::{
    ColumnType, Database, Durability, Error, Family, History, Options, Placement, Scan, Table,
    TableSchema, Value, Write,
};

use crate::Result;
use crate::place::is_on_objects;

/// Batches whose numbers leave the same rest belong to one lane, and are written one after the
/// other.
pub(crate) const LANES: u64 = 4;
/// Batch 0 would share its key with the rows of the lanes.
pub(crate) const FIRST: u64 = LANES;
pub(crate) const PEOPLE: &str = "people";
pub(crate) const EVENTS: &str = "events";

/// The rows of a table by the text of their keys.
pub(crate) type Rows = BTreeMap<String, BTreeMap<String, Value>>;

/// What a batch does to one row.
pub(crate) struct Change {
    pub(crate) table: &'static str,
    key: Vec<KeyValue<'static>>,
    kind: Kind,
    set: Vec<(&'static str, Value)>,
    count: Option<&'static str>,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Put,
    Replace,
    Delete,
}

impl Change {
    fn new(table: &'static str, kind: Kind, key: Vec<KeyValue<'static>>) -> Self {
        Change { table, key, kind, set: Vec::new(), count: None }
    }

    fn set(mut self, column: &'static str, value: impl Into<Value>) -> Self {
        self.set.push((column, value.into()));
        self
    }

    fn count(mut self, column: &'static str) -> Self {
        self.count = Some(column);
        self
    }

    fn write(&self) -> Write<'_> {
        let key = self.key.as_slice();
        let mut write = match self.kind {
            Kind::Put => Write::put(key),
            Kind::Replace => Write::replace(key),
            Kind::Delete => Write::delete(key),
        };
        for (column, value) in &self.set {
            write = write.set(*column, value.clone());
        }
        match self.count {
            Some(column) => write.add(column, 1),
            None => write,
        }
    }

    /// Does to a plain map what the database is asked to do.
    pub(crate) fn apply(&self, rows: &mut Rows) {
        let key = key_text(&self.key);
        if self.kind != Kind::Put {
            rows.remove(&key);
        }
        if self.kind == Kind::Delete {
            return;
        }
        let row = rows.entry(key).or_default();
        for (column, value) in &self.set {
            row.insert((*column).to_owned(), value.clone());
        }
        if let Some(column) = self.count {
            let count = match row.get(column) {
                Some(Value::Int(count)) => count + 1,
                _ => 1,
            };
            row.insert(column.to_owned(), Value::Int(count));
        }
    }
}

pub(crate) fn key_text(values: &[KeyValue<'_>]) -> String {
    values.iter().map(ToString::to_string).collect::<Vec<_>>().join("/")
}

/// How many rows of people a batch adds.
fn size(batch: u64) -> u64 {
    2 + batch % 4
}

fn person(batch: u64, index: u64) -> Vec<KeyValue<'static>> {
    vec![format!("company {}", batch % 7).into(), (batch * 8 + index).into()]
}

/// The row that every batch adds and none takes away.
pub(crate) fn marker(batch: u64) -> Vec<KeyValue<'static>> {
    vec![batch.into(), 0_u64.into()]
}

/// The row that all batches of a lane overwrite, in a family that keeps three versions.
pub(crate) fn lane_row(lane: u64) -> Vec<KeyValue<'static>> {
    vec![0_u64.into(), lane.into()]
}

/// All that a batch does. Earlier rows that it takes away or replaces are of its own lane.
pub(crate) fn changes(batch: u64) -> Vec<Change> {
    let lane = batch % LANES;
    let number = batch as i64;
    let mut changes = Vec::new();
    for index in 0..size(batch) {
        let change = Change::new(PEOPLE, Kind::Put, person(batch, index))
            .set("name", format!("name {batch} {index}"))
            .set("email", format!("{index}@{batch}.example"))
            .set("plan", if batch.is_multiple_of(2) { "pro" } else { "free" })
            .set("note", "x".repeat((batch * 37 % 300) as usize))
            .set("batch", number);
        changes.push(change);
    }
    if batch.is_multiple_of(3) && batch > 36 {
        let gone = batch - 32;
        let delete = |index| Change::new(PEOPLE, Kind::Delete, person(gone, index));
        changes.extend((0..size(gone)).map(delete));
    }
    if batch % 5 == 1 && batch > 20 {
        let key = person(batch - 16, 1);
        let replacement = format!("replaced by {batch}");
        changes.push(Change::new(PEOPLE, Kind::Replace, key).set("name", replacement));
    }
    let lane_of_people = vec!["lane".into(), lane.into()];
    changes.push(Change::new(PEOPLE, Kind::Put, lane_of_people).set("name", "lane").count("seats"));
    let everybody = vec!["all".into(), 0_u64.into()];
    changes.push(Change::new(PEOPLE, Kind::Put, everybody).count("count"));
    let last = Change::new(EVENTS, Kind::Put, lane_row(lane)).set("kind", "last");
    changes.push(last.set("size", number));
    let marker = Change::new(EVENTS, Kind::Put, marker(batch)).set("kind", "batch");
    changes.push(marker.set("size", size(batch) as i64).set("lane", lane as i64));
    changes
}

/// The two tables that batches write to.
pub(crate) struct Tables {
    pub(crate) people: Table,
    pub(crate) events: Table,
}

impl Tables {
    /// Makes those that are not there.
    pub(crate) fn create(db: &Database) -> Result<Self, Error> {
        let make = |schema: TableSchema| match db.table(schema.name()) {
            Err(Error::NoTable { .. }) => db.create_table(schema),
            found => found,
        };
        let day = Duration::from_secs(86_400);
        let year = day * 365;
        let people = TableSchema::new(PEOPLE, "company string", "id u64")?
            .family(Family::new("crm").column("name").column("email").ttl(day))
            .family(
                Family::new("billing")
                    .typed("plan", ColumnType::String)
                    .typed("seats", ColumnType::Int),
            )
            .changes(year);
        let body = Family::new("body").column("kind").column("size");
        let events = TableSchema::new(EVENTS, "batch u64", "part u64")?
            .placement(Placement::Range)
            .family(body.history(History::Versions(3)))
            .changes(year);
        Ok(Tables { people: make(people)?, events: make(events)? })
    }

    /// Writes a batch, all or nothing.
    pub(crate) fn write(&self, db: &Database, batch: u64) -> Result<(), Error> {
        let changes = changes(batch);
        let writes = changes.iter().map(|change| match change.table {
            PEOPLE => (&self.people, change.write()),
            _ => (&self.events, change.write()),
        });
        db.transaction(writes).map(drop)
    }
}

/// All rows of a table; none where there is no such table.
pub(crate) fn read_rows(db: &Database, table: &str) -> Result<Rows, Error> {
    let table = match db.table(table) {
        Err(Error::NoTable { .. }) => return Ok(Rows::new()),
        table => table?,
    };
    let rows = table.scan(Scan::all())?;
    rows.map(|row| row.map(|row| (key_text(row.key().values()), columns(&row)))).collect()
}

/// The rows that the changes of a table lead to; what does not follow from those before is broken.
pub(crate) fn replay(db: &Database, table: &str, broken: &mut Vec<String>) -> Result<Rows, Error> {
    let mut rows = Rows::new();
    let table = match db.table(table) {
        Err(Error::NoTable { .. }) => return Ok(rows),
        table => table?,
    };
    let mut page = table.changes(None, 1_000)?;
    loop {
        for change in std::mem::take(&mut page.changes) {
            let key = key_text(change.key.values());
            if rows.remove(&key) != change.old.as_ref().map(columns) {
                broken.push(format!("{} {key}: change {} skips one", table.name(), change.number));
            }
            rows.extend(change.new.as_ref().map(|row| (key, columns(row))));
        }
        if !page.more {
            return Ok(rows);
        }
        page = table.changes(Some(page.next), 1_000)?;
    }
}

pub(crate) fn columns(row: &stonecrop::Row) -> BTreeMap<String, Value> {
    row.columns().map(|(name, cell)| (name.to_owned(), cell.value.clone())).collect()
}

pub(crate) fn open(folder: &std::path::Path) -> Result<Database, Error> {
    open_as(folder, Durability::Sync)
}

pub(crate) fn open_as(folder: &std::path::Path, durability: Durability) -> Result<Database, Error> {
    let options = Options::default().cache_bytes(16 << 20).durability(durability);
    let options = match is_on_objects(folder) {
        false => options.shards(2),
        // Batches are whole within a shard there. Nobody pays for requests.
        true => options
            .shards(1)
            .flush_interval(Duration::from_millis(5))
            .poll_interval(Duration::from_millis(100)),
    };
    Database::open_with(folder, options)
}
