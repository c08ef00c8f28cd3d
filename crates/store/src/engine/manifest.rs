//! Looks at the engine's own lists of its files before it is opened. lsm-tree writes a checksum of
//! each list and does not compare it: one flipped bit can hide a table, or ask for gigabytes of
//! memory. A tree without a list is made anew by it, empty.

use std::fs;
use std::path::Path;

use xxhash_rust::xxh3::xxh3_128;

use crate::error::{Error, ErrorKind, Result};

/// Names the list that counts: the number of the list (8), its XXH3-128 (16) and the kind of the
/// checksum (1), little-endian.
const CURRENT: &str = "current";

/// That the list of every keyspace's files is what was written.
pub(crate) fn check(engine: &Path) -> Result<()> {
    let keyspaces = engine.join("keyspaces");
    let entries = fs::read_dir(&keyspaces).map_err(|error| missing(&keyspaces, error))?;
    for entry in entries {
        let folder = entry.map_err(|error| Error::io(&keyspaces, error))?.path();
        let current = folder.join(CURRENT);
        let bytes = fs::read(&current).map_err(|error| missing(&current, error))?;
        let Some((number, rest)) = bytes.split_first_chunk() else {
            return Err(damaged(&current));
        };
        let Some((expected, [0])) = rest.split_first_chunk() else {
            return Err(damaged(&current));
        };
        let list = folder.join(format!("v{}", u64::from_le_bytes(*number)));
        let found = fs::read(&list).map_err(|error| missing(&list, error))?;
        if xxh3_128(&found) != u128::from_le_bytes(*expected) {
            return Err(damaged(&list));
        }
    }
    Ok(())
}

fn missing(path: &Path, error: std::io::Error) -> Error {
    match error.kind() {
        std::io::ErrorKind::NotFound => Error::new(
            ErrorKind::Corrupt,
            format!("{} is missing; restore the folder from a backup", path.display()),
        ),
        _ => Error::io(path, error),
    }
}

fn damaged(path: &Path) -> Error {
    Error::new(
        ErrorKind::Corrupt,
        format!(
            "{} is damaged: its checksum differs; restore the folder from a backup",
            path.display()
        ),
    )
}
