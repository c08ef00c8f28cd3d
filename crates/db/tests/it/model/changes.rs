//! The changes that a table should have kept, by what became of the plain map.

use stonecrop::{Change, Error, Table, Timestamp};

use super::{PlainRow, plain};
use crate::harness::seconds;

/// A row before and after a write, each if it was there.
pub(super) type Images = (Option<PlainRow>, Option<PlainRow>);

#[derive(Debug)]
enum Kept {
    Change {
        number: u64,
        at: Timestamp,
        gone_at: Timestamp,
        images: Images,
    },
    /// Changes were made that were not kept.
    Break,
}

/// What a reader should find.
#[derive(Debug, Default)]
pub(super) struct ModelChanges {
    /// For how many seconds they are kept, if they are.
    pub(super) keep: Option<u64>,
    list: Vec<Kept>,
    /// The last number that was seen.
    last: u64,
}

impl ModelChanges {
    pub(super) fn new(keep: Option<u64>) -> Self {
        ModelChanges { keep, ..ModelChanges::default() }
    }

    pub(super) fn switch(&mut self, table: &Table, keep: Option<u64>) {
        table.keep_changes(keep.map(seconds)).unwrap();
        if self.keep.is_none() && keep.is_some() {
            self.list.push(Kept::Break);
            self.go_on(table);
        }
        self.keep = keep;
    }

    /// Numbers go on, and nothing of before leads up to what comes.
    fn go_on(&mut self, table: &Table) {
        let last = table.last_change().unwrap();
        assert!(last > self.last, "{last} after {}", self.last);
        self.last = last;
    }

    pub(super) fn truncated(&mut self, table: &Table) {
        self.list.clear();
        let before = self.last;
        if before > 0 {
            self.go_on(table);
            let lost = table.changes(Some(before), 1);
            assert!(matches!(lost, Err(Error::ChangesLost { .. })), "{lost:?}");
        }
    }

    /// That writes which were just committed left these changes, if they are kept.
    pub(super) fn written(&mut self, table: &Table, now: Timestamp, writes: Vec<Images>) {
        let Some(keep) = self.keep else { return };
        let values = |row: &Option<PlainRow>| {
            let cells = |row: &PlainRow| {
                let cells = row.1.iter().map(|(name, cell)| (name.clone(), cell.0.clone()));
                cells.collect::<Vec<_>>()
            };
            row.as_ref().map(cells)
        };
        let changed = writes.into_iter().filter(|(old, new)| values(old) != values(new));
        for images in changed {
            let page = table.changes(Some(self.last), 1).unwrap();
            let [change] = &page.changes[..] else { panic!("no change for {images:?}") };
            assert!(change.number > self.last && page.next == change.number);
            assert_eq!((images_of(change), change.at), (images.clone(), now));
            self.last = change.number;
            let (number, gone_at) = (change.number, now + seconds(keep));
            self.list.push(Kept::Change { number, at: now, gone_at, images });
        }
        let rest = table.changes(Some(self.last), 10).unwrap();
        assert!(rest.changes.is_empty() && !rest.more && rest.next == self.last, "{rest:?}");
        assert!(!table.changed(self.last).unwrap().wait(seconds(0)));
    }

    /// That readers find what is kept, and learn of what is not, wherever they begin.
    pub(super) fn check(&self, table: &Table, now: Timestamp) {
        if self.keep.is_none() && self.last == 0 {
            assert!(matches!(table.changes(None, 1), Err(Error::NoChanges { .. })));
            return;
        }
        let visible = |kept: &Kept| matches!(kept, Kept::Change { gone_at, .. } if now < *gone_at);
        let first = self.list.iter().position(visible).unwrap_or(self.list.len());
        self.check_from(table, None, &self.list[first..], now);
        for (index, kept) in self.list.iter().enumerate() {
            if let Kept::Change { number, .. } = kept {
                self.check_from(table, Some(*number), &self.list[index + 1..], now);
            }
        }
    }

    /// Page by page, up to where the next change is not there.
    fn check_from(&self, table: &Table, after: Option<u64>, rest: &[Kept], now: Timestamp) {
        let mut after = after;
        for kept in rest {
            match kept {
                Kept::Change { number, at, gone_at, images } if now < *gone_at => {
                    let page = table.changes(after, 1).unwrap();
                    let [change] = &page.changes[..] else { panic!("{page:?}") };
                    assert_eq!((change.number, change.at), (*number, *at));
                    assert_eq!(&images_of(change), images);
                    after = Some(*number);
                }
                _ => {
                    let lost = table.changes(after, 1);
                    assert!(matches!(lost, Err(Error::ChangesLost { .. })), "{lost:?}");
                    return;
                }
            }
        }
        let page = table.changes(after, 1).unwrap();
        assert!(page.changes.is_empty() && !page.more, "{page:?}");
        assert_eq!(page.next, after.unwrap_or(self.last));
    }
}

fn images_of(change: &Change) -> Images {
    let row = |row: &Option<stonecrop::Row>| row.as_ref().map(plain);
    let images = (row(&change.old), row(&change.new));
    for (key, _) in [&images.0, &images.1].into_iter().flatten() {
        assert_eq!(key, change.key.values());
    }
    images
}
