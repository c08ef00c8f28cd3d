//! The plot of the report: for each measure and database a bar, as long as its rate is a multiple
//! of SQLite's.

use anyhow::Result;

use crate::db::figures::{Figures, Measure, Name};
use crate::plot::{Chart, Group};

/// In the order of the bars, and different from each other for the colour-blind too.
const SERIES: [(Name, &str); 3] =
    [(Name::Stonecrop, "#00795a"), (Name::SqliteTwoThreads, "#e69f00"), (Name::Fjall, "#56a5dc")];

pub(crate) fn chart(figures: &Figures) -> Result<Chart> {
    let mut groups = Vec::new();
    for measure in Measure::ALL {
        // Of which less is better.
        if measure == Measure::DiskBytes {
            continue;
        }
        let sqlite = figures.get(measure, Name::Sqlite)?;
        let ratio = |(name, _)| figures.find(measure, name).map(|figure| figure / sqlite);
        let label = measure.title().rsplit_once(", ").map_or(measure.title(), |(what, _)| what);
        groups.push(Group { label, ratios: vec![SERIES.map(ratio).to_vec()] });
    }
    Ok(Chart {
        title: "The database beside SQLite",
        subtitle: "Rate as a multiple of SQLite's; more is better; the scale is logarithmic",
        unit: "SQLite",
        panels: vec![""],
        series: SERIES.map(|(name, colour)| (name.title(), colour)).to_vec(),
        labels: 230.0,
        groups,
    })
}
