//! SQLite: one table, its rows in the order of the primary key, prepared statements.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use anyhow::{Result, anyhow};
use rusqlite::{Connection, Statement, ToSql, params};

use crate::db::contender::{Contender, RowWriter, Wanted};
use crate::db::data::{BILLING, CRM, Data, Row, Tenant};
use crate::sqlite::{clock, compact, connect, count};

/// Whether threads that write share a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Writers {
    /// One behind a mutex.
    Share,
    /// Each has its own, and waits for the lock of the file.
    Own,
}

pub(crate) struct Sqlite<'d> {
    file: PathBuf,
    /// The second one is for scans with two threads.
    connections: [Mutex<Connection>; 2],
    writers: Mutex<Writers>,
    data: &'d Data,
}

impl<'d> Sqlite<'d> {
    pub(crate) fn open(folder: &Path, data: &'d Data) -> Result<Self> {
        let file = folder.join("rows.sqlite");
        let first = connect(&file)?;
        first.execute_batch(&format!(
            "CREATE TABLE rows (tenant TEXT NOT NULL, id INTEGER NOT NULL, {}, {},
                crm_written_at INTEGER, crm_fresh_until INTEGER,
                billing_written_at INTEGER, billing_fresh_until INTEGER,
                PRIMARY KEY (tenant, id)) WITHOUT ROWID",
            CRM.join(","),
            BILLING.join(",")
        ))?;
        let connections = [Mutex::new(first), Mutex::new(connect(&file)?)];
        Ok(Sqlite { file, connections, writers: Mutex::new(Writers::Share), data })
    }

    /// How the next writers go about it.
    pub(crate) fn set_writers(&self, writers: Writers) {
        *self.writers.lock().unwrap_or_else(PoisonError::into_inner) = writers;
    }

    fn connection(&self) -> MutexGuard<'_, Connection> {
        let [first, _] = &self.connections;
        lock(first)
    }
}

fn lock(connection: &Mutex<Connection>) -> MutexGuard<'_, Connection> {
    connection.lock().unwrap_or_else(PoisonError::into_inner)
}

const REFRESH: &str = "UPDATE rows SET plan = ?3, country = ?4, note = ?5, balance = ?6,
    renews = ?7, billing_written_at = ?8, billing_fresh_until = ?9 WHERE tenant = ?1 AND id = ?2";

impl Contender for Sqlite<'_> {
    fn load(&self) -> Result<()> {
        let connection = self.connection();
        let mut insert = connection.prepare(
            "INSERT INTO rows VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14,
                ?13, ?14)",
        )?;
        for tenant in self.data.tenants() {
            let transaction = connection.unchecked_transaction()?;
            for row in &tenant.rows {
                let [a, b, c, d, e] = &row.crm;
                let [f, g, h, i, j] = &row.billing;
                let [written_at, fresh_until] = clock();
                insert.execute(params![
                    tenant.name,
                    row.id as i64,
                    a,
                    b,
                    c,
                    d,
                    e,
                    f,
                    g,
                    h,
                    i,
                    j,
                    written_at,
                    fresh_until
                ])?;
            }
            transaction.commit()?;
        }
        Ok(())
    }

    fn refresh(&self) -> Result<()> {
        let connection = self.connection();
        let mut update = connection.prepare(REFRESH)?;
        for tenant in self.data.tenants() {
            let transaction = connection.unchecked_transaction()?;
            for row in &tenant.rows {
                refresh(&mut update, tenant, row)?;
            }
            transaction.commit()?;
        }
        Ok(())
    }

    fn compact(&self) -> Result<u64> {
        compact(&self.connection())?;
        Ok(std::fs::metadata(&self.file)?.len())
    }

    fn read(&self, rows: &[(&Tenant, &Row)], wanted: Wanted) -> Result<usize> {
        let clocks = match wanted {
            Wanted::OneSource => "crm_written_at, crm_fresh_until",
            Wanted::BothSources => {
                "crm_written_at, crm_fresh_until, billing_written_at, billing_fresh_until"
            }
        };
        let columns = wanted.columns().join(", ");
        let connection = self.connection();
        let mut select = connection.prepare(&format!(
            "SELECT {columns}, {clocks} FROM rows WHERE tenant = ?1 AND id = ?2"
        ))?;
        let mut found = 0;
        for (tenant, row) in rows {
            found += count(select.query(params![tenant.name, row.id as i64])?)?;
        }
        Ok(found)
    }

    fn scan(&self, score: i64, threads: u32) -> Result<usize> {
        let columns = Wanted::OneSource.columns().join(", ");
        let all = format!(
            "SELECT tenant, id, {columns}, crm_written_at, crm_fresh_until FROM rows
             WHERE score < ?1"
        );
        if threads == 1 {
            return count(self.connection().prepare(&all)?.query([score])?);
        }
        let tenants = self.data.tenants();
        let Some(middle) = tenants.get(tenants.len() / 2) else { return Ok(0) };
        let part = |connection: &Mutex<Connection>, half: &str| {
            let connection = lock(connection);
            let mut select = connection.prepare(&format!("{all} AND tenant {half} ?2"))?;
            count(select.query(params![score, middle.name])?)
        };
        let [first, second] = &self.connections;
        std::thread::scope(|scope| {
            let other = scope.spawn(|| part(second, ">="));
            let count = part(first, "<")?;
            Ok(count + other.join().map_err(|_| anyhow!("a scan panicked"))??)
        })
    }

    fn read_tenants(&self, rows: &[(&Tenant, &Row)], limit: usize) -> Result<usize> {
        let connection = self.connection();
        let mut select =
            connection.prepare("SELECT * FROM rows WHERE tenant = ?1 ORDER BY id LIMIT ?2")?;
        let mut found = 0;
        for (tenant, _) in rows {
            found += count(select.query(params![tenant.name, limit as i64])?)?;
        }
        Ok(found)
    }

    fn writers(&self, threads: u32) -> Result<Vec<RowWriter<'_>>> {
        let share = *self.writers.lock().unwrap_or_else(PoisonError::into_inner) == Writers::Share;
        let writer = |_| -> Result<RowWriter<'_>> {
            if share {
                return Ok(Box::new(|tenant, row| {
                    refresh(&mut *self.connection().prepare_cached(REFRESH)?, tenant, row)
                }));
            }
            let own = connect(&self.file)?;
            Ok(Box::new(move |tenant, row| {
                refresh(&mut *own.prepare_cached(REFRESH)?, tenant, row)
            }))
        };
        (0..threads).map(writer).collect()
    }
}

fn refresh(update: &mut Statement<'_>, tenant: &Tenant, row: &Row) -> Result<()> {
    let [a, b, c, d, e] = &row.billing_refreshed;
    let [written_at, fresh_until] = clock();
    let id = row.id as i64;
    let values: [&dyn ToSql; 9] = [&tenant.name, &id, a, b, c, d, e, &written_at, &fresh_until];
    update.execute(&values[..])?;
    Ok(())
}
