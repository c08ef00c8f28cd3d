//! The ways to find the rows of a query, and the choice of the cheapest.

use std::collections::HashMap;

use stonecrop_keys::{Field, KeyRange, Nulls};

use crate::catalog::{Place, TableState};
use crate::condition::{Compiled, Condition};
use crate::error::{Error, Result};
use crate::index::{IndexState, Part};
use crate::query::bounds::{Parts, Ranges, follows};
use crate::query::order::Order;
use crate::query::statistics::Statistics;
use crate::read::Source;
use crate::record::LOOSE;
use crate::schema::Placement;

/// What it takes, in microseconds, measured on the machine of docs/benchmarks.md: to pass one entry
/// of an iterator, and to read one family of a row.
const PASS: f64 = 0.25;
const FETCH: f64 = 1.8;
/// To pass one, and remember it.
const REMEMBER: f64 = 0.4;
/// How many rows are remembered, at most.
pub(super) const MOST_AMONG: u64 = 1 << 20;
/// How many of the rows are taken to pass one part of a filter, where nothing is known.
const PASSING: f64 = 0.05;
/// So many rows are a page: too few for it to matter how many there are behind them.
const PAGE: usize = 1000;

/// Where candidates for rows are found.
#[derive(Debug)]
pub(super) enum Access {
    /// Rows whose keys are known.
    Points(Vec<Place>),
    /// Stretches of the table, in order.
    Keys(Vec<(u8, KeyRange)>),
    /// The whole table.
    Everything,
    /// Ranges of an index, in order, without the prefix of all its entries.
    Index { at: usize, ranges: Vec<KeyRange>, covered: bool },
}

/// Only the rows that are in ranges of another index as well.
#[derive(Clone, Debug)]
pub(super) struct Among {
    pub(super) at: usize,
    pub(super) ranges: Vec<KeyRange>,
    /// How many there are; none where nobody counted.
    candidates: Option<u64>,
    /// The filter where there are too many to remember them.
    pub(super) filter_alone: Option<Condition>,
}

/// A way to find the rows of a query.
#[derive(Debug)]
pub(super) struct Plan {
    /// By which it can be asked for.
    pub(super) name: String,
    pub(super) access: Access,
    pub(super) among: Option<Among>,
    /// Whether it finds the rows in the order that is asked for, and whether from the end.
    pub(super) ordered: bool,
    pub(super) backward: bool,
    /// What the access does not see to.
    pub(super) filter: Option<Condition>,
    /// The parts of the filter that the access sees to, and those that it does not.
    used: Vec<usize>,
    left: Vec<usize>,
    /// Whether the access is less than the whole table.
    bound: bool,
    /// How many candidates there are; none where nobody counted.
    pub(super) candidates: Option<u64>,
}

impl Plan {
    /// How many candidates are expected: if nobody counted, a guess.
    fn expected(&self, rows: u64) -> f64 {
        match self.candidates {
            Some(count) => count as f64,
            None if self.bound => rows as f64 * PASSING,
            None => rows as f64,
        }
    }
}

/// What is asked of the planner.
pub(super) struct Question<'q> {
    pub(super) table: &'q TableState,
    pub(super) filter: Option<&'q Condition>,
    pub(super) order: &'q Order,
    /// The columns that are returned; none for all of them.
    pub(super) columns: Option<&'q [String]>,
    pub(super) take: Option<usize>,
    /// The only index that may be used, and that all rows are in.
    pub(super) index: Option<&'q str>,
    /// Which of the table's indexes are complete.
    pub(super) ready: &'q [bool],
    pub(super) as_of: bool,
}

pub(super) fn no_plan(name: &str) -> Error {
    Error::Query { problem: format!("there is no plan {name:?} for it") }
}

impl Question<'_> {
    /// All ways that give the right rows.
    pub(super) fn plans(&self) -> Result<Vec<Plan>> {
        let parts = Parts::new(self.filter, self.table);
        let mut plans = Vec::new();
        match self.index {
            Some(name) => {
                let index = self.table.index_by_name(name)?;
                let problem = |problem: &str| {
                    let problem = problem.to_owned();
                    Error::Index { index: name.to_owned(), problem }
                };
                if self.as_of {
                    return Err(Error::Query {
                        problem: format!(
                            "the index {name:?} has no history; ask without it, or without a time"
                        ),
                    });
                }
                let at = self.table.indexes.iter().position(|other| other.id == index.id);
                let at = at.filter(|at| self.is_ready(*at));
                let at = at.ok_or_else(|| problem("it is not complete yet"))?;
                plans.extend(self.index_plan(at, index, &parts, true));
            }
            None => {
                plans.extend(self.key_plan(&parts));
                plans.push(self.scan_plan(&parts));
                let indexes = self.table.indexes.iter().enumerate();
                // Entries of indexes have no history.
                for (at, index) in indexes.filter(|(at, _)| self.is_ready(*at) && !self.as_of) {
                    plans.extend(self.index_plan(at, index, &parts, false));
                }
                let both = self.intersections(&plans, &parts);
                plans.extend(both);
            }
        }
        Ok(plans)
    }

    fn is_ready(&self, at: usize) -> bool {
        self.ready.get(at).copied().unwrap_or(false)
    }

    /// The fields that are left to sort by, where one value is all that some can have; none where
    /// one of them is no column as a whole.
    fn wanted(&self, parts: &Parts<'_>) -> Option<Vec<(&Source, bool)>> {
        let fields = self.order.fields.iter();
        let open = fields.filter(|field| !field.steps.is_empty() || !parts.pins(&field.source));
        open.map(|field| field.steps.is_empty().then_some((&field.source, field.descending)))
            .collect()
    }

    /// Whether, and in which direction, the order of some fields is the one that is asked for.
    fn order_of<'s>(
        &self,
        fields: impl Iterator<Item = (&'s Field, &'s Source)>,
        pinned: &[bool],
        parts: &Parts<'_>,
    ) -> Option<bool> {
        let wanted = self.wanted(parts)?;
        // Nulls and rows without a value have a place of their own in the order of a query.
        let known = |(source, _): &(&Source, bool)| {
            self.is_in_key(source, true) || parts.require(source, true)
        };
        if !wanted.iter().all(known) {
            return None;
        }
        follows(fields, pinned, &wanted)
    }

    /// Whether it is a field of the key, which every row has; and if `not_null`, never null.
    fn is_in_key(&self, source: &Source, not_null: bool) -> bool {
        let Source::Key(at) = source else { return false };
        let field = self.table.key.fields().get(*at);
        !not_null || field.is_some_and(|field| field.nulls() == Nulls::NotAllowed)
    }

    fn key_sources(&self) -> Vec<Source> {
        (0..self.table.key.fields().len()).map(Source::Key).collect()
    }

    fn key_plan(&self, parts: &Parts<'_>) -> Option<Plan> {
        let table = self.table;
        let sources = self.key_sources();
        let ranges = parts.ranges(&table.key, &sources);
        if !ranges.is_bound() {
            return None;
        }
        let fields = ranges.pinned.len();
        let order = self.order_of(table.key.fields().iter().zip(&sources), &ranges.pinned, parts);
        let filter = parts.without(&ranges.used);
        let stretches = self.stretches(&ranges)?;
        let is_points = fields == sources.len();
        let (name, access, candidates) = if is_points {
            let places = stretches
                .into_iter()
                .map(|(shard, range)| Place { shard, bytes: range.start.into() });
            let places: Vec<Place> = places.collect();
            let count = places.len() as u64;
            ("points", Access::Points(places), Some(count))
        } else {
            ("keys", Access::Keys(stretches), None)
        };
        // Partitions that are placed by hash are in no order among each other.
        let single = matches!(&access, Access::Keys(stretches) if stretches.len() <= 1)
            || table.schema.placement == Placement::Range
            || candidates.is_some_and(|count| count <= 1);
        let unsorted = self.order.fields.is_empty();
        Some(Plan {
            name: name.to_owned(),
            access,
            among: None,
            ordered: unsorted || (order.is_some() && single),
            backward: order.unwrap_or(false) && !unsorted,
            filter,
            left: parts.others(&ranges.used),
            used: ranges.used,
            bound: true,
            candidates,
        })
    }

    /// The stretches of a table that ranges of its key come to; none where the table has no such
    /// order.
    fn stretches(&self, ranges: &Ranges) -> Option<Vec<(u8, KeyRange)>> {
        let table = self.table;
        if table.schema.placement == Placement::Range {
            let own = table.own_shard();
            return Some(ranges.list.iter().map(|(_, range)| (own, range.clone())).collect());
        }
        let partition = table.schema.partition_fields();
        let mut stretches = Vec::new();
        for (fields, range) in &ranges.list {
            if *fields < partition {
                return None;
            }
            let stripe = table.stripe_of(&range.start)?;
            stretches.push((table.shard_of_stripe(stripe), range.clone().under(&[stripe])));
        }
        stretches.sort_by(|(_, a), (_, b)| a.start.cmp(&b.start));
        Some(stretches)
    }

    fn scan_plan(&self, parts: &Parts<'_>) -> Plan {
        let table = self.table;
        let sources = self.key_sources();
        let order = match table.schema.placement {
            Placement::Range => self.order_of(table.key.fields().iter().zip(&sources), &[], parts),
            Placement::Hash => None,
        };
        let unsorted = self.order.fields.is_empty();
        Plan {
            name: "scan".to_owned(),
            access: Access::Everything,
            among: None,
            ordered: unsorted || order.is_some(),
            backward: order.unwrap_or(false) && !unsorted,
            filter: self.filter.cloned(),
            left: parts.others(&[]),
            used: Vec::new(),
            bound: false,
            candidates: None,
        }
    }

    fn index_plan(
        &self,
        at: usize,
        index: &IndexState,
        parts: &Parts<'_>,
        all_in_it: bool,
    ) -> Option<Plan> {
        let table = self.table;
        let fields = index.schema.fields();
        let sources: Vec<Source> =
            fields.iter().map(|field| Source::new(table, field.name())).collect();
        // A row that is wanted must be in it.
        let in_it = !index.status.is_partial()
            && fields.iter().zip(&sources).all(|(field, source)| {
                let not_null = field.nulls() == Nulls::NotAllowed;
                parts.require(source, not_null) || self.is_in_key(source, not_null)
            });
        if !in_it && !all_in_it {
            return None;
        }
        let mut ranges = parts.ranges(&index.schema, &sources);
        ranges.used.extend(parts.implied(&index.schema, &sources));
        // Entries with the same values are in the order of the keys.
        let is_equal = ranges.pinned.len() == fields.len();
        if is_equal && ranges.list.len() == 1 {
            self.narrow_by_key(&mut ranges, parts);
        }
        let keys = self.key_sources();
        let keys = match table.schema.placement {
            Placement::Range => table.key.fields().iter().zip(&keys),
            Placement::Hash => [].iter().zip(&keys),
        };
        let order = self.order_of(fields.iter().zip(&sources).chain(keys), &ranges.pinned, parts);
        let unsorted = self.order.fields.is_empty();
        if !ranges.is_bound() && order.is_none() && !all_in_it {
            return None;
        }
        let filter = parts.without(&ranges.used);
        let ordered = unsorted || order.is_some();
        let covered = self.is_covered(index, filter.as_ref());
        let bound = ranges.is_bound();
        let list = match bound {
            true => ranges.list.into_iter().map(|(_, range)| range).collect(),
            false => vec![KeyRange { start: Vec::new(), end: None }],
        };
        Some(Plan {
            name: format!("index {}", index.name),
            access: Access::Index { at, ranges: list, covered },
            among: None,
            ordered,
            backward: order.unwrap_or(false) && !unsorted,
            filter,
            left: parts.others(&ranges.used),
            used: ranges.used,
            bound,
            candidates: None,
        })
    }

    /// Where all entries of a range have the same values, what is known of the key narrows it.
    fn narrow_by_key(&self, ranges: &mut Ranges, parts: &Parts<'_>) {
        let of_key = parts.ranges(&self.table.key, &self.key_sources());
        let Some((_, values)) = ranges.list.first().filter(|_| of_key.is_bound()) else { return };
        let Some(stretches) = self.stretches(&of_key) else { return };
        let values = values.start.clone();
        let narrowed = stretches.into_iter().map(|(_, range)| range.under(&values));
        ranges.list = narrowed.map(|range| (ranges.pinned.len(), range)).collect();
        ranges.pinned.extend(of_key.pinned);
        ranges.used.extend(of_key.used);
    }

    /// Of two indexes that see to different parts of the filter, the rows that are in both.
    fn intersections(&self, plans: &[Plan], parts: &Parts<'_>) -> Vec<Plan> {
        let mut both = Vec::new();
        for plan in plans {
            let Access::Index { at, ranges, covered } = &plan.access else { continue };
            for other in plans.iter().filter(|other| other.bound) {
                let Access::Index { at: among, ranges: of_other, .. } = &other.access else {
                    continue;
                };
                let sees_to_more = other.used.iter().any(|part| plan.left.contains(part));
                if !sees_to_more || among == at {
                    continue;
                }
                let used: Vec<usize> = plan.used.iter().chain(&other.used).copied().collect();
                let name = other.name.strip_prefix("index ").unwrap_or_default();
                both.push(Plan {
                    name: format!("{} among {name}", plan.name),
                    access: Access::Index { at: *at, ranges: ranges.clone(), covered: *covered },
                    among: Some(Among {
                        at: *among,
                        ranges: of_other.clone(),
                        candidates: None,
                        filter_alone: plan.filter.clone(),
                    }),
                    filter: parts.without(&used),
                    left: parts.others(&used),
                    used,
                    ordered: plan.ordered,
                    backward: plan.backward,
                    bound: plan.bound,
                    candidates: None,
                });
            }
        }
        both
    }

    /// Whether an index has a copy of all that is asked for.
    fn is_covered(&self, index: &IndexState, filter: Option<&Condition>) -> bool {
        let Some(columns) = self.columns else { return false };
        let table = self.table;
        let has = |source: &Source| match source {
            Source::Key(_) => true,
            Source::Declared(column) => {
                let part = Part { family: column.family, name: "".into() };
                index.copies(&part, column.id)
            }
            Source::Loose(name) => {
                index.copies(&Part { family: LOOSE, name: name.as_str().into() }, 0)
            }
        };
        let filter = filter.map(|filter| Compiled::new(filter, table));
        columns.iter().all(|name| has(&Source::new(table, name)))
            && filter.is_none_or(|filter| !filter.asks_existence() && filter.sources().all(has))
            // Even where it has the order: rows after a cursor may have to be sorted.
            && self.order.fields.iter().all(|field| has(&field.source))
    }

    /// The cheapest way, or the one that was asked for by name.
    pub(super) fn choose(
        &self,
        mut plans: Vec<Plan>,
        name: Option<&str>,
        statistics: &mut Statistics<'_>,
    ) -> Result<Plan> {
        if let Some(name) = name {
            let found = plans.iter().position(|plan| plan.name == name);
            let found = found.ok_or_else(|| no_plan(name))?;
            return Ok(plans.swap_remove(found));
        }
        if let Some(at) = self.obvious(&plans) {
            return Ok(plans.swap_remove(at));
        }
        if plans.len() > 1 {
            let rows = statistics.rows()?;
            let costs = plans.iter().map(|plan| self.cost(plan, &plans, rows));
            let best = costs.fold(f64::INFINITY, f64::min);
            // Counting candidates may take a fifth of what the query itself takes.
            let enough = (best / 5.0 / PASS) as u64 + 100;
            let mut counted: HashMap<usize, Option<u64>> = HashMap::new();
            for plan in plans.iter_mut().filter(|plan| plan.candidates.is_none()) {
                plan.candidates = match (&plan.access, &plan.among) {
                    // The indexes by themselves come before those among others.
                    (Access::Index { at, .. }, Some(among)) => {
                        let candidates = counted.get(&among.at).copied().flatten();
                        plan.among = Some(Among { candidates, ..among.clone() });
                        counted.get(at).copied().flatten()
                    }
                    (access, _) => statistics.candidates(access, rows, enough)?,
                };
                if let Access::Index { at, .. } = &plan.access {
                    counted.insert(*at, plan.candidates);
                }
            }
            let costs = plans.iter().map(|plan| self.cost(plan, &plans, rows));
            let best = costs.enumerate().min_by(|(_, a), (_, b)| a.total_cmp(b));
            if let Some((at, _)) = best {
                return Ok(plans.swap_remove(at));
            }
        }
        let best = plans.into_iter().next();
        best.ok_or_else(|| Error::Query { problem: "nothing can answer it".to_owned() })
    }

    /// A plan that nothing can beat: rows whose keys are known, or of which each candidate is a row
    /// that is wanted, and there is no need to look at more of them than that.
    fn obvious(&self, plans: &[Plan]) -> Option<usize> {
        let exact = |plan: &Plan| match &plan.access {
            Access::Points(_) => true,
            // Fewer entries than the table has rows, and all of what is asked for.
            Access::Index { covered: true, .. } => {
                plan.filter.is_none() && plan.bound && plan.among.is_none()
            }
            _ => {
                let page = plan.ordered && self.take.is_some_and(|take| take <= PAGE);
                plan.filter.is_none() && plan.among.is_none() && page
            }
        };
        let each = |plan: &Plan| self.cost_of_one(plan);
        let exact = plans.iter().enumerate().filter(|(_, plan)| exact(plan));
        let best = exact.min_by(|(_, a), (_, b)| each(a).total_cmp(&each(b)));
        best.map(|(at, _)| at)
    }

    /// About how many microseconds a plan takes.
    fn cost(&self, plan: &Plan, plans: &[Plan], rows: u64) -> f64 {
        let candidates = plan.expected(rows);
        let touched = match self.take {
            Some(take) if plan.ordered => {
                let passing = self.passing(plan, plans, rows);
                candidates.min(take as f64 / passing.max(1.0 / rows.max(1) as f64))
            }
            _ => candidates,
        };
        // It takes a while to begin with an iterator.
        let begin = 10.0;
        let Some(among) = &plan.among else { return begin + touched * self.cost_of_one(plan) };
        let others = among.candidates.map_or(rows as f64 * PASSING, |count| count as f64);
        if others > MOST_AMONG as f64 {
            return f64::INFINITY;
        }
        let in_both = touched * (others / rows.max(1) as f64).min(1.0);
        2.0 * begin + others * REMEMBER + touched * PASS + in_both * self.cost_of_one(plan)
    }

    /// The part of a plan's candidates that pass its filter, going by how many candidates other
    /// plans have that see to more of it.
    fn passing(&self, plan: &Plan, plans: &[Plan], rows: u64) -> f64 {
        let mut passing = 1.0;
        let mut left: Vec<usize> = plan.left.clone();
        for other in plans.iter().filter(|other| other.bound && other.among.is_none()) {
            let seen_to = other.used.iter().filter(|part| left.contains(part)).count();
            if seen_to > 0 && other.used.len() == seen_to {
                left.retain(|part| !other.used.contains(part));
                passing *= (other.expected(rows) / rows.max(1) as f64).clamp(0.0, 1.0);
            }
        }
        passing * PASSING.powi(left.len() as i32)
    }

    fn cost_of_one(&self, plan: &Plan) -> f64 {
        let families = self.families(plan) as f64;
        match &plan.access {
            Access::Points(_) => FETCH * families,
            // The families are passed side by side.
            Access::Keys(_) => PASS * families,
            Access::Everything => PASS * families / super::visit::threads() as f64,
            Access::Index { covered: true, .. } => PASS,
            Access::Index { .. } => PASS + FETCH * families,
        }
    }

    /// How many families are read of each candidate.
    fn families(&self, plan: &Plan) -> usize {
        let mut families: Vec<u16> = match (&plan.filter, self.columns) {
            (Some(filter), _) => {
                let filter = Compiled::new(filter, self.table);
                filter.sources().filter_map(Source::family).collect()
            }
            (None, Some(columns)) => {
                columns.iter().filter_map(|name| Source::new(self.table, name).family()).collect()
            }
            (None, None) => self.table.families().collect(),
        };
        if !plan.ordered {
            families.extend(self.order.fields.iter().filter_map(|field| field.source.family()));
        }
        families.sort();
        families.dedup();
        families.len().max(1)
    }
}
