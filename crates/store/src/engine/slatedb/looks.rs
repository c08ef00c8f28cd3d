//! Since when a shard that is followed is seen as it is, told from what is asked for it.

use std::sync::{Mutex, PoisonError};

use object_store::Error as ObjectError;
use object_store::path::Path;
use tokio::time::Instant;

/// The looks that SlateDB takes at a shard, one after the other: it reads the list of files, asks how
/// long the log is, and reads what is new there. It tells nobody when one has ended, or that one
/// goes on because the object store does not answer; but the next one begins after it. (A
/// `WalReader` in place of SlateDB's own is told more, but asks for the list of files twice.)
#[derive(Debug)]
pub(super) struct Looks {
    /// The path of the shard.
    shard: Path,
    look: Mutex<Look>,
}

#[derive(Debug)]
struct Look {
    /// What was durable at this moment can be read.
    seen: Instant,
    /// When it was asked how long the log is; none before the first time.
    began: Option<Instant>,
    /// Whether the list of files was asked for since, so the next question is of another look.
    is_next: bool,
    /// Whether something was not answered since.
    failed: bool,
}

/// What SlateDB keeps below the path of a shard, of what a look is about.
#[derive(PartialEq)]
enum Part {
    Files,
    Log,
}

impl Looks {
    /// Those at a shard that is about to be opened: that takes the first one.
    pub(super) fn new(shard: Path) -> Self {
        let look = Look { seen: Instant::now(), began: None, is_next: true, failed: false };
        Looks { shard, look: Mutex::new(look) }
    }

    /// Since when nothing is known of what was written.
    pub(super) fn seen(&self) -> Instant {
        self.look.lock().unwrap_or_else(PoisonError::into_inner).seen
    }

    /// An object is asked for, or only whether it is there.
    pub(super) fn asks(&self, object: &Path, is_head: bool) {
        let mut look = self.look.lock().unwrap_or_else(PoisonError::into_inner);
        match self.part(object) {
            Some(Part::Files) => look.is_next = true,
            Some(Part::Log) if is_head && look.is_next => {
                let before = look.began.replace(Instant::now());
                if let Some(before) = before.filter(|_| !look.failed) {
                    look.seen = before;
                }
                (look.is_next, look.failed) = (false, false);
            }
            _ => {}
        }
    }

    /// An object was not read.
    pub(super) fn failed(&self, object: &Path, is_head: bool, error: &ObjectError) {
        let part = self.part(object);
        // Whether there is one more file, or one more part of the log, is what is asked.
        let is_question = part == Some(Part::Files) || is_head;
        let is_answer = is_question && matches!(error, ObjectError::NotFound { .. });
        if part.is_some() && !is_answer {
            self.look.lock().unwrap_or_else(PoisonError::into_inner).failed = true;
        }
    }

    fn part(&self, object: &Path) -> Option<Part> {
        let part = object.prefix_match(&self.shard)?.next()?;
        match part.as_ref() {
            "manifest" => Some(Part::Files),
            "wal" => Some(Part::Log),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn not_found() -> ObjectError {
        ObjectError::NotFound { path: String::new(), source: "it is not there".into() }
    }

    fn timeout() -> ObjectError {
        ObjectError::Generic { store: "test", source: "no answer".into() }
    }

    /// A look as SlateDB takes it; how the reading of the log ends.
    fn look(looks: &Looks, reading: Option<&ObjectError>) -> Instant {
        let (files, log) = (Path::from("a/wal/manifest/3"), Path::from("a/wal/wal/7"));
        looks.asks(&files, false);
        looks.failed(&files, false, &not_found());
        let before = Instant::now();
        looks.asks(&log, true);
        looks.asks(&log, true);
        looks.failed(&log, true, &not_found());
        looks.asks(&files, false);
        looks.asks(&log, false);
        if let Some(error) = reading {
            looks.failed(&log, false, error);
        }
        before
    }

    #[test]
    fn what_a_look_shows_is_counted_from_its_question_once_the_next_one_begins() {
        let looks = Looks::new(Path::from("a/wal"));
        let opened = looks.seen();
        let first = look(&looks, None);
        assert_eq!(looks.seen(), opened, "it may still be under way");
        let second = look(&looks, None);
        assert!(first <= looks.seen() && looks.seen() <= second);
        look(&looks, None);
        assert!(second <= looks.seen());
    }

    #[test]
    fn a_look_that_was_not_answered_shows_nothing() {
        for error in [timeout(), not_found()] {
            let looks = Looks::new(Path::from("a/wal"));
            look(&looks, None);
            let whole = look(&looks, Some(&error));
            look(&looks, None);
            assert!(looks.seen() <= whole);
            let third = look(&looks, None);
            assert!(whole <= looks.seen() && looks.seen() <= third);
        }
    }

    #[test]
    fn the_objects_of_other_shards_and_of_reads_are_none_of_its_own() {
        let looks = Looks::new(Path::from("a/wal"));
        let opened = looks.seen();
        for _ in 0..3 {
            for object in ["b/manifest/1", "b/wal/1", "a/wal/compacted/1", "a/wal"] {
                looks.asks(&Path::from(object), true);
                looks.failed(&Path::from(object), false, &timeout());
            }
        }
        assert_eq!(looks.seen(), opened);
        look(&looks, None);
        look(&looks, None);
        assert!(looks.seen() > opened);
    }
}
