//! The engine alone, with the entries that our rows have.

use std::hint::black_box;
use std::path::Path;

use anyhow::{Result, ensure};
use stonecrop_keys::ToKey;

use crate::db::contender::{Contender, RowWriter, Wanted};
use crate::db::data::{Data, Row, Tenant};
use crate::engine::{Engine, Entry, family_prefix, place, value};

const CRM: u8 = 1;
const BILLING: u8 = 2;

pub(crate) struct RawFjall<'d> {
    engine: Engine,
    data: &'d Data,
    /// Encoded beforehand, a batch a tenant, so that only the engine's time counts.
    load: Vec<Vec<Entry>>,
    refresh: Vec<Vec<Entry>>,
}

impl<'d> RawFjall<'d> {
    pub(crate) fn open(folder: &Path, data: &'d Data) -> Result<Self> {
        let engine = Engine::open(folder)?;
        let (mut load, mut refresh) = (Vec::new(), Vec::new());
        for tenant in data.tenants() {
            let (mut loaded, mut refreshed) = (Vec::new(), Vec::new());
            for row in &tenant.rows {
                loaded.push((key(CRM, tenant, Some(row)), value(&row.crm)));
                loaded.push((key(BILLING, tenant, Some(row)), value(&row.billing)));
                refreshed.push((key(BILLING, tenant, Some(row)), value(&row.billing_refreshed)));
            }
            load.push(loaded);
            refresh.push(refreshed);
        }
        Ok(RawFjall { engine, data, load, refresh })
    }

    fn write(&self, batches: &[Vec<Entry>]) -> Result<()> {
        batches.iter().try_for_each(|entries| self.engine.write(entries))
    }
}

impl Contender for RawFjall<'_> {
    fn load(&self) -> Result<()> {
        self.write(&self.load)
    }

    fn refresh(&self) -> Result<()> {
        self.write(&self.refresh)
    }

    fn compact(&self) -> Result<u64> {
        self.engine.compact()
    }

    fn read(&self, rows: &[(&Tenant, &Row)], wanted: Wanted) -> Result<usize> {
        let families = match wanted {
            Wanted::OneSource => &[CRM][..],
            Wanted::BothSources => &[CRM, BILLING],
        };
        let mut found = 0;
        for (tenant, row) in rows {
            let mut last = None;
            for family in families {
                last = black_box(self.engine.keyspace.get(key(*family, tenant, Some(row)))?);
            }
            found += usize::from(last.is_some());
        }
        Ok(found)
    }

    /// All entries of the source that has the score, without a look into them.
    fn scan(&self, score: i64, threads: u32) -> Result<usize> {
        let found = self.engine.count_family(CRM, threads)?;
        ensure!(found == self.data.len(), "{found} entries of a source");
        Ok(self.data.count_below(score))
    }

    fn read_tenants(&self, rows: &[(&Tenant, &Row)], limit: usize) -> Result<usize> {
        let mut found = 0;
        for (tenant, _) in rows {
            let mut last = 0;
            for family in [CRM, BILLING] {
                let start = key(family, tenant, None);
                let end = [start.as_slice(), &[0xFF]].concat();
                last = self.engine.count(start, end, limit)?;
            }
            found += last;
        }
        Ok(found)
    }

    fn writers(&self, threads: u32) -> Result<Vec<RowWriter<'_>>> {
        let writer = |_| -> RowWriter<'_> {
            Box::new(|tenant, row| {
                let key = key(BILLING, tenant, Some(row));
                self.engine.write(&[(key, value(&row.billing_refreshed))])
            })
        };
        Ok((0..threads).map(writer).collect())
    }
}

/// The key of a row's entry, or what those of a tenant begin with.
fn key(family: u8, tenant: &Tenant, row: Option<&Row>) -> Vec<u8> {
    let mut key = [family_prefix(family), place(&tenant.name)].concat();
    if let Some(row) = row {
        row.id.write_to(&mut key);
    }
    key
}
