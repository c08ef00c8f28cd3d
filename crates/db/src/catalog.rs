//! The tables that there are: their definitions as they are used, and as they are stored.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use stonecrop_keys::{KeyRange, MAX_KEY_BYTES, Schema as KeySchema, Value as KeyValue, stripe};
use stonecrop_store::{Direction, Read};

use crate::changes::log::ChangeLog;
use crate::changes::read::last_stored;
use crate::clock::Timestamp;
use crate::error::{Error, Result};
use crate::index::{IndexState, IndexStatus};
use crate::met::Met;
use crate::record::{self, CatalogKind, LOOSE, PLACE, catalog_id, catalog_key, catalog_range};
use crate::row::Name;
use crate::schema::{Family, Placement, TableSchema};
use crate::scratch::exactly;
use crate::value::ColumnType;

/// The catalog's records are all in the first shard.
pub(crate) const CATALOG_SHARD: u8 = 0;
/// How far ahead the stored ceiling is set, so that it is written rarely.
const CEILING_AHEAD: Duration = Duration::from_secs(60);

/// A table's definition, in the form that reading and writing use.
#[derive(Debug)]
pub(crate) struct TableState {
    pub(crate) id: u32,
    /// Counts the changes of the definition.
    pub(crate) version: u32,
    pub(crate) schema: Arc<TableSchema>,
    pub(crate) key: Arc<KeySchema>,
    partition_key: KeySchema,
    sort_key: Option<KeySchema>,
    shards: u16,
    /// With a fast hash: every write looks up all of its columns.
    columns: HashMap<Arc<str>, DeclaredColumn, foldhash::fast::RandomState>,
    pub(crate) names: Arc<Names>,
    pub(crate) activity: Arc<Activity>,
    pub(crate) indexes: Vec<IndexState>,
}

/// The names of the declared families and their columns, by family and id.
#[derive(Debug)]
pub(crate) struct Names(Vec<(String, Vec<Arc<str>>)>);

impl Names {
    /// The name of a column of a family.
    #[inline]
    pub(crate) fn get(&self, family: u16, id: u32) -> Option<&Arc<str>> {
        self.of(family).get((id as usize).checked_sub(1)?)
    }

    /// The names of a family's columns, by their ids less one.
    pub(crate) fn of(&self, family: u16) -> &[Arc<str>] {
        let index = usize::from(family).checked_sub(1);
        index.and_then(|index| self.0.get(index)).map_or(&[], |(_, columns)| columns)
    }

    /// The family of a row's column; a loose one is a family by itself.
    pub(crate) fn family<'n>(&'n self, name: &'n Name) -> &'n str {
        let Name::Declared { family, .. } = name else { return self.resolve(name) };
        let index = usize::from(*family).checked_sub(1);
        index.and_then(|index| self.0.get(index)).map_or("", |(family, _)| family)
    }

    /// The name of a row's column; empty for one that was never declared, which no row has.
    pub(crate) fn resolve<'n>(&'n self, name: &'n Name) -> &'n str {
        match name {
            Name::Declared { family, id } => self.get(*family, *id).map_or("", |name| name),
            Name::Loose(name) => name,
        }
    }
}

/// Where a declared column is stored. Families and columns are counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DeclaredColumn {
    pub(crate) family: u16,
    pub(crate) id: u32,
    pub(crate) column_type: ColumnType,
}

/// What is known of a table's rows without reading any.
#[derive(Debug)]
pub(crate) struct Activity {
    /// Whether any row may have columns that are declared in no family.
    loose: AtomicBool,
    /// Whether the stored definition says so.
    loose_stored: AtomicBool,
    /// No entry was written after this, so a write that is not before it wins unread.
    newest: AtomicI64,
    /// What `newest` will be taken to be when the database is opened again.
    ceiling: AtomicI64,
    /// How far each index has come, by its id.
    indexes: RwLock<HashMap<u16, Arc<IndexStatus>>>,
    /// How many rows were written since the database was opened.
    writes: AtomicU64,
    /// About how many rows there are, and how many were written when that was found.
    estimate: Mutex<Option<(u64, u64)>>,
    /// The numbers of its changes, if it ever kept any.
    pub(crate) changes: Arc<ChangeLog>,
    /// The rows that were written, if this process has made the table and nobody else wrote to it.
    met: Mutex<Option<Met>>,
}

impl Activity {
    fn new(loose: bool, ceiling: Timestamp) -> Self {
        let ceiling = ceiling.as_micros();
        Activity {
            loose: AtomicBool::new(loose),
            loose_stored: AtomicBool::new(loose),
            newest: AtomicI64::new(ceiling),
            ceiling: AtomicI64::new(ceiling),
            indexes: RwLock::default(),
            writes: AtomicU64::new(0),
            estimate: Mutex::default(),
            changes: Arc::default(),
            met: Mutex::default(),
        }
    }

    /// Of a table that is made now.
    fn of_new_table() -> Self {
        Activity { met: Mutex::new(Some(Met::new())), ..Activity::new(false, Timestamp::MIN) }
    }

    /// Whether nothing can be stored of the row at a place.
    pub(crate) fn is_new(&self, place: &[u8]) -> bool {
        let met = self.met.lock().unwrap_or_else(PoisonError::into_inner);
        met.as_ref().is_some_and(|met| !met.has(place))
    }

    /// The row at a place is about to be written. Tells whether nothing can be stored of it.
    pub(crate) fn meet(&self, place: &[u8]) -> bool {
        let mut met = self.met.lock().unwrap_or_else(PoisonError::into_inner);
        let is_new = met.as_mut().is_some_and(|met| met.add(place));
        met.take_if(|met| met.is_full());
        is_new
    }

    /// About how many rows there are, unless much was written since it was found.
    pub(crate) fn estimated_rows(&self) -> Option<u64> {
        let (rows, then) = (*self.estimate.lock().unwrap_or_else(PoisonError::into_inner))?;
        let since = self.writes.load(Ordering::Relaxed).wrapping_sub(then);
        (since <= rows / 4 + 256).then_some(rows)
    }

    pub(crate) fn set_estimated_rows(&self, rows: u64) {
        let estimate = Some((rows, self.writes.load(Ordering::Relaxed)));
        *self.estimate.lock().unwrap_or_else(PoisonError::into_inner) = estimate;
    }

    /// How far an index has come; complete unless something else was said.
    pub(crate) fn index_status(&self, index: u16) -> Arc<IndexStatus> {
        let mut indexes = self.indexes.write().unwrap_or_else(PoisonError::into_inner);
        indexes.entry(index).or_default().clone()
    }

    /// Takes over what another process has done, as it was read just now.
    fn follow(&self, found: &Activity) {
        let changes = &found.changes;
        if found.loose.load(Ordering::Acquire) {
            self.loose.store(true, Ordering::Release);
        }
        let found = found.indexes.read().unwrap_or_else(PoisonError::into_inner);
        let known = self.indexes.read().unwrap_or_else(PoisonError::into_inner);
        for (index, status) in known.iter() {
            status.set(found.get(index).and_then(|found| found.stored()));
        }
        self.changes.follow(changes);
    }

    /// Goes on where another process has stopped to write.
    fn lead(&self, found: &Activity) {
        let loose = found.loose.load(Ordering::Acquire);
        self.loose.store(loose, Ordering::Release);
        self.loose_stored.store(loose, Ordering::Release);
        self.ceiling.store(found.ceiling.load(Ordering::Acquire), Ordering::Release);
        self.newest.store(found.newest.load(Ordering::Acquire), Ordering::Release);
        // Who wrote before may have written any row.
        *self.met.lock().unwrap_or_else(PoisonError::into_inner) = None;
        self.follow(found);
        self.changes.lead(&found.changes);
    }

    /// A write that is not before this wins, whatever is stored.
    pub(crate) fn newest(&self) -> Timestamp {
        Timestamp::from_micros(self.newest.load(Ordering::Acquire))
    }

    /// Something is about to be written at this time.
    pub(crate) fn note(&self, at: Timestamp) {
        self.writes.fetch_add(1, Ordering::Relaxed);
        self.newest.fetch_max(at.as_micros(), Ordering::AcqRel);
    }

    /// What the ceiling has to be raised to, for something to be written at this time.
    pub(crate) fn raise_ceiling(&self, at: Timestamp) -> Option<Timestamp> {
        if at.as_micros() <= self.ceiling.load(Ordering::Acquire) {
            return None;
        }
        // After a failed commit the ceiling is not known, and something newer may be stored.
        let raised = at.max(self.newest()) + CEILING_AHEAD;
        self.ceiling.store(raised.as_micros(), Ordering::Release);
        Some(raised)
    }

    /// What the stored ceiling can be lowered to, now that nothing more is written.
    fn lowered_ceiling(&self) -> Option<Timestamp> {
        let newest = self.newest();
        (newest.as_micros() < self.ceiling.load(Ordering::Acquire)).then_some(newest)
    }

    /// A loose column is about to be written.
    pub(crate) fn set_loose(&self) {
        self.loose.store(true, Ordering::Release);
    }

    /// Whether the definition has to be stored again to say that there are loose columns. Who asks
    /// stores it.
    pub(crate) fn must_store_loose(&self) -> bool {
        self.loose.load(Ordering::Acquire) && !self.loose_stored.swap(true, Ordering::AcqRel)
    }

    /// The last commit failed, so what was to be stored with it may not be.
    pub(crate) fn forget_stored(&self) {
        self.ceiling.store(i64::MIN, Ordering::Release);
        self.loose_stored.store(false, Ordering::Release);
        self.changes.forget_stored();
    }
}

/// Where a row is: its shard, and its stripe, partition key and sort key as bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) shard: u8,
    pub(crate) bytes: Bytes,
}

impl TableState {
    pub(crate) fn new(
        id: u32,
        version: u32,
        schema: TableSchema,
        shards: u16,
        activity: Arc<Activity>,
    ) -> Result<Self> {
        schema.check()?;
        let key = schema.key()?;
        let (partition, sort) = key.fields().split_at(schema.partition_fields());
        let part = |fields: &[stonecrop_keys::Field]| {
            KeySchema::new(fields.to_vec()).map_err(|error| schema.problem(error.to_string()))
        };
        let partition_key = part(partition)?;
        let sort_key = if sort.is_empty() { None } else { Some(part(sort)?) };
        let mut columns = HashMap::default();
        let mut names = Vec::new();
        for (family, declared) in (1..).zip(&schema.families) {
            let mut family_names = Vec::new();
            for (id, column) in (1..).zip(&declared.columns) {
                let name: Arc<str> = column.name.as_str().into();
                let column_type = column.column_type;
                columns.insert(name.clone(), DeclaredColumn { family, id, column_type });
                family_names.push(name);
            }
            names.push((declared.name.clone(), family_names));
        }
        let mut state = TableState {
            id,
            version,
            schema: Arc::new(schema),
            key: Arc::new(key),
            partition_key,
            sort_key,
            shards,
            columns,
            names: Arc::new(Names(names)),
            activity,
            indexes: Vec::new(),
        };
        let indexes = state.schema.indexes.iter().map(|index| IndexState::new(index, &state));
        state.indexes = indexes.collect::<Result<_>>()?;
        Ok(state)
    }

    pub(crate) fn index_by_id(&self, id: u16) -> Option<&IndexState> {
        self.indexes.iter().find(|index| index.id == id)
    }

    pub(crate) fn index_by_name(&self, name: &str) -> Result<&IndexState> {
        let found = self.indexes.iter().find(|index| index.name == name);
        found.ok_or_else(|| self.schema.problem(format!("there is no index {name:?}")))
    }

    /// A declared column by its name.
    pub(crate) fn column(&self, name: &str) -> Option<DeclaredColumn> {
        self.columns.get(name).copied()
    }

    /// A family by its number, counted from 1; none for loose columns.
    pub(crate) fn family(&self, family: u16) -> Option<&Family> {
        self.schema.families.get(usize::from(family).checked_sub(1)?)
    }

    /// The name of a column of a family.
    pub(crate) fn column_name(&self, family: u16, id: u32) -> Result<&Arc<str>> {
        let name = self.names.get(family, id);
        name.ok_or_else(|| self.corrupt(format!("a column {id} that was never declared")))
    }

    /// The numbers of the declared families.
    pub(crate) fn families(&self) -> impl Iterator<Item = u16> + use<> {
        1..=self.schema.families.len() as u16
    }

    /// The number of a family by its name.
    pub(crate) fn family_named(&self, name: &str) -> Option<u16> {
        self.families().find(|family| self.family(*family).is_some_and(|f| f.name() == name))
    }

    pub(crate) fn is_loose(&self) -> bool {
        self.activity.loose.load(Ordering::Acquire)
    }

    pub(crate) fn key_error(&self, cause: stonecrop_keys::Error) -> Error {
        Error::Key { table: self.schema.name.clone(), cause }
    }

    /// Where the row with this key is.
    pub(crate) fn place(&self, key: &[KeyValue<'_>]) -> Result<Place> {
        if key.len() != self.key.fields().len() {
            let cause = self.key.encode(key).err();
            return Err(cause.map_or(Error::Closed, |cause| self.key_error(cause)));
        }
        let (partition, sort) = key.split_at(self.partition_key.fields().len());
        let hashed = self.schema.placement == Placement::Hash;
        let bytes = exactly(|bytes| {
            if hashed {
                bytes.push(0);
            }
            self.partition_key.encode_into(partition, bytes).map_err(|e| self.key_error(e))?;
            if hashed && let Some((first, partition)) = bytes.split_first_mut() {
                *first = stripe(partition);
            }
            if let Some(schema) = &self.sort_key {
                schema.encode_into(sort, bytes).map_err(|e| self.key_error(e))?;
            }
            self.check_key_length(bytes.len(), 0)
        })?;
        Ok(Place { shard: self.shard(&bytes), bytes: bytes.into() })
    }

    /// That an entry of a row has a key of a length that can be stored.
    pub(crate) fn check_key_length(&self, place: usize, name: usize) -> Result<()> {
        // Two times follow the place of a row in its history.
        let size = PLACE + place + name.max(16);
        if size <= MAX_KEY_BYTES {
            return Ok(());
        }
        Err(Error::TooLarge {
            what: format!("the stored key of a row of {:?}", self.schema.name),
            size: size as u64,
            limit: MAX_KEY_BYTES as u64,
        })
    }

    /// The shard of a row by its place.
    pub(crate) fn shard(&self, place: &[u8]) -> u8 {
        self.shard_among(self.shards, place)
    }

    /// The shard that the row would be in if there were so many.
    pub(crate) fn shard_among(&self, shards: u16, place: &[u8]) -> u8 {
        let shards = u32::from(shards);
        match self.schema.placement {
            // Each shard holds a contiguous run of stripes.
            Placement::Hash => {
                (u32::from(place.first().copied().unwrap_or(0)) * shards / 256) as u8
            }
            Placement::Range => (self.id % shards) as u8,
        }
    }

    pub(crate) fn shard_of_stripe(&self, stripe: u8) -> u8 {
        self.shard(&[stripe])
    }

    /// All shards that the table may have rows in.
    pub(crate) fn shards(&self) -> impl Iterator<Item = u8> + use<> {
        match self.schema.placement {
            Placement::Hash => 0..=(self.shards - 1) as u8,
            Placement::Range => self.own_shard()..=self.own_shard(),
        }
    }

    /// The stretches of places that part `index` of `count` of the table has, each with its shard. A
    /// table that is placed by range is all in part 0.
    pub(crate) fn segment(&self, index: usize, count: usize) -> Vec<(u8, KeyRange)> {
        if self.schema.placement == Placement::Range {
            let whole = (self.own_shard(), KeyRange { start: Vec::new(), end: None });
            return if index == 0 { vec![whole] } else { Vec::new() };
        }
        let stripes = index * 256 / count..(index + 1) * 256 / count;
        let stripes: Vec<u8> = stripes.map(|stripe| stripe as u8).collect();
        let runs = stripes.chunk_by(|a, b| self.shard_of_stripe(*a) == self.shard_of_stripe(*b));
        let runs = runs.filter_map(|run| Some((*run.first()?, *run.last()?)));
        runs.map(|(first, last)| {
            let end = last.checked_add(1).map(|next| vec![next]);
            (self.shard_of_stripe(first), KeyRange { start: vec![first], end })
        })
        .collect()
    }

    /// The stripe of the rows whose keys begin like this, if the whole partition key is there.
    pub(crate) fn stripe_of(&self, key: &[u8]) -> Option<u8> {
        let mut reader = stonecrop_keys::KeyReader::new(key);
        self.partition_key.read(&mut reader).ok()?;
        Some(stripe(key.get(..key.len() - reader.rest().len())?))
    }

    /// The shard of a table that is placed by range.
    pub(crate) fn own_shard(&self) -> u8 {
        (self.id % u32::from(self.shards)) as u8
    }

    /// The place of a row that a loose column's key, without its first bytes, begins with.
    pub(crate) fn split_loose<'k>(&self, key: &'k [u8]) -> Result<(&'k [u8], &'k [u8])> {
        let start = usize::from(self.schema.placement == Placement::Hash);
        let mut reader = stonecrop_keys::KeyReader::new(key.get(start..).unwrap_or_default());
        self.key.read(&mut reader).map_err(|error| self.corrupt(error.to_string()))?;
        let end = key.len() - reader.rest().len();
        key.split_at_checked(end).ok_or_else(|| self.corrupt("a key that ends too early"))
    }

    /// The values of a row's key.
    pub(crate) fn key_values<'p>(&self, place: &'p [u8]) -> Result<Vec<KeyValue<'p>>> {
        let start = usize::from(self.schema.placement == Placement::Hash);
        let fields = place.get(start..).unwrap_or_default();
        self.key.decode(fields).map_err(|error| self.corrupt(error.to_string()))
    }

    pub(crate) fn corrupt(&self, problem: impl Into<String>) -> Error {
        Error::corrupt(format!("table {:?}", self.schema.name), problem)
    }
}

/// A table's place in the catalog, which handles point to; empty once the table is dropped.
#[derive(Debug, Default)]
pub(crate) struct Slot(RwLock<Option<Arc<TableState>>>);

impl Slot {
    pub(crate) fn get(&self) -> Option<Arc<TableState>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set(&self, state: Option<Arc<TableState>>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = state;
    }
}

/// All tables. It is changed by the writer alone; anybody may look.
#[derive(Debug, Default)]
pub(crate) struct Catalog {
    tables: RwLock<Tables>,
}

#[derive(Debug, Default)]
struct Tables {
    /// Nothing is known before the catalog is read.
    loaded: bool,
    by_name: HashMap<String, Arc<Slot>>,
    ids: HashMap<u32, String>,
    next_id: u32,
}

#[derive(Serialize, Deserialize)]
struct StoredTable {
    version: u32,
    /// Whether undeclared columns were ever written.
    loose: bool,
    #[serde(flatten)]
    schema: TableSchema,
}

impl Catalog {
    /// Reads all tables.
    pub(crate) fn load(&self, store: &dyn Read, shards: u16) -> Result<()> {
        let tables = Tables::read(store, shards)?;
        *self.tables.write().unwrap_or_else(PoisonError::into_inner) = tables;
        Ok(())
    }

    /// Reads the tables again, as another process has made, altered or dropped them.
    pub(crate) fn follow(&self, store: &dyn Read, shards: u16) -> Result<()> {
        self.read_again(store, shards, Activity::follow)
    }

    /// Has all tables as they are stored, with their figures, from whoever wrote before.
    pub(crate) fn lead(&self, store: &dyn Read, shards: u16) -> stonecrop_store::Result<()> {
        self.read_again(store, shards, Activity::lead).map_err(Error::into_store)
    }

    fn read_again(
        &self,
        store: &dyn Read,
        shards: u16,
        go_on: impl Fn(&Activity, &Activity),
    ) -> Result<()> {
        let found = Tables::read(store, shards)?;
        let mut changed = Vec::new();
        for state in found.by_name.values().filter_map(|slot| slot.get()) {
            let old = self.by_id(state.id);
            match old.filter(|old| old.version == state.version) {
                Some(old) => go_on(&old.activity, &state.activity),
                None => changed.push(state),
            }
        }
        self.replace(&found, changed);
        Ok(())
    }

    /// Removes what was not found, and has what was found changed. At once: a compaction must not
    /// take a table for dropped because one with a larger number is known already.
    fn replace(&self, found: &Tables, changed: Vec<Arc<TableState>>) {
        let mut tables = self.tables.write().unwrap_or_else(PoisonError::into_inner);
        let gone = tables.by_name.keys().filter(|name| !found.by_name.contains_key(*name));
        for name in gone.cloned().collect::<Vec<_>>() {
            tables.remove(&name);
        }
        for state in changed {
            tables.insert(state);
        }
        tables.next_id = tables.next_id.max(found.next_id);
    }

    /// There are no tables.
    pub(crate) fn start_empty(&self) {
        self.tables.write().unwrap_or_else(PoisonError::into_inner).loaded = true;
    }

    pub(crate) fn slot(&self, name: &str) -> Option<Arc<Slot>> {
        self.tables.read().unwrap_or_else(PoisonError::into_inner).by_name.get(name).cloned()
    }

    pub(crate) fn names(&self) -> Vec<String> {
        let tables = self.tables.read().unwrap_or_else(PoisonError::into_inner);
        let mut names: Vec<_> = tables.by_name.keys().cloned().collect();
        names.sort();
        names
    }

    /// Whether a table of this id was dropped. Ids are never used twice.
    pub(crate) fn is_dropped(&self, id: u32) -> bool {
        let tables = self.tables.read().unwrap_or_else(PoisonError::into_inner);
        tables.loaded && id < tables.next_id && !tables.ids.contains_key(&id)
    }

    /// A table by its id.
    pub(crate) fn by_id(&self, id: u32) -> Option<Arc<TableState>> {
        let tables = self.tables.read().unwrap_or_else(PoisonError::into_inner);
        tables.by_name.get(tables.ids.get(&id)?)?.get()
    }

    /// Whether an index, or its whole table, was dropped. Ids are never used twice.
    pub(crate) fn is_index_dropped(&self, table: u32, index: u16) -> bool {
        let tables = self.tables.read().unwrap_or_else(PoisonError::into_inner);
        let Some(name) = tables.ids.get(&table) else {
            return tables.loaded && table < tables.next_id;
        };
        let state = tables.by_name.get(name).and_then(|slot| slot.get());
        state.is_some_and(|state| {
            index < state.schema.next_index && state.index_by_id(index).is_none()
        })
    }

    /// Whether a table has a change that is committed after this one.
    pub(crate) fn has_change_after(&self, table: u32, number: u64) -> bool {
        self.by_id(table).is_some_and(|table| table.activity.changes.committed() > number)
    }

    /// Those who wait for changes learn that there will be none.
    pub(crate) fn close_changes(&self) {
        let tables = self.tables.read().unwrap_or_else(PoisonError::into_inner);
        let states = tables.by_name.values().filter_map(|slot| slot.get());
        states.for_each(|state| state.activity.changes.close());
    }

    /// The indexes that are complete, by the ids of their tables and their own.
    pub(crate) fn ready_indexes(&self) -> HashSet<(u32, u16)> {
        let tables = self.tables.read().unwrap_or_else(PoisonError::into_inner);
        let mut ready = HashSet::new();
        for table in tables.by_name.values().filter_map(|slot| slot.get()) {
            let indexes = table.indexes.iter().filter(|index| index.is_ready());
            ready.extend(indexes.map(|index| (table.id, index.id)));
        }
        ready
    }

    /// The tables with an index that is not complete.
    pub(crate) fn incomplete(&self) -> Vec<String> {
        let tables = self.tables.read().unwrap_or_else(PoisonError::into_inner);
        let states = tables.by_name.values().filter_map(|slot| slot.get());
        let incomplete =
            states.filter(|state| state.indexes.iter().any(|i| i.status.is_building()));
        incomplete.map(|state| state.schema.name.clone()).collect()
    }

    /// The ceilings as low as they can be, for the next opening to know as much as this one does.
    pub(crate) fn final_ceilings(&self) -> Vec<(Bytes, Bytes)> {
        let tables = self.tables.read().unwrap_or_else(PoisonError::into_inner);
        let states = tables.by_name.values().filter_map(|slot| slot.get());
        let records = states.flat_map(|state| {
            let ceiling = state.activity.lowered_ceiling();
            let ceiling = ceiling.map(|ceiling| ceiling_record(state.id, ceiling));
            ceiling.into_iter().chain(state.activity.changes.final_record(state.id))
        });
        records.collect()
    }

    pub(crate) fn next_id(&self) -> u32 {
        self.tables.read().unwrap_or_else(PoisonError::into_inner).next_id.max(1)
    }

    /// Takes a table in, in place of the one of the same name.
    pub(crate) fn insert(&self, state: Arc<TableState>) -> Arc<Slot> {
        self.tables.write().unwrap_or_else(PoisonError::into_inner).insert(state)
    }

    pub(crate) fn remove(&self, name: &str) {
        self.tables.write().unwrap_or_else(PoisonError::into_inner).remove(name);
    }
}

impl Tables {
    fn remove(&mut self, name: &str) {
        if let Some(slot) = self.by_name.remove(name) {
            if let Some(state) = slot.get() {
                state.activity.changes.close();
            }
            slot.set(None);
        }
        self.ids.retain(|_, table| table != name);
    }

    fn read(store: &dyn Read, shards: u16) -> Result<Self> {
        let read_all = |kind| {
            let entries = store.scan(CATALOG_SHARD, catalog_range(kind), Direction::Forward)?;
            entries
                .map(|entry| {
                    let (key, value) = entry?;
                    Ok((catalog_id(&key).ok_or_else(|| corrupt("a key without an id"))?, value))
                })
                .collect::<Result<Vec<_>>>()
        };
        let mut ceilings = HashMap::new();
        for (id, value) in read_all(CatalogKind::Ceiling)? {
            let micros = value.first_chunk().ok_or_else(|| corrupt("a ceiling without a time"))?;
            ceilings.insert(id, Timestamp::from_micros(i64::from_be_bytes(*micros)));
        }
        let mut backfills = Vec::new();
        let range = catalog_range(CatalogKind::Backfill);
        for entry in store.scan(CATALOG_SHARD, range, Direction::Forward)? {
            let (key, value) = entry?;
            let ids = record::backfill_ids(&key);
            let (table, index) = ids.ok_or_else(|| corrupt("a key without an index"))?;
            backfills.push((table, index, value));
        }
        let changes: HashMap<_, _> = read_all(CatalogKind::Changes)?.into_iter().collect();
        let mut tables = Tables { loaded: true, ..Tables::default() };
        for (_, value) in read_all(CatalogKind::NextTable)? {
            let id = value.first_chunk().ok_or_else(|| corrupt("no id for the next table"))?;
            tables.next_id = u32::from_be_bytes(*id);
        }
        for (id, value) in read_all(CatalogKind::Table)? {
            let stored: StoredTable = serde_json::from_slice(&value)
                .map_err(|error| corrupt(&format!("the definition of table {id}: {error}")))?;
            let ceiling = ceilings.get(&id).copied().unwrap_or(Timestamp::MIN);
            let activity = Arc::new(Activity::new(stored.loose, ceiling));
            for (_, index, value) in backfills.iter().filter(|(table, _, _)| *table == id) {
                activity.index_status(*index).read(value)?;
            }
            let state = TableState::new(id, stored.version, stored.schema, shards, activity)?;
            if let Some(numbers) = changes.get(&id) {
                let recovered =
                    state.activity.changes.recover(numbers, last_stored(store, &state)?);
                recovered.ok_or_else(|| corrupt("numbers of changes that are cut short"))?;
            }
            tables.insert(Arc::new(state));
        }
        Ok(tables)
    }

    fn insert(&mut self, state: Arc<TableState>) -> Arc<Slot> {
        let name = &state.schema.name;
        self.ids.retain(|_, table| table != name);
        self.ids.insert(state.id, name.clone());
        self.next_id = self.next_id.max(state.id + 1);
        let slot = self.by_name.entry(name.clone()).or_default();
        slot.set(Some(state));
        slot.clone()
    }
}

/// A table that no row was written to yet.
pub(crate) fn new_table(schema: TableSchema, id: u32, shards: u16) -> Result<TableState> {
    TableState::new(id, 1, schema, shards, Arc::new(Activity::of_new_table()))
}

/// The record of a table's definition.
pub(crate) fn table_record(state: &TableState) -> Result<(Bytes, Bytes)> {
    let stored = StoredTable {
        version: state.version,
        loose: state.is_loose(),
        schema: (*state.schema).clone(),
    };
    let value = serde_json::to_vec(&stored).map_err(|error| corrupt(&error.to_string()))?;
    Ok((catalog_key(CatalogKind::Table, state.id), value.into()))
}

/// The record of the id that the next table will have.
pub(crate) fn next_id_record(next_id: u32) -> (Bytes, Bytes) {
    let id = Bytes::copy_from_slice(&next_id.to_be_bytes());
    (catalog_key(CatalogKind::NextTable, 0), id)
}

/// The record of a time that nothing in a table was written after.
pub(crate) fn ceiling_record(table: u32, ceiling: Timestamp) -> (Bytes, Bytes) {
    let time = Bytes::copy_from_slice(&ceiling.as_micros().to_be_bytes());
    (catalog_key(CatalogKind::Ceiling, table), time)
}

/// The keys of all records of a table.
pub(crate) fn keys_of(table: &TableState) -> Vec<Bytes> {
    let own = [CatalogKind::Table, CatalogKind::Ceiling, CatalogKind::Changes];
    let own = own.map(|kind| catalog_key(kind, table.id));
    let indexes = table.indexes.iter().map(|index| record::backfill_key(table.id, index.id));
    own.into_iter().chain(indexes).collect()
}

fn corrupt(problem: &str) -> Error {
    Error::corrupt("the catalog", problem)
}

/// The prefix of all loose columns of a row, or of the removal of the row.
pub(crate) fn loose_prefix(table: &TableState, place: &[u8]) -> Bytes {
    record::entry_key(table.id, LOOSE, place, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn after_a_failed_commit_the_ceiling_is_above_all_that_was_written() {
        let (newer, older) = (Timestamp::from_micros(1 << 50), Timestamp::from_micros(1 << 40));
        let activity = Activity::new(false, Timestamp::MIN);
        activity.note(newer);
        assert!(activity.raise_ceiling(newer).unwrap() > newer);
        activity.forget_stored();
        activity.note(older);
        assert!(activity.raise_ceiling(older).unwrap() > newer);
    }
}
