//! How far an import has come, in a file beside the one that is imported.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};

use super::rejects::beside;
use crate::error::{Error, Result};

/// What is written down after every batch that is on disk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct State {
    database: String,
    table: String,
    size: u64,
    /// Microseconds since 1970.
    modified: u64,
    /// So many rows of the file were imported or left out.
    pub(super) rows_done: u64,
    pub(super) imported: u64,
    pub(super) rejected: u64,
}

/// A state and its file; there is none for what can't be read twice.
pub(super) struct Saved {
    pub(super) state: State,
    path: Option<PathBuf>,
}

impl Saved {
    /// At the beginning of a file.
    pub(super) fn new(file: &Path, database: &str, table: &str) -> Result<Self> {
        let failed = |cause| Error::File { path: file.to_owned(), cause };
        let is_stdin = file == Path::new("-");
        let (size, modified) = match is_stdin {
            true => (0, 0),
            false => {
                let metadata = fs::metadata(file).map_err(failed)?;
                let modified = metadata.modified().map_err(failed)?;
                let since = modified.duration_since(UNIX_EPOCH).unwrap_or_default();
                (metadata.len(), u64::try_from(since.as_micros()).unwrap_or_default())
            }
        };
        let state = State {
            database: database.to_owned(),
            table: table.to_owned(),
            size,
            modified,
            rows_done: 0,
            imported: 0,
            rejected: 0,
        };
        let path = (!is_stdin).then(|| beside(file, "stonecrop-import"));
        Ok(Saved { state, path })
    }

    pub(super) fn size(&self) -> Option<u64> {
        self.path.as_ref().map(|_| self.state.size)
    }

    /// Takes up what an import before left, if it did.
    pub(super) fn resume(&mut self) -> Result<bool> {
        let Some(path) = &self.path else {
            let problem = "standard input can't be resumed; give a file";
            return Err(Error::Usage(problem.to_owned()));
        };
        let text = match fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(false),
            Err(cause) => return Err(Error::File { path: path.clone(), cause }),
        };
        let name = path.display();
        let found: State = serde_json::from_str(&text)
            .map_err(|error| Error::Data(format!("{name}: {error}; remove it to begin again")))?;
        let same = State { rows_done: 0, imported: 0, rejected: 0, ..found.clone() };
        if same != self.state {
            return Err(Error::Usage(format!(
                "{name} is of an import into the table {:?} of {}, or the file was changed since; \
                 without --resume the import begins again",
                found.table, found.database
            )));
        }
        self.state = found;
        Ok(true)
    }

    /// Writes it down, as a whole or not at all.
    pub(super) fn save(&self) -> Result<()> {
        let Some(path) = &self.path else { return Ok(()) };
        let failed = |cause| Error::File { path: path.clone(), cause };
        let json = serde_json::to_vec(&self.state).map_err(|error| failed(error.into()))?;
        let new = path.with_extension("stonecrop-import.new");
        fs::write(&new, json).and_then(|()| fs::rename(&new, path)).map_err(failed)
    }

    /// The import is at its end.
    pub(super) fn remove(&self) -> Result<()> {
        let Some(path) = &self.path else { return Ok(()) };
        match fs::remove_file(path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(Error::File { path: path.clone(), cause: error })
            }
            _ => Ok(()),
        }
    }
}
