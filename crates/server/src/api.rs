//! The shapes of requests and answers, beyond those of queries.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::value::RawValue;
use stonecrop::keys::{Direction, Nulls};
use stonecrop::{
    ColumnType, Condition, Durability as DbDurability, Family as DbFamily, FreshnessFilter,
    History as DbHistory, Index as DbIndex, IndexProgress, Placement as DbPlacement, StoredKey,
    TableSchema, Timestamp, Value,
};
use utoipa::ToSchema;

use crate::auth::Scope;

/// How long something lasts, as text: `90s`, `1h 30m`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ToSchema)]
#[schema(value_type = String, example = "10m")]
pub struct Lasting(pub Duration);

impl Serialize for Lasting {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match jiff::SignedDuration::try_from(self.0) {
            Ok(duration) => to.collect_str(&format_args!("{duration:#}")),
            Err(_) => to.collect_str(&format_args!("{}s", self.0.as_secs())),
        }
    }
}

impl std::str::FromStr for Lasting {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        // Days are 24 hours here: nothing that ages knows of time zones.
        let (days, rest) = match text.trim().split_once('d') {
            Some((days, rest)) if days.bytes().all(|byte| byte.is_ascii_digit()) => (days, rest),
            _ => ("0", text),
        };
        let wrong = || format!("{text:?} is no duration; write it as 90s, 10m, 1h 30m or 30d");
        let days: u64 = days.parse().map_err(|_| wrong())?;
        let rest = rest.trim();
        let rest: Duration = match rest.is_empty() && days > 0 {
            true => Duration::ZERO,
            false => rest
                .parse::<jiff::SignedDuration>()
                .ok()
                .and_then(|duration| duration.try_into().ok())
                .ok_or_else(wrong)?,
        };
        let days = days.checked_mul(86_400).map(Duration::from_secs);
        days.and_then(|days| days.checked_add(rest)).map(Lasting).ok_or_else(wrong)
    }
}

impl<'de> Deserialize<'de> for Lasting {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(de::Error::custom)
    }
}

/// A moment, as text in RFC 3339.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ToSchema)]
#[schema(value_type = String, format = DateTime)]
pub struct Time(pub Timestamp);

impl Time {
    /// The moment, unless it is never.
    pub(crate) fn unless_never(time: Timestamp) -> Option<Self> {
        Some(Time(time)).filter(|_| time != Timestamp::NEVER)
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map(Time).map_err(de::Error::custom)
    }
}

/// How safe a write is when it is answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Durability {
    /// It survives the end of the process, and a power cut after the next sync.
    None,
    /// As `none`, and it is synced soon.
    Interval,
    /// It is on disk.
    #[default]
    Sync,
}

impl From<Durability> for DbDurability {
    fn from(durability: Durability) -> Self {
        match durability {
            Durability::None => DbDurability::None,
            Durability::Interval => DbDurability::Interval,
            Durability::Sync => DbDurability::Sync,
        }
    }
}

impl From<DbDurability> for Durability {
    fn from(durability: DbDurability) -> Self {
        match durability {
            DbDurability::None => Durability::None,
            DbDurability::Interval => Durability::Interval,
            DbDurability::Sync => Durability::Sync,
        }
    }
}

/// What a table is declared as.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Schema {
    /// The name.
    pub name: String,
    /// The fields of the partition key.
    #[schema(example = "account string")]
    pub partition_key: String,
    /// The fields of the sort key; none if empty.
    #[serde(default)]
    pub sort_key: String,
    /// How partitions are laid out.
    #[serde(default)]
    pub placement: Placement,
    /// The families of columns.
    #[serde(default)]
    pub families: Vec<Family>,
    /// The indexes.
    #[serde(default)]
    pub indexes: Vec<Index>,
    /// How changes of rows are kept; null is not at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changes: Option<KeptChanges>,
}

/// How changes of rows are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct KeptChanges {
    /// For how long.
    #[schema(example = "24h")]
    pub keep: Lasting,
}

/// How the partitions of a table are laid out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Placement {
    /// Spread over stripes by a hash.
    #[default]
    Hash,
    /// In the order of the key.
    Range,
}

/// Columns that arrive together and age together.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Family {
    /// The name.
    pub name: String,
    /// The columns.
    #[serde(default)]
    pub columns: Vec<Column>,
    /// How long what is written is fresh; null is for ever.
    #[serde(default)]
    pub ttl: Option<Lasting>,
    /// How long it is kept after that; null is for ever.
    #[serde(default)]
    pub keep: Option<Lasting>,
    /// Which superseded versions are kept; null is none.
    #[serde(default)]
    pub history: Option<History>,
}

/// A column of a family.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Column {
    /// The name.
    pub name: String,
    /// What it holds.
    #[serde(rename = "type", default)]
    pub column_type: ColumnType,
}

/// Which superseded versions of a family are kept.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum History {
    /// So many in all, the present one included.
    Versions(u32),
    /// Each for so long after it was superseded.
    For(Lasting),
}

/// A second order of a table's rows.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Index {
    /// The name.
    pub name: String,
    /// The columns with their types and order.
    #[schema(example = "owner string, score i64 desc")]
    pub columns: String,
    /// Whether no two rows may have the same values.
    #[serde(default)]
    pub unique: bool,
    /// Further columns that it has copies of.
    #[serde(default)]
    pub covering: Vec<String>,
    /// How far it has come; only in answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<IndexProgress>,
}

/// A table that is there.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Table {
    /// The name.
    pub name: String,
    /// The fields of the partition key.
    pub partition_key: String,
    /// The fields of the sort key; none if empty.
    pub sort_key: String,
    /// How partitions are laid out.
    pub placement: Placement,
    /// The families of columns.
    pub families: Vec<Family>,
    /// The indexes.
    pub indexes: Vec<Index>,
    /// How changes of rows are kept; null is not at all.
    #[serde(default)]
    pub changes: Option<KeptChanges>,
    /// How often its definition was changed.
    pub version: u32,
    /// The fields of its key, those of the partition key first.
    pub key: Vec<KeyField>,
    /// How many of them are the partition key.
    pub partition_fields: usize,
}

/// A field of a key.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct KeyField {
    /// The name.
    pub name: String,
    /// The type, in the notation of keys.
    #[serde(rename = "type")]
    pub field_type: String,
    /// Whether large values come first.
    pub descending: bool,
    /// Whether it can be null.
    pub nullable: bool,
}

/// All tables.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Tables {
    /// By name.
    pub tables: Vec<Table>,
}

/// Changes of a table's definition, done in this order.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Alteration {
    /// New families.
    pub add_families: Vec<Family>,
    /// New columns of families.
    pub add_columns: Vec<NewColumn>,
    /// New lifetimes of families.
    pub lifetimes: Vec<NewLifetime>,
    /// How changes are kept from now on; null is not at all.
    #[serde(deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<KeptChanges>)]
    pub changes: Option<Option<KeptChanges>>,
}

/// Null is something else than nothing.
fn given<'de, D: Deserializer<'de>, T: Deserialize<'de>>(from: D) -> Result<Option<T>, D::Error> {
    T::deserialize(from).map(Some)
}

/// A new column of a family.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewColumn {
    /// The family.
    pub family: String,
    /// The name.
    pub name: String,
    /// What it holds.
    #[serde(rename = "type", default)]
    pub column_type: ColumnType,
}

/// A new lifetime of a family, for what is written from now on.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewLifetime {
    /// The family.
    pub family: String,
    /// How long what is written is fresh; null is for ever.
    #[serde(default)]
    pub ttl: Option<Lasting>,
    /// How long it is kept after that; null is for ever.
    #[serde(default)]
    pub keep: Option<Lasting>,
}

/// How fresh a table is.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct TableFreshness {
    /// How many rows there are.
    pub rows: u64,
    /// Of each family, how many rows have it, fresh or stale, or don't.
    pub families: Vec<stonecrop::Freshness>,
    /// When they were counted.
    pub taken_at: Time,
}

/// What a write does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    /// Changes some columns, and makes the row if need be.
    #[default]
    Put,
    /// The row becomes exactly this.
    Replace,
    /// Deletes the row.
    Delete,
}

/// A key in JSON: its value if it has one field, otherwise a list of them.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Key(pub Box<RawValue>);

impl utoipa::PartialSchema for Key {
    fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::Schema> {
        use utoipa::openapi::{ObjectBuilder, schema::SchemaType};
        ObjectBuilder::new()
            .schema_type(SchemaType::AnyValue)
            .description(Some("The key's value if it has one field, otherwise a list of them."))
            .examples([serde_json::json!("acct_001"), serde_json::json!(["acme", 7])])
            .into()
    }
}

impl ToSchema for Key {}

/// A write of one row.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Write {
    /// The row.
    pub key: Key,
    /// The table; only in transactions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table: Option<String>,
    /// What is done.
    #[serde(default)]
    pub op: Operation,
    /// Columns that get a value.
    #[serde(default)]
    pub set: BTreeMap<String, Value>,
    /// Columns that are removed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remove: Vec<String>,
    /// Columns that a number is added to.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub add: BTreeMap<String, Value>,
    /// Columns that a list is appended to.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub append: BTreeMap<String, Vec<Value>>,
    /// What must be true of the row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<Condition>,
    /// When it was written, if not now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written_at: Option<Time>,
    /// How long it is fresh, if not as its families are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl: Option<Lasting>,
    /// How long it is kept after that, if not as its families are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keep: Option<Lasting>,
}

/// A change of the row in the address.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Change {
    /// Columns that get a value.
    pub set: BTreeMap<String, Value>,
    /// Columns that are removed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remove: Vec<String>,
    /// Columns that a number is added to.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub add: BTreeMap<String, Value>,
    /// Columns that a list is appended to.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub append: BTreeMap<String, Vec<Value>>,
    /// What must be true of the row.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub when: Option<Condition>,
    /// When it was written, if not now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub written_at: Option<Time>,
    /// How long it is fresh, if not as its families are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ttl: Option<Lasting>,
    /// How long it is kept after that, if not as its families are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keep: Option<Lasting>,
    /// How safe it is when it is answered.
    pub durability: Durability,
}

impl Change {
    /// The same as a write of a row.
    pub(crate) fn of(self, key: Key, op: Operation) -> (Write, Durability) {
        let Change { set, remove, add, append, when, written_at, ttl, keep, durability } = self;
        let table = None;
        let write = Write { key, table, op, set, remove, add, append, when, written_at, ttl, keep };
        (write, durability)
    }
}

/// Writes of several rows, all or nothing.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Writes {
    /// The writes, done in this order.
    #[schema(max_items = 10_000)]
    pub writes: Vec<Write>,
    /// How safe they are when they are answered; a transaction is always synced.
    #[serde(default)]
    pub durability: Durability,
}

/// What became of writes.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Receipt {
    /// How safe they are.
    pub durability: Durability,
    /// What became of each, in their order.
    pub writes: Vec<Outcome>,
}

/// What became of one write.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Outcome {
    /// The time that it was written at.
    pub written_at: Time,
    /// Families and columns that hold something newer, and were left as they are.
    pub ignored: Vec<String>,
}

impl From<stonecrop::Receipt> for Receipt {
    fn from(receipt: stonecrop::Receipt) -> Self {
        let writes = receipt
            .writes
            .into_iter()
            .map(|write| Outcome { written_at: Time(write.written_at), ignored: write.ignored });
        Receipt { durability: receipt.durability.into(), writes: writes.collect() }
    }
}

/// Rows that are asked for by their keys.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Get {
    /// The keys.
    #[schema(max_items = 1_000)]
    pub keys: Vec<Key>,
    /// The columns; all of them without.
    #[serde(default)]
    pub columns: Option<Vec<String>>,
}

/// Rows, or null where there is none.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Rows {
    /// In the order of the keys.
    pub rows: Vec<Option<stonecrop::ResponseRow>>,
}

/// The versions of a family.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Versions {
    /// The newest first.
    pub versions: Vec<Version>,
}

/// A version of a family.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Version {
    /// When it was written.
    pub written_at: Time,
    /// From when on it was stale; null is never.
    pub fresh_until: Option<Time>,
    /// The columns.
    pub columns: BTreeMap<String, Value>,
}

/// Changes of a table, in their order.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Changes {
    /// The changes.
    pub changes: Vec<RowChange>,
    /// The number to ask for the changes after.
    pub next: u64,
    /// Whether there are more already.
    pub more: bool,
}

/// What a write did to a row.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct RowChange {
    /// Its number, which is above those of all changes before.
    pub number: u64,
    /// When it was committed.
    pub at: Time,
    /// The key of the row.
    pub key: Key,
    /// The columns before; null where the row was not there.
    pub old: Option<BTreeMap<String, Value>>,
    /// The columns afterwards; null where the row is not there any more.
    pub new: Option<BTreeMap<String, Value>>,
}

/// Where a row is stored.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Anatomy {
    /// The key of the row.
    pub row_key: Key,
    /// Its families.
    pub families: Vec<StoredFamily>,
    /// The index entries that lead to it.
    pub indexes: Vec<StoredIndexEntry>,
}

/// A family as it is stored.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct StoredFamily {
    /// Its name, or that of a column that is in none.
    pub family: String,
    /// Whether it is a declared one.
    pub declared: bool,
    /// When it was written.
    pub written_at: Time,
    /// From when on it is stale; null is never.
    pub fresh_until: Option<Time>,
    /// From when on it is gone; null is never.
    pub gone_at: Option<Time>,
    /// Whether it is fresh.
    pub fresh: bool,
    /// How many bytes its clock and columns take.
    pub value_bytes: usize,
    /// The key that it is stored under.
    pub key: StoredKey,
}

/// An index entry as it is stored.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct StoredIndexEntry {
    /// The index.
    pub index: String,
    /// The key of the entry.
    pub key: StoredKey,
}

/// What became of an import.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
pub struct Imported {
    /// How many rows were written.
    pub rows: u64,
    /// How many lines were left out.
    pub rejected: u64,
    /// The first of them.
    pub rejects: Vec<Reject>,
}

/// A line of an import that was left out.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Reject {
    /// The number of the line, from 1.
    pub line: u64,
    /// Why, for programs.
    pub code: String,
    /// Why.
    pub detail: String,
}

/// How a query would be answered.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Explain {
    /// The query, of one table.
    pub request: stonecrop::Request,
    /// Whether to answer it, and tell what that took.
    #[serde(default)]
    pub analyze: bool,
}

/// How a query is answered.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Explained {
    /// In words.
    pub text: String,
    /// What is done, part by part.
    #[serde(flatten)]
    pub explanation: stonecrop::Explanation,
}

/// A question about the values of a column.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct OfColumn {
    /// The table.
    pub table: String,
    /// The column, or a path into one.
    pub column: String,
    /// What must be true of a row.
    #[serde(default)]
    pub filter: Option<Condition>,
    /// Only rows with something stale, or without.
    #[serde(default)]
    pub freshness: Option<FreshnessFilter>,
    /// The columns that `freshness` is about; all declared ones without.
    #[serde(default)]
    pub columns: Option<Vec<String>>,
    /// How many values are told, of facets; 100 if not given.
    #[serde(default)]
    #[schema(maximum = 10_000)]
    pub limit: Option<usize>,
}

/// The values of a column.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Facets {
    /// How many different values there are.
    pub distinct: usize,
    /// The most frequent first.
    pub values: Vec<Facet>,
}

/// A value of a column.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Facet {
    /// The value.
    pub value: Value,
    /// How many rows have it.
    pub rows: u64,
}

/// Keys to be encoded.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Keys {
    /// The fields of the key.
    #[schema(example = "tenant string, at timestamp desc")]
    pub schema: String,
    /// The values of each key.
    #[schema(max_items = 1_000, value_type = Vec<serde_json::Value>)]
    pub rows: Vec<Box<RawValue>>,
}

/// Keys that were encoded.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct EncodedKeys {
    /// In the order given.
    pub rows: Vec<EncodedKey>,
}

/// A key that was encoded, or why it can't be.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct EncodedKey {
    /// The values.
    #[schema(value_type = serde_json::Value)]
    pub values: Box<RawValue>,
    /// The key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<StoredKey>,
    /// Its place among all in the order of their bytes, from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<usize>,
    /// Why there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// A look for disagreements.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Check {
    /// Whether to mend what is found.
    pub repair: bool,
}

/// Figures about the server.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Stats {
    /// The version of Stonecrop.
    pub version: String,
    /// Where the database is.
    pub location: String,
    /// How long the server has run.
    pub uptime_seconds: u64,
    /// How many tables there are.
    pub tables: usize,
    /// About how many entries are stored.
    pub entries: u64,
    /// The bytes of all files.
    pub disk_bytes: u64,
    /// Those of them that are journals.
    pub journal_bytes: u64,
    /// The bytes of writes that are held in memory.
    pub memory_bytes: u64,
    /// How many compactions have run.
    pub compactions: u64,
    /// How many groups of writes were committed.
    pub commits: u64,
    /// How many of them were synced.
    pub syncs: u64,
    /// How many writes were in them.
    pub writes: u64,
    /// The bytes of the writes that wait.
    pub queued_bytes: usize,
    /// What was asked of object storage, if the database is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub objects: Option<Objects>,
    /// If another server writes the database: what was durable so long ago is seen here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lag_seconds: Option<f64>,
}

/// What was asked of object storage since the server started, and what that costs at the list
/// prices of S3 (us-east-1, standard).
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Objects {
    /// Objects and parts of objects that were written.
    pub object_puts: u64,
    /// Objects and ranges of objects that were read.
    pub object_gets: u64,
    /// Listings that were begun.
    pub object_lists: u64,
    /// Objects that were deleted.
    pub object_deletes: u64,
    /// Requests that failed.
    pub object_errors: u64,
    /// What was written.
    pub object_sent_bytes: u64,
    /// What was read.
    pub object_received_bytes: u64,
    /// What the requests would cost in a month that goes on like this, in dollars.
    pub request_dollars_a_month: f64,
    /// What the storage costs a month, in dollars.
    pub storage_dollars_a_month: f64,
}

/// Dollars for a request that writes or lists, one that reads, and a byte that is kept for a month.
const DOLLARS_A_PUT: f64 = 0.005 / 1_000.0;
const DOLLARS_A_GET: f64 = 0.0004 / 1_000.0;
const DOLLARS_A_BYTE: f64 = 0.023 / 1e9;
const MONTH_SECONDS: f64 = 30.0 * 86_400.0;

impl Objects {
    pub(crate) fn new(stats: &stonecrop::Stats, uptime: Duration) -> Option<Self> {
        let asked = stats.requests;
        // Whoever opens a database there has written and read something.
        (asked.puts + asked.gets > 0).then(|| {
            let spent = (asked.puts + asked.lists) as f64 * DOLLARS_A_PUT
                + asked.gets as f64 * DOLLARS_A_GET;
            Objects {
                object_puts: asked.puts,
                object_gets: asked.gets,
                object_lists: asked.lists,
                object_deletes: asked.deletes,
                object_errors: asked.errors,
                object_sent_bytes: asked.sent_bytes,
                object_received_bytes: asked.received_bytes,
                request_dollars_a_month: spent / uptime.as_secs_f64().max(1.0) * MONTH_SECONDS,
                storage_dollars_a_month: stats.disk_bytes as f64 * DOLLARS_A_BYTE,
            }
        })
    }
}

/// A copy of the database that was made and verified.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Backup {
    /// Where it is.
    pub location: String,
    /// How many entries it has.
    pub entries: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// The nodes that share the database.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Cluster {
    /// The node that was asked.
    pub this: String,
    /// All nodes.
    pub nodes: Vec<ClusterNode>,
    /// All shards.
    pub shards: Vec<ClusterShard>,
}

/// A node, as another one sees it.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ClusterNode {
    /// Its name, which it has until it ends.
    pub name: String,
    /// Where clients reach it.
    pub address: String,
    /// Where other nodes reach it.
    pub door: String,
    /// Whether it answers.
    pub answers: bool,
    /// Whether it decides what is written.
    pub leads: bool,
    /// How many shards it has claimed.
    pub shards: usize,
}

/// A shard, and who has it.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ClusterShard {
    /// Its number.
    pub shard: u8,
    /// The node that has claimed it; none while it moves.
    pub node: Option<String>,
    /// The node that should have it.
    pub wanted_by: Option<String>,
    /// How often it was opened, by any node; none while it is not open.
    pub epoch: Option<u64>,
    /// The bytes of its files.
    pub bytes: Option<u64>,
    /// How long its files have been behind its log, which the next node to open it has to read:
    /// about a minute at most while the object store answers, and 0 if all is in files.
    pub lag_seconds: Option<f64>,
}

impl From<stonecrop_cluster::Status> for Cluster {
    fn from(status: stonecrop_cluster::Status) -> Self {
        let nodes = status.nodes.into_iter().map(|node| ClusterNode {
            name: node.name,
            address: node.address,
            door: node.door,
            answers: node.answers,
            leads: node.leads,
            shards: node.shards,
        });
        let shards = status.shards.into_iter().map(|shard| ClusterShard {
            shard: shard.shard,
            node: shard.node,
            wanted_by: shard.wanted_by,
            epoch: shard.epoch,
            bytes: shard.bytes,
            lag_seconds: shard.lag_seconds,
        });
        Cluster { this: status.this, nodes: nodes.collect(), shards: shards.collect() }
    }
}

/// What the one who asks may do.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct WhoAmI {
    /// What is allowed.
    pub scope: Scope,
    /// Whether tokens are needed.
    pub authentication: bool,
    /// The time by the server's clock.
    pub now: Time,
}

impl TryFrom<Schema> for TableSchema {
    type Error = stonecrop::Error;

    fn try_from(schema: Schema) -> Result<Self, stonecrop::Error> {
        let Schema { name, partition_key, sort_key, placement, families, indexes, changes } =
            schema;
        let mut table =
            TableSchema::new(name, &partition_key, &sort_key)?.placement(match placement {
                Placement::Hash => DbPlacement::Hash,
                Placement::Range => DbPlacement::Range,
            });
        for family in families {
            table = table.family(family.into());
        }
        for index in indexes {
            table = table.index(index.try_into()?);
        }
        Ok(match changes {
            Some(KeptChanges { keep: Lasting(keep) }) => table.changes(keep),
            None => table,
        })
    }
}

impl From<Family> for DbFamily {
    fn from(family: Family) -> Self {
        let mut made = DbFamily::new(family.name);
        for column in family.columns {
            made = made.typed(column.name, column.column_type);
        }
        if let Some(Lasting(ttl)) = family.ttl {
            made = made.ttl(ttl);
        }
        if let Some(Lasting(keep)) = family.keep {
            made = made.keep(keep);
        }
        match family.history {
            None => made,
            Some(History::Versions(count)) => made.history(DbHistory::Versions(count)),
            Some(History::For(Lasting(time))) => made.history(DbHistory::For(time)),
        }
    }
}

impl From<&DbFamily> for Family {
    fn from(family: &DbFamily) -> Self {
        let columns = family.columns().zip(family.column_types());
        let columns =
            columns.map(|(name, column_type)| Column { name: name.to_owned(), column_type });
        Family {
            name: family.name().to_owned(),
            columns: columns.collect(),
            ttl: family.fresh_for().map(Lasting),
            keep: family.kept_for().map(Lasting),
            history: match family.kept_history() {
                DbHistory::None => None,
                DbHistory::Versions(count) => Some(History::Versions(count)),
                DbHistory::For(time) => Some(History::For(Lasting(time))),
            },
        }
    }
}

impl TryFrom<Index> for DbIndex {
    type Error = stonecrop::Error;

    fn try_from(index: Index) -> Result<Self, stonecrop::Error> {
        let made = DbIndex::new(index.name, &index.columns)?.covering(index.covering);
        Ok(if index.unique { made.unique() } else { made })
    }
}

impl Index {
    pub(crate) fn of(index: &DbIndex, progress: IndexProgress) -> Self {
        Index {
            name: index.name().to_owned(),
            columns: index.columns().to_string(),
            unique: index.is_unique(),
            covering: index.covered().to_vec(),
            progress: Some(progress),
        }
    }
}

impl Table {
    pub(crate) fn of(table: &stonecrop::Table) -> Result<Self, stonecrop::Error> {
        let schema = table.schema()?;
        let notation = |key: Option<&stonecrop::keys::Schema>| {
            key.map(ToString::to_string).unwrap_or_default()
        };
        let key = schema.key()?;
        let key = key.fields().iter().map(|field| KeyField {
            name: field.name().to_owned(),
            field_type: field.field_type().to_string(),
            descending: field.direction() == Direction::Desc,
            nullable: field.nulls() != Nulls::NotAllowed,
        });
        let mut indexes = Vec::new();
        for index in schema.indexes() {
            indexes.push(Index::of(index, table.index_progress(index.name())?));
        }
        Ok(Table {
            name: schema.name().to_owned(),
            partition_key: notation(schema.partition_key()),
            sort_key: notation(schema.sort_key()),
            placement: match schema.placed() {
                DbPlacement::Hash => Placement::Hash,
                DbPlacement::Range => Placement::Range,
            },
            families: schema.families().iter().map(Family::from).collect(),
            indexes,
            changes: schema.kept_changes().map(|keep| KeptChanges { keep: Lasting(keep) }),
            version: table.version()?,
            key: key.collect(),
            partition_fields: schema.partition_key().map_or(0, |key| key.fields().len()),
        })
    }
}
