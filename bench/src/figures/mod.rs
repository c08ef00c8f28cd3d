//! What was measured of databases beside each other.

mod chart;
mod goals;
mod table;

use std::collections::BTreeMap;

use anyhow::{Context, Result};

use crate::number::rate;

pub(crate) use chart::chart;
pub(crate) use goals::{at_least, at_most, compare};
pub(crate) use table::markdown;

/// What is measured: a rate, of which more is better, unless it says otherwise.
pub(crate) trait Measure: Copy + Ord + 'static {
    /// In the order of the report.
    const ALL: &'static [Self];

    /// Its row in the report; after the last comma is the unit.
    fn title(self) -> &'static str;

    /// Whether the smallest figure is the best.
    fn less_is_better(self) -> bool {
        false
    }

    /// A figure as the report has it.
    fn amount(self, figure: f64) -> String {
        rate(figure)
    }
}

/// A column of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Name {
    Stonecrop,
    Sqlite,
    /// Full scans with two threads, which an application can split up by hand.
    SqliteTwoThreads,
    Fjall,
}

impl Name {
    pub(crate) fn title(self) -> &'static str {
        match self {
            Name::Stonecrop => "stonecrop",
            Name::Sqlite => "SQLite",
            Name::SqliteTwoThreads => "SQLite, 2 threads",
            Name::Fjall => "fjall itself",
        }
    }

    /// The colours differ from each other for the colour-blind too.
    pub(crate) fn colour(self) -> &'static str {
        match self {
            Name::Stonecrop => "#00795a",
            Name::Sqlite => "#cc79a7",
            Name::SqliteTwoThreads => "#e69f00",
            Name::Fjall => "#56a5dc",
        }
    }
}

/// The best of each measure: other work on the machine only ever makes it slower.
#[derive(Debug)]
pub(crate) struct Figures<M> {
    best: BTreeMap<(M, Name), f64>,
}

impl<M> Default for Figures<M> {
    fn default() -> Self {
        Figures { best: BTreeMap::new() }
    }
}

impl<M: Measure> Figures<M> {
    pub(crate) fn add(&mut self, measure: M, name: Name, figure: f64) {
        let best = self.best.entry((measure, name)).or_insert(figure);
        *best = if measure.less_is_better() { best.min(figure) } else { best.max(figure) };
    }

    pub(crate) fn find(&self, measure: M, name: Name) -> Option<f64> {
        self.best.get(&(measure, name)).copied()
    }

    pub(crate) fn get(&self, measure: M, name: Name) -> Result<f64> {
        let figure = self.find(measure, name);
        figure.with_context(|| format!("{}: {} was not measured", measure.title(), name.title()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    enum Of {
        Rate,
        Size,
    }

    impl Measure for Of {
        const ALL: &'static [Self] = &[Of::Rate, Of::Size];

        fn title(self) -> &'static str {
            "of"
        }

        fn less_is_better(self) -> bool {
            self == Of::Size
        }
    }

    #[test]
    fn the_highest_rate_and_the_smallest_size_count() {
        let mut figures = Figures::default();
        for figure in [2.0, 3.0, 1.0] {
            figures.add(Of::Rate, Name::Sqlite, figure);
            figures.add(Of::Size, Name::Sqlite, figure);
        }
        assert_eq!(figures.find(Of::Rate, Name::Sqlite), Some(3.0));
        assert_eq!(figures.find(Of::Size, Name::Sqlite), Some(1.0));
    }
}
