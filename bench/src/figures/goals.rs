//! Goals about one figure beside another.

use anyhow::Result;

use crate::figures::{Figures, Measure, Name};
use crate::goal::Goal;
use crate::number::times;

/// At least so many times SQLite's rate.
pub(crate) fn at_least<M: Measure>(
    figures: &Figures<M>,
    measure: M,
    what: &str,
    factor: f64,
) -> Result<Goal> {
    let ours = figures.get(measure, Name::Stonecrop)?;
    let theirs = figures.get(measure, Name::Sqlite)?;
    Ok(Goal {
        text: format!("{what} at least {factor}× as fast as SQLite"),
        figures: compare(measure, ours, theirs),
        met: ours / theirs >= factor,
    })
}

/// At most so many times the time of the engine below.
pub(crate) fn at_most<M: Measure>(
    figures: &Figures<M>,
    measure: M,
    what: &str,
    factor: f64,
) -> Result<Goal> {
    let ours = figures.get(measure, Name::Stonecrop)?;
    let limit = figures.get(measure, Name::Fjall)?;
    let (a, b) = (measure.amount(ours), measure.amount(limit));
    Ok(Goal {
        text: format!("{what} in at most {factor}× of fjall's own time"),
        figures: format!("{a} to {b} a second: {}", times(limit / ours)),
        met: limit / ours <= factor,
    })
}

/// Two rates, and how many times the second the first is.
pub(crate) fn compare<M: Measure>(measure: M, ours: f64, theirs: f64) -> String {
    let (a, b) = (measure.amount(ours), measure.amount(theirs));
    format!("{a} to {b} a second: {}", times(ours / theirs))
}
