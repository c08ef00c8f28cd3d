//! Walking over a table: the entries of some families side by side, row by row.

use bytes::{Buf, Bytes};
use stonecrop_keys::KeyRange as FieldRange;
use stonecrop_store::{Direction, KeyRange, Read};

use crate::catalog::{Place, TableState};
use crate::clock::Timestamp;
use crate::condition::{Compiled, Test};
use crate::entry::{Columns, Header};
use crate::error::Result;
use crate::read::{Entries, Loader, Moment, Source, Stored};
use crate::record::{LOOSE, PLACE, TIMES, family_prefix, history_prefix};
use crate::value::encode::Problem;

/// The families that have to be walked over to meet every row that a filter may let through.
pub(crate) fn families_for(table: &TableState, filter: Option<&Compiled>) -> Vec<u16> {
    let families: Vec<u16> = match filter.and_then(Compiled::needs_one_of) {
        // Rows without any of these columns can't satisfy the filter.
        Some(columns) => {
            let mut families: Vec<u16> = columns.into_iter().filter_map(Source::family).collect();
            families.sort();
            families.dedup();
            families
        }
        None => [LOOSE].into_iter().chain(table.families()).collect(),
    };
    families.into_iter().filter(|family| *family != LOOSE || table.is_loose()).collect()
}

/// A table at one moment.
#[derive(Clone, Copy)]
pub(crate) struct View<'v> {
    pub(crate) table: &'v TableState,
    pub(crate) source: &'v dyn Read,
    pub(crate) moment: Moment,
}

/// A way through a table.
pub(crate) struct Walk {
    families: Vec<u16>,
    direction: Direction,
    /// What comes after the present stretch, the next one last.
    stretches: Vec<(u8, FieldRange)>,
    /// One for each family, over the present stretch.
    streams: Vec<Stream>,
    /// Where the present row is; its memory is used again.
    place: Vec<u8>,
    /// Those of the present row that can be seen.
    entries: Entries,
    /// Whether the filter is known to be true of the present row.
    passed: bool,
    /// How many rows the gate has turned away.
    turned_away: u64,
}

/// Whether anything may come of a row that the filter seems to let through, by the columns of its
/// entry in a declared family. It is asked only where such an entry is all that was read of the row.
pub(crate) type Gate<'g> = dyn Fn(u16, Columns<'_>) -> Result<bool, Problem> + 'g;

impl Walk {
    /// Over stretches of places, in the order of the walk.
    pub(crate) fn new(
        families: Vec<u16>,
        mut stretches: Vec<(u8, FieldRange)>,
        direction: Direction,
    ) -> Self {
        stretches.reverse();
        Walk {
            families,
            direction,
            stretches,
            streams: Vec::new(),
            place: Vec::new(),
            entries: Entries::default(),
            passed: false,
            turned_away: 0,
        }
    }

    /// The next row of which anything can be seen, unless the filter or the gate lets it not through
    /// at a first look. `check` is called for every entry that is passed over.
    pub(crate) fn next(
        &mut self,
        View { table, source, moment }: View<'_>,
        filter: Option<&Compiled>,
        gate: Option<&Gate<'_>>,
        mut check: impl FnMut() -> Result<()>,
    ) -> Result<Option<Place>> {
        self.passed = false;
        loop {
            self.entries.clear();
            let place = match self.streams.as_slice() {
                [stream] if stream.is_simple() => {
                    self.next_of_one(table, moment, filter, gate, &mut check)?
                }
                _ => self.next_of_many(table, moment)?,
            };
            match place {
                // As of then it may have been there, even if nothing of it can be seen now.
                Some(place) if moment.as_of.is_some() || !self.entries.is_empty() => {
                    return Ok(Some(Place { shard: table.shard(&place), bytes: place }));
                }
                Some(_) => check()?,
                None if self.next_stretch(table, source, moment)? => {}
                None => return Ok(None),
            }
        }
    }

    fn next_stretch(
        &mut self,
        table: &TableState,
        source: &dyn Read,
        moment: Moment,
    ) -> Result<bool> {
        let Some((shard, range)) = self.stretches.pop() else { return Ok(false) };
        self.streams.clear();
        let is_one = self.families.len() == 1 && moment.as_of.is_none();
        for family in &self.families {
            let history = moment.as_of.is_some() && *family != LOOSE;
            let prefixes = [
                Some((family_prefix(table.id, *family), false)),
                history.then(|| (history_prefix(table.id, *family), true)),
            ];
            for (prefix, history) in prefixes.into_iter().flatten() {
                let range = range.clone().under(&prefix);
                let range = KeyRange { start: range.start.into(), end: range.end.map(Into::into) };
                let scan = match is_one {
                    true => source.scan(shard, range, self.direction)?,
                    false => source.scan_ahead(shard, range, self.direction)?,
                };
                self.streams.push(Stream { family: *family, history, scan, head: None });
            }
        }
        if !matches!(self.streams.as_slice(), [stream] if stream.is_simple()) {
            self.streams.iter_mut().try_for_each(|stream| stream.advance(table, &[]))?;
        }
        Ok(true)
    }

    /// Of one declared family every entry is a row, and none has to be held back.
    fn next_of_one(
        &mut self,
        table: &TableState,
        moment: Moment,
        filter: Option<&Compiled>,
        gate: Option<&Gate<'_>>,
        check: &mut impl FnMut() -> Result<()>,
    ) -> Result<Option<Bytes>> {
        let Some(stream) = self.streams.first_mut() else { return Ok(None) };
        let corrupt = |problem| table.corrupt(problem);
        let family = stream.family;
        let sieve = filter.and_then(|filter| Sieve::new(filter, family));
        for entry in &mut stream.scan {
            let (key, value) = entry?;
            let (header, columns) = Header::read(&value).map_err(corrupt)?;
            let columns = Columns::new(columns);
            if !moment.shows(&header) {
                check()?;
                continue;
            }
            if let Some(sieve) = &sieve
                && !sieve.passes(&header, columns.clone(), moment.seen_at()).map_err(corrupt)?
            {
                check()?;
                continue;
            }
            if let Some(gate) = gate
                && !gate(family, columns).map_err(corrupt)?
            {
                self.turned_away += 1;
                check()?;
                continue;
            }
            let place = place_of(key, table)?;
            self.entries.push_seen(family, header, value);
            self.passed = sieve.is_some_and(|sieve| sieve.is_all);
            return Ok(Some(place));
        }
        Ok(None)
    }

    fn next_of_many(&mut self, table: &TableState, moment: Moment) -> Result<Option<Bytes>> {
        if !self.find_nearest() {
            return Ok(None);
        }
        for stream in &mut self.streams {
            while stream.head.as_ref().is_some_and(|head| head.place() == self.place) {
                stream.take(table, moment, &self.place, &mut self.entries)?;
            }
        }
        Ok(Some(Bytes::copy_from_slice(&self.place)))
    }

    /// Finds the place of the row that comes next in any family, if there is one.
    fn find_nearest(&mut self) -> bool {
        let places = self.streams.iter().filter_map(|stream| Some(stream.head.as_ref()?.place()));
        let nearest = match self.direction {
            Direction::Forward => places.min(),
            Direction::Backward => places.max(),
        };
        self.place.clear();
        self.place.extend_from_slice(nearest.unwrap_or_default());
        nearest.is_some()
    }

    /// How many rows the gate has turned away since this was asked.
    pub(crate) fn take_turned_away(&mut self) -> u64 {
        std::mem::take(&mut self.turned_away)
    }

    /// Whether the filter is true of the row that was just met, of which this is known already.
    pub(crate) fn passes(&self, filter: Option<&Compiled>) -> bool {
        filter.is_none() || self.passed
    }

    /// The row that was just met, with what was read of it.
    pub(crate) fn row<'r>(
        &'r mut self,
        View { table, source, moment }: View<'r>,
        place: &'r Place,
    ) -> Loader<'r> {
        if moment.as_of.is_some() {
            return Loader::new(source, table, place, moment);
        }
        let entries = std::mem::take(&mut self.entries);
        Loader::with(source, table, place, moment, entries, &self.families)
    }

    /// Takes the memory of a row's entries back, to be used for the next.
    pub(crate) fn take_back(&mut self, entries: Entries) {
        self.entries = entries;
    }
}

/// A test that the filter asks of the one family that is scanned. Most entries fail it, and need no
/// further look.
struct Sieve<'f> {
    column: u32,
    test: &'f Test,
    /// Whether the filter asks nothing else.
    is_all: bool,
}

impl<'f> Sieve<'f> {
    fn new(filter: &'f Compiled, family: u16) -> Option<Self> {
        let test = filter.required(|test| test.source.family() == Some(family))?;
        match test.source {
            Source::Declared(column) => {
                Some(Sieve { column: column.id, test, is_all: filter.is_only(test) })
            }
            _ => None,
        }
    }

    fn passes(
        &self,
        header: &Header,
        columns: Columns<'_>,
        seen_at: Timestamp,
    ) -> Result<bool, Problem> {
        let Some(stored) = columns.find(self.column)? else { return Ok(false) };
        self.test.holds(&Stored::new(header, stored), seen_at)
    }
}

/// What follows the table and the family in the key of an entry.
fn place_of(mut key: Bytes, table: &TableState) -> Result<Bytes> {
    if key.len() < PLACE {
        return Err(table.corrupt("a key that is too short"));
    }
    key.advance(PLACE);
    Ok(key)
}

/// The entries of one family, in order.
struct Stream {
    family: u16,
    /// Whether these are superseded versions, which only tell that there was a row.
    history: bool,
    scan: stonecrop_store::Scan,
    head: Option<Head>,
}

struct Head {
    /// The key without the table and the family: the place of the row, then the name of a loose
    /// column.
    key: Bytes,
    /// Where the name begins.
    name: usize,
    value: Bytes,
}

impl Head {
    fn place(&self) -> &[u8] {
        self.key.get(..self.name).unwrap_or_default()
    }
}

impl Stream {
    /// Whether every entry is a row of its own.
    fn is_simple(&self) -> bool {
        self.family != LOOSE && !self.history
    }

    /// Goes on to the next entry, which may be of the same row as the last one.
    fn advance(&mut self, table: &TableState, last: &[u8]) -> Result<()> {
        let Some(entry) = self.scan.next() else {
            self.head = None;
            return Ok(());
        };
        let (key, value) = entry?;
        let mut key = place_of(key, table)?;
        if self.history {
            key.truncate(key.len().saturating_sub(TIMES));
        }
        let name = match self.family {
            LOOSE if !last.is_empty() && key.starts_with(last) => last.len(),
            LOOSE => table.split_loose(&key)?.0.len(),
            _ => key.len(),
        };
        self.head = Some(Head { key, name, value });
        Ok(())
    }

    /// Moves the head into the entries of the row at a place, and goes on.
    fn take(
        &mut self,
        table: &TableState,
        moment: Moment,
        place: &[u8],
        entries: &mut Entries,
    ) -> Result<()> {
        if let Some(Head { mut key, name, value }) = self.head.take()
            && !self.history
        {
            key.advance(name.min(key.len()));
            entries.push(table, self.family, key, value, moment)?;
        }
        self.advance(table, place)
    }
}
