//! The database from outside: what it promises, on every engine, wherever the data is.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that panics has failed, which is what it is for"
)]

mod catalog;
mod changes;
mod distant;
mod freshness;
mod harness;
mod history;
mod indexes;
mod lead;
mod limits;
mod linearizable;
mod loads;
mod model;
#[cfg(feature = "slatedb")]
mod objects;
mod queries;
mod retention;
mod scans;
mod writes;
