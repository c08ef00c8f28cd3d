//! A condition of one table: every path is looked up, and rows are judged by their bytes.

use std::cmp::Ordering;

use super::{Comparison, Condition};
use crate::catalog::TableState;
use crate::clock::Timestamp;
use crate::error::Result;
use crate::path::{Path, Step};
use crate::read::{Loader, Source, Stored};
use crate::value::Value;
use crate::value::encode::Problem;
use crate::value::encoded::{Needle, begins_with, compare_encoded, is_null, walk};

/// A condition, ready for the rows of a table.
#[derive(Debug)]
pub(crate) struct Compiled {
    root: Node,
}

#[derive(Debug)]
enum Node {
    Exists,
    NotExists,
    Test(Test),
    All(Vec<Node>),
    Any(Vec<Node>),
    Not(Box<Node>),
}

/// What is asked of one column. It is not true of one that is not there.
#[derive(Debug)]
pub(crate) struct Test {
    pub(crate) source: Source,
    steps: Vec<Step>,
    check: Check,
}

#[derive(Debug)]
enum Check {
    Has,
    IsNull,
    HasValue,
    Compare(Comparison, Value),
    In(Vec<Value>),
    Between(Value, Value),
    BeginsWith(Value),
    /// Boxed, since it is much larger than the others.
    Contains(Box<Needle>),
    WrittenAt(Comparison, Timestamp),
    IsFresh,
    IsStale,
}

impl Compiled {
    pub(crate) fn new(condition: &Condition, table: &TableState) -> Self {
        Compiled { root: Node::new(condition, table) }
    }

    /// Whether it is true of a row.
    pub(crate) fn holds(&self, row: &mut Loader<'_>) -> Result<bool> {
        self.root.holds(row)
    }

    /// Where it looks, as often as it does. Whether the row is there can take any family.
    pub(crate) fn sources(&self) -> impl Iterator<Item = &Source> {
        let mut nodes = vec![&self.root];
        std::iter::from_fn(move || {
            loop {
                match nodes.pop()? {
                    Node::Exists | Node::NotExists => {}
                    Node::Test(test) => return Some(&test.source),
                    Node::All(inner) | Node::Any(inner) => nodes.extend(inner.iter().rev()),
                    Node::Not(inner) => nodes.push(inner),
                }
            }
        })
    }

    /// Whether it asks if the row is there, which takes a look at any of its families.
    pub(crate) fn asks_existence(&self) -> bool {
        let mut nodes = vec![&self.root];
        while let Some(node) = nodes.pop() {
            match node {
                Node::Exists | Node::NotExists => return true,
                Node::Test(_) => {}
                Node::All(inner) | Node::Any(inner) => nodes.extend(inner),
                Node::Not(inner) => nodes.push(inner),
            }
        }
        false
    }

    /// Whether a row without any of the columns that the condition names can satisfy it; if not,
    /// the columns of which it must have at least one.
    pub(crate) fn needs_one_of(&self) -> Option<Vec<&Source>> {
        self.root.needs_one_of()
    }

    /// Whether it is nothing but this test.
    pub(crate) fn is_only(&self, test: &Test) -> bool {
        matches!(&self.root, Node::Test(only) if std::ptr::eq(only, test))
    }

    /// A test that all rows have to pass, and that `fits`.
    pub(crate) fn required(&self, fits: impl Fn(&Test) -> bool) -> Option<&Test> {
        self.root.required(&fits)
    }
}

impl Node {
    fn new(condition: &Condition, table: &TableState) -> Self {
        let at = |path: &Path, check| {
            let (source, steps) = find(path, table);
            Node::Test(Test { source, steps, check })
        };
        let of = |column: &str, check| {
            Node::Test(Test { source: Source::new(table, column), steps: Vec::new(), check })
        };
        let all = |conditions: &[Condition]| {
            conditions.iter().map(|condition| Node::new(condition, table)).collect()
        };
        match condition {
            Condition::Exists => Node::Exists,
            Condition::NotExists => Node::NotExists,
            Condition::Has(path) => at(path, Check::Has),
            Condition::IsNull(path) => at(path, Check::IsNull),
            Condition::HasValue(path) => at(path, Check::HasValue),
            Condition::Compare(path, how, value) => at(path, Check::Compare(*how, value.clone())),
            Condition::In(path, values) => at(path, Check::In(values.clone())),
            Condition::Between(path, low, high) => {
                at(path, Check::Between(low.clone(), high.clone()))
            }
            Condition::BeginsWith(path, start) => at(path, Check::BeginsWith(start.clone())),
            Condition::Contains(path, value) => {
                at(path, Check::Contains(Box::new(Needle::new(value.clone()))))
            }
            Condition::WrittenAt(column, how, time) => of(column, Check::WrittenAt(*how, *time)),
            Condition::IsFresh(column) => of(column, Check::IsFresh),
            Condition::IsStale(column) => of(column, Check::IsStale),
            Condition::All(conditions) => Node::All(all(conditions)),
            Condition::Any(conditions) => Node::Any(all(conditions)),
            Condition::Not(condition) => Node::Not(Box::new(Node::new(condition, table))),
        }
    }

    fn holds(&self, row: &mut Loader<'_>) -> Result<bool> {
        Ok(match self {
            Node::Exists => row.exists()?,
            Node::NotExists => !row.exists()?,
            Node::Test(test) => {
                let (table, seen_at) = (row.table(), row.seen_at());
                let Some(stored) = row.column(&test.source)? else { return Ok(false) };
                test.holds(&stored, seen_at).map_err(|problem| table.corrupt(problem))?
            }
            Node::All(all) => {
                for node in all {
                    if !node.holds(row)? {
                        return Ok(false);
                    }
                }
                true
            }
            Node::Any(any) => {
                for node in any {
                    if node.holds(row)? {
                        return Ok(true);
                    }
                }
                false
            }
            Node::Not(node) => !node.holds(row)?,
        })
    }

    fn needs_one_of(&self) -> Option<Vec<&Source>> {
        match self {
            // Every row has its key.
            Node::Test(test) if matches!(test.source, Source::Key(_)) => None,
            Node::Test(test) => Some(vec![&test.source]),
            Node::All(all) => all.iter().filter_map(Node::needs_one_of).min_by_key(Vec::len),
            Node::Any(any) => {
                let needs: Option<Vec<_>> = any.iter().map(Node::needs_one_of).collect();
                needs.map(|needs| needs.concat())
            }
            Node::Exists | Node::NotExists | Node::Not(_) => None,
        }
    }

    fn required(&self, fits: &impl Fn(&Test) -> bool) -> Option<&Test> {
        match self {
            Node::Test(test) => fits(test).then_some(test),
            Node::All(all) => all.iter().find_map(|node| node.required(fits)),
            _ => None,
        }
    }
}

/// The column that a path begins with in a table, and the steps from there.
pub(crate) fn find(path: &Path, table: &TableState) -> (Source, Vec<Step>) {
    let whole = path.whole().map(|name| Source::new(table, &name));
    match whole.filter(|source| path.steps().is_empty() || !matches!(source, Source::Loose(_))) {
        Some(source) => (source, Vec::new()),
        None => (Source::new(table, path.column()), path.steps().to_vec()),
    }
}

impl Test {
    /// Whether a column that is there passes.
    #[inline]
    pub(crate) fn holds(&self, stored: &Stored<'_>, seen_at: Timestamp) -> Result<bool, Problem> {
        let Some(value) = walk(stored.value, &self.steps)? else { return Ok(false) };
        Ok(match &self.check {
            Check::Compare(how, other) => how.holds(compare_encoded(value, other)?),
            Check::Has => true,
            Check::IsNull => is_null(value),
            Check::HasValue => !is_null(value),
            Check::In(others) => {
                for other in others {
                    if compare_encoded(value, other)? == Some(Ordering::Equal) {
                        return Ok(true);
                    }
                }
                false
            }
            Check::Between(low, high) => {
                Comparison::Ge.holds(compare_encoded(value, low)?)
                    && Comparison::Le.holds(compare_encoded(value, high)?)
            }
            Check::BeginsWith(start) => begins_with(value, start)?,
            Check::Contains(needle) => needle.is_in(value)?,
            Check::WrittenAt(how, time) => {
                stored.written_at.is_some_and(|written_at| how.holds(Some(written_at.cmp(time))))
            }
            Check::IsFresh => seen_at < stored.fresh_until,
            Check::IsStale => seen_at >= stored.fresh_until,
        })
    }
}
