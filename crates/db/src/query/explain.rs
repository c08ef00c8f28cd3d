//! How a query is answered.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::query::Page;
use crate::query::execute::{Done, Execution};
use crate::query::plan::{Access, Plan};

/// How a query is answered: the plan of each of its parts, and what came of it if it was followed.
///
/// Rows that have a value in the first sort field are found apart from those that have none, so a
/// sorted query can have two parts.
///
/// ```
/// use stonecrop::{Condition, Database, Index, Query, TableSchema, Write};
/// let schema = TableSchema::new("people", "id u64", "")?;
/// let people = Database::memory()
///     .create_table(schema.index(Index::new("by_name", "name string")?))?;
/// people.write_all((0..1000).map(|id| Write::put(id).set("name", format!("Ann {id}"))))?;
/// let explanation = people.explain(&Query::new().filter(Condition::eq("name", "Ann 7")))?;
/// assert_eq!(explanation.parts[0].plan, "index by_name");
/// println!("{explanation}");
/// # Ok::<(), stonecrop::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct Explanation {
    /// What was done, part by part.
    pub parts: Vec<ExplainedPart>,
    /// The names of all plans that would give the right rows, for [`crate::Query::plan`].
    pub plans: Vec<String>,
}

/// How a part of a query is answered.
///
/// ```
/// use stonecrop::{Database, Query, TableSchema};
/// let table = Database::memory().create_table(TableSchema::new("table", "id u64", "")?)?;
/// assert_eq!(table.explain(&Query::new())?.parts[0].actual_rows, None);
/// assert_eq!(table.explain_analyze(&Query::new())?.parts[0].actual_rows, Some(0));
/// # Ok::<(), stonecrop::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct ExplainedPart {
    /// The name of the plan.
    pub plan: String,
    /// What it does, in words.
    pub access: String,
    /// Whether rows come in the order that was asked for; if not, they are sorted.
    pub ordered: bool,
    /// What is asked of each candidate.
    pub filter: Option<serde_json::Value>,
    /// How many candidates were expected; none where it did not matter.
    pub estimated_candidates: Option<u64>,
    /// How many candidates were looked at, if the query was answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actual_candidates: Option<u64>,
    /// How many rows were found, if the query was answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actual_rows: Option<u64>,
}

impl Execution<'_> {
    /// How the query would be answered.
    pub(crate) fn explain(&self) -> Result<Explanation> {
        let parts = self.chosen()?.iter().map(|plan| self.explain_part(plan, None)).collect();
        Ok(Explanation { parts, plans: self.plan_names()? })
    }

    /// Answers the query, and tells how.
    pub(crate) fn analyze(&self) -> Result<(Page, Explanation)> {
        let mut done = Vec::new();
        let page = self.page_explained(&mut done)?;
        let part = |done: &Done| self.explain_part(&done.plan, Some(done));
        let parts = done.iter().map(part).collect();
        Ok((page, Explanation { parts, plans: self.plan_names()? }))
    }

    fn explain_part(&self, plan: &Plan, done: Option<&Done>) -> ExplainedPart {
        ExplainedPart {
            plan: plan.name.clone(),
            access: self.access(plan),
            ordered: plan.ordered,
            filter: plan.filter.as_ref().and_then(|filter| serde_json::to_value(filter).ok()),
            estimated_candidates: plan.candidates,
            actual_candidates: done.map(|done| done.candidates),
            actual_rows: done.map(|done| done.rows),
        }
    }

    fn access(&self, plan: &Plan) -> String {
        let ranges = |count: usize| if count == 1 { "range" } else { "ranges" };
        let way = if plan.backward { ", backward" } else { "" };
        match &plan.access {
            Access::Points(places) => format!("read {} by their keys", places.len()),
            Access::Keys(stretches) => {
                let count = stretches.len();
                format!("walk over {count} {} of keys{way}", ranges(count))
            }
            Access::Everything => format!("walk over the whole table{way}"),
            Access::Index { at, ranges: list, covered } => {
                let name = self.table.indexes.get(*at).map_or("", |index| index.name.as_str());
                let rows = if *covered { "rows from its copies" } else { "read each row" };
                let whole = list.iter().any(|r| r.start.is_empty() && r.end.is_none());
                let part = if whole {
                    "the whole index".to_owned()
                } else {
                    format!("{} {} of the index", list.len(), ranges(list.len()))
                };
                let among = plan.among.as_ref().and_then(|among| self.table.indexes.get(among.at));
                let among =
                    among.map(|index| format!(", only rows that are in {} too", index.name));
                format!("walk over {part} {name}{way}{}, {rows}", among.unwrap_or_default())
            }
        }
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for part in &self.parts {
            writeln!(f, "{}", part.access)?;
            if let Some(filter) = &part.filter {
                writeln!(f, "  keep those with {filter}")?;
            }
            if !part.ordered {
                writeln!(f, "  sort them")?;
            }
            let expected = part.estimated_candidates;
            let expected = expected.map_or_else(|| "any number".to_owned(), |n| n.to_string());
            write!(f, "  candidates: {expected} expected")?;
            if let (Some(candidates), Some(rows)) = (part.actual_candidates, part.actual_rows) {
                write!(f, ", {candidates} looked at; rows: {rows}")?;
            }
            writeln!(f)?;
        }
        write!(f, "plans: {}", self.plans.join(", "))
    }
}
