//! The engines from outside: one suite for all of them, and what is particular to files.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that panics has failed, which is what it is for"
)]

mod conformance;
#[cfg(feature = "slatedb")]
mod faults;
mod folder;
mod harness;
mod model;
#[cfg(feature = "slatedb")]
mod objects;
#[cfg(feature = "slatedb")]
mod prefixes;
#[cfg(feature = "slatedb")]
mod unruly;
