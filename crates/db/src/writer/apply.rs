//! What a write does to a row, given what the row holds.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use stonecrop_store::{Direction, Read};

use crate::catalog::{self, Place, TableState, loose_prefix};
use crate::clock::Timestamp;
use crate::entry::{HEADER_BYTES, Header};
use crate::error::{Error, Result};
use crate::index::entries_of;
use crate::read::{Loader, Moment, Selection};
use crate::record::{LOOSE, Record, entry_key, history_key, history_range, record};
use crate::schema::History;
use crate::write::{Decision, WriteKind};
use crate::writer::Outcome;
use crate::writer::changes::Draft;
use crate::writer::pending::Pending;
use crate::writer::prepare::{
    Content, Prepared, PreparedFamily, Target, check_size, merge_columns,
};

/// How long a removal is remembered, for late writes to be held against.
const LATE_WRITES: Duration = Duration::from_secs(24 * 3600);
/// Where the removal of a whole row is kept, among its loose columns; no column has this name.
const ROW_REMOVAL: &str = "\0";
/// Where it is kept that a row is there, if it has no columns.
const PRESENCE: &str = "";
/// What a row without columns is called in an outcome.
const ROW: &str = "row";

/// Applies the writes of one caller, all or none of them.
pub(crate) struct Request<'p, 's> {
    pub(super) pending: &'p mut Pending<'s>,
    pub(super) now: Timestamp,
    /// The tables that were written to, and the latest time of it.
    touched: Vec<(Arc<TableState>, Timestamp)>,
    /// The changes that are to be recorded once all writes are applied.
    pub(super) drafts: Vec<Draft>,
}

impl<'p, 's> Request<'p, 's> {
    pub(crate) fn new(pending: &'p mut Pending<'s>, now: Timestamp) -> Self {
        Request { pending, now, touched: Vec::new(), drafts: Vec::new() }
    }

    /// Adds what the writes do to the pending operations; on an error they are as before.
    pub(crate) fn apply(mut self, writes: Vec<Prepared>) -> Result<Vec<Outcome>> {
        let before = self.pending.len();
        let are_several = writes.len() > 1;
        let mut outcomes = Vec::with_capacity(writes.len());
        let mut rest = writes.into_iter();
        for index in 0..rest.len() {
            self.pending.begin(rest.as_slice());
            let Some(write) = rest.next() else { break };
            match self.apply_write(write, index) {
                Ok(outcome) => outcomes.push(outcome),
                Err(error) => {
                    self.pending.truncate(before);
                    self.pending.pass_over(rest.len());
                    return Err(if are_several { error.in_write(index) } else { error });
                }
            }
        }
        self.record_activity().inspect_err(|_| self.pending.truncate(before))?;
        self.record_changes();
        Ok(outcomes)
    }

    /// What the catalog must know before these writes are on disk.
    fn record_activity(&mut self) -> Result<()> {
        for (table, at) in &self.touched {
            let definition =
                table.activity.must_store_loose().then(|| catalog::table_record(table));
            let ceiling = table.activity.raise_ceiling(*at);
            let ceiling = ceiling.map(|ceiling| catalog::ceiling_record(table.id, ceiling));
            for (key, value) in definition.transpose()?.into_iter().chain(ceiling) {
                self.pending.put_in_catalog(key, value);
            }
        }
        Ok(())
    }

    fn touch(&mut self, table: &Arc<TableState>, at: Timestamp) {
        table.activity.note(at);
        match self.touched.iter_mut().find(|(touched, _)| touched.id == table.id) {
            Some((_, latest)) => *latest = at.max(*latest),
            None => self.touched.push((table.clone(), at)),
        }
    }

    fn apply_write(&mut self, write: Prepared, index: usize) -> Result<Outcome> {
        if let Some(condition) = &write.condition {
            let moment = Moment::now(self.now);
            let mut row =
                Loader::new(self.pending.view(), &write.target.table, &write.place, moment);
            if !condition.holds(&mut row)? {
                return Err(Error::ConditionFailed { write: index });
            }
        }
        let write = match self.decided(write)? {
            Some(write) => write,
            None => return Ok(Outcome { written_at: self.now, ignored: Vec::new() }),
        };
        let is_new = write.target.table.activity.meet(&write.place.bytes);
        let watched = self.watch(&write, is_new)?;
        let before = self.row_before(&write, is_new)?;
        let written_at = write.written_at.unwrap_or(self.now);
        let mut row = RowWrite {
            wins: written_at >= write.target.table.activity.newest(),
            explicit: write.written_at.is_some(),
            written_at,
            removed_at: written_at,
            target: write.target,
            shard: write.place.shard,
            place: write.place.bytes,
            ignored: Vec::new(),
        };
        self.touch(row.table(), written_at);
        if row.explicit && !row.wins && self.was_removed_since(&row)? {
            row.ignored = write.families.iter().map(|family| row.name(family)).collect();
            if write.families.is_empty() {
                row.ignored.push(ROW.to_owned());
            }
            return Ok(row.outcome());
        }
        if matches!(write.kind, WriteKind::Replace | WriteKind::Delete) {
            self.remove_others(&mut row, &write.families)?;
        }
        if write.families.is_empty() && matches!(write.kind, WriteKind::Put | WriteKind::Replace) {
            self.put_presence(&mut row)?;
        }
        for family in write.families {
            self.put_family(&mut row, family)?;
        }
        if let Some(at) = write.gone_at {
            self.expire(&row, at)?;
        }
        self.maintain(&row, watched, index)?;
        self.draft_change(&row, before)?;
        Ok(row.outcome())
    }

    /// What is to be written, if a function decides on it.
    fn decided(&mut self, write: Prepared) -> Result<Option<Prepared>> {
        let Some(decide) = &write.decide else { return Ok(Some(write)) };
        let row = match write.is_new() {
            true => None,
            false => {
                let moment = Moment::now(self.now);
                let view = self.pending.view();
                let mut row = Loader::new(view, &write.target.table, &write.place, moment);
                row.row(&Selection::all(&write.target.table))?
            }
        };
        let decided = match (decide.ask)(row.as_ref())? {
            Decision::AsIs => {
                return match write.problem {
                    Some(problem) => Err(*problem),
                    None => Ok(Some(write)),
                };
            }
            Decision::Nothing => return Ok(None),
            Decision::Instead(decided) => decided,
        };
        if decided.decide.is_some() || decided.condition.is_some() {
            let reason = "what a function decided on has no condition, and nothing to decide";
            return Err(Error::Refused { reason: reason.to_owned() });
        }
        Prepared::new(&write.target, &decided).map(Some)
    }

    fn was_removed_since(&mut self, row: &RowWrite) -> Result<bool> {
        let key = row.key(LOOSE, ROW_REMOVAL);
        let Some((removal, _)) = self.stored(row, &key)? else { return Ok(false) };
        Ok(self.stands(&removal) && removal.written_at > row.written_at)
    }

    /// Whether a header still says anything: what is gone is as if it had never been.
    fn stands(&self, header: &Header) -> bool {
        self.now < header.gone_at
    }

    fn stored(&mut self, row: &RowWrite, key: &[u8]) -> Result<Option<(Header, Bytes)>> {
        let Some(value) = self.pending.point_view().get(row.shard, key)? else { return Ok(None) };
        let (header, _) = Header::read(&value).map_err(|problem| row.table().corrupt(problem))?;
        Ok(Some((header, value)))
    }

    /// Makes a row without columns be there.
    fn put_presence(&mut self, row: &mut RowWrite) -> Result<()> {
        row.table().activity.set_loose();
        let key = row.key(LOOSE, PRESENCE);
        let stored = self.stored(row, &key)?.map(|(header, _)| header);
        match row.order(stored.as_ref().filter(|header| self.stands(header))) {
            Some(written_at) => {
                let header = Header::new(written_at, Default::default());
                self.pending.put(row.shard, key, header.to_bytes().to_vec());
            }
            None => row.ignored.push(ROW.to_owned()),
        }
        Ok(())
    }

    fn put_family(&mut self, row: &mut RowWrite, family: PreparedFamily) -> Result<()> {
        let key = row.key(family.family, &family.name);
        let history = row.history(family.family);
        if family.family == LOOSE {
            row.table().activity.set_loose();
        }
        let blind = row.wins && history == History::None;
        if blind && let Content::Whole(entry) = family.content {
            let header = Header::new(row.written_at, family.lifetime);
            self.pending.put(row.shard, key, with_header(entry, header));
            return Ok(());
        }
        let stored = self.stored(row, &key)?.filter(|(header, _)| self.stands(header));
        let Some(written_at) = row.order(stored.as_ref().map(|(header, _)| header)) else {
            let name = row.name(&family);
            row.ignored.push(name);
            return Ok(());
        };
        let visible = stored.filter(|(header, _)| !header.removed);
        let corrupt = |problem| row.table().corrupt(problem);
        let columns = visible.as_ref().map_or(&[][..], |(_, value)| columns(value));
        let header = Header::new(written_at, family.lifetime);
        let entry = match &family.content {
            Content::Whole(entry) => Some(entry.clone()),
            Content::Changes(changes) if family.family == LOOSE => {
                let old = visible.as_ref().map(|_| columns);
                let Some((_, change)) = changes.first() else { return Ok(()) };
                let value = change.apply(old, corrupt)?;
                value.map(|value| [&[0; HEADER_BYTES][..], &value].concat())
            }
            Content::Changes(changes) => Some(merge_columns(columns, changes, corrupt)?),
        };
        if let Some((old, value)) = &visible {
            self.supersede(row, family.family, *old, value.clone(), written_at)?;
        }
        match entry {
            Some(entry) => {
                check_size(&row.name(&family), entry.len())?;
                self.pending.put(row.shard, key, with_header(entry, header));
            }
            None => self.pending.put(row.shard, key, self.removal(written_at)),
        }
        Ok(())
    }

    /// Makes all that the row holds be gone at a time, or when its family says, if that is earlier.
    fn expire(&mut self, row: &RowWrite, at: Timestamp) -> Result<()> {
        let place = Place { shard: row.shard, bytes: row.place.clone() };
        for (key, value) in entries_of(self.pending.view(), row.table(), &place)? {
            let (header, _) = Header::read(&value).map_err(|p| row.table().corrupt(p))?;
            let family = match record(&key) {
                Some(Record::Row { family, .. }) => row.table().family(family),
                _ => None,
            };
            let keep = family.and_then(|family| family.lifetime.keep);
            let own = keep.map_or(Timestamp::NEVER, |keep| header.fresh_until + keep);
            let gone_at = own.min(at);
            if header.is_visible(self.now) && header.gone_at != gone_at {
                let entry = with_header(value.to_vec(), Header { gone_at, ..header });
                self.pending.put(row.shard, key, entry);
            }
        }
        Ok(())
    }

    fn removal(&self, written_at: Timestamp) -> Vec<u8> {
        let until = written_at.max(self.now) + LATE_WRITES;
        Header::removal(written_at, until).to_bytes().to_vec()
    }

    /// Removes every family that is not written anew, and leaves word of it for late writes.
    fn remove_others(&mut self, row: &mut RowWrite, kept: &[PreparedFamily]) -> Result<()> {
        for family in row.table().families() {
            if !kept.iter().any(|written| written.family == family) {
                self.remove_family(row, family, row.key(family, ""))?;
            }
        }
        if row.table().is_loose() {
            let prefix = loose_prefix(row.table(), &row.place);
            let entries =
                self.pending.view().scan_prefix(row.shard, &prefix, Direction::Forward)?;
            let keys = entries.map(|entry| entry.map(|(key, _)| key));
            for key in keys.collect::<stonecrop_store::Result<Vec<_>>>()? {
                let name = key.get(prefix.len()..).unwrap_or_default();
                let is_kept = |written: &&PreparedFamily| {
                    written.family == LOOSE && written.name.as_bytes() == name
                };
                if name != ROW_REMOVAL.as_bytes() && kept.iter().find(is_kept).is_none() {
                    self.remove_family(row, LOOSE, key)?;
                }
            }
        }
        let key = row.key(LOOSE, ROW_REMOVAL);
        let stored = self.stored(row, &key)?.map(|(header, _)| header);
        let standing = stored.filter(|header| self.stands(header));
        let written_at = standing.map_or(row.removed_at, |h| h.written_at.max(row.removed_at));
        self.pending.put(row.shard, key, self.removal(written_at));
        Ok(())
    }

    fn remove_family(&mut self, row: &mut RowWrite, family: u16, key: Bytes) -> Result<()> {
        let Some((header, value)) = self.stored(row, &key)? else { return Ok(()) };
        let standing = Some(&header).filter(|header| self.stands(header));
        let Some(written_at) = row.order(standing) else {
            let name = key.get(row.place.len() + crate::record::PLACE..).unwrap_or_default();
            let name = if name.is_empty() { ROW.as_bytes() } else { name };
            let family = row.table().family(family).map(|family| family.name().to_owned());
            row.ignored.push(family.unwrap_or_else(|| String::from_utf8_lossy(name).into_owned()));
            return Ok(());
        };
        row.removed_at = row.removed_at.max(written_at);
        if header.is_visible(self.now) {
            self.supersede(row, family, header, value, written_at)?;
            if row.history(family) != History::None {
                let removal = Header::removal(written_at, Timestamp::NEVER);
                self.push_version(
                    row,
                    family,
                    removal,
                    removal.to_bytes().to_vec().into(),
                    written_at,
                )?;
            }
        }
        self.pending.delete(row.shard, key);
        Ok(())
    }

    /// Keeps a version that is no longer the present one, if its family has a history.
    fn supersede(
        &mut self,
        row: &RowWrite,
        family: u16,
        old: Header,
        value: Bytes,
        at: Timestamp,
    ) -> Result<()> {
        // What was there for no time at all was never there.
        if old.written_at == at {
            return Ok(());
        }
        // From then on it was not there any more, even if what took its place is gone by now.
        let old = Header { gone_at: old.gone_at.min(at), ..old };
        self.push_version(row, family, old, with_header(value.to_vec(), old).into(), at)
    }

    fn push_version(
        &mut self,
        row: &RowWrite,
        family: u16,
        version: Header,
        value: Bytes,
        superseded_at: Timestamp,
    ) -> Result<()> {
        let key = |expires_at| {
            history_key(row.table().id, family, &row.place, version.written_at, expires_at)
        };
        match row.history(family) {
            History::None => {}
            History::For(duration) => {
                self.pending.put(row.shard, key(superseded_at + duration), value);
            }
            History::Versions(most) => {
                self.pending.put(row.shard, key(Timestamp::NEVER), value);
                let range = history_range(row.table().id, family, &row.place);
                let versions = self.pending.view().scan(row.shard, range, Direction::Forward)?;
                // The present version is one of them.
                let surplus = versions.skip(most as usize - 1).map(|entry| Ok(entry?.0));
                for key in surplus.collect::<Result<Vec<_>>>()? {
                    self.pending.delete(row.shard, key);
                }
            }
        }
        Ok(())
    }
}

/// A write to a row, and what has become of it so far.
pub(super) struct RowWrite {
    target: Arc<Target>,
    pub(super) shard: u8,
    pub(super) place: Bytes,
    written_at: Timestamp,
    /// When what it removes is removed: not before any of it was written.
    removed_at: Timestamp,
    /// Whether the caller said when it was written.
    explicit: bool,
    /// Whether nothing in the table can be newer.
    wins: bool,
    ignored: Vec<String>,
}

impl RowWrite {
    pub(super) fn table(&self) -> &Arc<TableState> {
        &self.target.table
    }

    fn key(&self, family: u16, name: &str) -> Bytes {
        entry_key(self.table().id, family, &self.place, name)
    }

    fn history(&self, family: u16) -> History {
        self.table().family(family).map(|family| family.history).unwrap_or_default()
    }

    /// When the write happens, given what is there; none where it comes too late. One that does not
    /// say when it was written is never late, even where the clock went back.
    fn order(&self, standing: Option<&Header>) -> Option<Timestamp> {
        match standing {
            Some(header) if header.written_at > self.written_at => {
                (!self.explicit).then_some(header.written_at)
            }
            _ => Some(self.written_at),
        }
    }

    /// What a family is called in an outcome.
    fn name(&self, family: &PreparedFamily) -> String {
        match self.table().family(family.family) {
            Some(declared) => declared.name().to_owned(),
            None => family.name.clone(),
        }
    }

    fn outcome(self) -> Outcome {
        Outcome { written_at: self.written_at, ignored: self.ignored }
    }
}

fn columns(entry: &[u8]) -> &[u8] {
    entry.get(HEADER_BYTES..).unwrap_or_default()
}

fn with_header(mut entry: Vec<u8>, header: Header) -> Vec<u8> {
    if let Some(room) = entry.first_chunk_mut() {
        *room = header.to_bytes();
    }
    entry
}
