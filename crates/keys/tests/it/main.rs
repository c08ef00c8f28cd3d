//! The crate from outside: what holds for every key, and the files that describe the format.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that panics has failed, which is what it is for"
)]

mod allocation;
mod bad_input;
mod collation;
mod documentation;
mod format;
mod geo;
mod json;
mod model;
mod notation;
mod oracle;
mod properties;
mod typed;
mod vectors;
