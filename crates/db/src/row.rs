//! Rows as readers get them.

use std::fmt;
use std::sync::Arc;

use crate::catalog::Names;
use crate::clock::Timestamp;
use crate::key::RowKey;
use crate::value::Value;

/// A row, or those of its columns that were asked for.
///
/// ```
/// use stonecrop::{Database, TableSchema, Write};
/// let people = Database::memory().create_table(TableSchema::new("people", "id u64", "")?)?;
/// people.write(Write::put(1).set("name", "Ann"))?;
/// let row = people.get(1)?.expect("it was just written");
/// assert_eq!(row.value("name"), Some(&"Ann".into()));
/// assert!(row.cell("name").is_some_and(|cell| cell.fresh));
/// # Ok::<(), stonecrop::Error>(())
/// ```
#[derive(Clone)]
pub struct Row {
    pub(crate) key: RowKey<'static>,
    /// One list for all rows of the table, so that a row does not share every name by itself.
    pub(crate) names: Arc<Names>,
    pub(crate) columns: Vec<(Name, Cell)>,
}

/// The name of a row's column.
#[derive(Clone)]
pub(crate) enum Name {
    /// It is in the list.
    Declared {
        family: u16,
        id: u32,
    },
    Loose(Arc<str>),
}

/// The value of a column in a row, and how old it is.
///
/// ```
/// use std::{sync::Arc, time::Duration};
/// use stonecrop::{ManualClock, Database, Family, Options, TableSchema, Timestamp, Write};
/// let clock = Arc::new(ManualClock::new(Timestamp::from_micros(0)));
/// let db = Database::open_with("memory:", Options::default().clock(clock.clone()))?;
/// let crm = Family::new("crm").column("name").ttl(Duration::from_secs(60));
/// let people = db.create_table(TableSchema::new("people", "id u64", "")?.family(crm))?;
/// people.write(Write::put(1).set("name", "Ann"))?;
/// clock.advance(Duration::from_secs(61));
/// let row = people.get(1)?.expect("it is stale, not gone");
/// assert!(row.cell("name").is_some_and(|cell| !cell.fresh));
/// # Ok::<(), stonecrop::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Cell {
    /// The value.
    pub value: Value,
    /// Whether it was still fresh when it was read.
    pub fresh: bool,
    /// When its family was written.
    pub written_at: Timestamp,
    /// From when on it is stale.
    pub fresh_until: Timestamp,
    /// From when on it is not there any more.
    pub gone_at: Timestamp,
}

impl Row {
    /// The key of the row.
    ///
    /// ```
    /// # use stonecrop::{Database, TableSchema, Write};
    /// # let people = Database::memory().create_table(TableSchema::new("people", "id u64", "")?)?;
    /// people.write(Write::put(1).set("name", "Ann"))?;
    /// assert_eq!(people.get(1)?.unwrap().key(), &1.into());
    /// # Ok::<(), stonecrop::Error>(())
    /// ```
    pub fn key(&self) -> &RowKey<'static> {
        &self.key
    }

    /// The value of a column; none where it is not there, or was not asked for.
    ///
    /// ```
    /// # use stonecrop::{Database, TableSchema, Write};
    /// # let people = Database::memory().create_table(TableSchema::new("people", "id u64", "")?)?;
    /// people.write(Write::put(1).set("name", "Ann"))?;
    /// assert_eq!(people.get(1)?.unwrap().value("age"), None);
    /// # Ok::<(), stonecrop::Error>(())
    /// ```
    pub fn value(&self, column: &str) -> Option<&Value> {
        self.cell(column).map(|cell| &cell.value)
    }

    /// The value of a column with its age.
    ///
    /// ```
    /// # use stonecrop::{Database, TableSchema, Timestamp, Write};
    /// # let people = Database::memory().create_table(TableSchema::new("people", "id u64", "")?)?;
    /// people.write(Write::put(1).set("name", "Ann"))?;
    /// assert_eq!(people.get(1)?.unwrap().cell("name").unwrap().fresh_until, Timestamp::NEVER);
    /// # Ok::<(), stonecrop::Error>(())
    /// ```
    pub fn cell(&self, column: &str) -> Option<&Cell> {
        self.columns().find(|(name, _)| *name == column).map(|(_, cell)| cell)
    }

    /// All columns: those of declared families in the order of their declaration, then the others
    /// by name.
    ///
    /// ```
    /// # use stonecrop::{Database, TableSchema, Write};
    /// # let people = Database::memory().create_table(TableSchema::new("people", "id u64", "")?)?;
    /// people.write(Write::put(1).set("name", "Ann").set("age", 41))?;
    /// let row = people.get(1)?.unwrap();
    /// assert_eq!(row.columns().map(|(name, _)| name).collect::<Vec<_>>(), ["age", "name"]);
    /// # Ok::<(), stonecrop::Error>(())
    /// ```
    pub fn columns(&self) -> impl Iterator<Item = (&str, &Cell)> {
        self.columns.iter().map(|(name, cell)| (self.names.resolve(name), cell))
    }

    /// All columns, each with its family before its name. A column that is declared in no family is
    /// one by itself.
    ///
    /// ```
    /// # use stonecrop::{Database, Family, TableSchema, Write};
    /// let crm = Family::new("crm").column("name");
    /// let schema = TableSchema::new("people", "id u64", "")?.family(crm);
    /// let people = Database::memory().create_table(schema)?;
    /// people.write(Write::put(1).set("name", "Ann").set("age", 41))?;
    /// let row = people.get(1)?.unwrap();
    /// let families: Vec<_> = row.columns_of_families().map(|(family, _, _)| family).collect();
    /// assert_eq!(families, ["crm", "age"]);
    /// # Ok::<(), stonecrop::Error>(())
    /// ```
    pub fn columns_of_families(&self) -> impl Iterator<Item = (&str, &str, &Cell)> {
        let of = |(name, cell)| (self.names.family(name), self.names.resolve(name), cell);
        self.columns.iter().map(|(name, cell)| (name, cell)).map(of)
    }
}

impl PartialEq for Row {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key && self.columns().eq(other.columns())
    }
}

impl fmt::Debug for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns: Vec<_> = self.columns().collect();
        f.debug_struct("Row").field("key", &self.key).field("columns", &columns).finish()
    }
}

/// One version of a family's columns.
///
/// ```
/// use stonecrop::{Database, Family, History, TableSchema, Write};
/// let family = Family::new("prices").column("price").history(History::Versions(3));
/// let items = Database::memory()
///     .create_table(TableSchema::new("items", "id u64", "")?.family(family))?;
/// for price in [10, 11, 12, 13] {
///     items.write(Write::put(1).set("price", price))?;
/// }
/// let versions = items.versions(1, "prices")?;
/// assert_eq!(versions[0].columns[0].1, 13.into());
/// # Ok::<(), stonecrop::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Version {
    /// When it was written.
    pub written_at: Timestamp,
    /// From when on it was stale.
    pub fresh_until: Timestamp,
    /// The columns, by name.
    pub columns: Vec<(Arc<str>, Value)>,
}
