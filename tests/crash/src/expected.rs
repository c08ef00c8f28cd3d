//! What a database must hold, given what its writer was heard to say.

use std::collections::{BTreeMap, BTreeSet};

use stonecrop::{Database, Error, Value};

use crate::Result;
use crate::batch::{
    EVENTS, FIRST, LANES, PEOPLE, Rows, changes, columns, key_text, lane_row, marker, read_rows,
    replay,
};
use crate::side::{Sides, Step};

/// What a writer said, up to its end.
#[derive(Default)]
pub(crate) struct Heard {
    pub(crate) tried: BTreeSet<u64>,
    pub(crate) acknowledged: BTreeSet<u64>,
    /// Changes of the catalog that were acknowledged, and the one that was not.
    pub(crate) steps: Vec<Step>,
    pub(crate) begun: Option<Step>,
}

/// The contents of a database, kept along from one check to the next.
#[derive(Default)]
pub(crate) struct Expected {
    batches: BTreeSet<u64>,
    people: Rows,
    events: Rows,
    sides: Sides,
    next_batch: u64,
    next_step: u64,
}

impl Expected {
    pub(crate) fn next_batch(&self) -> u64 {
        self.next_batch.max(FIRST)
    }

    pub(crate) fn next_step(&self) -> u64 {
        self.next_step.max(1)
    }

    pub(crate) fn batches(&self) -> usize {
        self.batches.len()
    }

    /// Compares the database with what was heard, and takes over what was undecided. Each line of
    /// the answer is a broken promise.
    pub(crate) fn check(&mut self, db: &Database, heard: &Heard) -> Result<Vec<String>, Error> {
        let mut broken = Vec::new();
        let events = read_rows(db, EVENTS)?;
        let people = read_rows(db, PEOPLE)?;
        self.check_batches(&events, heard, &mut broken);
        compare(PEOPLE, &self.people, &people, &mut broken);
        compare(EVENTS, &self.events, &events, &mut broken);
        // A row has the changes that made it, and no change is there without its row.
        for (table, rows) in [(PEOPLE, &people), (EVENTS, &events)] {
            let replayed = replay(db, table, &mut broken)?;
            compare(&format!("the changes of {table},"), &replayed, rows, &mut broken);
        }
        if broken.is_empty() && !self.batches.is_empty() {
            self.check_gets(db, &mut broken)?;
            self.check_versions(db, &mut broken)?;
        }
        self.check_sides(Sides::read(db)?, heard, &mut broken);
        let last = heard.tried.last().copied().unwrap_or(0);
        // Numbers are not used again, so that what comes back from the dead is noticed.
        self.next_batch = self.next_batch().max((last / LANES + 2) * LANES);
        let steps = heard.steps.iter().chain(&heard.begun).map(|step| step.number + 1);
        self.next_step = steps.max().unwrap_or(0).max(self.next_step());
        Ok(broken)
    }

    fn check_batches(&mut self, events: &Rows, heard: &Heard, broken: &mut Vec<String>) {
        let is_there = |batch: &u64| events.contains_key(&key_text(&marker(*batch)));
        for batch in self.batches.iter().filter(|batch| !is_there(batch)) {
            broken.push(format!("batch {batch} was there at an earlier check and is gone"));
        }
        for batch in heard.acknowledged.iter().filter(|batch| !is_there(batch)) {
            broken.push(format!("batch {batch} was acknowledged and is not there"));
        }
        for batch in heard.tried.iter().filter(|batch| is_there(batch)) {
            self.batches.insert(*batch);
            for change in changes(*batch) {
                let rows = if change.table == PEOPLE { &mut self.people } else { &mut self.events };
                change.apply(rows);
            }
        }
    }

    /// Point reads take another way than scans.
    fn check_gets(&self, db: &Database, broken: &mut Vec<String>) -> Result<(), Error> {
        let events = db.table(EVENTS)?;
        for batch in self.batches.iter().rev().take(50) {
            let row = events.get(marker(*batch))?;
            let expected = self.events.get(&key_text(&marker(*batch)));
            if row.as_ref().map(columns).as_ref() != expected {
                broken.push(format!("batch {batch}: a scan finds its event, a get does not"));
            }
        }
        Ok(())
    }

    fn check_versions(&self, db: &Database, broken: &mut Vec<String>) -> Result<(), Error> {
        let events = db.table(EVENTS)?;
        for lane in 0..LANES {
            let written = self.batches.iter().rev().filter(|batch| *batch % LANES == lane);
            let expected: Vec<_> = written.take(3).map(|batch| Value::Int(*batch as i64)).collect();
            let versions = events.versions(lane_row(lane), "body")?;
            let sizes = versions.into_iter().flat_map(|version| version.columns);
            let found: Vec<_> =
                sizes.filter(|(name, _)| &**name == "size").map(|(_, value)| value).collect();
            if found != expected {
                broken.push(format!("history of lane {lane}: {found:?}, and not {expected:?}"));
            }
        }
        Ok(())
    }

    fn check_sides(&mut self, found: Sides, heard: &Heard, broken: &mut Vec<String>) {
        heard.steps.iter().for_each(|step| step.apply(&mut self.sides));
        let mut done = self.sides.clone();
        heard.begun.iter().for_each(|step| step.apply(&mut done));
        if found != self.sides && found != done {
            broken.push(format!(
                "the side tables are {found:?}, and were acknowledged as {:?}; under way was {:?}",
                self.sides, heard.begun
            ));
        }
        self.sides = found;
    }
}

fn compare(table: &str, expected: &Rows, found: &Rows, broken: &mut Vec<String>) {
    let nothing = BTreeMap::new();
    let keys: BTreeSet<_> = expected.keys().chain(found.keys()).collect();
    let differing = keys.into_iter().filter(|key| expected.get(*key) != found.get(*key));
    for key in differing.take(5) {
        let wanted = expected.get(key).unwrap_or(&nothing);
        let is = found.get(key).unwrap_or(&nothing);
        broken.push(format!("{table} {key}: is {is:?}, and must be {wanted:?}"));
    }
}
