//! Scans: rows in the order of their keys.

use std::sync::Arc;

use stonecrop_keys::{KeyRange as FieldRange, Predicate, Value as KeyValue};
use stonecrop_store::{Direction, Read};

use crate::catalog::{Place, TableState};
use crate::condition::{Compiled, Condition};
use crate::cursor;
use crate::error::{Error, Result};
use crate::key::RowKey;
use crate::read::{Moment, Selection};
use crate::row::Row;
use crate::schema::Placement;
use crate::walk::{View, Walk, families_for};

/// Which rows are wanted, in which order, and how much of them.
///
/// ```
/// use stonecrop::{Condition, Database, Scan, TableSchema, Write, keys::Predicate};
/// let log = Database::memory().create_table(TableSchema::new("log", "host string", "seq u64")?)?;
/// for seq in 0..100 {
///     log.write(Write::put(("web", seq)).set("status", if seq % 10 == 0 { 500 } else { 200 }))?;
/// }
/// let errors = Scan::partition("web")
///     .range(Predicate::Ge(50.into()))
///     .filter(Condition::eq("status", 500))
///     .backward()
///     .limit(2);
/// let found: Result<Vec<_>, _> = log.scan(errors)?.collect();
/// let keys: Vec<_> = found?.iter().map(|row| row.key().values()[1].clone()).collect();
/// assert_eq!(keys, [90.into(), 80.into()]);
/// # Ok::<(), stonecrop::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Scan<'a> {
    equal: Vec<KeyValue<'a>>,
    predicate: Predicate<'a>,
    columns: Option<Vec<String>>,
    filter: Option<Condition>,
    direction: Direction,
    limit: Option<usize>,
    after: Option<String>,
    segment: (u32, u32),
}

impl<'a> Scan<'a> {
    /// All rows of a table.
    ///
    /// ```
    /// stonecrop::Scan::all().limit(10);
    /// ```
    pub fn all() -> Self {
        Scan {
            equal: Vec::new(),
            predicate: Predicate::Any,
            columns: None,
            filter: None,
            direction: Direction::Forward,
            limit: None,
            after: None,
            segment: (0, 1),
        }
    }

    /// The rows whose keys begin with these values: all fields of the partition key, and none or
    /// more of the sort key. In a table that is placed by range, fewer will do.
    ///
    /// ```
    /// stonecrop::Scan::partition(("acme", "2026"));
    /// ```
    pub fn partition(key: impl Into<RowKey<'a>>) -> Self {
        Scan { equal: key.into().values().to_vec(), ..Self::all() }
    }

    /// Those of which the next field of the key satisfies this.
    ///
    /// ```
    /// use stonecrop::{Scan, keys::Predicate};
    /// Scan::partition("acme").range(Predicate::BeginsWith("order#".into()));
    /// ```
    pub fn range(mut self, predicate: Predicate<'a>) -> Self {
        self.predicate = predicate;
        self
    }

    /// Only these columns; all of them without. Rows that have none of them are returned too.
    ///
    /// ```
    /// stonecrop::Scan::all().columns(["name", "age"]);
    /// ```
    pub fn columns<N: Into<String>>(mut self, columns: impl IntoIterator<Item = N>) -> Self {
        self.columns = Some(columns.into_iter().map(Into::into).collect());
        self
    }

    /// Only rows of which this is true. Only the families that it needs are read of the others.
    ///
    /// ```
    /// use stonecrop::{Condition, Scan};
    /// Scan::all().filter(Condition::eq("status", "active"));
    /// ```
    pub fn filter(mut self, condition: Condition) -> Self {
        self.filter = Some(condition);
        self
    }

    /// The last row first.
    ///
    /// ```
    /// stonecrop::Scan::partition("acme").backward().limit(1);
    /// ```
    pub fn backward(mut self) -> Self {
        self.direction = Direction::Backward;
        self
    }

    /// At most so many rows.
    ///
    /// ```
    /// stonecrop::Scan::all().limit(100);
    /// ```
    pub fn limit(mut self, rows: usize) -> Self {
        self.limit = Some(rows);
        self
    }

    /// On from where [`Rows::cursor`] said, in either direction.
    ///
    /// ```
    /// use stonecrop::{Database, Scan, TableSchema, Write};
    /// let table = Database::memory().create_table(TableSchema::new("table", "id u64", "")?)?;
    /// for id in 0..5 {
    ///     table.write(Write::put(id).set("a", 1))?;
    /// }
    /// let mut page = table.scan(Scan::all().limit(3))?;
    /// assert_eq!(page.by_ref().count(), 3);
    /// let cursor = page.cursor().expect("there are more");
    /// assert_eq!(table.scan(Scan::all().limit(3).after(cursor))?.count(), 2);
    /// # Ok::<(), stonecrop::Error>(())
    /// ```
    pub fn after(mut self, cursor: impl Into<String>) -> Self {
        self.after = Some(cursor.into());
        self
    }

    /// Only part `index` of `count`, counted from 0, for several scans side by side: together they
    /// see every row once. A table that is placed by range is all in part 0.
    ///
    /// ```
    /// stonecrop::Scan::all().segment(0, 4);
    /// ```
    pub fn segment(mut self, index: u32, count: u32) -> Self {
        self.segment = (index, count);
        self
    }

    /// The stretches of places that hold the rows, in order, each with its shard.
    fn stretches(&self, table: &TableState) -> Result<Vec<(u8, FieldRange)>> {
        let (index, count) = self.segment;
        if index >= count {
            return Err(problem(format!("segment {index} of {count}; they are counted from 0")));
        }
        let mut stretches = match table.schema.placement {
            Placement::Hash if self.equal.is_empty() && self.predicate == Predicate::Any => {
                table.segment(index as usize, count as usize)
            }
            placement => {
                if index > 0 {
                    return Ok(Vec::new());
                }
                vec![self.stretch(table, placement)?]
            }
        };
        if let Some(cursor) = &self.after {
            let place = cursor::read(table, cursor)?;
            let rest = match self.direction {
                Direction::Forward => FieldRange {
                    start: FieldRange::prefix(place).end.unwrap_or_default(),
                    end: None,
                },
                Direction::Backward => FieldRange { start: Vec::new(), end: Some(place.into()) },
            };
            stretches = stretches
                .into_iter()
                .map(|(shard, range)| (shard, range.intersect(rest.clone())))
                .filter(|(_, range)| !range.is_empty())
                .collect();
        }
        if self.direction == Direction::Backward {
            stretches.reverse();
        }
        Ok(stretches)
    }

    /// The one stretch of rows with known first fields.
    fn stretch(&self, table: &TableState, placement: Placement) -> Result<(u8, FieldRange)> {
        let range =
            table.key.range(&self.equal, &self.predicate).map_err(|e| table.key_error(e))?;
        if placement == Placement::Range {
            return Ok((table.own_shard(), range));
        }
        let partition = self.equal.get(..table.schema.partition_fields()).ok_or_else(|| {
            problem(format!(
                "{} fields of the key are known, and the partition key has {}; partitions of a \
                 table that is placed by hash are in no order",
                self.equal.len(),
                table.schema.partition_fields()
            ))
        })?;
        let partition = table.key.encode_prefix(partition).map_err(|e| table.key_error(e))?;
        let stripe = stonecrop_keys::stripe(&partition);
        Ok((table.shard_of_stripe(stripe), range.under(&[stripe])))
    }

    pub(crate) fn start(
        self,
        table: Arc<TableState>,
        source: Box<dyn Read>,
        moment: Moment,
    ) -> Result<Rows> {
        let stretches = self.stretches(&table)?;
        let selection = match &self.columns {
            None => Selection::all(&table),
            Some(names) => Selection::of(&table, names.iter().map(String::as_str)),
        };
        let filter = self.filter.as_ref().map(|filter| Compiled::new(filter, &table));
        let families = families_for(&table, filter.as_ref());
        Ok(Rows {
            walk: Walk::new(families, stretches, self.direction),
            table,
            source,
            moment,
            selection,
            filter,
            left: self.limit.unwrap_or(usize::MAX),
            last: None,
            exhausted: false,
        })
    }
}

fn problem(problem: String) -> Error {
    Error::Scan { problem }
}

/// The rows of a scan, as they were when it began.
///
/// ```
/// use stonecrop::{Database, Scan, TableSchema};
/// let table = Database::memory().create_table(TableSchema::new("table", "id u64", "")?)?;
/// assert_eq!(table.scan(Scan::all())?.count(), 0);
/// # Ok::<(), stonecrop::Error>(())
/// ```
pub struct Rows {
    table: Arc<TableState>,
    source: Box<dyn Read>,
    moment: Moment,
    selection: Selection,
    filter: Option<Compiled>,
    walk: Walk,
    /// How many rows may still be returned.
    left: usize,
    /// The row that was returned last.
    last: Option<Place>,
    exhausted: bool,
}

impl Rows {
    /// Where to go on after the row that was returned last; none where there is no more.
    ///
    /// ```
    /// use stonecrop::{Database, Scan, TableSchema};
    /// let table = Database::memory().create_table(TableSchema::new("table", "id u64", "")?)?;
    /// let mut rows = table.scan(Scan::all())?;
    /// assert!(rows.next().is_none() && rows.cursor().is_none());
    /// # Ok::<(), stonecrop::Error>(())
    /// ```
    pub fn cursor(&self) -> Option<String> {
        let last = self.last.as_ref().filter(|_| !self.exhausted)?;
        Some(cursor::write(&self.table, &last.bytes))
    }

    /// The next row that the filter lets through.
    fn step(&mut self) -> Result<Option<Row>> {
        if self.left == 0 {
            return Ok(None);
        }
        let view = View { table: &self.table, source: &*self.source, moment: self.moment };
        let filter = self.filter.as_ref();
        while let Some(place) = self.walk.next(view, filter, None, || Ok(()))? {
            let known = self.walk.passes(filter);
            let mut row = self.walk.row(view, &place);
            let passes = match filter {
                Some(filter) if !known => filter.holds(&mut row)?,
                _ => true,
            };
            let found = if passes { row.row(&self.selection)? } else { None };
            let entries = row.into_entries();
            self.walk.take_back(entries);
            if found.is_some() {
                self.left -= 1;
                self.last = Some(place);
                return Ok(found);
            }
        }
        self.exhausted = true;
        Ok(None)
    }
}

impl Iterator for Rows {
    type Item = Result<Row>;

    fn next(&mut self) -> Option<Result<Row>> {
        if self.exhausted {
            return None;
        }
        let row = self.step();
        // After an error nothing more can be told.
        self.exhausted |= row.is_err();
        row.transpose()
    }
}

impl std::fmt::Debug for Rows {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Rows").field("table", &self.table.schema.name()).finish_non_exhaustive()
    }
}
