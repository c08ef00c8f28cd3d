//! Queries: which rows, in which order, how many; how to find them is the planner's business.

mod aggregate;
mod bounds;
mod cursor;
mod execute;
mod explain;
mod interrupt;
mod json;
mod order;
mod plan;
mod statistics;
mod visit;

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::clock::Timestamp;
use crate::condition::Condition;
use crate::path::Path;
use crate::row::Row;

pub use aggregate::{Facets, Freshness, Summary};
pub use explain::{ExplainedPart, Explanation};
pub use interrupt::Cancel;
pub use json::{FreshnessFilter, Request, Response, ResponseCell, ResponseClock, ResponseRow};

pub(crate) use aggregate::needing;
pub(crate) use cursor::after_entry;
pub(crate) use execute::Execution;

/// Which rows of a table are wanted, in which order, and how much of them.
///
/// Without a sort the rows come in the order in which they are found, which is the same from page
/// to page. Among rows that are equal in all sort fields it is likewise.
///
/// ```
/// use stonecrop::{Condition, Database, Query, Sort, TableSchema, Write};
/// let people = Database::memory().create_table(TableSchema::new("people", "id u64", "")?)?;
/// for (id, name, age) in [(1, "Ann", 41), (2, "Bob", 17), (3, "Cem", 30)] {
///     people.write(Write::put(id).set("name", name).set("age", age))?;
/// }
/// let adults = Query::new().filter(Condition::ge("age", 18)).sort([Sort::desc("age")]).take(10);
/// let page = people.query(&adults)?;
/// let names: Vec<_> = page.rows.iter().filter_map(|row| row.value("name")).collect();
/// assert_eq!(names, [&"Ann".into(), &"Cem".into()]);
/// # Ok::<(), stonecrop::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Query {
    pub(crate) columns: Option<Vec<String>>,
    pub(crate) filter: Option<Condition>,
    pub(crate) sort: Vec<Sort>,
    pub(crate) skip: usize,
    pub(crate) take: Option<usize>,
    pub(crate) cursor: Option<String>,
    pub(crate) backward: bool,
    pub(crate) as_of: Option<Timestamp>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) cancel: Option<Cancel>,
    pub(crate) index: Option<String>,
    pub(crate) plan: Option<String>,
}

/// A field that rows are sorted by.
///
/// Numbers compare by value, whatever their types; values of different kinds are in the order of
/// the kinds. Rows in which the field is null come after all others, and after these the rows
/// without it, in either direction, unless they are asked for first.
///
/// ```
/// use stonecrop::Sort;
/// let sort = [Sort::asc("name"), Sort::desc("address.city").nulls_first()];
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Sort {
    /// The column, or field of the key, or what is in one.
    #[serde(with = "json::path")]
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub field: Path,
    /// Upwards or downwards.
    pub direction: SortDirection,
    /// Where rows without a value are.
    #[serde(default, skip_serializing_if = "SortNulls::is_default")]
    pub nulls: SortNulls,
}

/// Upwards or downwards.
///
/// ```
/// assert_eq!(serde_json::to_string(&stonecrop::SortDirection::Desc)?, "\"Desc\"");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum SortDirection {
    /// The smallest first.
    #[default]
    Asc,
    /// The largest first.
    Desc,
}

/// Where rows without a value are.
///
/// ```
/// assert_eq!(stonecrop::SortNulls::default(), stonecrop::SortNulls::Last);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum SortNulls {
    /// Before all others.
    First,
    /// After all others.
    #[default]
    Last,
}

impl SortNulls {
    fn is_default(&self) -> bool {
        *self == SortNulls::default()
    }
}

impl Sort {
    /// The smallest first.
    ///
    /// ```
    /// stonecrop::Sort::asc("name");
    /// ```
    pub fn asc(field: impl Into<Path>) -> Self {
        Sort { field: field.into(), direction: SortDirection::Asc, nulls: SortNulls::Last }
    }

    /// The largest first.
    ///
    /// ```
    /// stonecrop::Sort::desc("score");
    /// ```
    pub fn desc(field: impl Into<Path>) -> Self {
        Sort { direction: SortDirection::Desc, ..Sort::asc(field) }
    }

    /// With rows that have no value before all others.
    ///
    /// ```
    /// stonecrop::Sort::desc("score").nulls_first();
    /// ```
    pub fn nulls_first(mut self) -> Self {
        self.nulls = SortNulls::First;
        self
    }
}

/// Some rows, and where to go on.
///
/// ```
/// use stonecrop::{Database, Query, Sort, TableSchema, Write};
/// let table = Database::memory().create_table(TableSchema::new("table", "id u64", "")?)?;
/// table.write_all((0..10).map(|id| Write::put(id).set("n", id)))?;
/// let query = Query::new().sort([Sort::desc("n")]).take(4);
/// let first = table.query(&query)?;
/// let second = table.query(&query.clone().after(first.next.unwrap()))?;
/// assert_eq!(second.rows[0].value("n"), Some(&5.into()));
/// let back = table.query(&query.before(second.previous.unwrap()))?;
/// assert_eq!(back.rows, first.rows);
/// # Ok::<(), stonecrop::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Page {
    /// The rows, in the order that was asked for.
    pub rows: Vec<Row>,
    /// The cursor for the rows after these; none where there are none.
    pub next: Option<String>,
    /// The cursor for the rows before these; none where there are none.
    pub previous: Option<String>,
}

impl Query {
    /// All rows with all columns.
    ///
    /// ```
    /// stonecrop::Query::new().take(10);
    /// ```
    pub fn new() -> Self {
        Self::default()
    }

    /// Only these columns; all of them without.
    ///
    /// ```
    /// stonecrop::Query::new().columns(["name", "score"]);
    /// ```
    pub fn columns<N: Into<String>>(mut self, columns: impl IntoIterator<Item = N>) -> Self {
        self.columns = Some(columns.into_iter().map(Into::into).collect());
        self
    }

    /// Only rows of which this is true. It sees the last known values, fresh or stale.
    ///
    /// ```
    /// use stonecrop::{Condition, Query};
    /// Query::new().filter(Condition::eq("status", "active"));
    /// ```
    pub fn filter(mut self, condition: Condition) -> Self {
        self.filter = Some(condition);
        self
    }

    /// In the order of these fields, the first one first.
    ///
    /// ```
    /// use stonecrop::{Query, Sort};
    /// Query::new().sort([Sort::desc("score"), Sort::asc("name")]);
    /// ```
    pub fn sort(mut self, fields: impl IntoIterator<Item = Sort>) -> Self {
        self.sort = fields.into_iter().collect();
        self
    }

    /// Passes over so many rows first, or, backward, last. They are looked at all the same: a cursor
    /// is the faster way to where one was before.
    ///
    /// ```
    /// stonecrop::Query::new().skip(100_000).take(200);
    /// ```
    pub fn skip(mut self, rows: usize) -> Self {
        self.skip = rows;
        self
    }

    /// At most so many rows.
    ///
    /// ```
    /// stonecrop::Query::new().take(200);
    /// ```
    pub fn take(mut self, rows: usize) -> Self {
        self.take = Some(rows);
        self
    }

    /// The rows after those of a page: [`Page::next`]. All else must be as it was.
    ///
    /// ```
    /// stonecrop::Query::new().take(200).after("a cursor");
    /// ```
    pub fn after(mut self, cursor: impl Into<String>) -> Self {
        (self.cursor, self.backward) = (Some(cursor.into()), false);
        self
    }

    /// The rows before those of a page: [`Page::previous`]. They come in the same order as ever.
    ///
    /// ```
    /// stonecrop::Query::new().take(200).before("a cursor");
    /// ```
    pub fn before(mut self, cursor: impl Into<String>) -> Self {
        (self.cursor, self.backward) = (Some(cursor.into()), true);
        self
    }

    /// The last rows rather than the first, in the same order as ever.
    ///
    /// ```
    /// use stonecrop::{Database, Query, TableSchema, Write};
    /// let table = Database::memory().create_table(TableSchema::new("table", "id u64", "")?)?;
    /// table.write_all((0..10).map(|id| Write::put(id).set("n", id)))?;
    /// assert_eq!(table.query(&Query::new().from_end().take(3))?.rows.len(), 3);
    /// # Ok::<(), stonecrop::Error>(())
    /// ```
    pub fn from_end(mut self) -> Self {
        (self.cursor, self.backward) = (None, true);
        self
    }

    /// The rows as they were at a time, as far as their families have a history.
    ///
    /// ```
    /// use stonecrop::{Query, Timestamp};
    /// Query::new().as_of(Timestamp::from_micros(1_700_000_000_000_000));
    /// ```
    pub fn as_of(mut self, time: Timestamp) -> Self {
        self.as_of = Some(time);
        self
    }

    /// Gives up after so long, with [`crate::Error::Interrupted`].
    ///
    /// ```
    /// # use std::time::Duration;
    /// stonecrop::Query::new().timeout(Duration::from_secs(5));
    /// ```
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Gives up when told to, with [`crate::Error::Interrupted`].
    ///
    /// ```
    /// use stonecrop::{Cancel, Query};
    /// let cancel = Cancel::new();
    /// let query = Query::new().cancelled_by(&cancel);
    /// cancel.cancel();
    /// ```
    pub fn cancelled_by(mut self, cancel: &Cancel) -> Self {
        self.cancel = Some(cancel.clone());
        self
    }

    /// Only rows that are in this index, found through it.
    ///
    /// ```
    /// stonecrop::Query::new().index("by_owner");
    /// ```
    pub fn index(mut self, name: impl Into<String>) -> Self {
        self.index = Some(name.into());
        self
    }

    /// With one of the ways that [`Explanation::plans`] lists, whatever it costs, in those parts of
    /// the query that have it. For tests, and to see what the planner spared.
    ///
    /// ```
    /// stonecrop::Query::new().plan("scan");
    /// ```
    pub fn plan(mut self, plan: impl Into<String>) -> Self {
        self.plan = Some(plan.into());
        self
    }
}
