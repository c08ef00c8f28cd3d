//! Where a row is stored: the keys of its entries, taken apart byte by byte.

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use stonecrop_keys::{Role, Schema};
use stonecrop_store::{Direction, KeyRange, Read};

use crate::catalog::{Place, TableState, loose_prefix};
use crate::clock::Timestamp;
use crate::entry::Header;
use crate::error::Result;
use crate::index::backfill::entry_of;
use crate::record::{LOOSE, PLACE, entry_key};
use crate::schema::Placement;

/// Where a row is stored.
///
/// ```
/// use stonecrop::{Database, Family, Index, TableSchema, Write};
/// let crm = Family::new("crm").column("owner");
/// let index = Index::new("by_owner", "owner string")?;
/// let accounts = Database::memory()
///     .create_table(TableSchema::new("accounts", "id string", "")?.family(crm).index(index))?;
/// accounts.write(Write::put("a1").set("owner", "adam"))?;
/// let anatomy = accounts.anatomy("a1")?;
/// assert_eq!((anatomy.families[0].name.as_str(), anatomy.indexes.len()), ("crm", 1));
/// # Ok::<(), stonecrop::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Anatomy {
    /// Its families that can be seen: the declared ones, then the columns that are in none.
    pub families: Vec<StoredFamily>,
    /// The entries of indexes that lead to it.
    pub indexes: Vec<StoredIndexEntry>,
}

/// A family of a row, as it is stored.
///
/// ```
/// # use stonecrop::{Database, TableSchema, Write};
/// let people = Database::memory().create_table(TableSchema::new("people", "id u64", "")?)?;
/// people.write(Write::put(1).set("name", "Ann"))?;
/// assert!(!people.anatomy(1)?.families[0].declared);
/// # Ok::<(), stonecrop::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoredFamily {
    /// The name of the family, or of the column that is in none.
    pub name: String,
    /// Whether it is a declared family.
    pub declared: bool,
    /// When it was written.
    pub written_at: Timestamp,
    /// From when on it is stale.
    pub fresh_until: Timestamp,
    /// From when on it is not there any more.
    pub gone_at: Timestamp,
    /// Whether it is fresh now.
    pub fresh: bool,
    /// How many bytes its clock and columns take.
    pub value_bytes: usize,
    /// The key that it is stored under.
    pub key: StoredKey,
}

/// An entry of an index that leads to a row.
///
/// ```
/// # use stonecrop::{Database, TableSchema};
/// let people = Database::memory().create_table(TableSchema::new("people", "id u64", "")?)?;
/// assert!(people.anatomy(1)?.indexes.is_empty());
/// # Ok::<(), stonecrop::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoredIndexEntry {
    /// The name of the index.
    pub index: String,
    /// The key of the entry.
    pub key: StoredKey,
}

/// A key with what its bytes are for.
///
/// ```
/// use stonecrop::{StoredKey, keys::Schema};
/// let schema: Schema = "seq u16".parse().unwrap();
/// let key = StoredKey::of(&schema, &[0x11, 0, 7]);
/// assert_eq!((key.hex.as_str(), key.parts[1].value.as_deref()), ("110007", Some("7")));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct StoredKey {
    /// The bytes.
    pub hex: String,
    /// What they are for: every byte is in exactly one part, in order.
    pub parts: Vec<StoredKeyPart>,
}

/// Neighbouring bytes of a key that belong together.
///
/// ```
/// # use stonecrop::{StoredKey, keys::Schema};
/// let key = StoredKey::of(&"on bool".parse::<Schema>().unwrap(), &[9]);
/// assert_eq!((key.parts[0].name.as_str(), key.parts[0].start, key.parts[0].end), ("on", 0, 1));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct StoredKeyPart {
    /// The offset of the first byte.
    pub start: usize,
    /// The offset after the last byte.
    pub end: usize,
    /// The name of the field, or what the bytes are.
    pub name: String,
    /// What the bytes are for: `tag`, `payload`, `escape`, `terminator`, `unread`, or `layout` for
    /// those that every stored key has.
    pub role: String,
    /// The type of the field.
    pub field_type: Option<String>,
    /// The value, at the first part of a field that shows it: its JSON, or a number.
    pub value: Option<String>,
}

impl StoredKey {
    /// A key of a schema, taken apart as far as it can be read.
    ///
    /// ```
    /// # use stonecrop::{StoredKey, keys::Schema};
    /// let schema: Schema = "seq u16".parse().unwrap();
    /// assert_eq!(StoredKey::of(&schema, &[0x11, 0]).parts[0].role, "unread");
    /// ```
    pub fn of(schema: &Schema, key: &[u8]) -> Self {
        let mut stored = Builder::default();
        stored.fields(schema, key);
        stored.finish(key)
    }
}

#[derive(Default)]
struct Builder {
    parts: Vec<StoredKeyPart>,
    at: usize,
}

impl Builder {
    fn part(&mut self, name: &str, length: usize, value: String) {
        let (start, end) = (self.at, self.at + length);
        self.at = end;
        self.parts.push(StoredKeyPart {
            start,
            end,
            name: name.to_owned(),
            role: "layout".to_owned(),
            field_type: None,
            value: Some(value),
        });
    }

    /// What every stored key begins with.
    fn head(&mut self, record: &str, table: &TableState, second: (&str, u16)) {
        self.part("format version", 1, "1".to_owned());
        self.part("kind of record", 1, record.to_owned());
        self.part("table", 4, table.id.to_string());
        self.part(second.0, 2, second.1.to_string());
    }

    /// The place of a row.
    fn place(&mut self, table: &TableState, place: &[u8]) {
        let mut key = place;
        if table.schema.placement == Placement::Hash
            && let Some((stripe, rest)) = place.split_first()
        {
            self.part("stripe", 1, stripe.to_string());
            key = rest;
        }
        self.fields(&table.key, key);
    }

    fn fields(&mut self, schema: &Schema, key: &[u8]) {
        let explanation = schema.explain(key);
        let offset = self.at;
        let mut shown = None;
        for part in &explanation.parts {
            let field = schema.fields().get(part.field);
            let value = field.zip(explanation.values.get(part.field));
            // Where there is a payload, the value stands with its first part.
            let is_shown = part.role == Role::Payload || !has_payload(&explanation, part.field);
            let first = is_shown && shown != Some(part.field);
            if first {
                shown = Some(part.field);
            }
            self.parts.push(StoredKeyPart {
                start: offset + part.start,
                end: offset + part.end,
                name: part.path.clone(),
                role: part.role.name().to_owned(),
                field_type: field.map(|field| field.field_type().to_string()),
                value: value
                    .filter(|_| first)
                    .map(|(field, value)| field.field_type().value_to_json(value)),
            });
        }
        self.at = offset + key.len();
    }

    fn finish(self, key: &[u8]) -> StoredKey {
        let digit = |nibble: u8| char::from_digit(nibble.into(), 16).unwrap_or_default();
        let hex = key.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 0x0F)]).collect();
        StoredKey { hex, parts: self.parts }
    }
}

fn has_payload(explanation: &stonecrop_keys::Explanation<'_>, field: usize) -> bool {
    explanation.parts.iter().any(|part| part.field == field && part.role == Role::Payload)
}

/// Takes apart where a row is stored.
pub(crate) fn anatomy(
    source: &dyn Read,
    table: &TableState,
    place: &Place,
    now: Timestamp,
) -> Result<Anatomy> {
    let mut anatomy = Anatomy::default();
    for (id, family) in (1..).zip(table.schema.families()) {
        let key = entry_key(table.id, id, &place.bytes, "");
        if let Some(value) = source.get(place.shard, &key)? {
            let mut parts = Builder::default();
            parts.head("row", table, ("family", id));
            parts.place(table, &place.bytes);
            let key = parts.finish(&key);
            anatomy.families.extend(stored_family(table, family.name(), true, key, &value, now)?);
        }
    }
    let prefix = loose_prefix(table, &place.bytes);
    for entry in source.scan(place.shard, KeyRange::prefix(&prefix), Direction::Forward)? {
        let (key, value) = entry?;
        let name = key.get(prefix.len()..).unwrap_or_default();
        let name = std::str::from_utf8(name)
            .map_err(|_| table.corrupt("a column name that is not UTF-8"))?;
        // The one without a name only says that the row is there.
        if name.is_empty() {
            continue;
        }
        let mut parts = Builder::default();
        parts.head("row", table, ("family", LOOSE));
        parts.place(table, &place.bytes);
        parts.part("column", name.len(), name.to_owned());
        let stored = parts.finish(&key);
        anatomy.families.extend(stored_family(table, name, false, stored, &value, now)?);
    }
    anatomy.indexes = index_entries(source, table, place, now)?;
    Ok(anatomy)
}

fn stored_family(
    table: &TableState,
    name: &str,
    declared: bool,
    key: StoredKey,
    value: &Bytes,
    now: Timestamp,
) -> Result<Option<StoredFamily>> {
    let (header, _) = Header::read(value).map_err(|problem| table.corrupt(problem))?;
    Ok(header.is_visible(now).then(|| StoredFamily {
        name: name.to_owned(),
        declared,
        written_at: header.written_at,
        fresh_until: header.fresh_until,
        gone_at: header.gone_at,
        fresh: now < header.fresh_until,
        value_bytes: value.len(),
        key,
    }))
}

fn index_entries(
    source: &dyn Read,
    table: &TableState,
    place: &Place,
    now: Timestamp,
) -> Result<Vec<StoredIndexEntry>> {
    let mut found = Vec::new();
    for index in &table.indexes {
        let Some((key, _)) = entry_of(source, table, index, place, now)?.entry() else { continue };
        // While it is being built it need not be there yet.
        if source.get(place.shard, &key)?.is_none() {
            continue;
        }
        let mut parts = Builder::default();
        parts.head("index entry", table, ("index", index.id));
        let values = key.len().saturating_sub(PLACE + place.bytes.len());
        parts.fields(&index.schema, key.get(PLACE..PLACE + values).unwrap_or_default());
        parts.place(table, &place.bytes);
        found.push(StoredIndexEntry { index: index.name.clone(), key: parts.finish(&key) });
    }
    Ok(found)
}
