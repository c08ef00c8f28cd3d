//! Stonecrop.

use std::hint::black_box;
use std::path::Path;
use std::time::Duration;

use anyhow::{Result, anyhow};
use stonecrop::{Condition, Database, Family, Options, Rows, Scan, Table, TableSchema, Write};

use crate::datum::TTL_SECONDS;
use crate::db::contender::{Contender, RowWriter, Wanted};
use crate::db::data::{BILLING, CRM, Data, Row, SCORE, Tenant};
use crate::engine::CACHE_BYTES;

/// With the options that everybody gets, synced and one shard, but for the cache.
pub(crate) struct Ours<'d> {
    database: Database,
    table: Table,
    data: &'d Data,
}

impl<'d> Ours<'d> {
    pub(crate) fn open(folder: &Path, data: &'d Data) -> Result<Self> {
        let ttl = Duration::from_secs(TTL_SECONDS.into());
        let family = |name: &str, columns: [&str; 5]| {
            columns.into_iter().fold(Family::new(name).ttl(ttl), |family, name| family.column(name))
        };
        let database = Database::open_with(folder, Options::default().cache_bytes(CACHE_BYTES))?;
        let table = database.create_table(
            TableSchema::new("rows", "tenant string", "id u64")?
                .family(family("crm", CRM))
                .family(family("billing", BILLING)),
        )?;
        Ok(Ours { database, table, data })
    }
}

impl Contender for Ours<'_> {
    fn load(&self) -> Result<()> {
        for tenant in self.data.tenants() {
            self.table.write_all(tenant.rows.iter().map(|row| {
                let write = Write::put((tenant.name.as_str(), row.id));
                let write = CRM.into_iter().zip(&row.crm).fold(write, |w, (n, v)| w.set(n, v));
                BILLING.into_iter().zip(&row.billing).fold(write, |w, (n, v)| w.set(n, v))
            }))?;
        }
        Ok(())
    }

    fn refresh(&self) -> Result<()> {
        for tenant in self.data.tenants() {
            self.table.write_all(tenant.rows.iter().map(|row| refreshed(tenant, row)))?;
        }
        Ok(())
    }

    fn compact(&self) -> Result<u64> {
        self.database.compact()?;
        let stats = self.database.stats()?;
        Ok(stats.disk_bytes - stats.journal_bytes)
    }

    fn read(&self, rows: &[(&Tenant, &Row)], wanted: Wanted) -> Result<usize> {
        let mut found = 0;
        for (tenant, row) in rows {
            let row = self.table.get_columns((tenant.name.as_str(), row.id), wanted.columns())?;
            found += usize::from(row.is_some());
            black_box(row);
        }
        Ok(found)
    }

    fn scan(&self, score: i64, threads: u32) -> Result<usize> {
        let part = |index| {
            let scan = Scan::all().segment(index, threads).filter(Condition::lt(SCORE, score));
            count(self.table.scan(scan.columns(Wanted::OneSource.columns()))?)
        };
        std::thread::scope(|scope| {
            let parts: Vec<_> =
                (0..threads).map(|index| scope.spawn(move || part(index))).collect();
            let parts = parts.into_iter().map(|part| part.join());
            parts.map(|count| count.map_err(|_| anyhow!("a scan panicked"))?).sum()
        })
    }

    fn read_tenants(&self, rows: &[(&Tenant, &Row)], limit: usize) -> Result<usize> {
        let tenants = rows.iter().map(|(tenant, _)| tenant.name.as_str());
        tenants.map(|name| count(self.table.scan(Scan::partition(name).limit(limit))?)).sum()
    }

    fn writers(&self, threads: u32) -> Result<Vec<RowWriter<'_>>> {
        let writer = |_| -> RowWriter<'_> {
            Box::new(|tenant, row| {
                self.table.write(refreshed(tenant, row))?;
                Ok(())
            })
        };
        Ok((0..threads).map(writer).collect())
    }
}

fn refreshed<'r>(tenant: &'r Tenant, row: &'r Row) -> Write<'r> {
    let write = Write::put((tenant.name.as_str(), row.id));
    BILLING.into_iter().zip(&row.billing_refreshed).fold(write, |w, (n, v)| w.set(n, v))
}

fn count(rows: Rows) -> Result<usize> {
    let mut found = 0;
    for row in rows {
        black_box(row?);
        found += 1;
    }
    Ok(found)
}
