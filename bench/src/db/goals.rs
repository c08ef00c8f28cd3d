//! What the database was meant to reach, and whether it does.

use anyhow::Result;

use crate::db::measure::Measure;
use crate::figures::{Figures, Name, at_least, at_most, compare};
use crate::goal::Goal;

pub(crate) fn goals(figures: &Figures<Measure>) -> Result<Vec<Goal>> {
    use Measure::*;
    let mut goals = Vec::new();
    let rivals = [
        (Load, "load", 1.5),
        (Refresh, "refresh", 1.5),
        (ReadOneSource, "read from one source", 1.0),
        (ReadBothSources, "read from both sources", 1.0),
        (WriteThirtyTwoThreads, "durable writes with 32 threads", 5.0),
        (ScanForFew, "scan for 0.1% of rows, 2 threads to 1,", 1.0),
        (ScanForMany, "scan for 10% of rows, 2 threads to 1,", 1.0),
    ];
    for (measure, what, factor) in rivals {
        goals.push(at_least(figures, measure, what, factor)?);
    }
    goals.push(group_commit(figures)?);
    let limits = [
        (Load, "load"),
        (Refresh, "refresh"),
        (ReadOneSource, "read from one source"),
        (ReadBothSources, "read from both sources"),
        (ScanForFew, "scan for 0.1% of rows"),
        (ReadTenant, "scan of a partition"),
    ];
    for (measure, what) in limits {
        goals.push(at_most(figures, measure, what, 1.3)?);
    }
    Ok(goals)
}

/// Writers share a sync, so 32 threads can't be more than 32 times as fast as one. A ratio above
/// that says that the disk was slower while the one was measured, and proves nothing.
fn group_commit(figures: &Figures<Measure>) -> Result<Goal> {
    let measure = Measure::WriteThirtyTwoThreads;
    let many = figures.get(measure, Name::Stonecrop)?;
    let one = figures.get(Measure::WriteOneThread, Name::Stonecrop)?;
    let possible = many / one <= 32.0;
    let doubt = if possible { "" } else { ", more than is possible: the disk's speed changed" };
    Ok(Goal {
        text: "durable writes with 32 threads at least 10× of those with one".to_owned(),
        figures: format!("{}{doubt}", compare(measure, many, one)),
        met: possible && many / one >= 10.0,
    })
}
