//! Where databases live while they are measured.

use std::path::{Path, PathBuf};

use anyhow::Result;
use tempfile::TempDir;

/// A new folder for each of some databases, gone with the first part of what is returned.
pub(crate) fn folders<const N: usize>(
    directory: &Path,
    names: [&str; N],
) -> Result<(TempDir, [PathBuf; N])> {
    std::fs::create_dir_all(directory)?;
    let all = tempfile::tempdir_in(directory)?;
    let folders = names.map(|name| all.path().join(name));
    for folder in &folders {
        std::fs::create_dir(folder)?;
    }
    Ok((all, folders))
}
