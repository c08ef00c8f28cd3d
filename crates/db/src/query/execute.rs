//! Answering a query.

use std::cell::RefCell;
use std::cmp::Ordering;
use std::ops::ControlFlow;
use std::sync::Arc;

use bytes::Bytes;
use stonecrop_keys::Nulls;
use stonecrop_store::{Read, Store};

use crate::ahead::{Ahead, ROWS_AHEAD};
use crate::catalog::{Slot, TableState};
use crate::clock::Clock;
use crate::condition::{Compiled, Condition};
use crate::database::no_table;
use crate::entry::Columns;
use crate::error::{Error, Result};
use crate::query::bounds::Parts;
use crate::query::cursor::{Cursor, Position};
use crate::query::interrupt::Interrupt;
use crate::query::order::{Order, SortValue, Sorted};
use crate::query::plan::{Access, MOST_AMONG, Plan, Question, no_plan};
use crate::query::statistics::Statistics;
use crate::query::visit::{Places, Route, View, Visitor, threads};
use crate::query::{Page, Query, Request, ResponseRow};
use crate::read::{Loader, Moment, Selection, Source};
use crate::row::Row;
use crate::schema::Placement;
use crate::value::encode::Problem;
use crate::walk::{Gate, families_for};

/// How much memory rows that are sorted or returned may take.
const MEMORY_BYTES: usize = 256 << 20;
/// From how many rows on a scan is shared among threads.
const SHARED_ROWS: u64 = 20_000;

/// For how many rows there is room from the start, if as many are asked for.
const PAGE_ROWS: usize = 1_000;

/// A query of one table at one moment.
pub(crate) struct Execution<'q> {
    pub(super) table: Arc<TableState>,
    source: Box<dyn Read>,
    /// Whether each read may wait for another machine.
    reads_may_wait: bool,
    moment: Moment,
    pub(super) query: &'q Query,
    order: Order,
    /// Which of the table's indexes were complete before it was looked at.
    ready: Vec<bool>,
    interrupt: Interrupt,
}

/// A [`Gate`] that knows what was made of the rows so far.
type GateOf<A> = dyn Fn(&A, u16, Columns<'_>) -> Result<bool, Problem> + Sync;

/// The rows of a page so far, and where those were found that another page can begin after.
struct Found {
    rows: Vec<Row>,
    take: Option<usize>,
    first: Option<Cursor>,
    /// Of the last one that fits.
    last: Option<Cursor>,
}

impl Found {
    fn new(take: Option<usize>) -> Self {
        let rows = Vec::with_capacity(take.map_or(0, |take| take.min(PAGE_ROWS).saturating_add(1)));
        Found { rows, take, first: None, last: None }
    }

    fn push(&mut self, row: Row, cursor: impl FnOnce() -> Cursor) {
        self.rows.push(row);
        let (is_first, is_last) = (self.rows.len() == 1, Some(self.rows.len()) == self.take);
        if is_first || is_last {
            let cursor = cursor();
            if is_first {
                self.first = Some(cursor.clone());
            }
            if is_last {
                self.last = Some(cursor);
            }
        }
    }

    fn truncate(&mut self, rows: usize) {
        self.rows.truncate(rows);
        if rows == 0 {
            self.first = None;
        }
        if self.take.is_some_and(|take| rows < take) {
            self.last = None;
        }
    }
}

/// What was done to find rows of one part.
#[derive(Debug)]
pub(super) struct Done {
    pub(super) plan: Plan,
    pub(super) candidates: u64,
    pub(super) rows: u64,
}

/// Which of the rows that are found, in their order, are still wanted.
#[derive(Clone, Copy)]
struct Wanted {
    /// So many are passed over first.
    skip: usize,
    /// So many after that; all of them if none.
    rows: Option<usize>,
}

/// Rows with a value in the first sort field come apart from those without.
struct PartOfOrder {
    number: u8,
    filter: Option<Condition>,
}

impl<'q> Execution<'q> {
    pub(crate) fn new(
        slot: &Slot,
        name: &str,
        store: &dyn Store,
        clock: &Arc<dyn Clock>,
        query: &'q Query,
    ) -> Result<Self> {
        let (table, ready, source) = loop {
            let table = slot.get().ok_or_else(|| no_table(name))?;
            // An index that is completed after the snapshot may lack entries in it.
            let ready = table.indexes.iter().map(|index| index.status.is_ready()).collect();
            let source = store.snapshot()?;
            // What was dropped before the snapshot is no longer kept in it.
            if slot.get().is_some_and(|now| Arc::ptr_eq(&now, &table)) {
                break (table, ready, source);
            }
        };
        let moment = Moment { now: clock.now(), as_of: query.as_of };
        let order = Order::new(&query.sort, &table);
        let interrupt = Interrupt::new(query, clock, moment.now);
        let reads_may_wait = store.reads_may_wait();
        Ok(Execution { table, source, reads_may_wait, moment, query, order, ready, interrupt })
    }

    pub(super) fn view(&self) -> View<'_> {
        View { table: &self.table, source: &*self.source, moment: self.moment }
    }

    fn selection(&self) -> Selection {
        match &self.query.columns {
            None => Selection::all(&self.table),
            Some(names) => Selection::of(&self.table, names.iter().map(String::as_str)),
        }
    }

    pub(super) fn visitor<'v>(
        &'v self,
        filter: Option<&'v Compiled>,
        budget: Option<u64>,
    ) -> Visitor<'v> {
        let interrupt = self.interrupt.clone();
        let (view, gate, among) = (self.view(), None, None);
        let ahead = match self.reads_may_wait {
            true => families_for(&self.table, filter),
            false => Vec::new(),
        };
        Visitor { view, filter, interrupt, gate, among, ahead, candidates: 0, budget }
    }

    pub(super) fn statistics(&self) -> Statistics<'_> {
        Statistics::new(self.view(), &self.interrupt)
    }

    pub(super) fn question<'s>(&'s self, filter: Option<&'s Condition>) -> Question<'s> {
        Question {
            table: &self.table,
            filter,
            order: &self.order,
            columns: self.query.columns.as_deref(),
            take: self.query.take,
            index: self.query.index.as_deref(),
            ready: &self.ready,
            as_of: self.query.as_of.is_some(),
        }
    }

    /// The page that was asked for.
    pub(crate) fn page(&self) -> Result<Page> {
        self.page_explained(&mut Vec::new())
    }

    /// The rows of the page, each with what it is sorted by.
    pub(crate) fn sorted_rows(&self) -> Result<Vec<(Row, Vec<SortValue>)>> {
        let View { table, source, moment } = self.view();
        let with_values = |row: Row| {
            let place = table.place(row.key.values())?;
            let values = self.order.values(&mut Loader::new(source, table, &place, moment))?;
            Ok((row, values))
        };
        self.page()?.rows.into_iter().map(with_values).collect()
    }

    pub(crate) fn response_row(&self, row: Row, request: &Request) -> Result<ResponseRow> {
        ResponseRow::new(&self.table, row, request)
    }

    /// The order of two rows by what they are sorted by.
    pub(crate) fn compare(&self, a: &[SortValue], b: &[SortValue]) -> Ordering {
        self.order.compare_values(a, b)
    }

    /// The page, and what was done for it.
    pub(super) fn page_explained(&self, done: &mut Vec<Done>) -> Result<Page> {
        let query = self.query;
        let cursor = query.cursor.as_deref();
        let cursor = cursor.map(|text| Cursor::read(text, &self.table, query)).transpose()?;
        let selection = self.selection();
        // One more than asked for tells whether there are more.
        let want = query.take.map(|take| take.saturating_add(1));
        let mut wanted = Wanted { skip: query.skip, rows: want };
        let mut found = Found::new(query.take);
        let mut parts = self.parts_of_order()?;
        if let Some(name) = &query.plan
            && !self.plan_names()?.contains(name)
        {
            return Err(no_plan(name));
        }
        if query.backward {
            parts.reverse();
        }
        let start = cursor.as_ref().map(|cursor| cursor.part);
        let reached = parts.iter().position(|part| start.is_none_or(|start| part.number == start));
        for part in parts.iter().skip(reached.unwrap_or_default()) {
            if wanted.rows == Some(0) {
                break;
            }
            let cursor = cursor.as_ref().filter(|cursor| cursor.part == part.number);
            let position = cursor.map(|cursor| &cursor.position);
            self.find(part, position, &mut wanted, &selection, &mut found, done)?;
        }
        let more = query.take.is_some_and(|take| found.rows.len() > take);
        if let Some(take) = query.take {
            found.truncate(take);
        }
        let mut previous = found.first.filter(|_| cursor.is_some() || query.skip > 0);
        let mut next = found.last.filter(|_| more);
        if query.backward {
            found.rows.reverse();
            std::mem::swap(&mut previous, &mut next);
        }
        let text = |cursor: Option<Cursor>| {
            cursor.map(|cursor| cursor.write(&self.table, query)).transpose()
        };
        Ok(Page { next: text(next)?, previous: text(previous)?, rows: found.rows })
    }

    /// The parts that the rows are sorted in, each by itself.
    fn parts_of_order(&self) -> Result<Vec<PartOfOrder>> {
        let filter = self.query.filter.as_ref();
        let parts = Parts::new(filter, &self.table);
        let fields = self.query.sort.iter().zip(&self.order.fields);
        // One value is all that these have.
        let mut open =
            fields.skip_while(|(_, field)| field.steps.is_empty() && parts.pins(&field.source));
        let whole = || vec![PartOfOrder { number: 0, filter: filter.cloned() }];
        let Some((sort, field)) = open.next() else { return Ok(whole()) };
        let is_known = field.steps.is_empty()
            && match &field.source {
                Source::Key(at) => self
                    .table
                    .key
                    .fields()
                    .get(*at)
                    .is_some_and(|field| field.nulls() == Nulls::NotAllowed),
                source => parts.require(source, true),
            };
        if is_known {
            return Ok(whole());
        }
        let and = |condition: Condition| match filter {
            Some(filter) => Some(Condition::All(vec![filter.clone(), condition])),
            None => Some(condition),
        };
        let has_value = Condition::HasValue(sort.field.clone());
        let (with, without) = (and(has_value.clone()), and(has_value.not()));
        let mut parts = vec![
            PartOfOrder { number: 0, filter: with },
            PartOfOrder { number: 1, filter: without },
        ];
        if field.nulls_first {
            parts.reverse();
        }
        Ok(parts)
    }

    /// The plans that there are for any of the parts.
    pub(super) fn plan_names(&self) -> Result<Vec<String>> {
        let mut names = Vec::new();
        for part in self.parts_of_order()? {
            let plans = self.question(part.filter.as_ref()).plans()?;
            names.extend(plans.into_iter().map(|plan| plan.name));
        }
        names.sort();
        names.dedup();
        Ok(names)
    }

    /// Finds rows of a part.
    fn find(
        &self,
        part: &PartOfOrder,
        position: Option<&Position>,
        wanted: &mut Wanted,
        selection: &Selection,
        found: &mut Found,
        done: &mut Vec<Done>,
    ) -> Result<()> {
        let mut statistics = self.statistics();
        let (plan, is_free) = self.choose(part, position, &mut statistics)?;
        if !plan.ordered {
            return self.find_sorted(part, plan, position, wanted, selection, found, done);
        }
        // Along an index nobody knows how long it takes until enough rows pass the filter.
        let hopeful = is_free && position.is_none() && plan.filter.is_some();
        let budget = match plan.access {
            Access::Index { .. }
                if hopeful && wanted.rows.is_some() && !self.order.fields.is_empty() =>
            {
                Some(statistics.rows()? / 8 + 2000)
            }
            _ => None,
        };
        let (before, wanted_before) = (found.rows.len(), *wanted);
        let spent = self.find_in_order(part, &plan, position, wanted, budget, selection, found)?;
        if budget.is_some_and(|budget| spent >= budget) && wanted.rows != Some(0) {
            found.truncate(before);
            *wanted = wanted_before;
            let question = self.question(part.filter.as_ref());
            let mut plans = question.plans()?;
            plans.retain(|other| other.name != plan.name);
            plans.iter_mut().for_each(|plan| plan.ordered = false);
            let plan = question.choose(plans, None, &mut statistics)?;
            return self.find_sorted(part, plan, None, wanted, selection, found, done);
        }
        let rows = (found.rows.len() - before) as u64;
        done.push(Done { plan, candidates: spent, rows });
        Ok(())
    }

    /// The plan for a part, and whether there are others that could take its place.
    fn choose(
        &self,
        part: &PartOfOrder,
        position: Option<&Position>,
        statistics: &mut Statistics<'_>,
    ) -> Result<(Plan, bool)> {
        let question = self.question(part.filter.as_ref());
        let mut plans = question.plans()?;
        match position {
            // The rest is found the way that the rows before were.
            Some(Position::Found { index, .. }) => {
                plans.retain(|plan| plan.ordered && self.index_of(plan) == *index);
            }
            Some(Position::Sorted(_)) => plans.iter_mut().for_each(|plan| plan.ordered = false),
            None => {}
        }
        if plans.is_empty() {
            return Err(Error::Cursor { problem: "its rows can't be found that way any more" });
        }
        let several = plans.len() > 1;
        let name = self.query.plan.as_deref();
        let name = name.filter(|name| several && plans.iter().any(|plan| plan.name == *name));
        let is_free = several && name.is_none();
        Ok((question.choose(plans, name, statistics)?, is_free))
    }

    /// The plan of each part, without following it.
    pub(super) fn chosen(&self) -> Result<Vec<Plan>> {
        let mut statistics = self.statistics();
        let parts = self.parts_of_order()?;
        parts.iter().map(|part| Ok(self.choose(part, None, &mut statistics)?.0)).collect()
    }

    fn index_of(&self, plan: &Plan) -> Option<u16> {
        match plan.access {
            Access::Index { at, .. } => self.table.indexes.get(at).map(|index| index.id),
            _ => None,
        }
    }

    /// The places that the rows of a plan must be among, and what its filter is then.
    fn places<'p>(&self, plan: &'p Plan) -> Result<(Option<Places>, Option<&'p Condition>)> {
        let Some(among) = &plan.among else { return Ok((None, plan.filter.as_ref())) };
        let mut places = Places::default();
        let mut bytes = 0;
        let access = Access::Index { at: among.at, ranges: among.ranges.clone(), covered: true };
        let mut are_all = true;
        self.visitor(None, None).visit(&access, &Route::default(), &mut |row, _| {
            let place = Bytes::copy_from_slice(&row.place().bytes);
            bytes += place.len();
            are_all = (places.len() as u64) < MOST_AMONG && bytes < MEMORY_BYTES / 4;
            places.insert(place);
            Ok(if are_all { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
        })?;
        Ok(match are_all {
            true => (Some(places), plan.filter.as_ref()),
            false => (None, among.filter_alone.as_ref()),
        })
    }

    /// Takes rows as they come; returns how many candidates that took.
    #[expect(clippy::too_many_arguments, reason = "one caller, and all of it is needed")]
    fn find_in_order(
        &self,
        part: &PartOfOrder,
        plan: &Plan,
        position: Option<&Position>,
        wanted: &mut Wanted,
        budget: Option<u64>,
        selection: &Selection,
        found: &mut Found,
    ) -> Result<u64> {
        let (among, filter) = self.places(plan)?;
        let filter = filter.map(|filter| Compiled::new(filter, &self.table));
        let after = match position {
            Some(Position::Found { key, .. }) => Some(key.clone()),
            _ => None,
        };
        let route = Route { after, backward: plan.backward != self.query.backward, segment: None };
        let index = self.index_of(plan);
        let mut memory = Memory::default();
        let mut visitor = self.visitor(filter.as_ref(), budget);
        visitor.among = among.as_ref();
        if wanted.skip > 0 && filter.is_none() {
            // Nothing is read of those that are passed over.
            visitor.ahead.clear();
        } else if self.reads_may_wait && matches!(plan.access, Access::Index { .. }) {
            visitor.read_ahead(selection.families());
        }
        if wanted.rows == Some(0) {
            return Ok(0);
        }
        visitor.visit(&plan.access, &route, &mut |row, values| {
            if wanted.skip > 0 {
                wanted.skip -= 1;
                return Ok(ControlFlow::Continue(()));
            }
            let known = row.known_row(selection)?;
            memory.take(row.size())?;
            found.push(known, || {
                let key = [values, &row.place().bytes].concat().into();
                Cursor { part: part.number, position: Position::Found { index, key } }
            });
            if let Some(rows) = &mut wanted.rows {
                *rows -= 1;
            }
            Ok(if wanted.rows == Some(0) {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            })
        })?;
        Ok(visitor.candidates)
    }

    /// Looks at all candidates, and sorts.
    #[expect(clippy::too_many_arguments, reason = "one caller, and all of it is needed")]
    fn find_sorted(
        &self,
        part: &PartOfOrder,
        plan: Plan,
        position: Option<&Position>,
        wanted: &mut Wanted,
        selection: &Selection,
        found: &mut Found,
        done: &mut Vec<Done>,
    ) -> Result<()> {
        let want = wanted.rows.map(|rows| rows.saturating_add(wanted.skip));
        let bound = match position {
            Some(Position::Sorted(sorted)) => Some(sorted),
            _ => None,
        };
        let order = Directed { order: &self.order, backward: self.query.backward };
        let make = || Top::new(order, bound, want);
        let gate = |top: &Top<'_>, family, columns: Columns<'_>| top.may_add(family, columns);
        let (tops, candidates) =
            self.fold_gated(&plan, make, |top, row| top.add(row), Some(&gate))?;
        let mut rows = Vec::new();
        for top in tops {
            rows.extend(top.rows);
        }
        rows.sort_unstable_by(|a, b| order.compare(a, b));
        rows.truncate(want.unwrap_or(usize::MAX));
        let skipped = wanted.skip.min(rows.len());
        rows.drain(..skipped);
        wanted.skip -= skipped;
        wanted.rows = wanted.rows.map(|wanted| wanted.saturating_sub(rows.len()));
        let mut memory = Memory::default();
        done.push(Done { plan, candidates, rows: rows.len() as u64 });
        let View { table, source, moment } = self.view();
        let families: Vec<u16> = match self.reads_may_wait {
            true => selection.families().collect(),
            false => Vec::new(),
        };
        for rows in rows.chunks(ROWS_AHEAD) {
            let places = rows.iter().map(|sorted| &sorted.place);
            let source = Ahead::read(source, table, &families, places)?;
            for sorted in rows {
                let mut row = Loader::new(&source, table, &sorted.place, moment);
                let known = row.known_row(selection)?;
                memory.take(row.size())?;
                found.push(known, || {
                    let position = Position::Sorted(sorted.clone());
                    Cursor { part: part.number, position }
                });
            }
        }
        Ok(())
    }

    /// Does something with every row of a plan, in any order, with several threads if there are
    /// many. Returns what each of them made, and how many candidates they looked at.
    pub(super) fn fold<A: Send>(
        &self,
        plan: &Plan,
        make: impl Fn() -> A + Sync,
        step: impl Fn(&mut A, &mut Loader<'_>) -> Result<()> + Sync,
    ) -> Result<(Vec<A>, u64)> {
        self.fold_gated(plan, make, step, None)
    }

    /// The same without the rows that what was made so far has no use for.
    fn fold_gated<A: Send>(
        &self,
        plan: &Plan,
        make: impl Fn() -> A + Sync,
        step: impl Fn(&mut A, &mut Loader<'_>) -> Result<()> + Sync,
        gate: Option<&GateOf<A>>,
    ) -> Result<(Vec<A>, u64)> {
        let (among, filter) = self.places(plan)?;
        let filter = filter.map(|filter| Compiled::new(filter, &self.table));
        let filter = filter.as_ref();
        let run = |segment: Option<(usize, usize)>| {
            let made = RefCell::new(make());
            let gate = gate
                .map(|gate| |family, columns: Columns<'_>| gate(&made.borrow(), family, columns));
            let mut visitor = self.visitor(filter, None);
            if self.reads_may_wait {
                let fields = self.order.fields.iter();
                visitor.read_ahead(fields.filter_map(|field| field.source.family()));
            }
            visitor.among = among.as_ref();
            visitor.gate = gate.as_ref().map(|gate| gate as &Gate<'_>);
            let route = Route { segment, ..Route::default() };
            visitor.visit(&plan.access, &route, &mut |row, _| {
                step(&mut made.borrow_mut(), row)?;
                Ok(ControlFlow::Continue(()))
            })?;
            let candidates = visitor.candidates;
            Ok((made.into_inner(), candidates))
        };
        let hashed = self.table.schema.placement == Placement::Hash;
        let shared = matches!(plan.access, Access::Everything) && hashed && threads() > 1;
        if !shared || self.statistics().rows()? < SHARED_ROWS {
            let (made, candidates) = run(None)?;
            return Ok((vec![made], candidates));
        }
        let results: Vec<Result<(A, u64)>> = std::thread::scope(|scope| {
            let run = &run;
            let of = threads();
            let started: Vec<_> =
                (0..of).map(|segment| scope.spawn(move || run(Some((segment, of))))).collect();
            let ended = started.into_iter().map(|thread| {
                thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            });
            ended.collect()
        });
        let mut all = Vec::new();
        let mut candidates = 0;
        for result in results {
            let (made, looked_at) = result?;
            all.push(made);
            candidates += looked_at;
        }
        Ok((all, candidates))
    }
}

/// The order of a query, or its reverse.
#[derive(Clone, Copy)]
struct Directed<'o> {
    order: &'o Order,
    backward: bool,
}

impl Directed<'_> {
    fn compare(&self, a: &Sorted, b: &Sorted) -> Ordering {
        let order = self.order.compare(a, b);
        if self.backward { order.reverse() } else { order }
    }
}

/// The first rows in an order, of all that were added.
struct Top<'o> {
    order: Directed<'o>,
    /// Only those after this one.
    bound: Option<&'o Sorted>,
    want: Option<usize>,
    rows: Vec<Sorted>,
    /// Whether the first `want` rows are the first of all so far, with the last of them at its end.
    settled: bool,
    memory: Memory,
}

impl<'o> Top<'o> {
    fn new(order: Directed<'o>, bound: Option<&'o Sorted>, want: Option<usize>) -> Self {
        Top { order, bound, want, rows: Vec::new(), settled: false, memory: Memory::default() }
    }

    /// A row that `want` rows so far are before.
    fn worst(&self) -> Option<&Sorted> {
        let last = self.want?.checked_sub(1).filter(|_| self.settled)?;
        self.rows.get(last)
    }

    /// Whether a row may be among the first, by the columns of one family.
    fn may_add(&self, family: u16, columns: Columns<'_>) -> Result<bool, Problem> {
        match self.worst() {
            Some(worst) if !self.order.backward => {
                Ok(!self.order.order.is_after_in(family, columns, worst)?)
            }
            _ => Ok(true),
        }
    }

    fn add(&mut self, row: &mut Loader<'_>) -> Result<()> {
        let want = self.want.unwrap_or(usize::MAX);
        let worst = self.worst();
        if let Some(worst) = worst
            && !self.order.backward
            && self.order.order.is_after(row, worst)?
        {
            return Ok(());
        }
        let values = self.order.order.values(row)?;
        let sorted = Sorted { values, place: row.place().clone() };
        let is_late = worst.is_some_and(|worst| self.order.compare(&sorted, worst).is_ge());
        let is_early = self.bound.is_some_and(|bound| self.order.compare(&sorted, bound).is_le());
        if is_late || is_early {
            return Ok(());
        }
        let sorted = sorted.detached();
        self.memory.bytes += sorted.size();
        self.rows.push(sorted);
        let many = want.saturating_add(want / 4 + 1);
        let are_heavy = self.memory.bytes > MEMORY_BYTES / 2 && self.rows.len() > many;
        if are_heavy || self.rows.len() >= want.saturating_mul(2).max(512) {
            let order = self.order;
            self.rows.select_nth_unstable_by(want.saturating_sub(1), |a, b| order.compare(a, b));
            self.rows.truncate(want);
            self.settled = true;
            self.memory.bytes = self.rows.iter().map(Sorted::size).sum();
        }
        self.memory.take(0)
    }
}

/// Memory that was taken, up to a limit.
#[derive(Default)]
struct Memory {
    bytes: usize,
}

impl Memory {
    fn take(&mut self, bytes: usize) -> Result<()> {
        self.bytes += bytes;
        if self.bytes <= MEMORY_BYTES {
            return Ok(());
        }
        Err(Error::Query {
            problem: format!(
                "its rows take more than {} MiB; ask for fewer with `take`, and go on from the \
                 cursor",
                MEMORY_BYTES >> 20
            ),
        })
    }
}
