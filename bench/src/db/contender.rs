//! What every database is asked to do.

use anyhow::Result;

use crate::db::data::{Row, Tenant};

/// Three columns that a read asks for, with the clocks of their sources.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Wanted {
    /// All of one source.
    OneSource,
    /// Two of one source and one of the other.
    BothSources,
}

impl Wanted {
    pub(crate) fn columns(self) -> [&'static str; 3] {
        match self {
            Wanted::OneSource => ["name", "email", "score"],
            Wanted::BothSources => ["name", "score", "plan"],
        }
    }
}

/// Writes one row, of which it changes what the second source says, and returns when it is on disk.
pub(crate) type RowWriter<'c> = Box<dyn FnMut(&Tenant, &Row) -> Result<()> + Send + 'c>;

/// A database with the rows. What is read is looked at by the contender; the number of rows that it
/// found comes back, so that all can be seen to do the same.
pub(crate) trait Contender {
    /// Writes all rows, in batches of a tenant, each on disk before the next.
    fn load(&self) -> Result<()>;

    /// Writes anew what the second source says of all rows, in the same batches.
    fn refresh(&self) -> Result<()>;

    /// Brings the files into their best form, and tells their size.
    fn compact(&self) -> Result<u64>;

    /// Reads rows by their keys.
    fn read(&self, rows: &[(&Tenant, &Row)], wanted: Wanted) -> Result<usize>;

    /// Finds the rows with a score below a number among all, and reads three columns of them.
    fn scan(&self, score: i64, threads: u32) -> Result<usize>;

    /// Reads whole rows of tenants, at most so many of each.
    fn read_tenants(&self, rows: &[(&Tenant, &Row)], limit: usize) -> Result<usize>;

    /// What writes single rows on so many threads at once.
    fn writers(&self, threads: u32) -> Result<Vec<RowWriter<'_>>>;
}
