//! Going over the candidates of a plan, one by one.

use std::collections::{HashSet, VecDeque};
use std::ops::ControlFlow;

use bytes::{Buf, Bytes};
use stonecrop_keys::KeyRange as FieldRange;
use stonecrop_store::{Direction, KeyRange, Scan};

use crate::ahead::{Ahead, ROWS_AHEAD};
use crate::catalog::Place;
use crate::condition::Compiled;
use crate::error::Result;
use crate::index::{self, IndexState};
use crate::query::interrupt::Interrupt;
use crate::query::plan::Access;
use crate::read::{Entries, Loader};
use crate::record::{LOOSE, PLACE, index_prefix};
pub(super) use crate::walk::View;
use crate::walk::{Gate, Walk, families_for};

/// How many threads a scan of a whole table is shared among, at most.
const MOST_THREADS: usize = 8;

pub(super) fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, |cores| cores.get().min(MOST_THREADS))
}

/// Where to begin, and which way to go.
#[derive(Clone, Debug, Default)]
pub(super) struct Route {
    /// The candidate that comes just before the first: its key without the prefix of all.
    pub(super) after: Option<Bytes>,
    pub(super) backward: bool,
    /// Only this part of a whole table, of so many.
    pub(super) segment: Option<(usize, usize)>,
}

/// Goes over candidates and lets those through that the filter is true of.
pub(super) struct Visitor<'q> {
    pub(super) view: View<'q>,
    pub(super) filter: Option<&'q Compiled>,
    pub(super) interrupt: Interrupt,
    pub(super) gate: Option<&'q Gate<'q>>,
    /// Only rows in these places, if there are any.
    pub(super) among: Option<&'q Places>,
    /// What is read of rows before it is asked for, of several at once.
    pub(super) ahead: Vec<u16>,
    /// How many candidates were looked at.
    pub(super) candidates: u64,
    /// How many candidates may be looked at; beyond that it ends as if told to.
    pub(super) budget: Option<u64>,
}

/// Places of rows.
pub(super) type Places = HashSet<Bytes, foldhash::fast::RandomState>;

/// Told each row that is let through, and what comes before its place in the entry of the index that
/// it was found by: the encoded values of the columns. Nothing where it was found by its own key.
pub(super) type Visit<'v> = dyn FnMut(&mut Loader<'_>, &[u8]) -> Result<ControlFlow<()>> + 'v;

impl<'q> Visitor<'q> {
    pub(super) fn visit(
        &mut self,
        access: &Access,
        route: &Route,
        visit: &mut Visit<'_>,
    ) -> Result<()> {
        self.interrupt.check_now()?;
        match access {
            Access::Points(places) => self.visit_points(places, route, visit),
            Access::Keys(stretches) => self.walk(stretches.clone(), route, visit),
            Access::Everything => {
                let (segment, of) = route.segment.unwrap_or((0, 1));
                self.walk(self.view.table.segment(segment, of), route, visit)
            }
            Access::Index { at, ranges, covered } => match self.view.table.indexes.get(*at) {
                Some(index) => self.visit_index(index, ranges, *covered, route, visit),
                None => Ok(()),
            },
        }
    }

    /// Has more families read ahead.
    pub(super) fn read_ahead(&mut self, families: impl Iterator<Item = u16>) {
        self.ahead.extend(families);
        self.ahead.sort_unstable();
        self.ahead.dedup();
    }

    /// Counts a candidate; breaks where there may be no more.
    #[inline]
    fn next(&mut self) -> Result<ControlFlow<()>> {
        self.interrupt.check()?;
        if self.budget.is_some_and(|budget| self.candidates >= budget) {
            return Ok(ControlFlow::Break(()));
        }
        self.candidates += 1;
        Ok(ControlFlow::Continue(()))
    }

    fn passes(&self, row: &mut Loader<'_>) -> Result<bool> {
        match self.filter {
            Some(filter) => filter.holds(row),
            None => Ok(true),
        }
    }

    fn visit_points(
        &mut self,
        places: &[Place],
        route: &Route,
        visit: &mut Visit<'_>,
    ) -> Result<()> {
        let View { table, source, moment } = self.view;
        let mut places: Vec<&Place> = places.iter().collect();
        if route.backward {
            places.reverse();
        }
        for place in places {
            let is_before = route.after.as_ref().is_some_and(|after| match route.backward {
                false => place.bytes <= *after,
                true => place.bytes >= *after,
            });
            if is_before {
                continue;
            }
            if self.next()?.is_break() {
                return Ok(());
            }
            let mut row = Loader::new(source, table, place, moment);
            if row.exists()? && self.passes(&mut row)? && visit(&mut row, &[])?.is_break() {
                return Ok(());
            }
        }
        Ok(())
    }

    fn walk(
        &mut self,
        mut stretches: Vec<(u8, FieldRange)>,
        route: &Route,
        visit: &mut Visit<'_>,
    ) -> Result<()> {
        let view = self.view;
        if let Some(after) = &route.after {
            let rest = rest(after, route.backward, true);
            stretches.iter_mut().for_each(|(_, range)| {
                *range = range.clone().intersect(rest.clone());
            });
            stretches.retain(|(_, range)| !range.is_empty());
        }
        let direction = if route.backward { Direction::Backward } else { Direction::Forward };
        if route.backward {
            stretches.reverse();
        }
        let families = match self.ahead.is_empty() {
            true => families_for(view.table, self.filter),
            // Side by side with the others they come without a wait for each row.
            false => self.ahead.clone(),
        };
        let mut walk = Walk::new(families, stretches, direction);
        loop {
            let next = walk.next(view, self.filter, self.gate, || self.interrupt.check())?;
            self.candidates += walk.take_turned_away();
            let Some(place) = next else { return Ok(()) };
            if self.next()?.is_break() {
                return Ok(());
            }
            let is_now = view.moment.as_of.is_none();
            let known = is_now && walk.passes(self.filter);
            let mut row = walk.row(view, &place);
            let is_there = is_now || row.exists()?;
            let passes = known || is_there && self.passes(&mut row)?;
            if passes && visit(&mut row, &[])?.is_break() {
                return Ok(());
            }
            let entries = row.into_entries();
            walk.take_back(entries);
        }
    }

    fn visit_index(
        &mut self,
        index: &IndexState,
        ranges: &[FieldRange],
        covered: bool,
        route: &Route,
        visit: &mut Visit<'_>,
    ) -> Result<()> {
        let View { table, moment, .. } = self.view;
        // Of a row that is covered nothing more is read.
        let all: Vec<u16> = [LOOSE].into_iter().chain(table.families()).collect();
        let given: &[u16] = if covered { &all } else { &[] };
        let mut ranges: Vec<&FieldRange> = ranges.iter().collect();
        if route.backward {
            ranges.reverse();
        }
        let mut entries = Entries::default();
        let mut values = Vec::new();
        for range in ranges {
            let mut range = range.clone();
            if let Some(after) = &route.after {
                range = range.intersect(rest(after, route.backward, false));
            }
            if range.is_empty() {
                continue;
            }
            self.interrupt.check_now()?;
            let merge = Merge::new(self.view, index, &range, route.backward)?;
            let ahead = if covered { Vec::new() } else { self.ahead.clone() };
            let mut leads = Leads::new(self.view, merge, ahead);
            while let Some((shard, mut key, value)) = leads.next()? {
                if index::gone_at(&value).is_none_or(|at| at <= moment.now) {
                    self.interrupt.check()?;
                    continue;
                }
                if self.next()?.is_break() {
                    return Ok(());
                }
                let corrupt = |problem| index.corrupt(table, problem);
                let start = index::place_start(&key, &value).map_err(corrupt)?;
                values.clear();
                values.extend_from_slice(key.get(PLACE..start).unwrap_or_default());
                // The rest of the key as it is: to share it would take an allocation.
                key.advance(start);
                let place = Place { shard, bytes: key };
                if self.among.is_some_and(|among| !among.contains(&place.bytes)) {
                    continue;
                }
                if covered {
                    entries.clear();
                    for (family, name, entry) in index::copies(&value).map_err(corrupt)? {
                        entries.push(table, family, name, entry, moment)?;
                    }
                }
                // Only rows that are there have entries.
                let row = Loader::with(&leads.rows, table, &place, moment, entries, given);
                let mut row = row.known();
                if self.passes(&mut row)? && visit(&mut row, &values)?.is_break() {
                    return Ok(());
                }
                entries = row.into_entries();
                entries.clear();
            }
        }
        Ok(())
    }
}

/// What lies beyond a candidate.
fn rest(after: &Bytes, backward: bool, is_prefix: bool) -> FieldRange {
    match backward {
        true => FieldRange { start: Vec::new(), end: Some(after.to_vec()) },
        // No row's place begins with that of another.
        false if is_prefix => FieldRange {
            start: FieldRange::prefix(after.clone()).end.unwrap_or_default(),
            end: None,
        },
        false => FieldRange { start: [after, &[0][..]].concat(), end: None },
    }
}

/// How many entries of an index are taken at first, to read the rows of all of them at once; those
/// who need few rows wait for no more.
const FIRST_AHEAD: usize = 16;
/// After so many bytes fewer rows are read at once.
const BYTES_AHEAD: usize = 1 << 20;

/// The entries of an index, and the rows that the next ones lead to, if these are read ahead.
struct Leads<'q> {
    view: View<'q>,
    merge: Merge,
    /// What is read of them; nothing is read ahead without.
    families: Vec<u16>,
    taken: VecDeque<(u8, Bytes, Bytes)>,
    count: usize,
    rows: Ahead<'q>,
}

impl<'q> Leads<'q> {
    fn new(view: View<'q>, merge: Merge, families: Vec<u16>) -> Self {
        let rows = Ahead::nothing(view.source);
        Leads { view, merge, families, taken: VecDeque::new(), count: FIRST_AHEAD, rows }
    }

    fn next(&mut self) -> Result<Option<(u8, Bytes, Bytes)>> {
        if self.families.is_empty() {
            return self.merge.next();
        }
        if self.taken.is_empty() {
            self.take()?;
        }
        Ok(self.taken.pop_front())
    }

    fn take(&mut self) -> Result<()> {
        while self.taken.len() < self.count
            && let Some(entry) = self.merge.next()?
        {
            self.taken.push_back(entry);
        }
        // Of one that can't be read its own turn tells what is wrong.
        let place = |(shard, key, value): &(u8, Bytes, Bytes)| {
            let start = index::place_start(key, value).ok()?;
            Some(Place { shard: *shard, bytes: key.slice(start.min(key.len())..) })
        };
        let places: Vec<Place> = self.taken.iter().filter_map(place).collect();
        let View { source, table, .. } = self.view;
        self.rows = Ahead::read(source, table, &self.families, places.iter())?;
        self.count = match self.rows.size() > BYTES_AHEAD {
            true => (self.count / 2).max(1),
            false => (self.count * 2).min(ROWS_AHEAD),
        };
        Ok(())
    }
}

/// The entries of an index in a range, from all shards in one order.
struct Merge {
    streams: Vec<Stream>,
    backward: bool,
}

struct Stream {
    shard: u8,
    scan: Scan,
    head: Option<(Bytes, Bytes)>,
}

impl Merge {
    fn new(view: View<'_>, index: &IndexState, range: &FieldRange, backward: bool) -> Result<Self> {
        let direction = if backward { Direction::Backward } else { Direction::Forward };
        let range = range.clone().under(&index_prefix(view.table.id, index.id));
        let range = KeyRange { start: range.start.into(), end: range.end.map(Into::into) };
        let shards: Vec<u8> = view.table.shards().collect();
        let mut streams = Vec::with_capacity(shards.len());
        for shard in &shards {
            let (shard, range) = (*shard, range.clone());
            let scan = match shards.len() {
                1 => view.source.scan(shard, range, direction)?,
                _ => view.source.scan_ahead(shard, range, direction)?,
            };
            streams.push(Stream { shard, scan, head: None });
        }
        for Stream { scan, head, .. } in &mut streams {
            *head = scan.next().transpose()?;
        }
        Ok(Merge { streams, backward })
    }

    fn next(&mut self) -> Result<Option<(u8, Bytes, Bytes)>> {
        let backward = self.backward;
        let key = |stream: &Stream| stream.head.as_ref().map(|(key, _)| key.clone());
        let first = match self.streams.as_mut_slice() {
            [only] => Some(only),
            streams => {
                let open = streams.iter_mut().filter(|stream| stream.head.is_some());
                open.min_by(|a, b| {
                    let order = key(a).cmp(&key(b));
                    if backward { order.reverse() } else { order }
                })
            }
        };
        let Some(Stream { shard, scan, head }) = first else { return Ok(None) };
        let Some((key, value)) = head.take() else { return Ok(None) };
        *head = scan.next().transpose()?;
        Ok(Some((*shard, key, value)))
    }
}
