//! The rows that every database holds: those of a table that is filled from two sources, each with
//! five columns and a clock of its own.

use crate::datum::{Datum, one_of, random};

/// The columns of the first source.
pub(crate) const CRM: [&str; 5] = ["name", "email", "status", "score", "visits"];
/// The columns of the second.
pub(crate) const BILLING: [&str; 5] = ["plan", "country", "note", "balance", "renews"];
/// The column that scans filter by, from 0 to 999 and each as often: `score < 100` is true of a
/// tenth of the rows.
pub(crate) const SCORE: &str = "score";
/// The rows of a tenant, and of a batch.
pub(crate) const TENANT_ROWS: usize = 1_000;

/// A row, with what its second source said first and what it says when it is asked again.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) id: u64,
    pub(crate) crm: [Datum; 5],
    pub(crate) billing: [Datum; 5],
    pub(crate) billing_refreshed: [Datum; 5],
}

/// All rows, in the order of their keys.
#[derive(Debug)]
pub(crate) struct Data {
    tenants: Vec<Tenant>,
}

/// The rows of a partition.
#[derive(Debug)]
pub(crate) struct Tenant {
    pub(crate) name: String,
    pub(crate) rows: Vec<Row>,
}

impl Data {
    pub(crate) fn new(tenants: usize) -> Self {
        let tenant = |tenant| Tenant {
            name: format!("tenant-{tenant:05}"),
            rows: (0..TENANT_ROWS).map(|row| Row::new(tenant * TENANT_ROWS + row)).collect(),
        };
        Data { tenants: (0..tenants).map(tenant).collect() }
    }

    pub(crate) fn tenants(&self) -> &[Tenant] {
        &self.tenants
    }

    pub(crate) fn len(&self) -> usize {
        self.tenants.len() * TENANT_ROWS
    }

    /// So many rows with their tenants, anywhere; others for another seed.
    pub(crate) fn sample(&self, count: usize, seed: u64) -> Vec<(&Tenant, &Row)> {
        let places = (0..count as u64).map(|index| random(seed << 32 | index));
        let row = |place: u64| {
            let tenant = self.tenants.get(place as usize % self.tenants.len())?;
            Some((tenant, tenant.rows.get((place >> 32) as usize % TENANT_ROWS)?))
        };
        places.filter_map(row).collect()
    }

    /// How many rows have a score below a number.
    pub(crate) fn count_below(&self, score: i64) -> usize {
        let rows = self.tenants.iter().flat_map(|tenant| &tenant.rows);
        rows.filter(|row| matches!(row.crm, [.., Datum::Int(its), _] if its < score)).count()
    }
}

impl Row {
    fn new(number: usize) -> Self {
        let bits = random(number as u64);
        let crm = [
            Datum::Text(format!("Person {:09}", bits % 1_000_000_000)),
            Datum::Text(format!("{:08x}@{}.example", bits as u32, one_of(&COMPANIES, bits >> 9))),
            Datum::Text(one_of(&["active", "invited", "paused"], bits >> 13).to_owned()),
            Datum::Int((bits >> 20) as i64 % 1_000),
            Datum::Int((bits >> 30) as i64 % 100_000),
        ];
        let billing = [0, 1].map(|version| billing(random(bits + version)));
        let [billing, billing_refreshed] = billing;
        Row { id: (number % TENANT_ROWS) as u64, crm, billing, billing_refreshed }
    }
}

const COMPANIES: [&str; 4] = ["acme", "globex", "initech", "umbrella"];

fn billing(bits: u64) -> [Datum; 5] {
    [
        Datum::Text(one_of(&["free", "basic", "pro", "enterprise"], bits).to_owned()),
        Datum::Text(one_of(&["AT", "BR", "DE", "JP", "US"], bits >> 5).to_owned()),
        Datum::Text(format!("invoice {bits:016x}, paid by transfer")),
        Datum::Float((bits >> 11) as f64 / 1e9),
        Datum::Int(1_800_000_000 + (bits >> 33) as i64),
    ]
}
