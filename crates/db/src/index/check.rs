//! Whether everything that is stored makes sense, and rows and indexes agree.

use std::collections::HashSet;
use std::sync::Arc;

use bytes::Bytes;
use stonecrop_store::{Batch, Direction, KeyRange, Read};

use crate::catalog::{Catalog, Place, TableState};
use crate::clock::Timestamp;
use crate::database::Inner;
use crate::entry::{Columns, Header};
use crate::error::{Error, Result};
use crate::index::backfill::entry_of;
use crate::index::{self, Found, IndexState, entries_of};
use crate::record::{LOOSE, PLACE, Record, record};
use crate::value::encode::{self, Problem};

/// How many problems a report names; the others are counted.
const NAMED: usize = 1000;

/// What [`crate::Database::check`] found.
///
/// ```
/// let report = stonecrop::Database::memory().check()?;
/// assert!(report.is_clean());
/// # Ok::<(), stonecrop::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct Report {
    /// How many entries were looked at: families of rows, their history, entries of indexes.
    pub entries: u64,
    /// What is wrong, the first 1,000 of it.
    pub problems: Vec<Disagreement>,
    /// How many problems there are in all.
    pub found: u64,
    /// How many of them were mended.
    pub mended: u64,
}

impl Report {
    /// Whether nothing is wrong.
    ///
    /// ```
    /// assert!(stonecrop::Database::memory().check()?.is_clean());
    /// # Ok::<(), stonecrop::Error>(())
    /// ```
    pub fn is_clean(&self) -> bool {
        self.found == 0
    }

    fn add(&mut self, problem: Disagreement) {
        self.found += 1;
        if self.problems.len() < NAMED {
            self.problems.push(problem);
        }
    }
}

/// One thing that is wrong.
///
/// ```
/// for problem in stonecrop::Database::memory().check()?.problems {
///     println!("{}: {} ({})", problem.table, problem.problem, problem.key);
/// }
/// # Ok::<(), stonecrop::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct Disagreement {
    /// The table, as far as it can be told.
    pub table: String,
    /// The index, if it is about one.
    pub index: Option<String>,
    /// What is wrong.
    pub problem: String,
    /// The stored key of the entry, in hexadecimal.
    pub key: String,
    /// Whether `repair` can mend it. It can make indexes agree with rows, not rows with nothing.
    pub mendable: bool,
}

/// What to do about an entry of an index.
struct Fix {
    shard: u8,
    key: Bytes,
    /// None to delete it.
    value: Option<Bytes>,
}

pub(crate) struct Checker<'c> {
    source: &'c dyn Read,
    catalog: &'c Catalog,
    /// Tables and their indexes that were complete.
    ready: &'c HashSet<(u32, u16)>,
    now: Timestamp,
    report: Report,
    fixes: Vec<Fix>,
}

/// Looks at every entry. With `mend`, indexes are made to agree with their rows; nothing else is
/// committed until it is done.
pub(crate) fn check(inner: &Inner, catalog: &Catalog, mend: bool) -> Result<Report> {
    // Before the snapshot is taken: of one that is completed after that, it may lack anything.
    let ready = catalog.ready_indexes();
    let look = |source: &dyn Read| {
        let (now, report, fixes) = (inner.clock.now(), Report::default(), Vec::new());
        let mut checker = Checker { source, catalog, ready: &ready, now, report, fixes };
        for shard in 0..=(inner.store.shards() - 1) as u8 {
            checker.check_shard(shard)?;
        }
        Ok((checker.report, checker.fixes))
    };
    if !mend {
        return look(&*inner.store.snapshot()?).map(|(report, _)| report);
    }
    inner.writer.exclusively(|| {
        let (mut report, mut fixes) = look(&*inner.store.snapshot()?)?;
        report.mended = fixes.len() as u64;
        // An entry that says nothing of a row is deleted, and then put if a row should have it.
        fixes.sort_by_key(|fix| fix.value.is_some());
        let mut batch = Batch::with_capacity(fixes.len());
        for Fix { shard, key, value } in fixes {
            match value {
                Some(value) => batch.put(shard, key, value),
                None => batch.delete(shard, key),
            }
        }
        inner.writer.commit_batch(batch)?;
        Ok(report)
    })
}

impl Checker<'_> {
    fn check_shard(&mut self, shard: u8) -> Result<()> {
        for entry in self.source.scan(shard, KeyRange::all(), Direction::Forward)? {
            let (key, value) = entry?;
            self.report.entries += 1;
            match record(&key) {
                Some(Record::Catalog | Record::Change { .. }) => {}
                Some(Record::Row { table, family } | Record::History { table, family, .. }) => {
                    let Some(table) = self.table(table, &key) else { continue };
                    let is_history = matches!(record(&key), Some(Record::History { .. }));
                    match check_entry(&table, family, &key, &value, is_history) {
                        Err(problem) => self.problem(&table, None, problem, &key, false),
                        Ok(place) if !is_history => {
                            self.check_entries_of(shard, &table, family, place, &key)?;
                        }
                        Ok(_) => {}
                    }
                }
                Some(Record::Index { table: id, index }) => {
                    let Some(table) = self.table(id, &key) else { continue };
                    if let Some(index) = table.index_by_id(index) {
                        if self.ready.contains(&(id, index.id)) {
                            self.check_index_entry(shard, &table, index, key, &value)?;
                        }
                    } else if !self.catalog.is_index_dropped(id, index) {
                        let problem = format!("an entry of an index {index} that never was");
                        self.problem(&table, None, problem, &key, false);
                    }
                }
                None => self.add(String::new(), None, "a key of no known kind".into(), &key, false),
            }
        }
        Ok(())
    }

    /// The table of an entry; none where it was dropped.
    fn table(&mut self, id: u32, key: &[u8]) -> Option<Arc<TableState>> {
        if self.catalog.is_dropped(id) {
            return None;
        }
        let table = self.catalog.by_id(id);
        if table.is_none() {
            let problem = format!("an entry of a table {id} that never was");
            self.add(String::new(), None, problem, key, false);
        }
        table
    }

    /// That a row has the entries in indexes that it should have. Asked for once a row: for the
    /// part with an index's first column, or the first of all where it is over the key alone.
    fn check_entries_of(
        &mut self,
        shard: u8,
        table: &TableState,
        family: u16,
        place: Bytes,
        key: &Bytes,
    ) -> Result<()> {
        let name = key.get(PLACE + place.len()..).unwrap_or_default();
        let ready = |index: &&IndexState| self.ready.contains(&(table.id, index.id));
        for index in table.indexes.iter().filter(ready) {
            let row = Place { shard, bytes: place.clone() };
            let is_first = match index.is_of_keys() {
                true => {
                    entries_of(self.source, table, &row)?.first().is_some_and(|(k, _)| k == key)
                }
                false => index
                    .parts
                    .first()
                    .is_some_and(|part| part.family == family && part.name.as_bytes() == name),
            };
            if !is_first {
                continue;
            }
            let found = match entry_of(self.source, table, index, &row, self.now) {
                Ok(Found::Misfit(error)) if !index.status.is_partial() => Err(error),
                found => found,
            };
            let expected = match found {
                Ok(found) => found.entry(),
                Err(error @ (Error::Store(_) | Error::Closed)) => return Err(error),
                Err(error) => {
                    self.problem(table, Some(index), error.to_string(), key, false);
                    continue;
                }
            };
            let Some((entry, value)) = expected else { continue };
            let problem = match self.source.get(shard, &entry)? {
                Some(found) if is_same(&found, &value, self.now) => continue,
                Some(_) => "the entry of a row says something else than the row",
                None => "the entry of a row is missing",
            };
            self.problem(table, Some(index), problem.to_owned(), &entry, true);
            self.fixes.push(Fix { shard, key: entry, value: Some(value) });
        }
        Ok(())
    }

    /// That an entry of an index is that of its row.
    fn check_index_entry(
        &mut self,
        shard: u8,
        table: &TableState,
        index: &IndexState,
        key: Bytes,
        value: &Bytes,
    ) -> Result<()> {
        if index::gone_at(value).is_some() && !self.stands(value) {
            return Ok(());
        }
        let problem = match index::place_start(&key, value) {
            Err(problem) => problem,
            Ok(start) => {
                let row = Place { shard, bytes: key.slice(start..) };
                match entry_of(self.source, table, index, &row, self.now) {
                    // One that differs in its value alone is found from the side of the row.
                    Ok(Found::Entry((expected, _))) if expected == key => return Ok(()),
                    Ok(_) => "an entry that no row should have",
                    Err(error @ (Error::Store(_) | Error::Closed)) => return Err(error),
                    // The row is damaged, which was found there.
                    Err(_) => return Ok(()),
                }
            }
        };
        self.problem(table, Some(index), problem.to_owned(), &key, true);
        self.fixes.push(Fix { shard, key, value: None });
        Ok(())
    }

    fn stands(&self, value: &[u8]) -> bool {
        index::gone_at(value).is_some_and(|at| self.now < at)
    }

    fn problem(
        &mut self,
        table: &TableState,
        index: Option<&IndexState>,
        problem: String,
        key: &[u8],
        mendable: bool,
    ) {
        let index = index.map(|index| index.name.clone());
        self.add(table.schema.name().to_owned(), index, problem, key, mendable);
    }

    fn add(
        &mut self,
        table: String,
        index: Option<String>,
        problem: String,
        key: &[u8],
        mendable: bool,
    ) {
        let key = key.iter().map(|byte| format!("{byte:02x}")).collect();
        self.report.add(Disagreement { table, index, problem, key, mendable });
    }
}

/// Whether two entries say the same. A copy of what is gone may be there or not: compaction drops
/// it from the row, and not from the index.
fn is_same(found: &[u8], expected: &[u8], now: Timestamp) -> bool {
    found == expected
        || standing(found, now).is_ok_and(|found| standing(expected, now) == Ok(found))
}

/// The value of an index's entry without the copies of what is gone.
fn standing(value: &[u8], now: Timestamp) -> Result<Vec<u8>, Problem> {
    let (head, mut rest) = value.split_at_checked(index::HEAD).ok_or("it is too short")?;
    let mut standing = head.to_vec();
    while !rest.is_empty() {
        let all = rest;
        let (_family, after) = rest.split_at_checked(2).ok_or("a copy without a family")?;
        rest = after;
        let _name = read_block(&mut rest)?;
        let (header, _) = Header::read(read_block(&mut rest)?)?;
        if header.is_visible(now) {
            standing.extend(all.iter().take(all.len() - rest.len()));
        }
    }
    Ok(standing)
}

fn read_block<'b>(rest: &mut &'b [u8]) -> Result<&'b [u8], Problem> {
    let length = usize::try_from(encode::read_varint(rest)?).map_err(|_| "a copy beyond all")?;
    let (block, after) = rest.split_at_checked(length).ok_or("a copy that ends too early")?;
    *rest = after;
    Ok(block)
}

/// That the key and the value of a row's entry fit the table; its place.
fn check_entry(
    table: &TableState,
    family: u16,
    key: &Bytes,
    value: &[u8],
    is_history: bool,
) -> Result<Bytes, String> {
    let end = key.len() - if is_history { crate::record::TIMES } else { 0 };
    let rest = key.slice(PLACE.min(end)..end);
    let place = match family {
        LOOSE => {
            let (place, name) = table.split_loose(&rest).map_err(|error| error.to_string())?;
            std::str::from_utf8(name).map_err(|_| "a column name that is not UTF-8")?;
            rest.slice_ref(place)
        }
        _ => rest,
    };
    table.key_values(&place).map_err(|error| error.to_string())?;
    let (header, columns) = Header::read(value)?;
    if header.removed {
        return Ok(place);
    }
    if family == LOOSE {
        if !columns.is_empty() {
            encode::read(columns)?;
        }
        return Ok(place);
    }
    let mut columns = Columns::new(columns);
    let mut before = 0;
    while let Some((id, value)) = columns.step()? {
        if id <= before {
            return Err("columns that are out of order".to_owned());
        }
        before = id;
        table.column_name(family, id).map_err(|error| error.to_string())?;
        encode::read(value)?;
    }
    Ok(place)
}
