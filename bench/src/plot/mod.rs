//! Plots of the report, drawn as SVG.

mod bars;
mod lines;
mod svg;

pub(crate) use bars::{Bars, Group};
pub(crate) use lines::{Line, Lines, Panel};
