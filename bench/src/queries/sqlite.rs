//! SQLite: one table, its rows in the order of the primary key, and the same indexes.

use std::path::Path;

use anyhow::{Result, bail};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Rows, Statement, params};

use crate::queries::contender::{Contender, Rival};
use crate::queries::data::{Account, COLUMNS, Data, PAGE_ROWS};
use crate::queries::measure::Measure;
use crate::sqlite::{clock, compact, connect, count};

pub(crate) struct Sqlite {
    connection: Connection,
    data: Data,
}

impl Sqlite {
    pub(crate) fn open(folder: &Path, data: Data) -> Result<Self> {
        let connection = connect(&folder.join("accounts.sqlite"))?;
        connection.execute_batch(
            "CREATE TABLE accounts (id TEXT NOT NULL PRIMARY KEY,
                name TEXT, email TEXT, owner TEXT, status TEXT,
                score INTEGER, seen INTEGER, plan TEXT,
                crm_written_at INTEGER, crm_fresh_until INTEGER,
                usage_written_at INTEGER, usage_fresh_until INTEGER) WITHOUT ROWID;
             CREATE INDEX by_owner ON accounts (owner);
             CREATE INDEX by_score ON accounts (score DESC);
             CREATE INDEX by_status ON accounts (status);",
        )?;
        Ok(Sqlite { connection, data })
    }
}

impl Contender for Sqlite {
    fn load(&self) -> Result<()> {
        let mut insert = self.connection.prepare(
            "INSERT INTO accounts VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?9, ?10)",
        )?;
        for batch in self.data.batches() {
            let transaction = self.connection.unchecked_transaction()?;
            for Account { id, crm: [a, b, c, d], usage: [e, f, g] } in &batch {
                let [written_at, fresh_until] = clock();
                insert.execute(params![id, a, b, c, d, e, f, g, written_at, fresh_until])?;
            }
            transaction.commit()?;
        }
        compact(&self.connection)?;
        // Its planner knows nothing of the data without.
        Ok(self.connection.execute_batch("ANALYZE")?)
    }

    fn ask(&self, question: Measure, values: &[Option<String>]) -> Result<()> {
        let mut select = self.connection.prepare(&sql(question)?)?;
        for value in values {
            count(query(&mut select, value.as_deref())?)?;
        }
        Ok(())
    }
}

impl Rival for Sqlite {
    fn answer(&self, question: Measure, value: Option<&str>) -> Result<Vec<String>> {
        let columns = match question {
            Measure::CountOwner | Measure::CountStatus => 1,
            Measure::Facets => 2,
            // The clocks are behind them.
            _ => 1 + COLUMNS.len(),
        };
        let mut select = self.connection.prepare(&sql(question)?)?;
        let mut rows = query(&mut select, value)?;
        let mut lines = Vec::new();
        while let Some(row) = rows.next()? {
            let column = |at: usize| {
                Ok(match row.get_ref(at)? {
                    ValueRef::Text(text) => std::str::from_utf8(text)?.to_owned(),
                    ValueRef::Integer(number) => number.to_string(),
                    other => bail!("{other:?} is in no column"),
                })
            };
            lines.push((0..columns).map(column).collect::<Result<Vec<_>>>()?.join(" "));
        }
        Ok(lines)
    }

    fn refresh(&self, batches: &[Vec<Account>]) -> Result<()> {
        let mut upsert = self.connection.prepare(
            "INSERT INTO accounts
                (id, name, email, owner, status, crm_written_at, crm_fresh_until)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
             ON CONFLICT (id) DO UPDATE SET name = excluded.name, email = excluded.email,
                owner = excluded.owner, status = excluded.status,
                crm_written_at = excluded.crm_written_at,
                crm_fresh_until = excluded.crm_fresh_until",
        )?;
        for batch in batches {
            let transaction = self.connection.unchecked_transaction()?;
            for Account { id, crm: [a, b, c, d], .. } in batch {
                let [written_at, fresh_until] = clock();
                upsert.execute(params![id, a, b, c, d, written_at, fresh_until])?;
            }
            transaction.commit()?;
        }
        Ok(())
    }
}

fn query<'s>(select: &'s mut Statement<'_>, value: Option<&str>) -> Result<Rows<'s>> {
    Ok(match value {
        Some(value) => select.query([value])?,
        None => select.query([])?,
    })
}

fn sql(question: Measure) -> Result<String> {
    let columns = COLUMNS.join(", ");
    let page = |rest: &str| {
        format!(
            "SELECT id, {columns}, crm_written_at, crm_fresh_until FROM accounts {rest}
             LIMIT {PAGE_ROWS}"
        )
    };
    Ok(match question {
        Measure::NewOwnerPage | Measure::OwnerPage => page("WHERE owner = ?1"),
        Measure::ScorePage => page("ORDER BY score DESC"),
        Measure::ScorePageOfStatus => page("WHERE status = ?1 ORDER BY score DESC"),
        Measure::NamePage => page("ORDER BY name"),
        Measure::CountOwner => "SELECT COUNT(*) FROM accounts WHERE owner = ?1".to_owned(),
        Measure::CountStatus => "SELECT COUNT(*) FROM accounts WHERE status = ?1".to_owned(),
        Measure::Facets => "SELECT status, COUNT(*) FROM accounts GROUP BY status".to_owned(),
        Measure::Refresh => bail!("a refresh is no question"),
    })
}
