//! Queries and their answers as JSON.

use serde::{Deserialize, Serialize, Serializer};

use crate::catalog::TableState;
use crate::clock::Timestamp;
use crate::condition::Condition;
use crate::error::{Error, Result};
use crate::query::explain::Explanation;
use crate::query::{Page, Query, Sort};
use crate::row::Row;
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
    /// The rows as they were then: microseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub as_of: Option<i64>,
    /// Only rows that are in this index.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<String>,
    /// Only count the rows.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub count: bool,
    /// Tell how they were found, too.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub explain: bool,
}

/// Which rows are wanted, by how fresh they are.
///
/// ```
/// let json = serde_json::to_string(&stonecrop::FreshnessFilter::SomeStale)?;
/// assert_eq!(json, "\"SomeStale\"");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
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
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ResponseRow {
    /// The key: its value if it has one field, otherwise a list of them.
    pub row_key: serde_json::Value,
    /// The columns with their names, in the order that they were asked for; an object in JSON.
    #[serde(serialize_with = "object")]
    pub columns: Vec<(String, ResponseCell)>,
}

fn object<S: Serializer>(columns: &[(String, ResponseCell)], to: S) -> Result<S::Ok, S::Error> {
    to.collect_map(columns.iter().map(|(name, cell)| (name, cell)))
}

/// A value of an answer.
///
/// ```
/// let cell = stonecrop::ResponseCell { value: 42.into(), fresh: false };
/// assert_eq!(serde_json::to_string(&cell)?, r#"{"value":{"Int":42},"fresh":false}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ResponseCell {
    /// The value.
    pub value: Value,
    /// Whether it was still fresh.
    pub fresh: bool,
}

impl Request {
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
            take: self.take,
            cursor,
            backward,
            as_of: self.as_of.map(Timestamp::from_micros),
            index: self.index.clone(),
            ..Query::default()
        })
    }
}

impl ResponseRow {
    /// A row with its columns in the order that they were asked for.
    pub(crate) fn new(table: &TableState, row: Row, order: Option<&[String]>) -> Result<Self> {
        let key = table.key.values_to_json(row.key.values());
        let key: serde_json::Value =
            serde_json::from_str(&key).map_err(|error| table.corrupt(error.to_string()))?;
        let row_key = match key {
            serde_json::Value::Array(mut fields) if fields.len() == 1 => fields.remove(0),
            key => key,
        };
        let columns = row.columns.into_iter().map(|(name, cell)| {
            let name = row.names.resolve(&name).to_owned();
            (name, ResponseCell { value: cell.value, fresh: cell.fresh })
        });
        let mut columns: Vec<_> = columns.collect();
        if let Some(order) = order {
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
        order: Option<&[String]>,
    ) -> Result<()> {
        (self.next, self.previous) = (page.next, page.previous);
        for row in page.rows {
            self.rows.push(ResponseRow::new(table, row, order)?);
        }
        Ok(())
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
