//! The folder of a store on disk: what it is, how it was made, and how many commits it must hold.
//!
//! | file | what |
//! |---|---|
//! | `STONECROP` | text: the version of the format, the engine, the count of shards, a checksum |
//! | `commits` | the number of the last commit that was acknowledged as synced |
//! | `engine/` | the engine's own files |

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{ErrorKind as IoKind, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use crate::engine::marker::{self, Marker, NAME as MARKER, VERSION, check_shards};
use crate::error::{Error, ErrorKind, Result};

/// The marker while it is made.
const NEW_MARKER: &str = "STONECROP.new";
const COMMITS: &str = "commits";
const ENGINE: &str = "engine";
/// The engine's files while they are made.
const NEW_ENGINE: &str = "engine.new";

/// A folder that is a store's.
pub(crate) struct Folder {
    path: PathBuf,
    pub(crate) shards: u16,
    /// The folder itself, locked against others for as long as the store is open.
    lock: File,
}

impl Folder {
    /// Opens the folder, or makes it one if it is empty or not there.
    pub(crate) fn open(path: &Path, engine: &str, shards: u16) -> Result<Self> {
        if !path.exists() {
            check_shards(shards)?;
            fs::create_dir_all(path).map_err(|error| Error::io(path, error))?;
        }
        let lock = lock(path)?;
        let shards = match fs::read_to_string(path.join(MARKER)) {
            Ok(text) => {
                let place = path.join(MARKER).display().to_string();
                let Marker { version, shards, .. } = marker::parse(&place, &text, engine)?;
                if version < VERSION {
                    // Before anything is written that an older program would not understand.
                    write_marker(path, engine, shards)?;
                }
                shards
            }
            Err(error) if matches!(error.kind(), IoKind::NotFound | IoKind::NotADirectory) => {
                create(path, engine, shards)?;
                shards
            }
            Err(error) => return Err(Error::io(&path.join(MARKER), error)),
        };
        Ok(Folder { path: path.to_owned(), shards, lock })
    }

    /// Lets others open it.
    pub(crate) fn unlock(&self) -> Result<()> {
        self.lock.unlock().map_err(|error| Error::io(&self.path, error))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Where the engine's own files are.
    pub(crate) fn engine(&self) -> PathBuf {
        self.path.join(ENGINE)
    }

    /// Makes the engine's files with `make`, as a whole or not at all.
    pub(crate) fn make_engine(&self, make: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
        let new = self.path.join(NEW_ENGINE);
        let io = |error| Error::io(&new, error);
        match fs::remove_dir_all(&new) {
            Err(error) if error.kind() != IoKind::NotFound => return Err(io(error)),
            _ => {}
        }
        make(&new)?;
        fs::rename(&new, self.engine()).map_err(io)?;
        File::open(&self.path).and_then(|folder| folder.sync_all()).map_err(io)
    }

    /// The count of acknowledged commits, which is made before the engine is.
    pub(crate) fn commits(&self) -> Result<Commits> {
        let path = self.path.join(COMMITS);
        if !self.engine().exists() && !path.exists() {
            Commits::create(&self.path)?;
        }
        Commits::open(&path)
    }
}

/// Takes the folder for this process, or says that another has it.
fn lock(path: &Path) -> Result<File> {
    let folder = File::open(path).map_err(|error| Error::io(path, error))?;
    match folder.try_lock() {
        Ok(()) => Ok(folder),
        Err(TryLockError::WouldBlock) => Err(Error::new(
            ErrorKind::Locked,
            format!(
                "{} is open in another process, or already in this one; close it there first",
                path.display()
            ),
        )),
        Err(TryLockError::Error(error)) => Err(Error::io(path, error)),
    }
}

/// Marks an empty folder as a store's.
fn create(path: &Path, engine: &str, shards: u16) -> Result<()> {
    check_shards(shards)?;
    let entries = fs::read_dir(path).map_err(|error| Error::io(path, error))?;
    for entry in entries {
        let name = entry.map_err(|error| Error::io(path, error))?.file_name();
        // Left behind where the making of a store was cut short.
        if name != NEW_MARKER {
            return Err(Error::invalid(format!(
                "{} is not a Stonecrop database, and not empty (it holds {name:?}); name an empty \
                 or a new folder",
                path.display(),
            )));
        }
    }
    write_marker(path, engine, shards)
}

fn write_marker(path: &Path, engine: &str, shards: u16) -> Result<()> {
    write_whole(path, MARKER, marker::text(engine, shards, None).as_bytes())
        .map_err(|error| Error::io(&path.join(MARKER), error))
}

/// A file that is there as a whole or not at all, and is on disk when this returns.
fn write_whole(folder: &Path, name: &str, bytes: &[u8]) -> std::io::Result<()> {
    let new = folder.join(format!("{name}.new"));
    let mut file = File::create(&new)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&new, folder.join(name))?;
    File::open(folder)?.sync_all()?;
    // The folder itself may be new as well.
    match folder.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => File::open(parent)?.sync_all(),
        _ => Ok(()),
    }
}

/// The number of the last synced commit, kept outside of the engine's journal: a damaged journal
/// can look like one that simply ends earlier, and this tells the difference.
///
/// It is written after the commit is on disk and not synced itself, so it may lag behind after a
/// power cut but never runs ahead. Two slots take turns, so that a torn write leaves the other.
pub(crate) struct Commits {
    path: PathBuf,
    file: File,
    last: u64,
}

const SLOT_BYTES: usize = 12;

impl Commits {
    /// A file that counts no commits yet.
    fn create(folder: &Path) -> Result<()> {
        let none = [slot(0); 2];
        write_whole(folder, COMMITS, none.as_flattened())
            .map_err(|error| Error::io(&folder.join(COMMITS), error))
    }

    fn open(path: &Path) -> Result<Self> {
        let damaged = |how| {
            let message = format!("{} is {how}; restore the folder from a backup", path.display());
            Error::new(ErrorKind::Corrupt, message)
        };
        let file = match OpenOptions::new().read(true).write(true).open(path) {
            Err(error) if error.kind() == IoKind::NotFound => return Err(damaged("missing")),
            file => file.map_err(|error| Error::io(path, error))?,
        };
        let read = |index: u64| {
            let mut bytes = [0; SLOT_BYTES];
            file.read_exact_at(&mut bytes, index * SLOT_BYTES as u64).ok()?;
            parse_slot(bytes)
        };
        // One of them may be torn; the other is then the commit before.
        let last = read(0).max(read(1)).ok_or_else(|| damaged("damaged"))?;
        Ok(Commits { path: path.to_owned(), file, last })
    }

    pub(crate) fn last(&self) -> u64 {
        self.last
    }

    /// Commit `number` is on disk, and all before it.
    pub(crate) fn record(&mut self, number: u64) -> Result<()> {
        let offset = number % 2 * SLOT_BYTES as u64;
        self.file
            .write_all_at(&slot(number), offset)
            .map_err(|error| Error::io(&self.path, error))?;
        self.last = number;
        Ok(())
    }
}

fn slot(number: u64) -> [u8; SLOT_BYTES] {
    let number = number.to_be_bytes();
    let check = crc32fast::hash(&number).to_be_bytes();
    let mut slot = [0; SLOT_BYTES];
    for (to, from) in slot.iter_mut().zip(number.iter().chain(&check)) {
        *to = *from;
    }
    slot
}

fn parse_slot(bytes: [u8; SLOT_BYTES]) -> Option<u64> {
    let number = u64::from_be_bytes(*bytes.first_chunk()?);
    (slot(number) == bytes).then_some(number)
}
