//! What every database is asked.

use anyhow::Result;

use crate::queries::data::Account;
use crate::queries::measure::Measure;

/// A database with the rows.
pub(crate) trait Contender {
    /// Writes all rows, and brings the files into their best form.
    fn load(&self) -> Result<()>;

    /// Asks a question about each of the values, and looks at the answers.
    fn ask(&self, question: Measure, values: &[Option<String>]) -> Result<()>;
}

/// A database that tells its answers, and takes news.
pub(crate) trait Rival: Contender {
    /// What it answers, a line a row.
    fn answer(&self, question: Measure, value: Option<&str>) -> Result<Vec<String>>;

    /// Writes what the first source says, in batches, each on disk before the next.
    fn refresh(&self, batches: &[Vec<Account>]) -> Result<()>;
}
