//! Queries: every plan gives what a naive look at all rows gives, and so does SQLite.

mod concurrent;
mod differential;
mod json;
mod limits;
mod model;
mod pages;
mod plans;
mod random;
mod sqlite;
