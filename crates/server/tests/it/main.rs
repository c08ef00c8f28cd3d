//! The server over real HTTP, in a process of its own making.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    missing_docs
)]

mod access;
mod changes;
mod cors;
mod dynamodb;
mod dynamodb_native;
mod harness;
mod hostile;
mod many;
mod problems;
mod protocols;
mod queries;
mod rows;
mod signed;
mod stopping;
mod streams;
mod tables;
