//! The engines, one file each.

mod entries;
pub(crate) mod fjall;
pub(crate) mod folder;
mod manifest;
pub(crate) mod memory;
pub(crate) mod space;
