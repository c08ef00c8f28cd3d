//! What a caller does before the writer: check a write, and encode as much of it as can be without
//! knowing the row.

use std::sync::Arc;

use smallvec::SmallVec;

use crate::catalog::{DeclaredColumn, Place, Slot, TableState};
use crate::clock::Timestamp;
use crate::condition::Compiled;
use crate::entry::{HEADER_BYTES, push_column};
use crate::error::{Error, Result};
use crate::record::LOOSE;
use crate::schema::Lifetime;
use crate::scratch::exactly;
use crate::value::{ColumnType, Value, encode};
use crate::write::{Change, Decide, Write, WriteKind};

/// The largest entry: a family of a row with all of its columns.
pub(crate) const MAX_ENTRY_BYTES: usize = 16 << 20;

/// The table that writes were prepared for, as it was then. All writes of a batch share one: a
/// thread that prepares them and another that commits them would change the count of a table's
/// owners by turns, and wait for each other at every write.
pub(crate) struct Target {
    pub(crate) slot: Arc<Slot>,
    pub(crate) table: Arc<TableState>,
}

impl Target {
    pub(crate) fn new(slot: &Arc<Slot>, table: Arc<TableState>) -> Arc<Self> {
        Arc::new(Target { slot: slot.clone(), table })
    }
}

/// A write that fits its table.
pub(crate) struct Prepared {
    pub(crate) target: Arc<Target>,
    pub(crate) place: Place,
    pub(crate) kind: WriteKind,
    /// Most have none, and many are moved about.
    pub(crate) condition: Option<Box<Compiled>>,
    pub(crate) written_at: Option<Timestamp>,
    /// From when on the whole row is gone, if the write says so.
    pub(crate) gone_at: Option<Timestamp>,
    /// The families that are written, each once.
    pub(crate) families: Vec<PreparedFamily>,
    pub(crate) decide: Option<Decide>,
    /// Why it can't be done as it is, if a function may still decide otherwise.
    pub(crate) problem: Option<Box<Error>>,
}

impl Prepared {
    /// Whether nothing can be stored of its row yet.
    pub(super) fn is_new(&self) -> bool {
        self.target.table.activity.is_new(&self.place.bytes)
    }
}

pub(crate) struct PreparedFamily {
    pub(crate) family: u16,
    /// The name of a loose column; empty for a declared family.
    pub(crate) name: String,
    pub(crate) lifetime: Lifetime,
    pub(crate) content: Content,
}

pub(crate) enum Content {
    /// The whole entry, with room for its header.
    Whole(Vec<u8>),
    /// Changes of columns by their ids, in order; a loose column has the id 0.
    Changes(Vec<(u32, ColumnChange)>),
}

pub(crate) enum ColumnChange {
    /// To an encoded value.
    Set(Vec<u8>),
    Remove,
    /// To what a function makes of the value that is there.
    Apply {
        column: String,
        column_type: ColumnType,
        change: Change<'static>,
    },
}

impl Prepared {
    pub(crate) fn new(target: &Arc<Target>, write: &Write<'_>) -> Result<Self> {
        let table = &target.table;
        let place = table.place(write.key.values())?;
        let is_only_decided = write.decide.as_ref().is_some_and(|decide| decide.is_all);
        if let Some((column, _)) = write.changes.first().filter(|_| is_only_decided) {
            return Err(Error::value(column, "what is set is up to the function that decides"));
        }
        let (families, problem) = match checked_families(table, write, &place) {
            Err(problem) if write.decide.is_some() => (Vec::new(), Some(Box::new(problem))),
            families => (families?, None),
        };
        Ok(Prepared {
            target: target.clone(),
            place,
            kind: write.kind,
            condition: write.condition.as_ref().map(|it| Box::new(Compiled::new(it, table))),
            written_at: write.written_at,
            gone_at: write.gone_at,
            families,
            decide: write.decide.clone(),
            problem,
        })
    }

    /// About how much memory it takes.
    pub(crate) fn size(&self) -> usize {
        let families = self.families.iter().map(|family| match &family.content {
            Content::Whole(entry) => entry.len(),
            Content::Changes(changes) => {
                changes.iter().map(|(_, change)| change.size()).sum::<usize>()
            }
        });
        256 + self.place.bytes.len() + families.sum::<usize>()
    }
}

impl ColumnChange {
    fn size(&self) -> usize {
        match self {
            ColumnChange::Set(value) => value.len(),
            ColumnChange::Remove => 0,
            ColumnChange::Apply { .. } => 256,
        }
    }
}

fn checked_families(
    table: &TableState,
    write: &Write<'_>,
    place: &Place,
) -> Result<Vec<PreparedFamily>> {
    let families = match write.kind {
        WriteKind::Delete | WriteKind::Expire => match write.changes.first() {
            None => Vec::new(),
            Some((column, _)) => {
                let problem = "a write that only deletes or expires takes no columns";
                return Err(Error::value(column, problem));
            }
        },
        WriteKind::Put | WriteKind::Replace => families(table, write)?,
    };
    for family in families.iter().filter(|family| family.family == LOOSE) {
        table.check_key_length(place.bytes.len(), family.name.len())?;
    }
    Ok(families)
}

fn families(table: &TableState, write: &Write<'_>) -> Result<Vec<PreparedFamily>> {
    let lifetime = |declared: Lifetime| Lifetime {
        ttl: write.ttl.or(declared.ttl),
        keep: write.keep.or(declared.keep),
    };
    let mut declared: SmallVec<[(DeclaredColumn, &str, &Change<'_>); 16]> = SmallVec::new();
    // Mostly one.
    let mut families = Vec::with_capacity(1);
    for (name, change) in &write.changes {
        match table.column(name) {
            Some(column) => {
                check_type(name, column.column_type, change)?;
                declared.push((column, name, change));
            }
            None => {
                check_loose_name(table, name)?;
                let lifetime = lifetime(Lifetime::default());
                let content = loose_content(name, change, write.kind)?;
                let name = name.to_string();
                families.push(PreparedFamily { family: LOOSE, name, lifetime, content });
            }
        }
    }
    families.sort_by(|a, b| a.name.cmp(&b.name));
    check_once(families.iter().map(|family| family.name.as_str()))?;
    // In the order that columns are stored in.
    declared.sort_by_key(|(column, _, _)| (column.family, column.id));
    check_once(declared.iter().map(|(_, name, _)| *name))?;
    for columns in declared.chunk_by(|(a, _, _), (b, _, _)| a.family == b.family) {
        let Some((DeclaredColumn { family, .. }, _, _)) = columns.first() else { continue };
        let own = table.family(*family).map(|family| family.lifetime).unwrap_or_default();
        let content = declared_content(table, *family, columns, write.kind)?;
        let (name, lifetime) = (String::new(), lifetime(own));
        families.push(PreparedFamily { family: *family, name, lifetime, content });
    }
    Ok(families)
}

/// Names in order, in which the same one twice is side by side.
fn check_once<'n>(names: impl Iterator<Item = &'n str>) -> Result<()> {
    let mut before = None;
    for name in names {
        if before == Some(name) {
            return Err(Error::Column {
                column: name.to_owned(),
                problem: "it is named twice in one write".to_owned(),
            });
        }
        before = Some(name);
    }
    Ok(())
}

fn check_loose_name(table: &TableState, name: &str) -> Result<()> {
    let problem = if name.is_empty() {
        "a name has at least one character"
    } else if name.starts_with('\0') {
        "a name does not begin with a zero character"
    } else if table.key.fields().iter().any(|field| field.name() == name) {
        "it is a field of the key, which a write can't change"
    } else {
        return Ok(());
    };
    Err(Error::Column { column: name.to_owned(), problem: problem.to_owned() })
}

fn check_type(name: &str, expected: ColumnType, change: &Change<'_>) -> Result<()> {
    let found = match change {
        Change::Set(value) => value.column_type(),
        Change::Append(_) => ColumnType::List,
        Change::Merge(_) => ColumnType::Map,
        // The sum is known only with the number that is there.
        Change::Add(_) | Change::Remove => return Ok(()),
    };
    if expected.takes(found) {
        return Ok(());
    }
    Err(Error::ColumnType { column: name.to_owned(), expected, found })
}

fn encoded(name: &str, value: &Value, out: &mut Vec<u8>) -> Result<()> {
    encode::write(value, out).map_err(|problem| Error::value(name, problem))
}

pub(crate) fn check_size(name: &str, size: usize) -> Result<()> {
    if size <= MAX_ENTRY_BYTES {
        return Ok(());
    }
    Err(Error::TooLarge {
        what: format!("what is stored for {name:?}"),
        size: size as u64,
        limit: MAX_ENTRY_BYTES as u64,
    })
}

fn prepare_change(
    name: &str,
    column_type: ColumnType,
    change: &Change<'_>,
    kind: WriteKind,
) -> Result<ColumnChange> {
    match change {
        Change::Set(value) => {
            let mut bytes = Vec::new();
            encoded(name, value, &mut bytes)?;
            check_size(name, bytes.len())?;
            Ok(ColumnChange::Set(bytes))
        }
        _ if kind == WriteKind::Replace => {
            Err(Error::value(name, "a row that is replaced has no value to change; set it"))
        }
        Change::Remove => Ok(ColumnChange::Remove),
        change => {
            let change = change.clone().into_owned();
            Ok(ColumnChange::Apply { column: name.to_owned(), column_type, change })
        }
    }
}

fn loose_content(name: &str, change: &Change<'_>, kind: WriteKind) -> Result<Content> {
    if let Change::Set(value) = change {
        let mut entry = vec![0; HEADER_BYTES];
        encoded(name, value, &mut entry)?;
        check_size(name, entry.len())?;
        return Ok(Content::Whole(entry));
    }
    Ok(Content::Changes(vec![(0, prepare_change(name, ColumnType::Any, change, kind)?)]))
}

fn declared_content(
    table: &TableState,
    family: u16,
    columns: &[(DeclaredColumn, &str, &Change<'_>)],
    kind: WriteKind,
) -> Result<Content> {
    let whole = kind == WriteKind::Replace || columns.len() == table.names.of(family).len();
    if whole && columns.iter().all(|(_, _, change)| matches!(change, Change::Set(_))) {
        let entry = exactly(|entry| {
            entry.resize(HEADER_BYTES, 0);
            for (column, name, change) in columns {
                if let Change::Set(value) = change {
                    encode::write_varint(u64::from(column.id), entry);
                    encoded(name, value, entry)?;
                }
            }
            check_size(table.family(family).map_or("", |family| family.name()), entry.len())
        })?;
        return Ok(Content::Whole(entry));
    }
    let changes = columns.iter().map(|(column, name, change)| {
        Ok((column.id, prepare_change(name, column.column_type, change, kind)?))
    });
    changes.collect::<Result<_>>().map(Content::Changes)
}

/// The columns of a family after changes, in the order of their ids.
pub(crate) fn merge_columns(
    stored: &[u8],
    changes: &[(u32, ColumnChange)],
    corrupt: impl Fn(encode::Problem) -> Error,
) -> Result<Vec<u8>> {
    let mut entry = vec![0; HEADER_BYTES];
    let mut stored = crate::entry::Columns::new(stored);
    let mut next = stored.step().map_err(&corrupt)?;
    for (id, change) in changes {
        let mut old = None;
        while let Some((stored_id, value)) = next.filter(|(stored_id, _)| stored_id <= id) {
            if stored_id == *id {
                old = Some(value);
            } else {
                push_column(stored_id, value, &mut entry);
            }
            next = stored.step().map_err(&corrupt)?;
        }
        if let Some(value) = change.apply(old, &corrupt)? {
            push_column(*id, &value, &mut entry);
        }
    }
    while let Some((id, value)) = next {
        push_column(id, value, &mut entry);
        next = stored.step().map_err(&corrupt)?;
    }
    Ok(entry)
}

impl ColumnChange {
    /// The encoded value after the change; none where the column is removed.
    pub(crate) fn apply(
        &self,
        old: Option<&[u8]>,
        corrupt: impl Fn(encode::Problem) -> Error,
    ) -> Result<Option<Vec<u8>>> {
        let (column, column_type, change) = match self {
            ColumnChange::Set(value) => return Ok(Some(value.clone())),
            ColumnChange::Remove => return Ok(None),
            ColumnChange::Apply { column, column_type, change } => (column, column_type, change),
        };
        let old = old.map(encode::read).transpose().map_err(corrupt)?;
        let new = changed(old, change).map_err(|problem| Error::value(column, problem))?;
        let found = new.column_type();
        if !column_type.takes(found) {
            let (column, expected) = (column.clone(), *column_type);
            return Err(Error::ColumnType { column, expected, found });
        }
        let mut bytes = Vec::new();
        encoded(column, &new, &mut bytes)?;
        check_size(column, bytes.len())?;
        Ok(Some(bytes))
    }
}

/// What a function makes of a value. Null counts as not there.
fn changed(old: Option<Value>, change: &Change<'_>) -> Result<Value, String> {
    let old = old.filter(|value| *value != Value::Null);
    match (change, old) {
        (Change::Add(number), old) => crate::value::add(&old.unwrap_or(Value::Int(0)), number),
        (Change::Append(values), None) => Ok(Value::List(values.clone())),
        (Change::Append(values), Some(Value::List(mut list))) => {
            list.extend_from_slice(values);
            Ok(Value::List(list))
        }
        (Change::Merge(fields), None) => Ok(Value::Map(fields.clone())),
        (Change::Merge(fields), Some(Value::Map(mut map))) => {
            map.extend(fields.iter().map(|(name, value)| (name.clone(), value.clone())));
            Ok(Value::Map(map))
        }
        (Change::Append(_), Some(other)) => {
            Err(format!("it holds {}, and only a list can be appended to", other.column_type()))
        }
        (Change::Merge(_), Some(other)) => {
            Err(format!("it holds {}, and only a map can be merged into", other.column_type()))
        }
        (Change::Set(value), _) => Ok(value.clone().into_owned()),
        (Change::Remove, _) => Ok(Value::Null),
    }
}
