//! The plot of the report: for each measure and database a bar, as long as its rate is a multiple
//! of SQLite's.

use anyhow::Result;

use crate::figures::{Figures, Measure, Name};
use crate::plot::{Bars, Group};

/// All databases but SQLite have a bar; `labels` is the room for the titles.
pub(crate) fn chart<M: Measure>(
    figures: &Figures<M>,
    names: &[Name],
    title: &'static str,
    labels: f64,
) -> Result<Bars> {
    let names: Vec<Name> = names.iter().copied().filter(|name| *name != Name::Sqlite).collect();
    let mut groups = Vec::new();
    for measure in M::ALL.iter().copied().filter(|measure| !measure.less_is_better()) {
        let sqlite = figures.get(measure, Name::Sqlite)?;
        let ratio = |name: &Name| figures.find(measure, *name).map(|figure| figure / sqlite);
        let label = measure.title().rsplit_once(", ").map_or(measure.title(), |(what, _)| what);
        let ratios = vec![names.iter().map(ratio).collect()];
        groups.push(Group { label: label.to_owned(), ratios });
    }
    Ok(Bars {
        title,
        subtitle: "Rate as a multiple of SQLite's; more is better; the scale is logarithmic",
        unit: "SQLite",
        panels: vec![""],
        series: names.iter().map(|name| (name.title(), name.colour())).collect(),
        labels,
        groups,
    })
}
