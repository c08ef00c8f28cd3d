//! The engines, one file each.

mod entries;
mod files;
pub(crate) mod fjall;
pub(crate) mod folder;
mod manifest;
mod marker;
pub(crate) mod memory;
#[cfg(feature = "slatedb")]
pub(crate) mod slatedb;
pub(crate) mod space;
