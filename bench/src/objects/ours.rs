//! Stonecrop.

use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use anyhow::{Result, anyhow};
use stonecrop::{
    Condition, Database, Family, Index, Options, Query, Scan, Table, TableSchema, Write,
};

use super::contender::{CACHE_BYTES, Contender, FLUSH_INTERVAL, PAGE, Requests, name, owner};
use crate::timer::now;

pub(super) struct Ours {
    location: String,
    shards: u16,
    database: Database,
    table: Table,
}

fn options(shards: u16) -> Options {
    Options::default().shards(shards).flush_interval(FLUSH_INTERVAL).cache_bytes(CACHE_BYTES)
}

impl Ours {
    pub(super) fn open((path, parameters): &(String, String), shards: u16) -> Result<Self> {
        let location = format!("{path}?{parameters}");
        let database = Database::open_with(&location, options(shards))?;
        let family = Family::new("crm").column("name").column("owner").column("score");
        let schema = TableSchema::new("rows", "id u64", "")?.family(family);
        let table = database.create_table(schema.index(Index::new("by_owner", "owner string")?))?;
        Ok(Ours { location, shards, database, table })
    }
}

fn whole(row: u64) -> Write<'static> {
    Write::put(row).set("name", name(row)).set("owner", owner(row)).set("score", 0)
}

impl Contender for Ours {
    fn load(&mut self, rows: u64) -> Result<()> {
        self.table.load((0..rows).map(whole))?;
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        Ok(self.database.flush()?)
    }

    fn put(&mut self, rows: u64, clients: usize, until: Instant) -> Result<u64> {
        let next = AtomicU64::new(0);
        std::thread::scope(|scope| {
            let client = || {
                let mut done = 0;
                while now() < until {
                    self.table.write(whole(next.fetch_add(1, Ordering::Relaxed) % rows))?;
                    done += 1;
                }
                Ok(done)
            };
            let clients: Vec<_> = (0..clients).map(|_| scope.spawn(client)).collect();
            let done = clients.into_iter().map(|client| client.join());
            done.map(|done| done.map_err(|_| anyhow!("a client panicked"))?).sum()
        })
    }

    fn reopen(&mut self) -> Result<()> {
        self.database.flush()?;
        self.database.close()?;
        self.database = Database::open_with(&self.location, options(self.shards))?;
        self.table = self.database.table("rows")?;
        Ok(())
    }

    fn get(&mut self, rows: &[u64]) -> Result<()> {
        for row in rows {
            anyhow::ensure!(black_box(self.table.get(*row)?).is_some(), "row {row} is missing");
        }
        Ok(())
    }

    fn pages(&mut self, count: u64) -> Result<()> {
        for number in 0..count {
            let query = Query::new().filter(Condition::eq("owner", owner(number * PAGE)));
            let page = self.table.query(&query.take(PAGE as usize))?;
            anyhow::ensure!(!black_box(page).rows.is_empty(), "an owner without rows");
        }
        Ok(())
    }

    fn scan(&mut self) -> Result<u64> {
        let mut found = 0;
        for row in self.table.scan(Scan::all())? {
            black_box(row?);
            found += 1;
        }
        Ok(found)
    }

    fn requests(&mut self) -> Result<Requests> {
        let asked = self.database.stats()?.requests;
        Ok(Requests { puts: (asked.puts + asked.lists) as f64, gets: asked.gets as f64 })
    }

    fn close(&mut self) -> Result<()> {
        Ok(self.database.close()?)
    }
}
