//! What nodes ask of each other.

use std::time::Duration;

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use stonecrop_store::{Error, ErrorKind};

/// The most bytes of a call or an answer.
pub(crate) const MOST_BYTES: usize = 512 << 20;

/// Nodes understand those of the same version alone: it is another one for all other shapes.
pub(crate) const VERSION: &str = "2";

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Call {
    /// The values of some keys.
    Get { shard: u8, keys: Vec<Bytes>, at: At },
    /// The next entries of a range.
    Scan { shard: u8, start: Bytes, end: Option<Bytes>, backward: bool, first: bool, at: At },
    /// The last state of all that a node has, if a shard is among it, is to be kept for reads.
    Keep { shard: u8 },
    /// Views that nobody reads any more.
    Release(Vec<u64>),
    /// Puts and deletes, if nobody who leads later was heard of, and nothing that was sent later.
    Write { shard: u8, term: u64, number: u64, sync: bool, operations: Vec<(Bytes, Option<Bytes>)> },
    /// From now on nothing is written of an earlier term, or of this one with a smaller number.
    Settle { shard: u8, term: u64, number: u64 },
    /// The bytes of a shard.
    Size { shard: u8 },
    /// Work on a shard's files.
    Care { shard: u8, care: Care },
    /// What is kept in memory of the catalog is to be read again.
    Reread,
    /// What a node can say of its shards.
    Tell,
    /// To mark what was written to a shard so far, and to settle it.
    Mark { shard: u8, term: u64, number: u64 },
}

/// Which state is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum At {
    /// The last one.
    Now,
    /// One that was kept.
    View(u64),
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) enum Care {
    Sync,
    Flush,
    Compact,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Answer {
    Values(Vec<Option<Bytes>>),
    /// A view that is kept, and the shards it has.
    Kept {
        view: u64,
        shards: Vec<u8>,
    },
    Entries {
        view: Option<u64>,
        entries: Vec<(Bytes, Bytes)>,
        more: bool,
    },
    Done,
    Size(u64),
    Told(Vec<Told>),
    /// The mark of a shard.
    Marked(u128),
    /// The node does not have the shard.
    NotHere,
    Refused {
        kind: u8,
        message: String,
    },
}

/// A shard as the node that has it sees it.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Told {
    pub(crate) shard: u8,
    pub(crate) epoch: u64,
    pub(crate) bytes: u64,
    /// How long its files have been behind its log.
    pub(crate) lag: Duration,
}

/// The kinds of errors that mean something to the one who asked; all others are `Unavailable`.
const KINDS: [ErrorKind; 7] = [
    ErrorKind::Unavailable,
    ErrorKind::Invalid,
    ErrorKind::Full,
    ErrorKind::Corrupt,
    ErrorKind::Denied,
    ErrorKind::Io,
    ErrorKind::Version,
];

impl Answer {
    pub(crate) fn refusal(error: &Error) -> Self {
        let kind = KINDS.iter().position(|kind| *kind == error.kind()).unwrap_or(0);
        Answer::Refused { kind: kind as u8, message: error.to_string() }
    }
}

/// The error that a refusal tells of.
pub(crate) fn refused(kind: u8, message: String) -> Error {
    let kind = KINDS.get(usize::from(kind)).copied().unwrap_or(ErrorKind::Unavailable);
    Error::new(kind, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_shapes_of_calls_and_answers_are_of_another_version() {
        let (key, at) = (Bytes::from("k"), At::View(300));
        let value = || (key.clone(), Some(key.clone()));
        let care = |care| Call::Care { shard: 1, care };
        let scan = Call::Scan {
            shard: 1,
            start: key.clone(),
            end: Some(key.clone()),
            backward: true,
            first: false,
            at: At::Now,
        };
        let operations = vec![value(), (key.clone(), None)];
        let calls = [
            Call::Get { shard: 1, keys: vec![key.clone()], at },
            scan,
            Call::Keep { shard: 1 },
            Call::Release(vec![300]),
            Call::Write { shard: 1, term: 2, number: 3, sync: true, operations },
            Call::Settle { shard: 1, term: 2, number: 3 },
            Call::Size { shard: 1 },
            care(Care::Sync),
            care(Care::Flush),
            care(Care::Compact),
            Call::Reread,
            Call::Tell,
            Call::Mark { shard: 1, term: 2, number: 3 },
        ];
        let told = Told { shard: 1, epoch: 2, bytes: 300, lag: Duration::from_millis(1_500) };
        let answers = [
            Answer::Values(vec![None, Some(key.clone())]),
            Answer::Kept { view: 300, shards: vec![1] },
            Answer::Entries { view: Some(300), entries: vec![(key.clone(), key)], more: true },
            Answer::Done,
            Answer::Size(300),
            Answer::Told(vec![told]),
            Answer::Marked(300),
            Answer::NotHere,
            Answer::Refused { kind: 1, message: "no".to_owned() },
        ];
        // What is new here belongs in the lists above.
        for call in &calls {
            match call {
                Call::Get { .. } | Call::Scan { .. } | Call::Keep { .. } | Call::Release(_) => {}
                Call::Write { .. } | Call::Settle { .. } | Call::Size { .. } => {}
                Call::Care { care: Care::Sync | Care::Flush | Care::Compact, .. } => {}
                Call::Reread | Call::Tell | Call::Mark { .. } => {}
            }
        }
        for answer in &answers {
            match answer {
                Answer::Values(_) | Answer::Kept { .. } | Answer::Entries { .. } => {}
                Answer::Done | Answer::Size(_) | Answer::Told(_) | Answer::NotHere => {}
                Answer::Marked(_) => {}
                Answer::Refused { .. } => {}
            }
        }
        let kinds = KINDS.map(|kind| format!("{kind:?}"));
        let bytes = postcard::to_stdvec(&(calls.as_slice(), answers.as_slice(), kinds)).unwrap();
        let hash = xxhash_rust::xxh3::xxh3_64(&bytes);
        assert_eq!((VERSION, hash), ("2", 4_654_736_454_495_005_265), "is VERSION still right?");
    }
}
