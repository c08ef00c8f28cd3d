//! Room on the disk: writes are refused while there is little left, because an engine that runs out
//! of it in the middle of its own work can't go on.

use std::path::Path;

use crate::error::{Error, ErrorKind, Result};

/// What is always left free.
const RESERVE_BYTES: u64 = 16 << 20;
/// How much of the free room may be used up before it is looked at again.
const SHARE: u64 = 8;

/// How much may be written before the disk is asked again.
#[derive(Default)]
pub(crate) struct Space {
    budget_bytes: u64,
}

impl Space {
    /// Takes the room for a write, given how much the engine holds in memory and has yet to put in
    /// files.
    pub(crate) fn take(&mut self, path: &Path, bytes: u64, held_bytes: u64) -> Result<()> {
        if bytes > self.budget_bytes {
            // The journal takes the bytes now, and a file the same bytes later.
            let needed = RESERVE_BYTES + 2 * bytes + held_bytes;
            let free = free_bytes(path)?;
            let Some(rest) = free.checked_sub(needed) else {
                return Err(full(path, free, needed));
            };
            self.budget_bytes = bytes + rest / SHARE;
        }
        self.budget_bytes -= bytes;
        Ok(())
    }
}

/// Whether the disk is so full that work in the background may have failed of it.
pub(crate) fn is_scarce(path: &Path) -> bool {
    free_bytes(path).is_ok_and(|free| free < 4 * RESERVE_BYTES)
}

/// That there is room to work in.
pub(crate) fn check(path: &Path) -> Result<()> {
    let free = free_bytes(path)?;
    if free < RESERVE_BYTES { Err(full(path, free, RESERVE_BYTES)) } else { Ok(()) }
}

fn free_bytes(path: &Path) -> Result<u64> {
    let disk = rustix::fs::statvfs(path).map_err(|error| Error::io(path, error.into()))?;
    Ok(disk.f_bavail.saturating_mul(disk.f_frsize))
}

fn full(path: &Path, free: u64, needed: u64) -> Error {
    Error::new(
        ErrorKind::Full,
        format!(
            "{}: the disk has {free} bytes left, and {needed} are needed; nothing was written, and \
             writes go on once there is room",
            path.display()
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_disk_is_asked_again_before_it_can_be_full() {
        let mut space = Space::default();
        let path = std::env::temp_dir();
        space.take(&path, 100, 0).unwrap();
        let free = free_bytes(&path).unwrap();
        assert!(space.budget_bytes > 0 && space.budget_bytes <= free / SHARE);
        let error = space.take(&path, free, 0).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Full);
        assert!(error.to_string().contains("once there is room"), "{error}");
        space.take(&path, 100, 0).unwrap();
    }
}
