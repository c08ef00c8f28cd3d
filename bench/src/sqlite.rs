//! SQLite as every benchmark has it.

use std::hint::black_box;
use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Rows, Statement};
use stonecrop::{Clock, SystemClock};

use crate::datum::TTL_SECONDS;
use crate::engine::CACHE_BYTES;

/// As durable as ours, with a cache as large.
pub(crate) fn connect(file: &Path) -> Result<Connection> {
    let connection = Connection::open(file)?;
    connection.busy_timeout(Duration::from_secs(60))?;
    // The cache is in KiB where it is negative.
    let cache = CACHE_BYTES >> 10;
    connection.execute_batch(&format!(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -{cache};"
    ))?;
    Ok(connection)
}

/// Brings the file into its best form.
pub(crate) fn compact(connection: &Connection) -> Result<()> {
    Ok(connection.execute_batch("VACUUM; PRAGMA wal_checkpoint(TRUNCATE);")?)
}

/// When a row is written and until when it is fresh.
pub(crate) fn clock() -> [i64; 2] {
    let now = SystemClock.now();
    let fresh_until = now + Duration::from_secs(TTL_SECONDS.into());
    [now, fresh_until].map(|time| time.as_micros())
}

/// Looks at every value where SQLite holds it; text is checked to be UTF-8 and not copied.
pub(crate) fn count(mut rows: Rows<'_>) -> Result<usize> {
    let columns = rows.as_ref().map_or(0, Statement::column_count);
    let mut found = 0;
    while let Some(row) = rows.next()? {
        for column in 0..columns {
            match row.get_ref(column)? {
                ValueRef::Text(text) => {
                    black_box(std::str::from_utf8(text)?);
                }
                other => {
                    black_box(other);
                }
            }
        }
        found += 1;
    }
    Ok(found)
}
