//! One file a family of types: how each is written, and which bytes are accepted back.

pub(crate) mod bool;
pub(crate) mod collated;
pub(crate) mod decimal;
pub(crate) mod escaped;
pub(crate) mod float;
pub(crate) mod geo;
pub(crate) mod integer;
pub(crate) mod nested;
pub(crate) mod time;
pub(crate) mod uuid;
pub(crate) mod varint;
