//! What a table is declared as.

use std::collections::HashSet;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use stonecrop_keys::Schema;

use crate::error::{Error, Result};
use crate::index::Index;
use crate::value::ColumnType;

/// What a table is declared as: its key, its families of columns, how they age.
///
/// ```
/// use std::time::Duration;
/// use stonecrop::{ColumnType, Database, Family, TableSchema};
/// let crm = Family::new("crm").column("name").typed("age", ColumnType::Int);
/// let schema = TableSchema::new("people", "company string", "id u64")?
///     .family(crm.ttl(Duration::from_secs(600)));
/// Database::memory().create_table(schema)?;
/// # Ok::<(), stonecrop::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TableSchema {
    pub(crate) name: String,
    #[serde(with = "notation")]
    partition_key: Option<Schema>,
    #[serde(with = "notation")]
    sort_key: Option<Schema>,
    pub(crate) placement: Placement,
    pub(crate) families: Vec<Family>,
    #[serde(default)]
    pub(crate) indexes: Vec<Index>,
    /// The id of the next index; none is used twice.
    #[serde(default = "first_index")]
    pub(crate) next_index: u16,
    /// Whether changes of rows are kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) changes: Option<KeptChanges>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct KeptChanges {
    pub(crate) keep: Duration,
}

fn first_index() -> u16 {
    1
}

/// How the partitions of a table are laid out.
///
/// ```
/// use stonecrop::{Placement, TableSchema};
/// let events = TableSchema::new("events", "day date", "seq u64")?.placement(Placement::Range);
/// # Ok::<(), stonecrop::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Placement {
    /// Spread over 256 stripes by a hash: no partition is the neighbour of the next.
    #[default]
    Hash,
    /// The whole table is in the order of its key, and ranges over partitions can be scanned.
    Range,
}

/// Columns that arrive together and age together, and are stored as one entry.
///
/// ```
/// use std::time::Duration;
/// use stonecrop::Family;
/// let billing = Family::new("billing")
///     .column("plan")
///     .column("renews")
///     .ttl(Duration::from_secs(3600))
///     .keep(Duration::from_secs(86_400));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Family {
    pub(crate) name: String,
    pub(crate) columns: Vec<Column>,
    #[serde(flatten)]
    pub(crate) lifetime: Lifetime,
    pub(crate) history: History,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Column {
    pub(crate) name: String,
    #[serde(rename = "type", default)]
    pub(crate) column_type: ColumnType,
}

/// How long what is written is fresh, and how long it is kept after that. None is for ever.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Lifetime {
    pub(crate) ttl: Option<Duration>,
    pub(crate) keep: Option<Duration>,
}

/// Which superseded versions of a family are kept.
///
/// ```
/// use stonecrop::{Family, History};
/// let prices = Family::new("prices").column("price").history(History::Versions(10));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum History {
    /// None of them.
    #[default]
    None,
    /// So many versions in all, the present one included.
    Versions(u32),
    /// Each for so long after it was superseded.
    For(Duration),
}

impl TableSchema {
    /// A table with a partition key of one or more fields and a sort key of none or more, each in
    /// the notation of [`stonecrop_keys::Schema`].
    ///
    /// ```
    /// use stonecrop::TableSchema;
    /// TableSchema::new("sessions", "user uuid", "")?;
    /// TableSchema::new("log", "host string, day date", "at timestamp(us) desc")?;
    /// let error = TableSchema::new("sessions", "user uid", "").unwrap_err();
    /// assert!(error.to_string().contains("uid"));
    /// # Ok::<(), stonecrop::Error>(())
    /// ```
    pub fn new(name: impl Into<String>, partition_key: &str, sort_key: &str) -> Result<Self> {
        let name = name.into();
        let parse = |what: &str, text: &str| match text.trim() {
            "" => Ok(None),
            text => text.parse::<Schema>().map(Some).map_err(|error| Error::Schema {
                table: name.clone(),
                problem: format!("the {what} {text:?}: {error}"),
            }),
        };
        let (partition_key, sort_key) =
            (parse("partition key", partition_key)?, parse("sort key", sort_key)?);
        Ok(TableSchema {
            name,
            partition_key,
            sort_key,
            placement: Placement::default(),
            families: Vec::new(),
            indexes: Vec::new(),
            next_index: first_index(),
            changes: None,
        })
    }

    /// With partitions placed by hash or in order.
    ///
    /// ```
    /// # use stonecrop::{Placement, TableSchema};
    /// TableSchema::new("events", "at timestamp(us)", "")?.placement(Placement::Range);
    /// # Ok::<(), stonecrop::Error>(())
    /// ```
    pub fn placement(mut self, placement: Placement) -> Self {
        self.placement = placement;
        self
    }

    /// With one more family.
    ///
    /// ```
    /// # use stonecrop::{Family, TableSchema};
    /// TableSchema::new("people", "id u64", "")?.family(Family::new("crm").column("name"));
    /// # Ok::<(), stonecrop::Error>(())
    /// ```
    pub fn family(mut self, family: Family) -> Self {
        self.families.push(family);
        self
    }

    /// With one more index.
    ///
    /// ```
    /// # use stonecrop::{Index, TableSchema};
    /// TableSchema::new("people", "id u64", "")?.index(Index::new("by_name", "name string")?);
    /// # Ok::<(), stonecrop::Error>(())
    /// ```
    pub fn index(mut self, mut index: Index) -> Self {
        index.id = self.next_index;
        self.next_index = self.next_index.saturating_add(1);
        self.indexes.push(index);
        self
    }

    /// With every change of a row kept for so long, to be read with [`crate::Table::changes`].
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use stonecrop::TableSchema;
    /// TableSchema::new("people", "id u64", "")?.changes(Duration::from_secs(86_400));
    /// # Ok::<(), stonecrop::Error>(())
    /// ```
    pub fn changes(mut self, keep: Duration) -> Self {
        self.changes = Some(KeptChanges { keep });
        self
    }

    /// The name of the table.
    ///
    /// ```
    /// # use stonecrop::TableSchema;
    /// assert_eq!(TableSchema::new("people", "id u64", "")?.name(), "people");
    /// # Ok::<(), stonecrop::Error>(())
    /// ```
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The families, in the order of their declaration.
    ///
    /// ```
    /// # use stonecrop::{Family, TableSchema};
    /// let schema = TableSchema::new("people", "id u64", "")?.family(Family::new("crm").column("name"));
    /// assert_eq!(schema.families()[0].name(), "crm");
    /// # Ok::<(), stonecrop::Error>(())
    /// ```
    pub fn families(&self) -> &[Family] {
        &self.families
    }

    /// The indexes, in the order of their declaration.
    ///
    /// ```
    /// # use stonecrop::TableSchema;
    /// assert!(TableSchema::new("people", "id u64", "")?.indexes().is_empty());
    /// # Ok::<(), stonecrop::Error>(())
    /// ```
    pub fn indexes(&self) -> &[Index] {
        &self.indexes
    }

    /// The fields of the partition key and of the sort key, as one schema.
    ///
    /// ```
    /// # use stonecrop::TableSchema;
    /// let schema = TableSchema::new("people", "company string", "id u64")?;
    /// assert_eq!(schema.key()?.to_string(), "company string, id u64");
    /// # Ok::<(), stonecrop::Error>(())
    /// ```
    pub fn key(&self) -> Result<Schema> {
        let parts = [&self.partition_key, &self.sort_key].into_iter().flatten();
        let fields: Vec<_> = parts.flat_map(Schema::fields).cloned().collect();
        Schema::new(fields).map_err(|error| self.problem(format!("the key of the table: {error}")))
    }

    /// The fields of the partition key.
    ///
    /// ```
    /// # use stonecrop::TableSchema;
    /// let schema = TableSchema::new("people", "company string", "id u64")?;
    /// assert_eq!(schema.partition_key().map(ToString::to_string), Some("company string".to_owned()));
    /// # Ok::<(), stonecrop::Error>(())
    /// ```
    pub fn partition_key(&self) -> Option<&Schema> {
        self.partition_key.as_ref()
    }

    /// The fields of the sort key, if it has any.
    ///
    /// ```
    /// # use stonecrop::TableSchema;
    /// assert_eq!(TableSchema::new("people", "id u64", "")?.sort_key(), None);
    /// # Ok::<(), stonecrop::Error>(())
    /// ```
    pub fn sort_key(&self) -> Option<&Schema> {
        self.sort_key.as_ref()
    }

    /// How the partitions are laid out.
    ///
    /// ```
    /// # use stonecrop::{Placement, TableSchema};
    /// assert_eq!(TableSchema::new("people", "id u64", "")?.placed(), Placement::Hash);
    /// # Ok::<(), stonecrop::Error>(())
    /// ```
    pub fn placed(&self) -> Placement {
        self.placement
    }

    /// How long changes are kept; none where they are not.
    ///
    /// ```
    /// # use stonecrop::TableSchema;
    /// assert_eq!(TableSchema::new("people", "id u64", "")?.kept_changes(), None);
    /// # Ok::<(), stonecrop::Error>(())
    /// ```
    pub fn kept_changes(&self) -> Option<Duration> {
        self.changes.map(|changes| changes.keep)
    }

    /// With ids for the indexes that are not those of another table.
    pub(crate) fn with_numbered_indexes(mut self) -> Self {
        let indexes = std::mem::take(&mut self.indexes);
        self.next_index = first_index();
        indexes.into_iter().fold(self, TableSchema::index)
    }

    /// How many fields the partition key has.
    pub(crate) fn partition_fields(&self) -> usize {
        self.partition_key.as_ref().map_or(0, |schema| schema.fields().len())
    }

    pub(crate) fn problem(&self, problem: impl Into<String>) -> Error {
        Error::Schema { table: self.name.clone(), problem: problem.into() }
    }

    /// That the declaration makes sense.
    pub(crate) fn check(&self) -> Result<()> {
        if self.name.is_empty() || self.name.len() > 255 {
            return Err(self.problem("a name has 1 to 255 bytes"));
        }
        if self.partition_key.is_none() {
            return Err(self.problem("a partition key has at least one field"));
        }
        let key = self.key()?;
        if key.fields().iter().any(|field| *field.field_type() == stonecrop_keys::Type::Raw) {
            return Err(
                self.problem("a raw tail has no end, and more follows the key of a row; use bytes")
            );
        }
        if self.families.len() >= usize::from(u16::MAX) {
            return Err(self.problem("more than 65,534 families"));
        }
        let mut names: HashSet<&str> = key.fields().iter().map(|field| field.name()).collect();
        let mut families = HashSet::new();
        for family in &self.families {
            if family.name.is_empty() || !families.insert(&family.name) {
                let name = &family.name;
                return Err(
                    self.problem(format!("family {name:?}: the name is empty or used twice"))
                );
            }
            if family.history == History::Versions(0) {
                let name = &family.name;
                return Err(self.problem(format!("family {name:?}: at least one version is kept")));
            }
            for column in &family.columns {
                if column.name.is_empty() || !names.insert(&column.name) {
                    return Err(self.problem(format!(
                        "column {:?}: the name is empty, or is one of another column or of a field \
                         of the key",
                        column.name
                    )));
                }
            }
        }
        let mut names = HashSet::new();
        for index in &self.indexes {
            if index.name.is_empty() || !names.insert(&index.name) {
                let name = &index.name;
                return Err(
                    self.problem(format!("index {name:?}: the name is empty or used twice"))
                );
            }
        }
        if self.changes.is_some_and(|changes| changes.keep.is_zero()) {
            return Err(self.problem("changes are kept for some time, or not at all"));
        }
        if self.next_index == u16::MAX {
            return Err(self.problem("65,534 indexes were made of it; copy it to a new table"));
        }
        Ok(())
    }
}

impl Family {
    /// A family without columns yet, always fresh, without history.
    ///
    /// ```
    /// assert_eq!(stonecrop::Family::new("crm").name(), "crm");
    /// ```
    pub fn new(name: impl Into<String>) -> Self {
        Family {
            name: name.into(),
            columns: Vec::new(),
            lifetime: Lifetime::default(),
            history: History::None,
        }
    }

    /// With a column for values of every type.
    ///
    /// ```
    /// stonecrop::Family::new("crm").column("name");
    /// ```
    pub fn column(self, name: impl Into<String>) -> Self {
        self.typed(name, ColumnType::Any)
    }

    /// With a column for values of one type, and null.
    ///
    /// ```
    /// stonecrop::Family::new("crm").typed("age", stonecrop::ColumnType::Int);
    /// ```
    pub fn typed(mut self, name: impl Into<String>, column_type: ColumnType) -> Self {
        self.columns.push(Column { name: name.into(), column_type });
        self
    }

    /// Fresh for so long after it was written; for ever without.
    ///
    /// ```
    /// # use std::time::Duration;
    /// stonecrop::Family::new("crm").ttl(Duration::from_secs(60));
    /// ```
    pub fn ttl(mut self, ttl: Duration) -> Self {
        self.lifetime.ttl = Some(ttl);
        self
    }

    /// Served as stale for so long after it was fresh, then gone; never gone without.
    ///
    /// ```
    /// # use std::time::Duration;
    /// stonecrop::Family::new("crm").ttl(Duration::from_secs(60)).keep(Duration::from_secs(600));
    /// ```
    pub fn keep(mut self, keep: Duration) -> Self {
        self.lifetime.keep = Some(keep);
        self
    }

    /// Which superseded versions are kept.
    ///
    /// ```
    /// # use stonecrop::History;
    /// stonecrop::Family::new("crm").history(History::Versions(3));
    /// ```
    pub fn history(mut self, history: History) -> Self {
        self.history = history;
        self
    }

    /// The name of the family.
    ///
    /// ```
    /// assert_eq!(stonecrop::Family::new("crm").name(), "crm");
    /// ```
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The names of the columns, in the order of their declaration.
    ///
    /// ```
    /// let crm = stonecrop::Family::new("crm").column("name");
    /// assert_eq!(crm.columns().collect::<Vec<_>>(), ["name"]);
    /// ```
    pub fn columns(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(|column| column.name.as_str())
    }

    /// The types of the columns, in the order of their declaration.
    ///
    /// ```
    /// # use stonecrop::{ColumnType, Family};
    /// let crm = Family::new("crm").typed("age", ColumnType::Int);
    /// assert_eq!(crm.column_types().collect::<Vec<_>>(), [ColumnType::Int]);
    /// ```
    pub fn column_types(&self) -> impl Iterator<Item = ColumnType> {
        self.columns.iter().map(|column| column.column_type)
    }

    /// How long what is written is fresh; none is for ever.
    ///
    /// ```
    /// # use std::time::Duration;
    /// let crm = stonecrop::Family::new("crm").ttl(Duration::from_secs(60));
    /// assert_eq!(crm.fresh_for(), Some(Duration::from_secs(60)));
    /// ```
    pub fn fresh_for(&self) -> Option<Duration> {
        self.lifetime.ttl
    }

    /// How long it is kept after that; none is for ever.
    ///
    /// ```
    /// assert_eq!(stonecrop::Family::new("crm").kept_for(), None);
    /// ```
    pub fn kept_for(&self) -> Option<Duration> {
        self.lifetime.keep
    }

    /// Which superseded versions are kept.
    ///
    /// ```
    /// # use stonecrop::{Family, History};
    /// assert_eq!(Family::new("crm").kept_history(), History::None);
    /// ```
    pub fn kept_history(&self) -> History {
        self.history
    }
}

/// Key schemas are kept in their one-line notation; one without fields is empty.
mod notation {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};
    use stonecrop_keys::Schema;

    pub(super) fn serialize<S: Serializer>(
        schema: &Option<Schema>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        match schema {
            Some(schema) => to.collect_str(schema),
            None => to.serialize_str(""),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<Schema>, D::Error> {
        match String::deserialize(from)?.as_str() {
            "" => Ok(None),
            text => text.parse().map(Some).map_err(D::Error::custom),
        }
    }
}
