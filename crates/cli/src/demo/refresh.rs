//! Sources that deliver again and again.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use stonecrop::{Condition, Database, Durability, Query, Result, Write};

use super::Counts;
use super::rows::{Maker, account_key, key_in};

const TICK: Duration = Duration::from_millis(500);
/// A source takes so many ticks to come round to the same row.
const SCORING_ROUND: u64 = 70;
const ENGAGEMENT_ROUND: u64 = 130;
const SHIPPING_ROUND: u64 = 200;
/// In every round of so many ticks the scoring source is late for some.
const OUTAGE_ROUND: u64 = 180;
const OUTAGE: u64 = 60;
/// An account changes hands every so many ticks.
const REASSIGNMENT: u64 = 6;

/// Refreshes the demo's tables until told to stop.
pub(crate) fn refresh(database: Database, stop: Arc<AtomicBool>) -> JoinHandle<()> {
    std::thread::spawn(move || {
        let Ok(mut sources) = Sources::new(database) else { return };
        while !stop.load(Ordering::Acquire) {
            // The database was closed, or somebody dropped a table: the show is over.
            if sources.tick().is_err() {
                return;
            }
            #[expect(clippy::disallowed_methods, reason = "it is the pace of the demo")]
            std::thread::sleep(TICK);
        }
    })
}

struct Sources {
    database: Database,
    maker: Maker,
    counts: Counts,
    ticks: u64,
}

impl Sources {
    fn new(database: Database) -> Result<Self> {
        let count = |table: &str| database.table(table)?.count(&Query::new());
        let counts = Counts {
            accounts: count("accounts")?,
            contacts: count("contacts")?,
            orders: count("orders")?,
        };
        let maker = Maker::new(database.now().as_micros().unsigned_abs(), database.now(), counts);
        Ok(Sources { database, maker, counts, ticks: 0 })
    }

    fn tick(&mut self) -> Result<()> {
        self.ticks += 1;
        self.maker.at(self.database.now());
        if self.ticks % OUTAGE_ROUND >= OUTAGE {
            self.deliver("accounts", self.counts.accounts, SCORING_ROUND, |maker, row| {
                maker.scores(Write::put(account_key(row)))
            })?;
        }
        self.deliver("contacts", self.counts.contacts, ENGAGEMENT_ROUND, |maker, row| {
            let key = key_in(maker.account_of(row), row + 1);
            maker.engagement(Write::put(key))
        })?;
        self.deliver("orders", self.counts.orders, SHIPPING_ROUND, |maker, row| {
            let key = key_in(maker.account_of(row), row + 1);
            maker.shipping(Write::put(key))
        })?;
        if self.ticks.is_multiple_of(REASSIGNMENT) {
            self.reassign()?;
        }
        Ok(())
    }

    /// The rows of a source whose turn it is.
    fn deliver(
        &mut self,
        table: &str,
        rows: u64,
        round: u64,
        mut write: impl FnMut(&mut Maker, u64) -> Write<'static>,
    ) -> Result<()> {
        let maker = &mut self.maker;
        let turn = self.ticks % round;
        let turn = (rows * turn / round)..(rows * (turn + 1) / round);
        let writes: Vec<_> = turn.map(|row| write(maker, row)).collect();
        self.database.table(table)?.write_with(writes, Durability::None)?;
        Ok(())
    }

    /// One account changes hands.
    fn reassign(&mut self) -> Result<()> {
        let account = self.maker.any(self.counts.accounts);
        let write = Write::put(account_key(account))
            .set("owner", self.maker.owner())
            .when(Condition::Exists);
        match self.database.table("accounts")?.write_with([write], Durability::None) {
            Err(stonecrop::Error::ConditionFailed { .. }) | Ok(_) => Ok(()),
            Err(error) => Err(error),
        }
    }
}
