//! Random steps against a plain map, on both engines, with flushes, compactions and reopening in
//! between. The model keeps the documented rules and knows nothing of how they are stored.

mod changes;
mod indexes;
mod plain;
mod steps;

use proptest::prelude::*;
use stonecrop::keys::{Schema, stripe};
use stonecrop::{Clock, Error, IndexProgress, Placement, Row, Scan, Table, Timestamp};
use stonecrop_store::{Direction, Read};

use crate::harness::{Engine, Fixture, START};
use changes::ModelChanges;
use indexes::{IndexStep, ModelIndex, index};
use plain::{Failure, ModelCell, ModelRow, Rows, from};
use steps::{CreateStep, INDEXES, Key, OneWrite, Range, ScanStep, Step, keep, schema, step};

type PlainRow = (Vec<stonecrop::keys::Value<'static>>, Vec<(String, ModelCell)>);

fn plain(row: &Row) -> PlainRow {
    let cells = row.columns().map(|(name, cell)| {
        let cell = (cell.value.clone(), cell.fresh, cell.written_at, cell.fresh_until);
        (name.to_owned(), cell)
    });
    (row.key().values().to_vec(), cells.collect())
}

struct Run {
    fixture: Fixture,
    placement: Placement,
    shards: u16,
    table: Table,
    rows: Rows,
    /// Those that the table is made with.
    declared: Vec<IndexStep>,
    indexes: Vec<ModelIndex>,
    changes: ModelChanges,
    /// Whether they are kept from the beginning, and for how many seconds.
    kept: Option<u64>,
    /// The latest time that the clock ever showed.
    latest: Timestamp,
}

impl Run {
    fn new(
        engine: Engine,
        (placement, shards, declared, kept): (Placement, u16, Vec<IndexStep>, Option<u64>),
    ) -> Self {
        let fixture = Fixture::with_shards(engine, shards);
        let table = fixture.db.create_table(schema(placement, &declared, kept)).unwrap();
        let indexes = as_declared(&declared);
        let (rows, latest, changes) = (Rows::new(), START, ModelChanges::new(kept));
        Run { fixture, placement, shards, table, rows, declared, indexes, changes, kept, latest }
    }

    fn now(&self) -> Timestamp {
        self.fixture.clock.now()
    }

    /// Compaction leaves a minute's room for a clock that goes back.
    fn furthest_back(&self) -> Timestamp {
        from(self.latest, -30)
    }

    fn place(&self, (partition, sort): Key) -> (u8, &'static str, u64) {
        let schema: Schema = "p string".parse().unwrap();
        let stripe = match self.placement {
            Placement::Hash => stripe(&schema.encode(&[partition.into()]).unwrap()),
            Placement::Range => 0,
        };
        (stripe, partition, sort)
    }

    fn expected(&self, key: Key, columns: Option<&[&str]>) -> Option<PlainRow> {
        let row = self.rows.get(&self.place(key)).filter(|row| row.exists(self.now()))?;
        Some((vec![key.0.into(), key.1.into()], row.cells(self.now(), columns)))
    }

    fn apply(&mut self, step: &Step) {
        match step {
            Step::Write(writes) => self.write(writes),
            Step::Get(key) => {
                let found = self.table.get(*key).unwrap();
                assert_eq!(found.as_ref().map(plain), self.expected(*key, None));
            }
            Step::GetColumns(key, columns) => {
                let found = self.table.get_columns(*key, columns.iter().copied()).unwrap();
                assert_eq!(found.as_ref().map(plain), self.expected(*key, Some(columns)));
            }
            Step::MultiGet(keys, columns) => {
                let found = self.table.multi_get(keys.iter().copied(), columns.as_deref()).unwrap();
                let found: Vec<_> = found.iter().map(|row| row.as_ref().map(plain)).collect();
                let expected = keys.iter().map(|key| self.expected(*key, columns.as_deref()));
                assert_eq!(found, expected.collect::<Vec<_>>());
            }
            Step::Scan(scan) => self.scan(scan),
            Step::Segments(count) => {
                let segments = (0..*count).flat_map(|index| {
                    let scan = Scan::all().segment(index, *count);
                    self.table.scan(scan).unwrap().map(|row| plain(&row.unwrap()))
                });
                assert_eq!(segments.collect::<Vec<_>>(), self.expected_scan(&ScanStep::all()));
            }
            Step::Forward(count) => {
                self.fixture.pass(*count);
                self.latest = self.latest.max(self.now());
                self.check_indexes();
                self.changes.check(&self.table, self.now());
            }
            Step::Back(count) => {
                let back = from(self.now(), -(*count as i64));
                self.fixture.clock.set(back.max(self.furthest_back()));
                self.check_indexes();
                self.changes.check(&self.table, self.now());
            }
            Step::KeepChanges(keep) => self.changes.switch(&self.table, *keep),
            Step::CreateIndex(create) => self.create_index(create),
            Step::DropIndex(name) => {
                let before = self.indexes.len();
                self.indexes.retain(|index| index.name != *name);
                let is_there = self.indexes.len() < before;
                assert_eq!(self.table.drop_index(name).is_ok(), is_there);
            }
            Step::Truncate => {
                self.table.truncate().unwrap();
                self.rows.clear();
                // There is nothing any more that does not fit.
                let emptied = |index: &mut ModelIndex| {
                    (index.failed, index.left_out) = (false, 0..=0);
                };
                self.indexes.iter_mut().for_each(emptied);
                self.changes.truncated(&self.table);
            }
            Step::DropAndCreate => {
                self.fixture.db.drop_table("table").unwrap();
                let schema = schema(self.placement, &self.declared, self.kept);
                self.table = self.fixture.db.create_table(schema).unwrap();
                self.rows.clear();
                self.indexes = as_declared(&self.declared);
                self.changes = ModelChanges::new(self.kept);
            }
            Step::Bring(state) => {
                self.fixture.bring(*state);
                self.table = self.fixture.table();
                self.check_indexes();
                self.changes.check(&self.table, self.now());
            }
        }
    }

    fn write(&mut self, writes: &[OneWrite]) {
        let now = self.now();
        let mut rows = self.rows.clone();
        let mut expected = Ok(Vec::new());
        let mut images = Vec::new();
        for (index, write) in writes.iter().enumerate() {
            let place = self.place(write.key);
            let row = rows.entry(place).or_default();
            let before = row.clone();
            let (partition, sort) = write.key;
            let seen = |row: &ModelRow| {
                let key = vec![partition.into(), sort.into()];
                row.exists(now).then(|| (key, row.cells(now, None)))
            };
            let refused = write.condition.as_ref().is_some_and(|c| !c.holds(row, now));
            let ignored = match refused {
                true => Err(Failure::Condition(index)),
                false => row.write(now, write),
            };
            images.push((seen(&before), seen(row)));
            let ignored = ignored.and_then(|ignored| {
                let mut indexes = self.indexes.iter();
                indexes.try_for_each(|i| i.check(&before, &place, &rows, (index, write), now))?;
                Ok(ignored)
            });
            expected = expected.and_then(|mut outcomes: Vec<_>| {
                outcomes.push(ignored?);
                Ok(outcomes)
            });
            if expected.is_err() {
                break;
            }
        }
        let found = match self.table.write_all(writes.iter().map(|write| write.real(now))) {
            Ok(receipt) => Ok(receipt.writes.into_iter().map(|write| write.ignored).collect()),
            Err(Error::ConditionFailed { write }) => Err(Failure::Condition(write)),
            Err(Error::Value { .. }) => Err(Failure::Value),
            Err(Error::Write { cause, .. }) if matches!(*cause, Error::Value { .. }) => {
                Err(Failure::Value)
            }
            Err(Error::NotUnique { index, write }) => Err(Failure::NotUnique(index, write)),
            Err(other) => panic!("{other}"),
        };
        // All or nothing.
        if expected.is_ok() {
            self.rows = rows;
        } else {
            images.clear();
        }
        assert_eq!(found.map(sorted), expected.map(sorted));
        self.changes.written(&self.table, now, images);
    }

    fn create_index(&mut self, CreateStep { name, index, wait }: &CreateStep) {
        let created = self.table.create_index(index.real(name));
        if self.indexes.iter().any(|index| index.name == *name) {
            assert!(matches!(created, Err(Error::Schema { .. })), "{created:?}");
            return;
        }
        created.unwrap();
        let failed = !index.fits(&self.rows, self.now());
        let misfits = |at| index.misfits(&self.rows, at);
        let left_out = misfits(self.latest)..=misfits(self.now());
        // What it leaves out depends on the clock, and whether it fails on what is written meanwhile.
        let can_leave_out = misfits(self.furthest_back()) > 0;
        let index = ModelIndex { name: (*name).to_owned(), step: index.clone(), failed, left_out };
        if *wait || failed || can_leave_out || index.step.unique {
            self.wait_for(&index);
        }
        self.indexes.push(index);
    }

    fn wait_for(&self, index: &ModelIndex) {
        let waited = self.table.wait_for_index(&index.name);
        let progress = self.table.index_progress(&index.name).unwrap();
        match index.failed {
            true => {
                assert!(matches!(&waited, Err(Error::Index { .. })), "{waited:?} {index:?}");
                assert!(matches!(&progress, IndexProgress::Failed { .. }), "{progress:?}");
            }
            false => {
                assert!(waited.is_ok(), "{waited:?} {index:?}");
                let left_out = match progress {
                    IndexProgress::Complete => 0,
                    IndexProgress::Partial { left_out } => left_out,
                    other => panic!("{other:?} {index:?}"),
                };
                assert!(index.left_out.contains(&left_out), "{left_out} {index:?}");
            }
        }
    }

    /// That rows and indexes agree.
    fn check_indexes(&self) {
        let report = self.fixture.db.check().unwrap();
        assert!(report.is_clean(), "{report:#?}");
    }

    /// That the files have as many entries for each index as there are rows in it.
    fn check_files(&mut self) {
        let now = self.now();
        let shards = self.shards;
        let counted = self.fixture.beneath(|store| {
            let scan = |shard, prefix: &[u8]| {
                let entries = store.scan_prefix(shard, prefix, Direction::Forward).unwrap();
                entries.map(Result::unwrap).collect::<Vec<_>>()
            };
            // The one table that there is, and the ids of its indexes.
            let (key, definition) = scan(0, &[0x01, 0x10, 0x02]).remove(0);
            let definition: serde_json::Value = serde_json::from_slice(&definition).unwrap();
            let count = |index: &serde_json::Value| {
                let id = index["id"].as_u64().unwrap() as u16;
                let prefix = [&[0x01, 0x30], &key[3..], &id.to_be_bytes()].concat();
                let entries = (0..shards).flat_map(|shard| scan(shard as u8, &prefix));
                let gone_at = |value: &[u8]| i64::from_be_bytes(value[..8].try_into().unwrap());
                entries.filter(|(_, value)| now.as_micros() < gone_at(value)).count()
            };
            definition["indexes"].as_array().unwrap().iter().map(count).collect::<Vec<_>>()
        });
        assert_eq!(counted.len(), self.indexes.len());
        for (index, count) in self.indexes.iter().zip(counted).filter(|(index, _)| !index.failed) {
            assert_eq!(count, index.step.count(&self.rows, now), "{index:?}");
        }
    }

    fn expected_scan(&self, scan: &ScanStep) -> Vec<PlainRow> {
        let now = self.now();
        let wanted = self.rows.iter().filter(|((_, partition, sort), row)| {
            row.exists(now) && scan.wants((*partition, *sort), row, now)
        });
        let columns = scan.columns.as_deref();
        let mut expected: Vec<_> = wanted
            .map(|((_, partition, sort), row)| {
                (vec![(*partition).into(), (*sort).into()], row.cells(now, columns))
            })
            .collect();
        if scan.backward {
            expected.reverse();
        }
        expected
    }

    /// Page by page, if there is a limit.
    fn scan(&self, scan: &ScanStep) {
        let mut found = Vec::new();
        let mut cursor = None;
        loop {
            let mut page = scan.real(self.now());
            if let Some(limit) = scan.limit {
                page = page.limit(limit);
            }
            if let Some(cursor) = cursor {
                page = page.after(cursor);
            }
            let mut rows = self.table.scan(page).unwrap();
            let before = found.len();
            found.extend(rows.by_ref().map(|row| plain(&row.unwrap())));
            let count = found.len() - before;
            assert!(scan.limit.is_none_or(|limit| count <= limit), "more than were asked for");
            cursor = rows.cursor();
            if cursor.is_none() {
                break;
            }
            assert_eq!(Some(count), scan.limit, "a page that is not full is the last");
        }
        assert_eq!(found, self.expected_scan(scan));
    }
}

impl ScanStep {
    fn all() -> Self {
        let range = Range::Any;
        ScanStep {
            partition: None,
            range,
            columns: None,
            filter: None,
            backward: false,
            limit: None,
        }
    }
}

fn as_declared(declared: &[IndexStep]) -> Vec<ModelIndex> {
    let named = INDEXES.iter().zip(declared);
    let index = |(name, step): (&&str, &IndexStep)| ModelIndex {
        name: (*name).to_owned(),
        step: step.clone(),
        failed: false,
        left_out: 0..=0,
    };
    named.map(index).collect()
}

fn sorted(mut outcomes: Vec<Vec<String>>) -> Vec<Vec<String>> {
    outcomes.iter_mut().for_each(|names| names.sort());
    outcomes
}

fn check(engine: Engine, default_cases: u32) {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok());
    let cases = cases.unwrap_or(default_cases);
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    let placement = prop::sample::select(vec![Placement::Hash, Placement::Range]);
    let shards = prop::sample::select(vec![1, 1, 3]);
    let declared = prop::collection::vec(index(), 0..3);
    let steps = prop::collection::vec(step(), 1..60);
    let table = (placement, shards, declared, keep());
    proptest!(config, |(table in table, steps in steps)| {
        let mut run = Run::new(engine, table);
        for step in &steps {
            run.apply(step);
        }
        run.scan(&ScanStep::all());
        run.indexes.iter().for_each(|index| run.wait_for(index));
        run.check_indexes();
        run.changes.check(&run.table, run.now());
        if engine == Engine::Fjall {
            run.check_files();
        }
    });
}

#[test]
fn a_database_in_memory_does_what_a_plain_map_does() {
    check(Engine::Memory, 4_000);
}

#[test]
fn a_database_in_a_folder_does_what_a_plain_map_does() {
    check(Engine::Fjall, 2_000);
}

#[cfg(feature = "slatedb")]
#[test]
fn a_database_on_object_storage_does_what_a_plain_map_does() {
    check(Engine::Slate, 150);
}
