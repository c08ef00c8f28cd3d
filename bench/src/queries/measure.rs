//! What is measured of queries.

use crate::figures;
use crate::queries::data::{Data, PAGE_ROWS, STATUSES};

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Measure {
    NewOwnerPage,
    OwnerPage,
    ScorePage,
    ScorePageOfStatus,
    NamePage,
    CountOwner,
    CountStatus,
    Facets,
    Refresh,
}

impl figures::Measure for Measure {
    const ALL: &'static [Self] = &[
        Measure::NewOwnerPage,
        Measure::OwnerPage,
        Measure::ScorePage,
        Measure::ScorePageOfStatus,
        Measure::NamePage,
        Measure::CountOwner,
        Measure::CountStatus,
        Measure::Facets,
        Measure::Refresh,
    ];

    fn title(self) -> &'static str {
        match self {
            Measure::NewOwnerPage => "page of an owner by index, never asked for before, pages/s",
            Measure::OwnerPage => "page of an owner by index, pages/s",
            Measure::ScorePage => "page in the order of an index, pages/s",
            Measure::ScorePageOfStatus => "the same with a filter for 5% of rows, pages/s",
            Measure::NamePage => "page in an order without index, pages/s",
            Measure::CountOwner => "count of 200 rows by index, counts/s",
            Measure::CountStatus => "count of 5% of rows by index, counts/s",
            Measure::Facets => "rows of each of 20 values, answers/s",
            Measure::Refresh => "refresh of one source, rows/s",
        }
    }
}

impl Measure {
    /// What should take as long in a table of any size, as far as a filter lets it.
    pub(crate) const GROWTH: [Measure; 4] =
        [Measure::OwnerPage, Measure::ScorePage, Measure::ScorePageOfStatus, Measure::CountOwner];

    /// What is asked again and again.
    pub(crate) fn questions() -> impl Iterator<Item = Measure> {
        <Measure as figures::Measure>::ALL.iter().copied().filter(|of| *of != Measure::Refresh)
    }

    /// What the question is about: an owner, or a status, or nothing.
    pub(crate) fn value(self, data: Data, seed: u64) -> Option<String> {
        match self {
            Measure::NewOwnerPage => Some(data.nth_owner(seed)),
            Measure::OwnerPage | Measure::CountOwner => Some(data.owner(seed)),
            Measure::ScorePageOfStatus | Measure::CountStatus => Some(data.status(seed)),
            _ => None,
        }
    }

    /// Whether the answer has an order.
    pub(crate) fn is_sorted(self) -> bool {
        matches!(self, Measure::ScorePage | Measure::ScorePageOfStatus | Measure::NamePage)
    }

    /// How many rows the answer has.
    pub(crate) fn rows(self, data: Data) -> usize {
        match self {
            Measure::CountOwner | Measure::CountStatus => 1,
            Measure::Facets => STATUSES,
            Measure::ScorePageOfStatus => PAGE_ROWS.min(data.len() / STATUSES),
            _ => PAGE_ROWS,
        }
    }
}
