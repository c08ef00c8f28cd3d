//! Queries and their answers as JSON.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::catalog::TableState;
use crate::clock::Timestamp;
use crate::condition::Condition;
use crate::error::{Error, Result};
use crate::query::explain::Explanation;
use crate::query::{Cancel, Page, Query, Sort};
use crate::row::{Cell, Row};
use crate::table::Table;
use crate::value::Value;

/// A query as JSON has it.
///
/// ```
/// use stonecrop::{Database, Family, Request, TableSchema, Write};
/// let db = Database::memory();
/// let crm = Family::new("crm").column("name").column("status");
/// let accounts = db.create_table(TableSchema::new("accounts", "id string", "")?.family(crm))?;
/// accounts.write(Write::put("acct_001").set("name", "Adam").set("status", "active"))?;
///
/// let request: Request = serde_json::from_str(r#"{
///     "prefixes": ["accounts"],
///     "columns": ["name"],
///     "filter": {"logical": "And", "children": [
///         {"Condition": {"field": "status", "operator": "Eq", "value": {"String": "active"}}}
///     ]},
///     "sort": [{"field": "name", "direction": "Asc"}],
///     "take": 200
/// }"#).unwrap();
/// let response = serde_json::to_string(&db.query(&request)?).unwrap();
/// assert_eq!(
///     response,
///     r#"{"rows":[{"row_key":"acct_001","columns":{"name":{"value":{"String":"Adam"},"fresh":true}}}]}"#
/// );
/// # Ok::<(), stonecrop::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Request {
    /// The names of the tables. Rows of several are sorted as one, or come table by table where
    /// there is no sort; they have no cursors.
    pub prefixes: Vec<String>,
    /// The columns that are returned; all of them without.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub columns: Option<Vec<String>>,
    /// What must be true of a row.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filter: Option<Condition>,
    /// What the rows are sorted by.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sort: Vec<Sort>,
    /// At most so many rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub take: Option<usize>,
    /// So many rows are passed over first; of one table only.
    #[serde(skip_serializing_if = "is_zero")]
    pub skip: usize,
    /// Only rows with something stale, or without: among `columns`, or, if that is not given, among
    /// the declared ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub freshness: Option<FreshnessFilter>,
    /// The rows after this cursor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// The rows before this cursor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// The rows as they were then: a time as text, or as microseconds since 1970.
    #[serde(with = "time", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub as_of: Option<Timestamp>,
    /// Only rows that are in this index.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<String>,
    /// Only count the rows.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub count: bool,
    /// Tell how they were found, too.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub explain: bool,
    /// Tell of every value when it was written, and until when it is fresh, too.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub clocks: bool,
    /// Gives up after so long, with [`Error::Interrupted`]; not in JSON.
    #[serde(skip)]
    #[cfg_attr(feature = "openapi", schema(ignore))]
    pub timeout: Option<Duration>,
    /// Gives up when told to, with [`Error::Interrupted`]; not in JSON.
    #[serde(skip)]
    #[cfg_attr(feature = "openapi", schema(ignore))]
    pub cancel: Option<Cancel>,
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// Which rows are wanted, by how fresh they are.
///
/// ```
/// let json = serde_json::to_string(&stonecrop::FreshnessFilter::SomeStale)?;
/// assert_eq!(json, "\"SomeStale\"");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum FreshnessFilter {
    /// Those of which nothing is stale.
    AllFresh,
    /// Those of which something is stale.
    SomeStale,
}

/// The answer to a [`Request`].
///
/// ```
/// use stonecrop::{Database, Request, TableSchema};
/// let db = Database::memory();
/// db.create_table(TableSchema::new("accounts", "id string", "")?)?;
/// let request = Request { prefixes: vec!["accounts".to_owned()], ..Request::default() };
/// assert!(db.query(&request)?.rows.is_empty());
/// # Ok::<(), stonecrop::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default)]
pub struct Response {
    /// The rows, in the order that was asked for.
    pub rows: Vec<ResponseRow>,
    /// The cursor for the rows after these.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// The cursor for the rows before these.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub previous: Option<String>,
    /// How many rows there are, if that was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// How the rows were found, table by table, if that was asked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub explanation: Vec<Explanation>,
}

/// A row of an answer.
///
/// ```
/// let row = stonecrop::ResponseRow { row_key: "acct_001".into(), columns: Default::default() };
/// assert_eq!(serde_json::to_string(&row)?, r#"{"row_key":"acct_001","columns":{}}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ResponseRow {
    /// The key: its value if it has one field, otherwise a list of them.
    pub row_key: serde_json::Value,
    /// The columns with their names, in the order that they were asked for; an object in JSON.
    #[serde(with = "object")]
    #[cfg_attr(feature = "openapi", schema(value_type = std::collections::BTreeMap<String, ResponseCell>))]
    pub columns: Vec<(String, ResponseCell)>,
}

/// A value of an answer.
///
/// ```
/// let cell = stonecrop::ResponseCell { value: 42.into(), fresh: false, clock: None };
/// assert_eq!(serde_json::to_string(&cell)?, r#"{"value":{"Int":42},"fresh":false}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ResponseCell {
    /// The value.
    pub value: Value,
    /// Whether it was still fresh.
    pub fresh: bool,
    /// The clock of its family, if that was asked.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub clock: Option<ResponseClock>,
}

/// How old a value of an answer is.
///
/// ```
/// use stonecrop::{ResponseClock, Timestamp};
/// let clock = ResponseClock {
///     family: "crm".to_owned(),
///     written_at: Some(Timestamp::from_micros(0)),
///     fresh_until: Some(Timestamp::from_micros(60_000_000)),
///     gone_at: None,
/// };
/// let json = serde_json::to_string(&clock)?;
/// assert!(json.contains(r#""fresh_until":"1970-01-01T00:01:00Z","gone_at":null"#));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ResponseClock {
    /// The family that it was written with; a column that is in none is its own.
    pub family: String,
    /// When it was written.
    #[serde(with = "time")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub written_at: Option<Timestamp>,
    /// From when on it is stale; none is never.
    #[serde(with = "time")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub fresh_until: Option<Timestamp>,
    /// From when on it is gone; none is never.
    #[serde(with = "time")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub gone_at: Option<Timestamp>,
}

impl ResponseClock {
    fn new(table: &TableState, column: &str, cell: &Cell) -> Self {
        let family = table.column(column).and_then(|column| table.family(column.family));
        let family = family.map_or(column, |family| family.name()).to_owned();
        let known = |time| Some(time).filter(|time| *time != Timestamp::NEVER);
        ResponseClock {
            family,
            written_at: known(cell.written_at),
            fresh_until: known(cell.fresh_until),
            gone_at: known(cell.gone_at),
        }
    }
}

impl Request {
    /// The same as a query of one of the tables, for what a [`Table`] can tell beyond rows.
    ///
    /// ```
    /// use stonecrop::{Database, Request, TableSchema};
    /// let accounts = Database::memory().create_table(TableSchema::new("accounts", "id u64", "")?)?;
    /// let query = Request::default().of(&accounts)?;
    /// assert_eq!(accounts.count(&query)?, 0);
    /// # Ok::<(), stonecrop::Error>(())
    /// ```
    pub fn of(&self, table: &Table) -> Result<Query> {
        self.query(&*table.state()?)
    }

    /// The query for one of the tables.
    pub(crate) fn query(&self, table: &TableState) -> Result<Query> {
        let (cursor, backward) = match (&self.after, &self.before) {
            (Some(_), Some(_)) => {
                let problem = "rows after one cursor and before another".to_owned();
                return Err(Error::Query { problem });
            }
            (after, before) => (after.clone().or(before.clone()), before.is_some()),
        };
        if cursor.is_some() && self.prefixes.len() > 1 {
            let problem = "rows of several tables have no cursors".to_owned();
            return Err(Error::Query { problem });
        }
        if self.skip > 0 && self.prefixes.len() > 1 {
            let problem = "rows of several tables can't be skipped".to_owned();
            return Err(Error::Query { problem });
        }
        let stale = self.freshness.map(|wanted| {
            let declared = || {
                let families = table.schema.families().iter();
                families.flat_map(|family| family.columns().map(str::to_owned)).collect()
            };
            let columns = self.columns.clone().unwrap_or_else(declared);
            let stale = Condition::any(columns.into_iter().map(Condition::IsStale));
            match wanted {
                FreshnessFilter::AllFresh => stale.not(),
                FreshnessFilter::SomeStale => stale,
            }
        });
        let mut filters: Vec<Condition> = self.filter.iter().cloned().chain(stale).collect();
        Ok(Query {
            columns: self.columns.clone(),
            filter: if filters.len() > 1 { Some(Condition::All(filters)) } else { filters.pop() },
            sort: self.sort.clone(),
            skip: self.skip,
            take: self.take,
            cursor,
            backward,
            as_of: self.as_of,
            index: self.index.clone(),
            timeout: self.timeout,
            cancel: self.cancel.clone(),
            ..Query::default()
        })
    }
}

impl ResponseRow {
    /// A row with its columns in the order that they were asked for.
    pub(crate) fn new(table: &TableState, row: Row, request: &Request) -> Result<Self> {
        let key = table.key.values_to_json(row.key.values());
        let key: serde_json::Value =
            serde_json::from_str(&key).map_err(|error| table.corrupt(error.to_string()))?;
        let row_key = match key {
            serde_json::Value::Array(mut fields) if fields.len() == 1 => fields.remove(0),
            key => key,
        };
        let columns = row.columns.into_iter().map(|(name, cell)| {
            let name = row.names.resolve(&name).to_owned();
            let clock = request.clocks.then(|| ResponseClock::new(table, &name, &cell));
            (name, ResponseCell { value: cell.value, fresh: cell.fresh, clock })
        });
        let mut columns: Vec<_> = columns.collect();
        if let Some(order) = &request.columns {
            columns.sort_by_key(|(name, _)| order.iter().position(|other| other == name));
        }
        Ok(ResponseRow { row_key, columns })
    }
}

impl Response {
    pub(crate) fn add_page(
        &mut self,
        table: &TableState,
        page: Page,
        request: &Request,
    ) -> Result<()> {
        (self.next, self.previous) = (page.next, page.previous);
        for row in page.rows {
            self.rows.push(ResponseRow::new(table, row, request)?);
        }
        Ok(())
    }
}

/// Columns are an object, in their order.
mod object {
    use std::fmt;

    use serde::de::{MapAccess, Visitor};
    use serde::{Deserializer, Serializer};

    use super::ResponseCell;

    type Columns = Vec<(String, ResponseCell)>;

    pub(super) fn serialize<S: Serializer>(
        columns: &[(String, ResponseCell)],
        to: S,
    ) -> Result<S::Ok, S::Error> {
        to.collect_map(columns.iter().map(|(name, cell)| (name, cell)))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Columns, D::Error> {
        struct Object;
        impl<'de> Visitor<'de> for Object {
            type Value = Columns;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object with a cell for each column")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Columns, A::Error> {
                let mut columns = Vec::new();
                while let Some(column) = map.next_entry()? {
                    columns.push(column);
                }
                Ok(columns)
            }
        }
        from.deserialize_map(Object)
    }
}

/// A time is text in RFC 3339, or microseconds since 1970.
mod time {
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

    use crate::clock::Timestamp;

    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Time {
        Text(String),
        Micros(i64),
    }

    pub(super) fn serialize<S: Serializer>(
        time: &Option<Timestamp>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        time.map(|time| time.to_string()).serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<Timestamp>, D::Error> {
        Ok(match Option::<Time>::deserialize(from)? {
            None => None,
            Some(Time::Micros(micros)) => Some(Timestamp::from_micros(micros)),
            Some(Time::Text(text)) => Some(text.parse().map_err(D::Error::custom)?),
        })
    }
}

/// Paths are written as their text; text that is none is an error.
pub(super) mod path {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    use crate::path::Path;

    pub(crate) fn serialize<S: Serializer>(path: &Path, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(path)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Path, D::Error> {
        String::deserialize(from)?.parse().map_err(D::Error::custom)
    }
}
