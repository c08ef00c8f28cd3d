//! What queries were meant to reach, and whether they do.

use anyhow::Result;

use crate::figures::{at_least, at_most};
use crate::goal::Goal;
use crate::queries::growth::Growth;
use crate::queries::measure::Measure;

pub(crate) fn goals(growth: &Growth) -> Result<Vec<Goal>> {
    use Measure::*;
    let figures = growth.largest()?;
    let rivals = [
        (OwnerPage, "page of an owner by index", 1.5),
        (ScorePage, "page in the order of an index", 1.5),
        (NamePage, "page in an order without index, 2 threads to 1,", 1.0),
        (Refresh, "refresh", 2.0),
    ];
    let mut goals = Vec::new();
    for (measure, what, factor) in rivals {
        goals.push(at_least(figures, measure, what, factor)?);
    }
    goals.push(at_most(figures, ScorePage, "page in the order of an index", 2.0)?);
    for measure in [OwnerPage, ScorePage] {
        goals.push(growth.goal(measure)?);
    }
    Ok(goals)
}
