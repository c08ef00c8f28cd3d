//! The crate from outside: what holds for every key, and the files that describe the format.

mod allocation;
mod bad_input;
mod collation;
mod format;
mod geo;
mod model;
mod notation;
mod oracle;
mod properties;
mod typed;
mod vectors;
