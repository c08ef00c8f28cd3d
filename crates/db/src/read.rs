//! Reading rows: which entries are needed, which of them can be seen, what is in them.

use std::sync::Arc;

use bytes::Bytes;
use stonecrop_store::{Direction, Read, Store};

use crate::catalog::{DeclaredColumn, Place, TableState, loose_prefix};
use crate::clock::Timestamp;
use crate::entry::{Columns, Header};
use crate::error::Result;
use crate::key::RowKey;
use crate::record::{LOOSE, PLACE, entry_key, family_prefix, history_range, history_times};
use crate::retention::is_droppable;
use crate::row::{Cell, Name, Row, Version};
use crate::schema::History;
use crate::value::{Value, encode};

/// The time of a read. What can be seen depends on it alone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment {
    pub(crate) now: Timestamp,
    /// Look at the rows as they were then.
    pub(crate) as_of: Option<Timestamp>,
}

impl Moment {
    pub(crate) fn now(now: Timestamp) -> Self {
        Moment { now, as_of: None }
    }

    /// The time that values are fresh or stale at.
    pub(crate) fn seen_at(self) -> Timestamp {
        self.as_of.unwrap_or(self.now)
    }

    /// Whether a family with this header can be seen.
    #[inline]
    pub(crate) fn shows(self, header: &Header) -> bool {
        match self.as_of {
            None => header.is_visible(self.now),
            Some(then) => {
                header.written_at <= then
                    && header.is_visible(then)
                    && !is_droppable(header.gone_at, self.now)
            }
        }
    }
}

/// The columns that a reader wants, and where they are.
#[derive(Clone, Debug)]
pub(crate) struct Selection {
    /// All columns there are.
    all: bool,
    /// The declared families that are needed, each with the ids of the columns.
    families: Vec<(u16, Vec<u32>)>,
    /// Columns that are declared in no family.
    loose: Vec<Arc<str>>,
}

impl Selection {
    pub(crate) fn all(table: &TableState) -> Self {
        let families = table.families().map(|family| (family, Vec::new())).collect();
        Selection { all: true, families, loose: Vec::new() }
    }

    pub(crate) fn of<'n>(table: &TableState, names: impl IntoIterator<Item = &'n str>) -> Self {
        let mut selection = Selection { all: false, families: Vec::new(), loose: Vec::new() };
        for name in names {
            let Some(column) = table.column(name) else {
                selection.loose.push(name.into());
                continue;
            };
            match selection.families.iter_mut().find(|(family, _)| *family == column.family) {
                Some((_, ids)) => ids.push(column.id),
                None => selection.families.push((column.family, vec![column.id])),
            }
        }
        selection.families.sort();
        selection.families.iter_mut().for_each(|(_, ids)| ids.sort());
        selection.loose.sort();
        selection
    }

    /// The declared families that are needed.
    pub(crate) fn families(&self) -> impl Iterator<Item = u16> {
        self.families.iter().map(|(family, _)| *family)
    }

    pub(crate) fn wants_loose(&self) -> bool {
        self.all || !self.loose.is_empty()
    }

    /// The columns of a family that are wanted, in order; none where the family is not needed.
    fn ids(&self, family: u16) -> Option<&[u32]> {
        let wanted = self.families.iter().find(|(wanted, _)| *wanted == family);
        wanted.map(|(_, ids)| ids.as_slice())
    }

    fn wants_name(&self, name: &[u8]) -> bool {
        self.all || self.loose.iter().any(|wanted| wanted.as_bytes() == name)
    }
}

/// Where a column of a table is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Source {
    /// It is this field of the key, counted from 0.
    Key(usize),
    Declared(DeclaredColumn),
    /// It is declared in no family, and has this name.
    Loose(String),
}

impl Source {
    pub(crate) fn new(table: &TableState, name: &str) -> Self {
        if let Some(column) = table.column(name) {
            return Source::Declared(column);
        }
        match table.key.fields().iter().position(|field| field.name() == name) {
            Some(index) => Source::Key(index),
            None => Source::Loose(name.to_owned()),
        }
    }

    /// The family that has to be read for it; none for the key.
    pub(crate) fn family(&self) -> Option<u16> {
        match self {
            Source::Key(_) => None,
            Source::Declared(column) => Some(column.family),
            Source::Loose(_) => Some(LOOSE),
        }
    }
}

/// A column as it is stored.
pub(crate) struct Stored<'e> {
    /// None for a field of the key.
    pub(crate) written_at: Option<Timestamp>,
    pub(crate) fresh_until: Timestamp,
    pub(crate) value: &'e [u8],
}

impl<'e> Stored<'e> {
    pub(crate) fn new(header: &Header, value: &'e [u8]) -> Self {
        Stored { written_at: Some(header.written_at), fresh_until: header.fresh_until, value }
    }
}

/// What a row holds, as far as it was read: entries that can be seen.
#[derive(Debug, Default)]
pub(crate) struct Entries {
    list: Vec<Entry>,
    /// The key that was read last; its memory is used again.
    key: Vec<u8>,
    /// The names of the last row's loose columns, which the next one shares if it has the same.
    names: Vec<Arc<str>>,
}

#[derive(Debug)]
struct Entry {
    family: u16,
    /// The name of a loose column; empty for a declared family.
    name: Bytes,
    header: Header,
    value: Bytes,
}

impl Entry {
    /// The order of a row's entries: declared families, then loose columns by name.
    fn order(&self) -> (bool, u16, &[u8]) {
        (self.family == LOOSE, self.family, &self.name)
    }

    fn columns(&self) -> &[u8] {
        self.value.get(crate::entry::HEADER_BYTES..).unwrap_or_default()
    }
}

impl Entries {
    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub(crate) fn clear(&mut self) {
        self.list.clear();
    }

    /// The declared families that are wanted of a row, all of one moment.
    fn together(
        store: &dyn Store,
        table: &TableState,
        place: &Place,
        selection: &Selection,
        moment: Moment,
    ) -> Result<Self> {
        let size = PLACE + place.bytes.len();
        let mut keys = Vec::with_capacity(size * selection.families.len());
        for family in selection.families() {
            keys.extend_from_slice(&family_prefix(table.id, family));
            keys.extend_from_slice(&place.bytes);
        }
        let sought: Vec<_> = keys.chunks_exact(size).map(|key| (place.shard, key)).collect();
        let mut entries = Entries::default();
        for (family, value) in selection.families().zip(store.get_together(&sought)?) {
            if let Some(value) = value {
                entries.push(table, family, Bytes::new(), value, moment)?;
            }
        }
        Ok(entries)
    }

    /// Takes an entry in, if it can be seen.
    pub(crate) fn push(
        &mut self,
        table: &TableState,
        family: u16,
        name: Bytes,
        value: Bytes,
        moment: Moment,
    ) -> Result<()> {
        let (header, _) = Header::read(&value).map_err(|problem| table.corrupt(problem))?;
        if moment.shows(&header) {
            self.list.push(Entry { family, name, header, value });
        }
        Ok(())
    }

    /// The entries as they are stored, each with its family and name.
    pub(crate) fn stored(&self) -> impl Iterator<Item = (u16, &Bytes, &Bytes)> {
        self.list.iter().map(|entry| (entry.family, &entry.name, &entry.value))
    }

    /// Whether another reading of the row has the same columns with the same values, whenever they
    /// were written.
    pub(crate) fn has_same_columns(&self, other: &Entries) -> bool {
        let columns = |entry: &Entry| match entry.columns() {
            // The family is there, which nobody sees of it.
            [] => None,
            columns => Some((entry.family, entry.name.clone(), columns.to_vec())),
        };
        let of = |entries: &Entries| entries.list.iter().filter_map(columns).collect::<Vec<_>>();
        self.is_empty() == other.is_empty() && of(self) == of(other)
    }

    /// Takes an entry of a declared family in, of which is known that it can be seen.
    pub(crate) fn push_seen(&mut self, family: u16, header: Header, value: Bytes) {
        self.list.push(Entry { family, name: Bytes::new(), header, value });
    }

    fn find_declared(
        &self,
        table: &TableState,
        column: DeclaredColumn,
    ) -> Result<Option<Stored<'_>>> {
        let Some(entry) = self.list.iter().find(|entry| entry.family == column.family) else {
            return Ok(None);
        };
        let value = Columns::new(entry.columns()).find(column.id);
        let value = value.map_err(|problem| table.corrupt(problem))?;
        Ok(value.map(|value| Stored::new(&entry.header, value)))
    }

    fn find_loose(&self, name: &str) -> Option<Stored<'_>> {
        // The one without a name only says that the row is there.
        let mut loose = self.list.iter().filter(|entry| entry.family == LOOSE && !name.is_empty());
        let entry = loose.find(|entry| entry.name == name)?;
        Some(Stored::new(&entry.header, entry.columns()))
    }

    /// How many columns the row may have.
    fn count_columns(&self, table: &TableState, selection: &Selection) -> usize {
        let of = |entry: &Entry| match entry.family {
            LOOSE => 1,
            family if selection.all => table.names.of(family).len(),
            family => selection.ids(family).map_or(0, <[u32]>::len),
        };
        self.list.iter().map(of).sum()
    }

    /// The row with the columns that are wanted.
    pub(crate) fn row(
        &mut self,
        table: &TableState,
        place: &[u8],
        selection: &Selection,
        moment: Moment,
    ) -> Result<Row> {
        let corrupt = |problem| table.corrupt(problem);
        let mut columns = Vec::with_capacity(self.count_columns(table, selection));
        let at = moment.seen_at();
        let cell = |header: &Header, value: Value| Cell {
            value,
            fresh: at < header.fresh_until,
            written_at: header.written_at,
            fresh_until: header.fresh_until,
            gone_at: header.gone_at,
        };
        // Filters and scans take entries in as they need or meet them, not in the order of a row.
        if !self.list.is_sorted_by(|a, b| a.order() <= b.order()) {
            self.list.sort_by(|a, b| a.order().cmp(&b.order()));
        }
        let mut names = LooseNames { shared: &mut self.names, next: 0 };
        for entry in &self.list {
            if entry.family == LOOSE {
                // The one without a name only says that the row is there.
                if !entry.name.is_empty() && selection.wants_name(&entry.name) {
                    let name = names.share(&entry.name).map_err(corrupt)?;
                    let value = encode::read(entry.columns()).map_err(corrupt)?;
                    columns.push((Name::Loose(name), cell(&entry.header, value)));
                }
                continue;
            }
            let Some(ids) = selection.ids(entry.family) else { continue };
            let family = entry.family;
            let mut stored = Columns::new(entry.columns());
            while let Some(id) = stored.step_id().map_err(corrupt)? {
                if selection.all {
                    table.column_name(family, id)?;
                } else {
                    if ids.last().is_none_or(|last| id > *last) {
                        break;
                    }
                    if !ids.contains(&id) {
                        stored.skip().map_err(corrupt)?;
                        continue;
                    }
                }
                let value = stored.read().map_err(corrupt)?;
                columns.push((Name::Declared { family, id }, cell(&entry.header, value)));
            }
        }
        let key = RowKey::from(table.key_values(place)?).into_owned();
        Ok(Row { key, names: table.names.clone(), columns })
    }
}

/// The names of loose columns, of one row after the other: most have the same.
struct LooseNames<'n> {
    shared: &'n mut Vec<Arc<str>>,
    /// Which of them comes next.
    next: usize,
}

impl LooseNames<'_> {
    fn share(&mut self, name: &[u8]) -> Result<Arc<str>, encode::Problem> {
        let at = self.next;
        self.next += 1;
        if let Some(shared) = self.shared.get(at).filter(|shared| shared.as_bytes() == name) {
            return Ok(shared.clone());
        }
        let name = std::str::from_utf8(name).map_err(|_| "a column name that is not UTF-8")?;
        let name: Arc<str> = name.into();
        self.shared.truncate(at);
        self.shared.push(name.clone());
        Ok(name)
    }
}

/// A row as it is now, if it is there. Where no loose columns are wanted that takes no snapshot.
pub(crate) fn read_now(
    store: &dyn Store,
    table: &TableState,
    place: &Place,
    selection: &Selection,
    moment: Moment,
) -> Result<Option<Row>> {
    let reads_loose = || selection.wants_loose() && table.is_loose();
    if !reads_loose() {
        let mut entries = Entries::together(store, table, place, selection, moment)?;
        // Once more: who writes the first loose column of a table says so before.
        if !reads_loose() && (selection.all || !entries.is_empty()) {
            return match entries.is_empty() {
                true => Ok(None),
                false => entries.row(table, &place.bytes, selection, moment).map(Some),
            };
        }
    }
    let snapshot = store.snapshot()?;
    Loader::new(&*snapshot, table, place, moment).row(selection)
}

/// A set of families; the first ones, which are nearly all, take no memory of their own.
#[derive(Default)]
struct Families {
    first: u64,
    others: Vec<u16>,
}

impl Families {
    /// Adds a family, and tells whether it is new.
    fn insert(&mut self, family: u16) -> bool {
        if family < 64 {
            let before = self.first;
            self.first |= 1 << family;
            return self.first != before;
        }
        let is_new = !self.others.contains(&family);
        if is_new {
            self.others.push(family);
        }
        is_new
    }
}

/// A row whose entries are read as they are asked for.
pub(crate) struct Loader<'r> {
    source: &'r dyn Read,
    table: &'r TableState,
    place: &'r Place,
    moment: Moment,
    entries: Entries,
    /// The families that were read by somebody else; [`LOOSE`] for all loose columns.
    given: &'r [u16],
    /// Those that were read here.
    loaded: Families,
    /// Whether the row is known to be there, whatever was read of it.
    is_known: bool,
    /// The encoded values of the key's fields, once they were asked for.
    key: Vec<u8>,
}

impl<'r> Loader<'r> {
    pub(crate) fn new(
        source: &'r dyn Read,
        table: &'r TableState,
        place: &'r Place,
        moment: Moment,
    ) -> Self {
        Self::with(source, table, place, moment, Entries::default(), &[])
    }

    /// A row of which some families were read already.
    #[inline]
    pub(crate) fn with(
        source: &'r dyn Read,
        table: &'r TableState,
        place: &'r Place,
        moment: Moment,
        entries: Entries,
        given: &'r [u16],
    ) -> Self {
        let (loaded, key) = (Families::default(), Vec::new());
        Loader { source, table, place, moment, entries, given, loaded, is_known: false, key }
    }

    /// A row that is known to be there.
    #[inline]
    pub(crate) fn known(self) -> Self {
        Loader { is_known: true, ..self }
    }

    pub(crate) fn place(&self) -> &'r Place {
        self.place
    }

    /// The bytes of the entries that were read.
    pub(crate) fn size(&self) -> usize {
        self.entries.list.iter().map(|entry| entry.value.len()).sum()
    }

    /// Whether a declared family is fresh; none where the row does not have it.
    pub(crate) fn is_fresh(&mut self, family: u16) -> Result<Option<bool>> {
        self.load(family)?;
        let entry = self.entries.list.iter().find(|entry| entry.family == family);
        Ok(entry.map(|entry| self.moment.seen_at() < entry.header.fresh_until))
    }

    /// The row, which is known to be there.
    pub(crate) fn known_row(&mut self, selection: &Selection) -> Result<Row> {
        for family in selection.families() {
            self.load(family)?;
        }
        if selection.wants_loose() {
            self.load(LOOSE)?;
        }
        self.entries.row(self.table, &self.place.bytes, selection, self.moment)
    }

    /// Reads all that the row has.
    pub(crate) fn load_all(&mut self) -> Result<()> {
        self.table.families().chain([LOOSE]).try_for_each(|family| self.load(family))
    }

    #[inline]
    pub(crate) fn into_entries(self) -> Entries {
        self.entries
    }

    /// The row, if it is there.
    pub(crate) fn row(&mut self, selection: &Selection) -> Result<Option<Row>> {
        for family in selection.families() {
            self.load(family)?;
        }
        if !self.exists()? {
            return Ok(None);
        }
        self.known_row(selection).map(Some)
    }

    pub(crate) fn table(&self) -> &'r TableState {
        self.table
    }

    /// The time that values are fresh or stale at.
    pub(crate) fn seen_at(&self) -> Timestamp {
        self.moment.seen_at()
    }

    /// Whether the row is there.
    pub(crate) fn exists(&mut self) -> Result<bool> {
        if self.is_known {
            return Ok(true);
        }
        for family in self.table.families().chain([LOOSE]) {
            if !self.entries.is_empty() {
                return Ok(true);
            }
            self.load(family)?;
        }
        Ok(!self.entries.is_empty())
    }

    /// A column, if it is there.
    pub(crate) fn column(&mut self, source: &Source) -> Result<Option<Stored<'_>>> {
        match source {
            Source::Key(index) => self.key_field(*index),
            Source::Declared(column) => {
                self.load(column.family)?;
                self.entries.find_declared(self.table, *column)
            }
            Source::Loose(name) => {
                self.load(LOOSE)?;
                Ok(self.entries.find_loose(name))
            }
        }
    }

    /// A field of the key, which is there if the row is.
    fn key_field(&mut self, index: usize) -> Result<Option<Stored<'_>>> {
        if !self.exists()? {
            return Ok(None);
        }
        let corrupt = |problem| self.table.corrupt(problem);
        if self.key.is_empty() {
            for value in self.table.key_values(&self.place.bytes)? {
                encode::write(&Value::from_key(&value), &mut self.key).map_err(corrupt)?;
            }
        }
        let mut rest = self.key.as_slice();
        for _ in 0..index {
            encode::skip(&mut rest).map_err(corrupt)?;
        }
        let value = encode::skip(&mut rest).map_err(corrupt)?;
        Ok(Some(Stored { written_at: None, fresh_until: Timestamp::NEVER, value }))
    }

    fn load(&mut self, family: u16) -> Result<()> {
        if self.given.contains(&family) || !self.loaded.insert(family) {
            return Ok(());
        }
        let (table, place) = (self.table, self.place);
        if family == LOOSE {
            return self.load_loose();
        }
        let key = &mut self.entries.key;
        key.clear();
        key.extend_from_slice(&family_prefix(table.id, family));
        key.extend_from_slice(&place.bytes);
        if let Some(value) = self.source.get(place.shard, key)? {
            let before = self.entries.list.len();
            self.entries.push(table, family, Bytes::new(), value, self.moment)?;
            if self.entries.list.len() > before {
                return Ok(());
            }
        }
        match self.moment.as_of {
            Some(then) => self.load_history(family, then),
            None => Ok(()),
        }
    }

    fn load_loose(&mut self) -> Result<()> {
        if !self.table.is_loose() {
            return Ok(());
        }
        let prefix = loose_prefix(self.table, &self.place.bytes);
        for entry in self.source.scan_prefix(self.place.shard, &prefix, Direction::Forward)? {
            let (key, value) = entry?;
            let name = key.slice(prefix.len().min(key.len())..);
            self.entries.push(self.table, LOOSE, name, value, self.moment)?;
        }
        Ok(())
    }

    /// The newest version that was there at a time.
    fn load_history(&mut self, family: u16, then: Timestamp) -> Result<()> {
        let (table, moment) = (self.table, self.moment);
        for version in history(self.source, table, self.place, family, moment.now)? {
            let (header, value) = version?;
            if header.written_at <= then {
                if header.is_visible(then) {
                    self.entries.push_seen(family, header, value);
                }
                break;
            }
        }
        Ok(())
    }
}

/// The superseded versions of a row's family that can still be seen, newest first, removals
/// included.
fn history<'r>(
    source: &dyn Read,
    table: &'r TableState,
    place: &Place,
    family: u16,
    now: Timestamp,
) -> Result<impl Iterator<Item = Result<(Header, Bytes)>> + use<'r>> {
    let range = history_range(table.id, family, &place.bytes);
    let entries = source.scan(place.shard, range, Direction::Forward)?;
    Ok(entries.filter_map(move |entry| {
        let (key, value) = match entry {
            Ok(entry) => entry,
            Err(error) => return Some(Err(error.into())),
        };
        let (_, expires_at) = history_times(&key)?;
        if expires_at <= now {
            return None;
        }
        match Header::read(&value) {
            Ok((header, _)) => Some(Ok((header, value))),
            Err(problem) => Some(Err(table.corrupt(problem))),
        }
    }))
}

/// All versions of a row's family that can be seen, the present one first.
pub(crate) fn versions(
    source: &dyn Read,
    table: &TableState,
    place: &Place,
    family: u16,
    now: Timestamp,
) -> Result<Vec<Version>> {
    let corrupt = |problem| table.corrupt(problem);
    let mut found = Vec::new();
    if let Some(value) = source.get(place.shard, &entry_key(table.id, family, &place.bytes, ""))? {
        let (header, _) = Header::read(&value).map_err(corrupt)?;
        if header.is_visible(now) {
            found.push((header, value));
        }
    }
    if table.family(family).is_some_and(|family| family.history != History::None) {
        for version in history(source, table, place, family, now)? {
            found.push(version?);
        }
    }
    let version = |(header, value): (Header, Bytes)| {
        let mut stored = Columns::new(value.get(crate::entry::HEADER_BYTES..).unwrap_or_default());
        let mut columns = Vec::new();
        while let Some((id, value)) = stored.step().map_err(corrupt)? {
            let name = table.column_name(family, id)?;
            columns.push((name.clone(), encode::read(value).map_err(corrupt)?));
        }
        let (written_at, fresh_until) = (header.written_at, header.fresh_until);
        Ok(Version { written_at, fresh_until, columns })
    };
    found.into_iter().filter(|(header, _)| !header.removed).map(version).collect()
}
