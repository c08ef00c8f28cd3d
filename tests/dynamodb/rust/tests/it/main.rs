//! DynamoDB's door through AWS's official SDK for Rust, every request signed.

mod batches;
mod intercept;
mod items;
mod queries;
mod signatures;
mod support;
mod tables;
mod transactions;
mod wire;
