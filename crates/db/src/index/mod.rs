//! Secondary indexes: what they are declared as, and the entry that a row has in one.
//!
//! A row is in an index if it has every column that the index is over; null counts as a value. So
//! whether it is in it depends on these columns alone, and an entry is gone with the first of them.
//! Fields of the key are there as long as the row is: an index over them alone has every row, and an
//! entry is gone with the last of what the row holds.

pub(crate) mod backfill;
pub(crate) mod check;

mod status;

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;
use stonecrop_keys::{
    ErrorKind, Field, MAX_KEY_BYTES, Nulls, Schema, TimeUnit, Type, Value as KeyValue,
};
use stonecrop_store::{Direction, Read};

use crate::catalog::{Place, TableState, loose_prefix};
use crate::clock::Timestamp;
use crate::entry::{Columns, HEADER_BYTES, Header, push_column};
use crate::error::{Error, Result};
use crate::record::{LOOSE, PLACE, entry_key, index_prefix, is_entry_key};
use crate::scratch::exactly;
use crate::value::encode::{self, Problem, read_varint, take, write_varint};
use crate::value::{ColumnType, Value};

pub use status::IndexProgress;
pub(crate) use status::{Backfill, IndexStatus};

/// The front of an entry's value: the time that it is gone at, and how many bytes at the end of its
/// key are the place of the row, so that these are found without decoding the values before.
pub(crate) const HEAD: usize = 8 + 2;

/// A second order of a table's rows: by one or more columns or fields of the key, and among equals by
/// the key.
///
/// The columns are in the notation of [`stonecrop_keys::Schema`], with one of the types `bool`,
/// `i64`, `f64`, `decimal`, `string`, `bytes`, `timestamp(us)`, `date` and `uuid`; a field of the key
/// has the type that it has there. A row without one of the columns has no entry; neither has one
/// with a null, unless the column says where nulls go.
///
/// A write of a value of another type is refused. A row that had one before the index was made is
/// left out of it, and then only queries that name the index use it ([`IndexProgress::Partial`]).
///
/// ```
/// use stonecrop::{Condition, Database, Family, Index, Query, TableSchema, Write};
/// let crm = Family::new("crm").column("owner").column("score");
/// let accounts = Database::memory().create_table(
///     TableSchema::new("accounts", "id string", "")?
///         .family(crm)
///         .index(Index::new("by_owner", "owner string, score i64 desc nulls last")?),
/// )?;
/// accounts.write(Write::put("a1").set("owner", "adam").set("score", 42))?;
/// let page = accounts.query(&Query::new().filter(Condition::eq("owner", "adam")).take(10))?;
/// assert_eq!(page.rows.len(), 1);
/// # Ok::<(), stonecrop::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Index {
    pub(crate) name: String,
    #[serde(with = "notation")]
    pub(crate) columns: Schema,
    #[serde(default)]
    pub(crate) unique: bool,
    #[serde(default)]
    pub(crate) covering: Vec<String>,
    /// Given by the table; 0 before.
    #[serde(default)]
    pub(crate) id: u16,
}

impl Index {
    /// An index over columns and fields of the key, in any mix and order.
    ///
    /// ```
    /// use stonecrop::Index;
    /// Index::new("newest", "created timestamp(us) desc")?;
    /// assert!(Index::new("newest", "created timestomp").is_err());
    /// # Ok::<(), stonecrop::Error>(())
    /// ```
    pub fn new(name: impl Into<String>, columns: &str) -> Result<Self> {
        let name = name.into();
        let columns = columns.parse().map_err(|error| Error::Index {
            index: name.clone(),
            problem: format!("the columns {columns:?}: {error}"),
        })?;
        Ok(Index { name, columns, unique: false, covering: Vec::new(), id: 0 })
    }

    /// No two rows have the same values, nulls aside.
    ///
    /// ```
    /// # use stonecrop::Index;
    /// Index::new("by_email", "email string")?.unique();
    /// # Ok::<(), stonecrop::Error>(())
    /// ```
    pub fn unique(mut self) -> Self {
        self.unique = true;
        self
    }

    /// With copies of further columns, so that a query for them need not read the rows. Every
    /// refresh of such a column writes the index too, because the copy has its clock.
    ///
    /// ```
    /// # use stonecrop::Index;
    /// Index::new("by_owner", "owner string")?.covering(["name", "score"]);
    /// # Ok::<(), stonecrop::Error>(())
    /// ```
    pub fn covering<N: Into<String>>(mut self, columns: impl IntoIterator<Item = N>) -> Self {
        self.covering = columns.into_iter().map(Into::into).collect();
        self
    }

    /// The name of the index.
    ///
    /// ```
    /// # use stonecrop::Index;
    /// assert_eq!(Index::new("by_owner", "owner string")?.name(), "by_owner");
    /// # Ok::<(), stonecrop::Error>(())
    /// ```
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The columns, with their types and order.
    ///
    /// ```
    /// # use stonecrop::Index;
    /// let index = Index::new("by_owner", "owner string, score i64 desc")?;
    /// assert_eq!(index.columns().to_string(), "owner string, score i64 desc");
    /// # Ok::<(), stonecrop::Error>(())
    /// ```
    pub fn columns(&self) -> &Schema {
        &self.columns
    }

    /// Whether no two rows may have the same values.
    ///
    /// ```
    /// # use stonecrop::Index;
    /// assert!(Index::new("by_email", "email string")?.unique().is_unique());
    /// # Ok::<(), stonecrop::Error>(())
    /// ```
    pub fn is_unique(&self) -> bool {
        self.unique
    }

    /// The further columns that it has copies of.
    ///
    /// ```
    /// # use stonecrop::Index;
    /// assert!(Index::new("by_email", "email string")?.covered().is_empty());
    /// # Ok::<(), stonecrop::Error>(())
    /// ```
    pub fn covered(&self) -> &[String] {
        &self.covering
    }
}

/// What an index reads of a row: a declared family, or one loose column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) family: u16,
    /// The name of the loose column; empty for a declared family.
    pub(crate) name: Arc<str>,
}

impl Part {
    pub(crate) fn of(table: &TableState, column: &str) -> (Part, u32) {
        match table.column(column) {
            Some(declared) => (Part { family: declared.family, name: "".into() }, declared.id),
            None => (Part { family: LOOSE, name: column.into() }, 0),
        }
    }

    pub(crate) fn key(&self, table: &TableState, place: &[u8]) -> Bytes {
        entry_key(table.id, self.family, place, &self.name)
    }

    pub(crate) fn has_key(&self, table: &TableState, place: &[u8], key: &[u8]) -> bool {
        is_entry_key(key, table.id, self.family, place, &self.name)
    }
}

/// An index in the form that reading and writing use.
#[derive(Debug)]
pub(crate) struct IndexState {
    pub(crate) id: u16,
    pub(crate) name: String,
    pub(crate) schema: Schema,
    pub(crate) unique: bool,
    pub(crate) status: Arc<IndexStatus>,
    /// What it reads of a row: for its own columns first, then for those that it covers.
    pub(crate) parts: Vec<Part>,
    /// Where each of its own fields is.
    fields: Vec<Origin>,
    /// The columns that are copied into the entry, its own included; none if it covers nothing.
    copied: Vec<(usize, u32)>,
}

/// Where a field of an index comes from.
#[derive(Clone, Copy, Debug)]
enum Origin {
    /// This field of the key, counted from 0.
    Key(usize),
    /// A column: the part that has it, and its id there.
    Column(usize, u32),
}

/// An entry of an index: its key and its value.
pub(crate) type IndexEntry = (Bytes, Bytes);

/// What an index makes of a row.
pub(crate) enum Found {
    Entry(IndexEntry),
    /// A column is not there, or null.
    Nothing,
    /// A column has a value of another type than the index.
    Misfit(Error),
}

impl Found {
    /// The entry, if the row has one.
    pub(crate) fn entry(self) -> Option<IndexEntry> {
        match self {
            Found::Entry(entry) => Some(entry),
            Found::Nothing | Found::Misfit(_) => None,
        }
    }
}

/// What an index reads of a row.
pub(crate) trait Reading {
    /// The entry for one of [`IndexState::parts`].
    fn part(&self, at: usize) -> Option<&[u8]>;
    /// From when on the row is gone; only asked where [`IndexState::is_of_keys`].
    fn row_gone_at(&self) -> Option<Timestamp>;
}

/// What is stored of a row, as far as an index reads it.
pub(crate) struct Stored {
    parts: Vec<Option<Bytes>>,
    row_gone_at: Option<Timestamp>,
}

impl Reading for Stored {
    fn part(&self, at: usize) -> Option<&[u8]> {
        self.parts.get(at)?.as_deref()
    }

    fn row_gone_at(&self) -> Option<Timestamp> {
        self.row_gone_at
    }
}

impl Stored {
    pub(crate) fn new(
        source: &dyn Read,
        table: &TableState,
        index: &IndexState,
        place: &Place,
    ) -> Result<Self> {
        let parts = index.parts.iter().map(|part| {
            let key = part.key(table, &place.bytes);
            source.get(place.shard, &key)
        });
        let parts = parts.collect::<stonecrop_store::Result<_>>()?;
        let row_gone_at = match index.is_of_keys() {
            true => {
                let entries = entries_of(source, table, place)?;
                row_gone_at(table, entries.iter().map(|(_, value)| value))?
            }
            false => None,
        };
        Ok(Stored { parts, row_gone_at })
    }
}

/// All that is stored of a row, removals included.
pub(crate) fn entries_of(
    source: &dyn Read,
    table: &TableState,
    place: &Place,
) -> Result<Vec<(Bytes, Bytes)>> {
    let mut entries = Vec::new();
    for family in table.families() {
        let key = entry_key(table.id, family, &place.bytes, "");
        let value = source.get(place.shard, &key)?;
        entries.extend(value.map(|value| (key, value)));
    }
    if table.is_loose() {
        let prefix = loose_prefix(table, &place.bytes);
        for entry in source.scan_prefix(place.shard, &prefix, Direction::Forward)? {
            entries.push(entry?);
        }
    }
    Ok(entries)
}

/// From when on a row with these entries is gone; none where there is none.
pub(crate) fn row_gone_at<'e>(
    table: &TableState,
    entries: impl Iterator<Item = &'e Bytes>,
) -> Result<Option<Timestamp>> {
    let mut last = None;
    for entry in entries {
        let (header, _) = Header::read(entry).map_err(|problem| table.corrupt(problem))?;
        if !header.removed {
            last = last.max(Some(header.gone_at));
        }
    }
    Ok(last)
}

impl IndexState {
    pub(crate) fn new(index: &Index, table: &TableState) -> Result<Self> {
        let problem = |problem| Error::Index { index: index.name.clone(), problem };
        let mut parts: Vec<Part> = Vec::new();
        let mut locate = |column: &str| {
            let (part, id) = Part::of(table, column);
            let place = parts.iter().position(|known| *known == part).unwrap_or_else(|| {
                parts.push(part);
                parts.len() - 1
            });
            (place, id)
        };
        let key_field = |name: &str| {
            let fields = table.key.fields();
            let at = fields.iter().position(|field| field.name() == name)?;
            Some((at, fields.get(at)?.field_type()))
        };
        let mut fields = Vec::new();
        for field in index.columns.fields() {
            let (name, of) = (field.name(), field.field_type());
            if let Some((at, of_key)) = key_field(name) {
                if of_key != of {
                    return Err(problem(format!(
                        "field {name:?} of the key is of the type {of_key}, and not {of}"
                    )));
                }
                fields.push(Origin::Key(at));
                continue;
            }
            if !is_indexable(of) {
                return Err(problem(format!(
                    "column {name:?}: {of} can't be indexed; one of bool, i64, f64, decimal, \
                     string, bytes, timestamp(us), date, uuid can"
                )));
            }
            let declared = table.column(name).map(|column| column.column_type);
            if let Some(declared) = declared
                && !takes(of, declared)
            {
                return Err(problem(format!("column {name:?} holds {declared}, and not {of}")));
            }
            let (part, id) = locate(name);
            fields.push(Origin::Column(part, id));
        }
        let mut copied = Vec::new();
        if !index.covering.is_empty() {
            copied.extend(fields.iter().filter_map(|field| match field {
                Origin::Key(_) => None,
                Origin::Column(part, id) => Some((*part, *id)),
            }));
            for name in index.covering.iter().filter(|name| key_field(name).is_none()) {
                copied.push(locate(name));
            }
            copied.sort();
            copied.dedup();
        }
        Ok(IndexState {
            id: index.id,
            name: index.name.clone(),
            schema: index.columns.clone(),
            unique: index.unique,
            status: table.activity.index_status(index.id),
            parts,
            fields,
            copied,
        })
    }

    /// Whether queries can be answered by it.
    pub(crate) fn is_ready(&self) -> bool {
        self.status.is_ready()
    }

    /// Whether it is over fields of the key alone, and so has every row.
    pub(crate) fn is_of_keys(&self) -> bool {
        self.fields.iter().all(|field| matches!(field, Origin::Key(_)))
    }

    /// Whether it has a copy of a column of a part.
    pub(crate) fn copies(&self, part: &Part, id: u32) -> bool {
        let part = self.parts.iter().position(|known| known == part);
        part.is_some_and(|part| self.copied.contains(&(part, id)))
    }

    /// What it makes of a row, given what is stored of it. What was gone by a time counts as not
    /// there.
    pub(crate) fn entry(
        &self,
        table: &TableState,
        place: &[u8],
        reading: &impl Reading,
        gone_by: Timestamp,
    ) -> Result<Found> {
        let corrupt = |problem: Problem| table.corrupt(problem);
        let mut key_values = Vec::new();
        if self.fields.iter().any(|field| matches!(field, Origin::Key(_))) {
            key_values = table.key_values(place)?;
        }
        let mut values: SmallVec<[KeyValue<'_>; 4]> = SmallVec::new();
        let mut gone_at = Timestamp::NEVER;
        if self.is_of_keys() {
            match reading.row_gone_at().filter(|at| gone_by < *at) {
                Some(at) => gone_at = at,
                None => return Ok(Found::Nothing),
            }
        }
        for (origin, field) in self.fields.iter().zip(self.schema.fields()) {
            let (at, id) = match *origin {
                Origin::Key(at) => {
                    let value = key_values.get(at).cloned().unwrap_or(KeyValue::Null);
                    if value.is_null() && field.nulls() == Nulls::NotAllowed {
                        return Ok(Found::Nothing);
                    }
                    values.push(value);
                    continue;
                }
                Origin::Column(at, id) => (at, id),
            };
            let Some(entry) = reading.part(at) else { return Ok(Found::Nothing) };
            let (header, columns) = Header::read(entry).map_err(corrupt)?;
            if !header.is_visible(gone_by) {
                return Ok(Found::Nothing);
            }
            let value = match id {
                0 => Some(columns),
                id => Columns::new(columns).find(id).map_err(corrupt)?,
            };
            let Some(value) = value else { return Ok(Found::Nothing) };
            gone_at = gone_at.min(header.gone_at);
            if *field.field_type() == Type::String
                && let Some(text) = encode::text(value)
            {
                values.push(KeyValue::String(text.into()));
                continue;
            }
            let value = encode::read(value).map_err(corrupt)?;
            if value == Value::Null && field.nulls() == Nulls::NotAllowed {
                return Ok(Found::Nothing);
            }
            match to_key(value, field.field_type()) {
                Ok(value) => values.push(value),
                Err(found) => return Ok(Found::Misfit(self.misfit(field, found))),
            }
        }
        let texts: usize = values.iter().map(text_bytes).sum();
        let key = exactly(|key| {
            key.extend_from_slice(&index_prefix(table.id, self.id));
            self.schema.encode_into(&values, key).map_err(|error| match error.kind() {
                ErrorKind::TooLong => self.too_large(texts),
                _ => Error::Index { index: self.name.clone(), problem: error.to_string() },
            })?;
            key.extend_from_slice(place);
            if key.len() > MAX_KEY_BYTES {
                return Err(self.too_large(key.len()));
            }
            Ok(())
        })?;
        let value = exactly(|value| {
            value.extend_from_slice(&gone_at.as_micros().to_be_bytes());
            value.extend_from_slice(&(place.len() as u16).to_be_bytes());
            self.copy_columns(reading, value).map_err(corrupt)
        })?;
        Ok(Found::Entry((key.into(), value.into())))
    }

    fn misfit(&self, field: &Field, found: ColumnType) -> Error {
        let (index, of) = (&self.name, field.field_type());
        let problem = format!("it is {found}, and the index {index:?} is over {of}");
        Error::Value { column: field.name().to_owned(), problem }
    }

    /// Appends what the index covers: for each part its family, its name, and an entry as the row's
    /// own with the columns that are covered.
    fn copy_columns(&self, reading: &impl Reading, out: &mut Vec<u8>) -> Result<(), Problem> {
        for of_part in self.copied.chunk_by(|(a, _), (b, _)| a == b) {
            let Some((at, _)) = of_part.first() else { continue };
            let (Some(part), Some(entry)) = (self.parts.get(*at), reading.part(*at)) else {
                continue;
            };
            let (header, stored) = Header::read(entry)?;
            if header.removed {
                continue;
            }
            let mut copy = header.to_bytes().to_vec();
            for (_, id) in of_part {
                match *id {
                    0 => copy.extend_from_slice(stored),
                    id => {
                        if let Some(value) = Columns::new(stored).find(id)? {
                            push_column(id, value, &mut copy);
                        }
                    }
                }
            }
            out.extend_from_slice(&part.family.to_be_bytes());
            for block in [part.name.as_bytes(), &copy] {
                write_varint(block.len() as u64, out);
                out.extend_from_slice(block);
            }
        }
        Ok(())
    }

    fn too_large(&self, size: usize) -> Error {
        Error::TooLarge {
            what: format!("the key of a row in the index {:?}", self.name),
            size: size as u64,
            limit: MAX_KEY_BYTES as u64,
        }
    }

    pub(crate) fn corrupt(&self, table: &TableState, problem: impl fmt::Display) -> Error {
        table.corrupt(format!("an entry of the index {:?}: {problem}", self.name))
    }
}

/// How many bytes of a value there is no limit to.
fn text_bytes(value: &KeyValue<'_>) -> usize {
    match value {
        KeyValue::String(text) => text.len(),
        KeyValue::Bytes(bytes) => bytes.len(),
        _ => 0,
    }
}

/// From when on an entry of an index is gone.
#[inline]
pub(crate) fn gone_at(value: &[u8]) -> Option<Timestamp> {
    value.first_chunk().map(|at| Timestamp::from_micros(i64::from_be_bytes(*at)))
}

/// Where in an entry's key the place of its row begins.
#[inline]
pub(crate) fn place_start(key: &[u8], value: &[u8]) -> Result<usize, Problem> {
    let length = value.get(8..).and_then(<[u8]>::first_chunk).ok_or("it is too short")?;
    let length = usize::from(u16::from_be_bytes(*length));
    let start = key.len().checked_sub(length).filter(|start| *start > PLACE);
    start.ok_or("its key is too short")
}

/// The parts of a row that an entry has copies of.
pub(crate) fn copies(value: &Bytes) -> Result<Vec<(u16, Bytes, Bytes)>, Problem> {
    let mut rest = value.get(HEAD..).ok_or("it is too short")?;
    let mut copies = Vec::new();
    while !rest.is_empty() {
        let family = take(&mut rest, 2)?;
        let family = family.first_chunk().map_or(LOOSE, |family| u16::from_be_bytes(*family));
        let mut block = || {
            let length =
                usize::try_from(read_varint(&mut rest)?).map_err(|_| "a block too long")?;
            take(&mut rest, length)
        };
        let (name, entry) = (block()?, block()?);
        if entry.len() < HEADER_BYTES {
            return Err("a copy that is too short for a header");
        }
        copies.push((family, value.slice_ref(name), value.slice_ref(entry)));
    }
    Ok(copies)
}

fn is_indexable(of: &Type) -> bool {
    use Type as T;
    matches!(
        of,
        T::Bool
            | T::I64
            | T::F64
            | T::Decimal
            | T::String
            | T::Bytes
            | T::Uuid
            | T::Timestamp(TimeUnit::Microseconds)
            | T::Date
    )
}

/// Whether a column of a declared type can have values for a field of an index.
fn takes(of: &Type, declared: ColumnType) -> bool {
    matches!(
        (of, declared),
        (_, ColumnType::Any)
            | (Type::Bool, ColumnType::Bool)
            | (Type::I64, ColumnType::Int)
            | (Type::F64, ColumnType::Float)
            | (Type::Decimal, ColumnType::Decimal | ColumnType::Int)
            | (Type::String, ColumnType::String)
            | (Type::Bytes, ColumnType::Bytes)
            | (Type::Uuid, ColumnType::Uuid)
            | (Type::Timestamp(_), ColumnType::Timestamp)
            | (Type::Date, ColumnType::Date)
    )
}

/// A value as a field of an index; the type of the value where it is none of the field's.
pub(crate) fn to_key(value: Value, of: &Type) -> Result<KeyValue<'static>, ColumnType> {
    Ok(match (of, value) {
        (_, Value::Null) => KeyValue::Null,
        (Type::Bool, Value::Bool(value)) => KeyValue::Bool(value),
        (Type::I64, Value::Int(value)) => KeyValue::Int(value.into()),
        (Type::F64, Value::Float(value)) => KeyValue::F64(value),
        (Type::Decimal, Value::Decimal(value)) => KeyValue::Decimal(value),
        (Type::Decimal, Value::Int(value)) => KeyValue::Decimal(value.into()),
        (Type::String, Value::String(value)) => KeyValue::String(value.into()),
        (Type::Bytes, Value::Bytes(value)) => KeyValue::Bytes(value.into()),
        (Type::Uuid, Value::Uuid(value)) => KeyValue::Uuid(value.0),
        (Type::Timestamp(unit), Value::Timestamp(value)) => {
            KeyValue::Timestamp(value.as_micros(), *unit)
        }
        (Type::Date, Value::Date(value)) => KeyValue::Date(value.0),
        (_, value) => return Err(value.column_type()),
    })
}

/// The columns of an index are kept in their one-line notation.
mod notation {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};
    use stonecrop_keys::Schema;

    pub(super) fn serialize<S: Serializer>(schema: &Schema, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(schema)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Schema, D::Error> {
        String::deserialize(from)?.parse().map_err(D::Error::custom)
    }
}
