//! What the service tells of a table and the database does not keep: a row a table, in a table of
//! this door's own.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use stonecrop::keys::Value as KeyValue;
use stonecrop::{Database, Error, Family, Scan, Table, TableSchema, Value, Write};

/// The table that has a row for each of the others.
pub(super) const TABLE: &str = "stonecrop.dynamodb";
const COLUMN: &str = "about";

/// What is told of a table.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct About {
    pub(super) id: String,
    /// In seconds since 1970.
    pub(super) created: f64,
    /// The types of key attributes, its own and those of its indexes, in the order given.
    pub(super) attributes: Vec<(String, String)>,
    pub(super) on_demand: bool,
    /// Whether the billing mode was ever given; only then it is told.
    pub(super) tells_billing: bool,
    pub(super) units: Units,
    pub(super) protected: bool,
    pub(super) class: Option<String>,
    pub(super) indexes: Vec<IndexAbout>,
    pub(super) tags: BTreeMap<String, String>,
    /// The attribute whose time makes an item vanish.
    pub(super) ttl: Option<String>,
    /// How often that was changed, and how often when the rows were last given their times.
    pub(super) ttl_changes: u64,
    pub(super) ttl_swept: u64,
    pub(super) stream: Option<StreamAbout>,
    /// Streams that were switched off, the oldest first.
    pub(super) former: Vec<StreamAbout>,
}

/// Capacity that was asked for; nothing here limits anybody by it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Units {
    pub(super) read: i64,
    pub(super) write: i64,
    pub(super) increased: Option<f64>,
    pub(super) decreased: Option<f64>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct IndexAbout {
    pub(super) name: String,
    pub(super) is_local: bool,
    pub(super) partition: Vec<String>,
    pub(super) sort: Vec<String>,
    pub(super) projection: Projected,
    pub(super) units: Units,
}

/// Which attributes an index shows.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) enum Projected {
    #[default]
    All,
    Keys,
    Include(Vec<String>),
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct StreamAbout {
    pub(super) view: String,
    pub(super) label: String,
    /// The changes of the table after this number are its records.
    pub(super) after: u64,
    /// Where it ends, if it was switched off.
    pub(super) end: Option<StreamEnd>,
    /// How long the table kept its changes before there was a stream, if it did.
    pub(super) kept_before: Option<Duration>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct StreamEnd {
    /// The number of the last change that is one of its records, at most.
    pub(super) number: u64,
    /// In seconds since 1970.
    pub(super) at: f64,
}

impl IndexAbout {
    /// Its key attributes, those of the partition first.
    pub(super) fn key(&self) -> impl Iterator<Item = &String> {
        self.partition.iter().chain(&self.sort)
    }
}

impl About {
    pub(super) fn type_of(&self, attribute: &str) -> Option<&str> {
        let found = self.attributes.iter().find(|(name, _)| name == attribute);
        found.map(|(_, of)| of.as_str())
    }

    pub(super) fn index(&self, name: &str) -> Option<&IndexAbout> {
        self.indexes.iter().find(|index| index.name == name)
    }

    /// What is told of a table; none where it was not made through this door.
    pub(super) fn read(database: &Database, table: &str) -> stonecrop::Result<Option<About>> {
        let all = match database.table(TABLE) {
            Err(Error::NoTable { .. }) => return Ok(None),
            all => all?,
        };
        let row = all.get(table)?;
        let text = row.as_ref().and_then(|row| row.value(COLUMN));
        Ok(match text {
            Some(Value::String(text)) => serde_json::from_str(text).ok(),
            _ => None,
        })
    }

    /// The tables whose rows are still to be given their times.
    pub(super) fn unswept(database: &Database) -> stonecrop::Result<Vec<String>> {
        let all = match database.table(TABLE) {
            Err(Error::NoTable { .. }) => return Ok(Vec::new()),
            all => all?,
        };
        let mut names = Vec::new();
        for row in all.scan(Scan::all())? {
            let row = row?;
            let Some(KeyValue::String(name)) = row.key().values().first() else { continue };
            let about = About::read(database, name)?;
            if about.is_some_and(|about| about.ttl_changes != about.ttl_swept) {
                names.push(name.to_string());
            }
        }
        Ok(names)
    }

    pub(super) fn write(&self, database: &Database, table: &str) -> stonecrop::Result<()> {
        let text = serde_json::to_string(self).unwrap_or_default();
        own_table(database)?.write(Write::put(table).set(COLUMN, text))?;
        Ok(())
    }

    pub(super) fn forget(database: &Database, table: &str) -> stonecrop::Result<()> {
        own_table(database)?.write(Write::delete(table))?;
        Ok(())
    }
}

/// Forgets what was told of a table that another door made anew or dropped.
pub(crate) fn forget(database: &Database, table: &str) -> stonecrop::Result<()> {
    match About::read(database, table)? {
        Some(_) => About::forget(database, table),
        None => Ok(()),
    }
}

fn own_table(database: &Database) -> stonecrop::Result<Table> {
    let schema = TableSchema::new(TABLE, "table string", "")?;
    match database.create_table(schema.family(Family::new("about").column(COLUMN))) {
        Err(Error::TableExists { .. }) => database.table(TABLE),
        made => made,
    }
}
