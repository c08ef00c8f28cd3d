//! Several processes share a store, and one of them decides what is written: here they are databases
//! over one store in memory.

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use bytes::Bytes;
use stonecrop::store::{
    Batch, Direction, Durability, Error as StoreError, ErrorKind, KeyRange, MemoryStore, Read,
    Result as StoreResult, Scan, Stats, Store,
};
use stonecrop::{Database, Error, Family, Index, Lead, Options, Query, TableSchema, Value, Write};

type Reread = Box<dyn Fn() -> bool + Send + Sync>;

/// What all of them share: the store, who leads and in which term, and what each does when another
/// announces.
struct Shared {
    store: MemoryStore,
    leader: Mutex<(usize, u64)>,
    rereads: Mutex<Vec<(usize, Reread)>>,
}

struct Node {
    me: usize,
    shared: Arc<Shared>,
}

impl Shared {
    fn leader(&self) -> MutexGuard<'_, (usize, u64)> {
        self.leader.lock().unwrap()
    }

    fn hand_over(&self, to: usize) {
        let mut leader = self.leader();
        *leader = (to, leader.1 + 1);
    }
}

impl Read for Node {
    fn get(&self, shard: u8, key: &[u8]) -> StoreResult<Option<Bytes>> {
        self.shared.store.get(shard, key)
    }

    fn scan(&self, shard: u8, range: KeyRange, direction: Direction) -> StoreResult<Scan> {
        self.shared.store.scan(shard, range, direction)
    }
}

impl Store for Node {
    fn shards(&self) -> u16 {
        self.shared.store.shards()
    }

    fn lead(&self) -> Lead {
        match *self.shared.leader() {
            (leader, term) if leader == self.me => Lead::Here(term),
            _ => Lead::Elsewhere,
        }
    }

    fn announce(&self) {
        let rereads = self.shared.rereads.lock().unwrap();
        assert!(rereads.iter().filter(|(node, _)| *node != self.me).all(|(_, reread)| reread()));
    }

    fn on_announcement(&self, reread: Reread) {
        self.shared.rereads.lock().unwrap().push((self.me, reread));
    }

    fn ready(&self) -> StoreResult<()> {
        match self.lead() {
            Lead::Elsewhere => Err(StoreError::new(ErrorKind::Unavailable, "another one leads")),
            _ => Ok(()),
        }
    }

    fn write(&self, batch: Batch, durability: Durability) -> StoreResult<()> {
        self.ready()?;
        self.shared.store.write(batch, durability)
    }

    fn snapshot(&self) -> StoreResult<Box<dyn Read>> {
        self.shared.store.snapshot()
    }

    fn approximate_size(&self, shard: u8) -> StoreResult<u64> {
        self.shared.store.approximate_size(shard)
    }

    fn sync(&self) -> StoreResult<()> {
        Ok(())
    }

    fn flush(&self) -> StoreResult<()> {
        Ok(())
    }

    fn compact(&self) -> StoreResult<()> {
        Ok(())
    }

    fn stats(&self) -> StoreResult<Stats> {
        self.shared.store.stats()
    }

    fn close(&self) -> StoreResult<()> {
        Ok(())
    }
}

/// Two databases on one store, of which the first leads.
fn two() -> (Arc<Shared>, Database, Database) {
    let shared = Arc::new(Shared {
        store: MemoryStore::new(&stonecrop::store::Options::default()),
        leader: Mutex::new((0, 1)),
        rereads: Mutex::default(),
    });
    let open = |me| {
        let shared = shared.clone();
        let open = |_: &_| Ok(Arc::new(Node { me, shared }) as Arc<dyn Store>);
        Database::open_in(open, Options::default()).unwrap()
    };
    let (first, second) = (open(0), open(1));
    (shared, first, second)
}

fn schema() -> TableSchema {
    let family = Family::new("crm").column("name").column("age");
    let schema = TableSchema::new("people", "id u64", "").unwrap().family(family);
    schema.changes(Duration::from_secs(86_400))
}

#[test]
fn what_one_declares_the_others_have_when_it_is_acknowledged() {
    let (_shared, first, second) = two();
    let people = first.create_table(schema()).unwrap();
    let theirs = second.table("people").unwrap();
    people.write(Write::put(1).set("name", "Ann")).unwrap();
    assert_eq!(theirs.get(1).unwrap().unwrap().value("name"), Some(&Value::from("Ann")));
    // The first column of the table that nobody has declared.
    people.write(Write::put(1).set("nick", "A")).unwrap();
    assert_eq!(theirs.get(1).unwrap().unwrap().value("nick"), Some(&Value::from("A")));
    people.add_columns("crm", ["city"]).unwrap();
    people.write(Write::put(1).set("city", "Bern")).unwrap();
    assert_eq!(theirs.get(1).unwrap().unwrap().value("city"), Some(&Value::from("Bern")));
    first.drop_table("people").unwrap();
    assert!(matches!(second.table("people"), Err(Error::NoTable { .. })));
}

#[test]
fn who_does_not_lead_writes_nothing() {
    let (_shared, first, second) = two();
    first.create_table(schema()).unwrap();
    let error = second.table("people").unwrap().write(Write::put(1).set("name", "Ann"));
    assert!(matches!(error, Err(Error::Commit(_))), "{error:?}");
    assert!(second.create_table(TableSchema::new("more", "id u64", "").unwrap()).is_err());
    assert_eq!(first.table("people").unwrap().get(1).unwrap(), None);
}

#[test]
fn who_comes_to_lead_goes_on_where_the_other_stopped() {
    let (shared, first, second) = two();
    let mine = first.create_table(schema()).unwrap();
    let theirs = second.table("people").unwrap();
    let mut number = 0;
    for turn in 0..6_u64 {
        let (leading, table) = [(&first, &mine), (&second, &theirs)][turn as usize % 2];
        for id in 0..20_u64 {
            table
                .write(Write::put(id).set("age", Value::Int(turn as i64)).add("n", 1_i64))
                .unwrap();
        }
        // Nothing is late, nothing is numbered twice, and no change is missed.
        let row = table.get(7).unwrap().unwrap();
        assert_eq!(row.value("n"), Some(&Value::Int(turn as i64 + 1)));
        let page = table.changes(Some(number), 1_000).unwrap();
        assert_eq!(page.changes.len(), 20, "turn {turn}");
        assert!(page.changes.iter().all(|change| change.number > number));
        number = page.next;
        assert!(leading.check().unwrap().problems.is_empty());
        shared.hand_over((turn as usize + 1) % 2);
    }
}

#[test]
fn an_index_that_one_began_is_finished_by_the_next() {
    let (shared, first, second) = two();
    let people = first.create_table(schema()).unwrap();
    let rows = (0..5_000_u64).map(|id| Write::put(id).set("age", Value::Int(id as i64 % 10)));
    people.write_all(rows.collect::<Vec<_>>()).unwrap();
    people.create_index(Index::new("by_age", "age i64").unwrap()).unwrap();
    shared.hand_over(1);
    let theirs = second.table("people").unwrap();
    theirs.wait_for_index("by_age").unwrap();
    let found = theirs.count(&Query::new().index("by_age")).unwrap();
    assert_eq!(found, 5_000);
    assert!(second.check().unwrap().problems.is_empty());
}

#[test]
fn a_row_that_another_wrote_meanwhile_is_no_new_one() {
    let (shared, first, second) = two();
    let index = Index::new("by_age", "age i64").unwrap();
    let mine = first.create_table(schema().index(index)).unwrap();
    let theirs = second.table("people").unwrap();
    mine.write(Write::put(1).set("age", 1)).unwrap();
    shared.hand_over(1);
    theirs.write(Write::put(2).set("age", 2)).unwrap();
    shared.hand_over(0);
    mine.write(Write::put(2).set("age", 3)).unwrap();
    assert_eq!(mine.count(&Query::new().index("by_age")).unwrap(), 2);
    assert!(first.check().unwrap().problems.is_empty());
}
