//! The file of rows that were left out, which is made for the first of them.

use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use crate::data::Reject;
use crate::error::{Error, Result};

pub(super) struct Rejects {
    path: PathBuf,
    file: Option<BufWriter<File>>,
    count: u64,
    /// Those of the run before are kept.
    resumed: bool,
}

impl Rejects {
    /// Beside the file that is imported.
    pub(super) fn beside(file: &Path, resumed: bool) -> Self {
        Rejects { path: beside(file, "rejects.jsonl"), file: None, count: 0, resumed }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn count(&self) -> u64 {
        self.count
    }

    pub(super) fn add(&mut self, reject: &Reject) -> Result<()> {
        let failed = |cause| Error::File { path: self.path.clone(), cause };
        if self.file.is_none() {
            let mut options = OpenOptions::new();
            options.create(true).write(true).append(self.resumed).truncate(!self.resumed);
            self.file = Some(BufWriter::new(options.open(&self.path).map_err(failed)?));
        }
        self.count += 1;
        let line = serde_json::to_string(reject).map_err(|error| failed(error.into()))?;
        match &mut self.file {
            Some(file) => writeln!(file, "{line}").map_err(failed),
            None => Ok(()),
        }
    }

    pub(super) fn flush(&mut self) -> Result<()> {
        let failed = |cause| Error::File { path: self.path.clone(), cause };
        self.file.as_mut().map_or(Ok(()), |file| file.flush().map_err(failed))
    }
}

/// A file beside another, with a further end to its name; in this folder for standard input.
pub(super) fn beside(file: &Path, end: &str) -> PathBuf {
    let name = match file == Path::new("-") {
        true => "stdin".into(),
        false => file.as_os_str().to_owned(),
    };
    let mut name = name;
    name.push(".");
    name.push(end);
    PathBuf::from(name)
}
