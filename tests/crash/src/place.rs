//! Where the databases of a test are made: in folders, or on object storage.

use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::Result;

/// A place for one database, which is new.
pub(crate) struct Place {
    /// A folder, or a location as text.
    pub(crate) path: PathBuf,
    folder: Option<TempDir>,
}

impl Place {
    /// Below a folder or a location; in memory without, where there is such a place.
    pub(crate) fn new(base: Option<&str>) -> Result<Self> {
        let Some((location, settings)) = base.filter(|base| is_location(base)).map(split) else {
            let base = base.map_or_else(crate::scratch, PathBuf::from);
            let folder = make_folder(&base)?;
            return Ok(Place { path: folder.path().join("db"), folder: Some(folder) });
        };
        if let Some(base) = location.strip_prefix("file://") {
            let folder = make_folder(Path::new(base))?;
            let path = format!("file://{}/db?{settings}", folder.path().display()).into();
            return Ok(Place { path, folder: Some(folder) });
        }
        let path = format!("{location}/crash-{:016x}?{settings}", fastrand::u64(..)).into();
        Ok(Place { path, folder: None })
    }

    /// Leaves it there with a note of what is broken, and says where; what is elsewhere is left in
    /// any case.
    pub(crate) fn keep(self, note: &str) -> Result<PathBuf> {
        let Some(folder) = self.folder else { return Ok(self.path) };
        let folder = folder.keep();
        // Beside the database, so that the reason is kept as long as the folder.
        std::fs::write(folder.join("broken"), note)?;
        Ok(folder)
    }
}

fn make_folder(base: &Path) -> std::io::Result<TempDir> {
    tempfile::Builder::new().prefix("stonecrop-crash-").tempdir_in(base)
}

fn is_location(text: &str) -> bool {
    text.contains("://")
}

fn split(location: &str) -> (&str, &str) {
    location.split_once('?').unwrap_or((location, ""))
}

/// Whether a database is on object storage.
pub(crate) fn is_on_objects(path: &Path) -> bool {
    is_location(&path.to_string_lossy())
}
