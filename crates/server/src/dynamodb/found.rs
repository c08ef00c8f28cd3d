//! Finding items: along the key of a table, or along an index.

use std::sync::Arc;

use stonecrop::keys::Predicate;
use stonecrop::{Comparison, Condition, Path, Query, Row, RowKey, Rows, Scan, Timestamp, Value};
use stonecrop_dynamodb::expression::{KeySearch, KeyTest};
use stonecrop_dynamodb::value::Item;

use super::about::IndexAbout;
use super::keys::to_key;
use super::known::Known;
use super::refusal::{Refusal, Result};

/// Pages end when they have so many bytes, before filters and projections.
const PAGE_BYTES: usize = 1 << 20;
/// So many rows of a partition are read at once without a thread of their own.
const FEW: usize = 128;
/// So many rows of an index are read at once.
const CHUNK: usize = 256;

/// What is to be read.
pub(super) struct Reading {
    pub(super) known: Arc<Known>,
    pub(super) index: Option<IndexAbout>,
    /// The part of a table or an index; all of it if none.
    pub(super) search: Option<KeySearch>,
    pub(super) backward: bool,
    pub(super) limit: Option<usize>,
    pub(super) start: Option<Item>,
    pub(super) segment: (u32, u32),
    pub(super) now: Timestamp,
}

/// What was read.
#[derive(Default)]
pub(super) struct Found {
    pub(super) rows: Vec<Row>,
    pub(super) bytes: usize,
    /// Where to go on.
    pub(super) last: Option<Item>,
}

impl Found {
    /// Takes a row; tells whether there is room for more.
    fn take(&mut self, reading: &Reading, row: Row) -> bool {
        let known = &reading.known;
        if known.is_over(&row, reading.now) {
            return true;
        }
        self.bytes += match &reading.index {
            Some(index) => known.size(&row, |name| known.shows(index, name)),
            None => known.size(&row, |_| true),
        };
        let is_full = self.bytes >= PAGE_BYTES
            || reading.limit.is_some_and(|limit| self.rows.len() + 1 >= limit);
        if is_full {
            self.last = Some(reading.position(&known.whole_item(&row)));
        }
        self.rows.push(row);
        !is_full
    }
}

impl Reading {
    pub(super) fn read(&self) -> Result<Found> {
        match &self.index {
            None => self.read_table(),
            Some(index) => self.read_index(index),
        }
    }

    /// Those attributes of an item that say where it was found.
    fn position(&self, item: &Item) -> Item {
        let mut position = self.known.key_item(item);
        for name in self.index.iter().flat_map(IndexAbout::key) {
            if let Some(value) = item.get(name) {
                position.insert(name.clone(), value.clone());
            }
        }
        position
    }

    fn start_key(&self) -> Result<Option<RowKey<'static>>> {
        let key = |start: &Item| self.known.key_of(&self.known.key_item(start));
        self.start.as_ref().map(key).transpose()
    }

    fn read_table(&self) -> Result<Found> {
        let mut found = Found::default();
        self.take_all(&mut found, &mut self.rows()?)?;
        Ok(found)
    }

    /// Reads the first rows of a partition: that takes less time than to have another thread do it.
    /// If there are more than a few, the others are left; they take longer than others should wait.
    pub(super) fn begin(&self) -> Result<(Found, Option<Rows>)> {
        let mut found = Found::default();
        let mut rows = self.rows()?;
        let goes_on = self.take_all(&mut found, &mut rows.by_ref().take(FEW))?;
        Ok((found, goes_on.then_some(rows)))
    }

    /// Reads the rows that were left.
    pub(super) fn finish(&self, mut found: Found, mut rows: Rows) -> Result<Found> {
        self.take_all(&mut found, &mut rows)?;
        Ok(found)
    }

    /// Whether a partition is read, in the order of its keys.
    pub(super) fn is_of_partition(&self) -> bool {
        self.index.is_none() && self.search.is_some()
    }

    /// Takes rows until there are no more, or there is no room; tells whether there may be more.
    fn take_all(
        &self,
        found: &mut Found,
        rows: &mut dyn Iterator<Item = stonecrop::Result<Row>>,
    ) -> Result<bool> {
        let mut taken = 0;
        for row in rows {
            taken += 1;
            if !found.take(self, row?) {
                return Ok(false);
            }
        }
        Ok(taken == FEW)
    }

    fn rows(&self) -> Result<Rows> {
        let mut scan = match &self.search {
            None => Scan::all().segment(self.segment.0, self.segment.1),
            Some(search) => self.partition(search)?,
        };
        if self.backward {
            scan = scan.backward();
        }
        if let Some(key) = self.start_key()? {
            scan = scan.after(self.known.table.cursor_after(key)?);
        }
        Ok(self.known.table.scan(scan)?)
    }

    fn partition(&self, search: &KeySearch) -> Result<Scan<'static>> {
        let misfit = || Refusal::validation("The provided key element does not match the schema");
        let key = |value: &Value, at: usize| {
            let part = self.known.key.get(at).ok_or_else(misfit)?;
            to_key(value, &part.field).ok_or_else(misfit)
        };
        let equal = search.partition.iter().chain(&search.sort).enumerate();
        let equal = equal.map(|(at, value)| key(value, at)).collect::<Result<Vec<_>>>()?;
        let predicate = match &search.range {
            None | Some(KeyTest::Equal(_) | KeyTest::NotIndexable) => Predicate::Any,
            Some(KeyTest::Below(value)) => Predicate::Lt(key(value, 1)?),
            Some(KeyTest::AtMost(value)) => Predicate::Le(key(value, 1)?),
            Some(KeyTest::Above(value)) => Predicate::Gt(key(value, 1)?),
            Some(KeyTest::AtLeast(value)) => Predicate::Ge(key(value, 1)?),
            Some(KeyTest::Between(low, high)) => Predicate::Between(key(low, 1)?, key(high, 1)?),
            Some(KeyTest::BeginsWith(start)) => Predicate::BeginsWith(key(start, 1)?),
        };
        Ok(Scan::partition(RowKey::from(equal)).range(predicate))
    }

    fn read_index(&self, index: &IndexAbout) -> Result<Found> {
        let mut query = Query::new().index(index.name.clone());
        if let Some(search) = &self.search {
            query = query.filter(self.index_condition(index, search));
        }
        let chunk = self.limit.unwrap_or(CHUNK).clamp(1, CHUNK);
        query = query.take(chunk);
        let turned = |query: &Query, cursor: String| match self.backward {
            true => query.clone().before(cursor),
            false => query.clone().after(cursor),
        };
        let mut page = match (self.start_cursor(index, &query)?, self.backward) {
            (Some(cursor), _) => turned(&query, cursor),
            (None, true) => query.clone().from_end(),
            (None, false) => query.clone(),
        };
        let mut found = Found::default();
        loop {
            let mut rows = self.known.table.query(&page)?;
            if self.backward {
                rows.rows.reverse();
            }
            // The first segment has all of an index; the others have none of it.
            if self.segment.0 > 0 || !rows.rows.into_iter().all(|row| found.take(self, row)) {
                return Ok(found);
            }
            let next = if self.backward { rows.previous } else { rows.next };
            let Some(next) = next else { return Ok(found) };
            page = turned(&query, next);
        }
    }

    fn start_cursor(&self, index: &IndexAbout, query: &Query) -> Result<Option<String>> {
        let (Some(start), Some(key)) = (&self.start, self.start_key()?) else { return Ok(None) };
        let wrong = || Refusal::validation("The provided starting key is invalid");
        let columns = index.key().zip(self.known.indexed(&index.name)).map(|(name, of)| {
            start.get(name).and_then(|value| to_key(value, of)).ok_or_else(wrong)
        });
        let columns = columns.collect::<Result<Vec<_>>>()?;
        Ok(Some(self.known.table.index_cursor(query, &columns, key)?))
    }

    /// What is asked of the columns of an index.
    fn index_condition(&self, index: &IndexAbout, search: &KeySearch) -> Condition {
        let path = |name: &String| Path::new(name.clone());
        let mut names = index.key();
        let values = search.partition.iter().chain(&search.sort);
        let mut conditions: Vec<Condition> = values
            .zip(names.by_ref())
            .map(|(value, name)| Condition::Compare(path(name), Comparison::Eq, value.clone()))
            .collect();
        let at = search.partition.len() + search.sort.len();
        if let (Some(test), Some(name)) = (&search.range, index.key().nth(at)) {
            let compare = |comparison, value: &Value| {
                Condition::Compare(path(name), comparison, value.clone())
            };
            conditions.push(match test {
                KeyTest::Equal(value) => compare(Comparison::Eq, value),
                KeyTest::Below(value) => compare(Comparison::Lt, value),
                KeyTest::AtMost(value) => compare(Comparison::Le, value),
                KeyTest::Above(value) => compare(Comparison::Gt, value),
                KeyTest::AtLeast(value) => compare(Comparison::Ge, value),
                KeyTest::Between(low, high) => {
                    Condition::Between(path(name), low.clone(), high.clone())
                }
                KeyTest::BeginsWith(start) => Condition::BeginsWith(path(name), start.clone()),
                KeyTest::NotIndexable => Condition::Any(Vec::new()),
            });
        }
        Condition::All(conditions)
    }
}
