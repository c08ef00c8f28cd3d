//! What a grid asks about rows without wanting to see them.

use std::collections::HashMap;
use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};
use stonecrop_keys::Type;

use crate::condition::{Condition, find};
use crate::error::{Error, Result};
use crate::index::IndexState;
use crate::path::Path;
use crate::query::Query;
use crate::query::bounds::Parts;
use crate::query::execute::Execution;
use crate::query::plan::{Access, Plan};
use crate::query::visit::Route;
use crate::read::{Loader, Source};
use crate::value::encode::{self, Problem};
use crate::value::encoded::{is_null, walk};
use crate::value::{Value, add, total_order};

/// How many different values are counted, at most.
const MOST_VALUES: usize = 1 << 20;

/// Values as bytes, and how many rows have each.
type Counts = HashMap<Vec<u8>, u64, foldhash::fast::RandomState>;

fn too_many_values(column: &Path) -> Error {
    let problem = format!("{column} has more than {MOST_VALUES} different values; filter them");
    Error::Query { problem }
}

/// The values of a column, and in how many rows each is. Null is none of them.
///
/// ```
/// use stonecrop::{Database, Query, TableSchema, Write};
/// let table = Database::memory().create_table(TableSchema::new("table", "id u64", "")?)?;
/// for (id, status) in [(1, "open"), (2, "done"), (3, "open")] {
///     table.write(Write::put(id).set("status", status))?;
/// }
/// let facets = table.facets(&Query::new(), "status")?;
/// assert_eq!(facets.values, [("open".into(), 2), ("done".into(), 1)]);
/// # Ok::<(), stonecrop::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Facets {
    /// The values with their rows, the most frequent first.
    pub values: Vec<(Value, u64)>,
}

/// What the values of a column come to.
///
/// ```
/// use stonecrop::{Database, Query, TableSchema, Write};
/// let table = Database::memory().create_table(TableSchema::new("table", "id u64", "")?)?;
/// table.write_all((1..=4).map(|id| Write::put(id).set("n", id)))?;
/// let summary = table.summarize(&Query::new(), "n")?;
/// assert_eq!((summary.rows, summary.sum), (4, Some(10.into())));
/// assert_eq!(summary.average, Some(2.5));
/// # Ok::<(), stonecrop::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct Summary {
    /// How many rows there are.
    pub rows: u64,
    /// In how many of them there is a value other than null.
    pub values: u64,
    /// The smallest value.
    pub min: Option<Value>,
    /// The largest value.
    pub max: Option<Value>,
    /// How many of the values are numbers.
    pub numbers: u64,
    /// What the numbers add up to.
    pub sum: Option<Value>,
    /// Their average.
    pub average: Option<f64>,
}

/// How many rows have a family, and how many of these are still fresh.
///
/// ```
/// use std::time::Duration;
/// use stonecrop::{Database, Family, Query, TableSchema, Write};
/// let crm = Family::new("crm").column("name").ttl(Duration::from_secs(60));
/// let table = Database::memory()
///     .create_table(TableSchema::new("table", "id u64", "")?.family(crm))?;
/// table.write(Write::put(1).set("name", "Ann"))?;
/// table.write(Write::put(2).set("note", "no name"))?;
/// let freshness = table.freshness(&Query::new())?;
/// assert_eq!((freshness[0].fresh, freshness[0].stale, freshness[0].missing), (1, 0, 1));
/// # Ok::<(), stonecrop::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct Freshness {
    /// The name of the family.
    pub family: String,
    /// How many rows have it, and it is fresh.
    pub fresh: u64,
    /// How many rows have it, and it is no longer fresh.
    pub stale: u64,
    /// How many rows do not have it.
    pub missing: u64,
}

impl Execution<'_> {
    /// The cheapest way to see every row once.
    fn plan_for_all(&self) -> Result<Plan> {
        let question = self.question(self.query.filter.as_ref());
        let plans = question.plans()?;
        // One that only has the order that was asked for does not see every row.
        let name = self.query.plan.as_deref();
        let name = name.filter(|name| plans.iter().any(|plan| plan.name == *name));
        question.choose(plans, name, &mut self.statistics())
    }

    /// How many rows there are.
    pub(crate) fn count(&self) -> Result<u64> {
        let plan = self.plan_for_all()?;
        let (counts, _) = self.fold(
            &plan,
            || 0_u64,
            |count, _| {
                *count += 1;
                Ok(())
            },
        )?;
        Ok(counts.into_iter().sum())
    }

    /// The values of a column.
    pub(crate) fn facets(&self, column: &Path, take: Option<usize>) -> Result<Facets> {
        let mut values = match self.facets_of_index(column)? {
            Some(values) => values,
            None => self.facets_of_rows(column)?,
        };
        values.sort_by(|(a, a_count), (b, b_count)| {
            b_count.cmp(a_count).then_with(|| total_order(a, b))
        });
        values.truncate(take.unwrap_or(usize::MAX));
        Ok(Facets { values })
    }

    /// In an index by the column, equal values are side by side, and no row has to be read.
    fn facets_of_index(&self, column: &Path) -> Result<Option<Vec<(Value, u64)>>> {
        let has_value = [Condition::HasValue(column.clone())];
        let filter = Condition::All(self.query.filter.iter().cloned().chain(has_value).collect());
        let plans = self.question(Some(&filter)).plans()?;
        let named = |plan: &&Plan| self.query.plan.as_ref().is_none_or(|name| *name == plan.name);
        let by_column = |plan: &&Plan| match &plan.access {
            Access::Index { at, .. } => {
                let index = self.table.indexes.get(*at);
                plan.filter.is_none()
                    && plan.among.is_none()
                    && index.is_some_and(|index| self.ends_with(index, &filter, column))
            }
            _ => false,
        };
        let Some(plan) = plans.iter().filter(named).find(by_column) else { return Ok(None) };
        let Access::Index { at, .. } = &plan.access else { return Ok(None) };
        let Some(index) = self.table.indexes.get(*at) else { return Ok(None) };
        let mut runs: Vec<(Vec<u8>, u64)> = Vec::new();
        let mut visitor = self.visitor(None, None);
        visitor.visit(&plan.access, &Route::default(), &mut |_, values| {
            let is_same = runs.last().is_some_and(|(known, _)| *known == values);
            if !is_same && runs.len() == MOST_VALUES {
                return Err(too_many_values(column));
            }
            match runs.last_mut().filter(|_| is_same) {
                Some((_, count)) => *count += 1,
                None => runs.push((values.to_vec(), 1)),
            }
            Ok(ControlFlow::Continue(()))
        })?;
        let value = |(key, count): (Vec<u8>, u64)| {
            let values = index.schema.decode(&key);
            let values = values.map_err(|error| index.corrupt(&self.table, error))?;
            Ok((values.last().map_or(Value::Null, Value::from_key), count))
        };
        runs.into_iter().map(value).collect::<Result<_>>().map(Some)
    }

    /// Whether the entries that a filter comes to differ in this column alone, and tell its value.
    fn ends_with(&self, index: &IndexState, filter: &Condition, column: &Path) -> bool {
        let (source, steps) = find(column, &self.table);
        let parts = Parts::new(Some(filter), &self.table);
        let mut fields = index.schema.fields().iter().rev();
        let last = fields.next().is_some_and(|field| {
            // Different numbers can be the same key.
            !matches!(field.field_type(), Type::Decimal | Type::F64)
                && Source::new(&self.table, field.name()) == source
        });
        last && steps.is_empty()
            && fields.all(|field| parts.pins(&Source::new(&self.table, field.name())))
    }

    fn facets_of_rows(&self, column: &Path) -> Result<Vec<(Value, u64)>> {
        let (source, steps) = find(column, &self.table);
        let plan = self.plan_for_all()?;
        let table = &self.table;
        let step = |counts: &mut Counts, row: &mut Loader<'_>| {
            let corrupt = |problem: Problem| table.corrupt(problem);
            let stored = row.column(&source)?;
            let value = match stored {
                Some(stored) => walk(stored.value, &steps).map_err(corrupt)?,
                None => None,
            };
            let Some(value) = value.filter(|value| !is_null(value)) else { return Ok(()) };
            if let Some(count) = counts.get_mut(value) {
                *count += 1;
            } else if counts.len() < MOST_VALUES {
                counts.insert(value.to_vec(), 1);
            } else {
                return Err(too_many_values(column));
            }
            Ok(())
        };
        let (made, _) = self.fold(&plan, Counts::default, step)?;
        let mut all = Counts::default();
        for (value, count) in made.into_iter().flatten() {
            *all.entry(value).or_default() += count;
        }
        let value = |(bytes, count): (Vec<u8>, u64)| {
            let value = encode::read(&bytes).map_err(|problem| table.corrupt(problem))?;
            Ok((value, count))
        };
        let mut all: Vec<(Vec<u8>, u64)> = all.into_iter().collect();
        all.sort();
        let mut values = all.into_iter().map(value).collect::<Result<Vec<_>>>()?;
        // Numbers of different types can be equal.
        values.sort_by(|(a, _), (b, _)| total_order(a, b));
        values.dedup_by(|(value, count), (kept, total)| {
            let is_same = total_order(value, kept).is_eq();
            *total += if is_same { *count } else { 0 };
            is_same
        });
        Ok(values)
    }

    /// What the values of a column come to.
    pub(crate) fn summarize(&self, column: &Path) -> Result<Summary> {
        let (source, steps) = find(column, &self.table);
        let plan = self.plan_for_all()?;
        let table = &self.table;
        let step = |summary: &mut Summary, row: &mut Loader<'_>| {
            let corrupt = |problem: Problem| table.corrupt(problem);
            summary.rows += 1;
            let stored = row.column(&source)?;
            let value = match stored {
                Some(stored) => walk(stored.value, &steps).map_err(corrupt)?,
                None => None,
            };
            let Some(value) = value.filter(|value| !is_null(value)) else { return Ok(()) };
            summary.add(encode::read(value).map_err(corrupt)?, column)
        };
        let (made, _) = self.fold(&plan, Summary::default, step)?;
        let mut all = Summary::default();
        for summary in made {
            all.join(summary, column)?;
        }
        if let (Some(sum), true) = (&all.sum, all.numbers > 0) {
            all.average = to_f64(sum).map(|sum| sum / all.numbers as f64);
        }
        Ok(all)
    }

    /// How fresh the families of the rows are.
    pub(crate) fn freshness(&self) -> Result<Vec<Freshness>> {
        let plan = self.plan_for_all()?;
        let table = &self.table;
        let families: Vec<u16> = table.families().collect();
        let make = || {
            let name = |family: &u16| table.family(*family).map_or("", |family| family.name());
            let families = families.iter().map(|family| Freshness {
                family: name(family).to_owned(),
                ..Freshness::default()
            });
            families.collect::<Vec<_>>()
        };
        let step = |counts: &mut Vec<Freshness>, row: &mut Loader<'_>| {
            for (family, count) in families.iter().zip(counts) {
                match row.is_fresh(*family)? {
                    Some(true) => count.fresh += 1,
                    Some(false) => count.stale += 1,
                    None => count.missing += 1,
                }
            }
            Ok(())
        };
        let (made, _) = self.fold(&plan, make, step)?;
        let mut all = make();
        for (of_all, counts) in made.iter().flat_map(|counts| (0..).zip(counts)) {
            if let Some(all) = all.get_mut::<usize>(of_all) {
                all.fresh += counts.fresh;
                all.stale += counts.stale;
                all.missing += counts.missing;
            }
        }
        Ok(all)
    }
}

impl Summary {
    fn add(&mut self, value: Value, column: &Path) -> Result<()> {
        self.values += 1;
        if matches!(value, Value::Int(_) | Value::Float(_) | Value::Decimal(_)) {
            self.numbers += 1;
            self.add_number(&value, column)?;
        }
        self.widen(value);
        Ok(())
    }

    fn add_number(&mut self, number: &Value, column: &Path) -> Result<()> {
        let sum = self.sum.take().unwrap_or(Value::Int(0));
        let sum = match add(&sum, number) {
            Ok(sum) => sum,
            Err(_) => sum_of_mixed(&sum, number)
                .map_err(|problem| Error::value(&column.to_string(), problem))?,
        };
        self.sum = Some(sum);
        Ok(())
    }

    fn widen(&mut self, value: Value) {
        if self.min.as_ref().is_none_or(|min| total_order(&value, min).is_lt()) {
            self.min = Some(value.clone());
        }
        if self.max.as_ref().is_none_or(|max| total_order(&value, max).is_gt()) {
            self.max = Some(value);
        }
    }

    fn join(&mut self, other: Summary, column: &Path) -> Result<()> {
        self.rows += other.rows;
        self.values += other.values;
        self.numbers += other.numbers;
        if let Some(sum) = &other.sum {
            self.add_number(sum, column)?;
        }
        other.min.into_iter().chain(other.max).for_each(|value| self.widen(value));
        Ok(())
    }
}

/// With a float it is a float; whole numbers beyond what one holds go on as decimals.
fn sum_of_mixed(a: &Value, b: &Value) -> Result<Value, String> {
    match (a, b) {
        (Value::Int(a), _) => add(&Value::Decimal((*a).into()), b),
        _ => match (to_f64(a), to_f64(b)) {
            (Some(a), Some(b)) => Ok(Value::Float(a + b)),
            _ => Err("not numbers".to_owned()),
        },
    }
}

fn to_f64(value: &Value) -> Option<f64> {
    match value {
        Value::Int(value) => Some(*value as f64),
        Value::Float(value) => Some(*value),
        Value::Decimal(value) => value.to_string().parse().ok(),
        _ => None,
    }
}

/// What an aggregate over a column reads of every row, so that an index that has it can be used.
pub(crate) fn needing(query: &Query, column: Option<&Path>) -> Query {
    // The text of a path can be the name of a column as a whole.
    let names = |path: &Path| [Some(path.column().to_owned()), path.whole()];
    let columns = column.into_iter().flat_map(names).flatten().collect();
    let columns = Some(columns);
    Query { columns, sort: Vec::new(), skip: 0, take: None, cursor: None, ..query.clone() }
}
