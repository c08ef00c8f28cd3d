//! The engine alone: it goes over the entries that a question can't be answered without.

use std::hint::black_box;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use stonecrop_keys::{KeyBuilder, ToKey};

use crate::datum::{Datum, TTL_SECONDS};
use crate::engine::{Engine, Entry, family_prefix, index_prefix, place, value};
use crate::queries::contender::Contender;
use crate::queries::data::{Account, Data, PAGE_ROWS, STATUSES};
use crate::queries::measure::Measure;

const CRM: u8 = 1;
const USAGE: u8 = 2;
const BY_OWNER: u8 = 1;
const BY_SCORE: u8 = 2;
const BY_STATUS: u8 = 3;

pub(crate) struct RawFjall {
    engine: Engine,
    data: Data,
}

impl RawFjall {
    /// What can be asked of it. A filter is none of its business.
    pub(crate) const QUESTIONS: [Measure; 7] = [
        Measure::NewOwnerPage,
        Measure::OwnerPage,
        Measure::ScorePage,
        Measure::NamePage,
        Measure::CountOwner,
        Measure::CountStatus,
        Measure::Facets,
    ];

    pub(crate) fn open(folder: &Path, data: Data) -> Result<Self> {
        Ok(RawFjall { engine: Engine::open(folder)?, data })
    }

    /// Goes over a stretch of an index, and reads the row of each entry.
    fn page(&self, start: Vec<u8>) -> Result<()> {
        let end = end_of(&start);
        let mut found = 0;
        for entry in self.engine.entries(start, end, PAGE_ROWS) {
            let (key, value) = entry?;
            let length = value.last_chunk().context("an entry without the length of its place")?;
            let start = key.len() - usize::from(u16::from_be_bytes(*length));
            let key = [&family_prefix(CRM), key.get(start..).unwrap_or_default()].concat();
            found += usize::from(black_box(self.engine.keyspace.get(key)?).is_some());
        }
        ensure!(found == PAGE_ROWS, "a page of {found} rows");
        Ok(())
    }

    fn count(&self, start: Vec<u8>, expected: usize) -> Result<()> {
        let end = end_of(&start);
        let found = self.engine.count(start, end, usize::MAX)?;
        ensure!(found == expected, "{found} entries, and not {expected}");
        Ok(())
    }

    fn count_all(&self) -> Result<()> {
        let (found, rows) = (self.engine.count_family(CRM, 2)?, self.data.len());
        ensure!(found == rows, "{found} entries of a source, and not {rows}");
        Ok(())
    }
}

impl Contender for RawFjall {
    fn load(&self) -> Result<()> {
        for batch in self.data.batches() {
            let entries: Result<Vec<_>> = batch.iter().map(entries).collect();
            self.engine.write(&entries?.concat())?;
        }
        self.engine.compact()?;
        Ok(())
    }

    fn ask(&self, question: Measure, values: &[Option<String>]) -> Result<()> {
        for value in values {
            let text = value.as_deref().unwrap_or_default();
            match question {
                Measure::NewOwnerPage | Measure::OwnerPage => {
                    self.page(index_key(BY_OWNER, text))?
                }
                Measure::ScorePage => self.page(index_prefix(BY_SCORE))?,
                Measure::NamePage | Measure::Facets => self.count_all()?,
                Measure::CountOwner => self.count(index_key(BY_OWNER, text), PAGE_ROWS)?,
                Measure::CountStatus => {
                    self.count(index_key(BY_STATUS, text), self.data.len() / STATUSES)?;
                }
                other => bail!("{other:?} is nothing that the engine alone can do"),
            }
        }
        Ok(())
    }
}

/// All entries of a row, those of its indexes among them.
fn entries(account: &Account) -> Result<[Entry; 5]> {
    let place = place(&account.id);
    let ([_, _, Datum::Text(owner), Datum::Text(status)], [Datum::Int(score), ..]) =
        (&account.crm, &account.usage)
    else {
        bail!("{account:?} has columns of other types");
    };
    let mut by_score = index_prefix(BY_SCORE);
    KeyBuilder::new(&mut by_score).push_desc(*score);
    let gone_at = 1_800_000_000_000_000 + u64::from(TTL_SECONDS) * 1_000_000;
    let index_value = [&gone_at.to_be_bytes()[..], &(place.len() as u16).to_be_bytes()].concat();
    let index = |key: Vec<u8>| ([key, place.clone()].concat(), index_value.clone());
    Ok([
        ([family_prefix(CRM), place.clone()].concat(), value(&account.crm)),
        ([family_prefix(USAGE), place.clone()].concat(), value(&account.usage)),
        index(index_key(BY_OWNER, owner)),
        index(by_score),
        index(index_key(BY_STATUS, status)),
    ])
}

/// What the entries of a value begin with.
fn index_key(index: u8, text: &str) -> Vec<u8> {
    let mut key = index_prefix(index);
    text.write_to(&mut key);
    key
}

/// Behind all entries that begin so: after the values comes a stripe, and then no FF.
fn end_of(start: &[u8]) -> Vec<u8> {
    [start, &[0xFF, 0xFF]].concat()
}
