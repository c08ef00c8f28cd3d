//! What a group of writes will read, read all at once: one after the other, each would wait for an
//! answer of the object store while everybody waits for the group.

use bytes::Bytes;
use stonecrop_store::Store;

use crate::record::entry_key;
use crate::schema::History;
use crate::write::WriteKind;
use crate::writer::indexes::watched_keys;
use crate::writer::prepare::{Content, Prepared, PreparedFamily};

/// No more is read ahead once it is so many entries: they are all in memory.
const MOST: usize = 1_024;

/// The shards and keys of what the first of some writes will need, and of how many writes that is;
/// whatever else they need is read later.
pub(super) fn needed<'w>(
    store: &dyn Store,
    writes: impl Iterator<Item = &'w Prepared>,
) -> (Vec<(u8, Bytes)>, usize) {
    if !store.reads_may_wait() {
        return (Vec::new(), usize::MAX);
    }
    let (mut needed, mut covered) = (Vec::new(), 0);
    for write in writes {
        if needed.len() >= MOST {
            break;
        }
        needed.extend(keys(write).into_iter().map(|key| (write.place.shard, key)));
        covered += 1;
    }
    (needed, covered)
}

fn keys(write: &Prepared) -> Vec<Bytes> {
    if write.is_new() {
        return Vec::new();
    }
    let table = &write.target.table;
    let key = |family, name: &str| entry_key(table.id, family, &write.place.bytes, name);
    let is_read_whole =
        write.condition.is_some() || write.decide.is_some() || write.kind != WriteKind::Put;
    let mut keys: Vec<Bytes> = match is_read_whole {
        true => table.families().map(|family| key(family, "")).collect(),
        false => {
            let read = write.families.iter().filter(|family| is_read(write, family));
            read.map(|written| key(written.family, &written.name)).collect()
        }
    };
    for key in watched_keys(write) {
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    keys
}

/// Whether what is stored of a family matters for what is written to it.
fn is_read(write: &Prepared, written: &PreparedFamily) -> bool {
    let has_history = |family: &crate::schema::Family| family.history != History::None;
    matches!(written.content, Content::Changes(_))
        || write.target.table.family(written.family).is_some_and(has_history)
}
