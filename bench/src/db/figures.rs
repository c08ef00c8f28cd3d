//! What was measured.

use std::collections::BTreeMap;

use anyhow::{Context, Result};

/// What is measured; the title is its row in the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Measure {
    Load,
    Refresh,
    ReadOneSource,
    ReadBothSources,
    WriteOneThread,
    WriteEightThreads,
    WriteThirtyTwoThreads,
    ScanForFew,
    ScanForMany,
    ReadTenant,
    ReadTenRows,
    DiskBytes,
}

impl Measure {
    pub(crate) const ALL: [Measure; 12] = [
        Measure::Load,
        Measure::Refresh,
        Measure::ReadOneSource,
        Measure::ReadBothSources,
        Measure::WriteOneThread,
        Measure::WriteEightThreads,
        Measure::WriteThirtyTwoThreads,
        Measure::ScanForFew,
        Measure::ScanForMany,
        Measure::ReadTenant,
        Measure::ReadTenRows,
        Measure::DiskBytes,
    ];

    pub(crate) fn title(self) -> &'static str {
        match self {
            Measure::Load => "load, rows/s",
            Measure::Refresh => "refresh of one source, rows/s",
            Measure::ReadOneSource => "read 3 columns of one source, rows/s",
            Measure::ReadBothSources => "read 3 columns of both sources, rows/s",
            Measure::WriteOneThread => "durable writes, 1 thread, rows/s",
            Measure::WriteEightThreads => "durable writes, 8 threads, rows/s",
            Measure::WriteThirtyTwoThreads => "durable writes, 32 threads, rows/s",
            Measure::ScanForFew => "scan all for 0.1% of rows, rows/s",
            Measure::ScanForMany => "scan all for 10% of rows, rows/s",
            Measure::ReadTenant => "scan a partition of 1,000 rows, rows/s",
            Measure::ReadTenRows => "scan with limit 10, scans/s",
            Measure::DiskBytes => "size of the files, MB",
        }
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
    pub(crate) const ALL: [Name; 4] =
        [Name::Stonecrop, Name::Sqlite, Name::SqliteTwoThreads, Name::Fjall];

    pub(crate) fn title(self) -> &'static str {
        match self {
            Name::Stonecrop => "stonecrop",
            Name::Sqlite => "SQLite",
            Name::SqliteTwoThreads => "SQLite, 2 threads",
            Name::Fjall => "fjall itself",
        }
    }
}

/// The best of each measure: other work on the machine only ever makes it slower.
#[derive(Debug, Default)]
pub(crate) struct Figures {
    best: BTreeMap<(Measure, Name), f64>,
}

impl Figures {
    pub(crate) fn add(&mut self, measure: Measure, name: Name, figure: f64) {
        let best = self.best.entry((measure, name)).or_insert(figure);
        *best = match measure {
            Measure::DiskBytes => best.min(figure),
            _ => best.max(figure),
        };
    }

    pub(crate) fn find(&self, measure: Measure, name: Name) -> Option<f64> {
        self.best.get(&(measure, name)).copied()
    }

    pub(crate) fn get(&self, measure: Measure, name: Name) -> Result<f64> {
        let figure = self.find(measure, name);
        figure.with_context(|| format!("{}: {} was not measured", measure.title(), name.title()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_rate_and_the_smallest_size_count() {
        let mut figures = Figures::default();
        for figure in [2.0, 3.0, 1.0] {
            figures.add(Measure::Load, Name::Sqlite, figure);
            figures.add(Measure::DiskBytes, Name::Sqlite, figure);
        }
        assert_eq!(figures.find(Measure::Load, Name::Sqlite), Some(3.0));
        assert_eq!(figures.find(Measure::DiskBytes, Name::Sqlite), Some(1.0));
    }
}
