//! What is measured of the database.

use crate::figures;
use crate::number::rate;

/// What is measured.
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

impl figures::Measure for Measure {
    const ALL: &'static [Self] = &[
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

    fn title(self) -> &'static str {
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

    fn less_is_better(self) -> bool {
        self == Measure::DiskBytes
    }

    fn amount(self, figure: f64) -> String {
        match self {
            Measure::DiskBytes => format!("{:.1}", figure / 1e6),
            _ => rate(figure),
        }
    }
}
