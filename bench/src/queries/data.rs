//! The rows that every database holds: accounts, of which two sources speak.

use stonecrop::Timestamp;

use crate::datum::{Datum, one_of, random};

/// The columns of the first source.
pub(crate) const CRM: [&str; 4] = ["name", "email", "owner", "status"];
/// The columns of the second.
pub(crate) const USAGE: [&str; 3] = ["score", "seen", "plan"];
/// The columns that pages have, all of the first source.
pub(crate) const COLUMNS: [&str; 3] = ["name", "email", "status"];
/// The rows of a page, and of an owner.
pub(crate) const PAGE_ROWS: usize = 200;
/// How many different statuses there are, each as often.
pub(crate) const STATUSES: usize = 20;
/// The rows of a batch.
const BATCH_ROWS: usize = 1_000;
/// Into how many parts a table is divided, of which a refresh writes one.
pub(crate) const PARTS: usize = 10;

/// A row.
#[derive(Debug)]
pub(crate) struct Account {
    pub(crate) id: String,
    pub(crate) crm: [Datum; 4],
    pub(crate) usage: [Datum; 3],
}

/// All rows, which are made when they are needed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Data {
    rows: usize,
}

impl Data {
    /// So many rows, of which each owner and each status has the same number.
    pub(crate) fn new(rows: usize) -> Self {
        assert!(rows.is_multiple_of(PAGE_ROWS * PARTS), "{rows} rows can't be divided evenly");
        Data { rows }
    }

    pub(crate) fn len(self) -> usize {
        self.rows
    }

    pub(crate) fn owners(self) -> usize {
        self.rows / PAGE_ROWS
    }

    /// One owner after the other, each once, in no order that the rows have.
    pub(crate) fn nth_owner(self, number: u64) -> String {
        let owners = self.owners() as u64;
        // No owner comes twice, because this prime divides no number of owners.
        owner((number * 7_919 % owners) as usize)
    }

    /// An owner, another one for another seed.
    pub(crate) fn owner(self, seed: u64) -> String {
        owner(random(seed) as usize % self.owners())
    }

    /// A status, another one for another seed.
    pub(crate) fn status(self, seed: u64) -> String {
        status(random(seed) as usize)
    }

    /// All rows in the order of their keys.
    pub(crate) fn batches(self) -> impl Iterator<Item = Vec<Account>> {
        let starts = (0..self.rows).step_by(BATCH_ROWS);
        starts.map(move |start| {
            let end = self.rows.min(start + BATCH_ROWS);
            (start..end).map(|number| self.account(number, number)).collect()
        })
    }

    /// One part of the rows as its first source tells them anew: one in a hundred, anywhere, has
    /// moved to the next owner.
    pub(crate) fn refreshed(self, part: usize) -> Vec<Vec<Account>> {
        let rows = self.rows / PARTS;
        let numbers: Vec<usize> = (part * rows..(part + 1) * rows).collect();
        let account = |number: &usize| {
            let moved = random(*number as u64).is_multiple_of(100);
            self.account(*number, number + usize::from(moved))
        };
        numbers.chunks(BATCH_ROWS).map(|batch| batch.iter().map(account).collect()).collect()
    }

    fn account(self, number: usize, owned: usize) -> Account {
        let bits = random(number as u64);
        let crm = [
            Datum::Text(format!("Person {:010}", mixed(!(number as u32)))),
            Datum::Text(format!("{:08x}@{}.example", bits as u32, one_of(&COMPANIES, bits >> 9))),
            Datum::Text(owner(owned % self.owners())),
            // Every owner has ten rows of each.
            Datum::Text(status(number / self.owners())),
        ];
        let seen = 1_800_000_000_000_000 + (bits >> 20) as i64 % 1_000_000_000_000;
        let usage = [
            Datum::Int(mixed(number as u32).into()),
            Datum::Time(Timestamp::from_micros(seen)),
            Datum::Text(one_of(&["free", "basic", "pro", "enterprise"], bits >> 5).to_owned()),
        ];
        Account { id: format!("acct_{number:07}"), crm, usage }
    }
}

const COMPANIES: [&str; 4] = ["acme", "globex", "initech", "umbrella"];

fn owner(number: usize) -> String {
    format!("owner_{number:05}")
}

fn status(number: usize) -> String {
    format!("status_{:02}", number % STATUSES)
}

/// Any number, and another one for every other number, so that an order by it leaves nothing open.
fn mixed(number: u32) -> u32 {
    let mut bits = number ^ (number >> 16);
    bits = bits.wrapping_mul(0x85EB_CA6B);
    bits = (bits ^ (bits >> 13)).wrapping_mul(0xC2B2_AE35);
    bits ^ (bits >> 16)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn owners_and_statuses_have_their_share_and_no_two_rows_tie() {
        let data = Data::new(4_000);
        let rows: Vec<Account> = data.batches().flatten().collect();
        let with = |at: usize, text: &str| {
            rows.iter()
                .filter(|row| matches!(&row.crm[at], Datum::Text(its) if its == text))
                .count()
        };
        assert_eq!(with(2, &data.owner(7)), PAGE_ROWS);
        assert_eq!(with(3, &data.status(7)), 4_000 / STATUSES);
        let score = |row: &Account| format!("{:?}", row.usage[0]);
        let name = |row: &Account| format!("{:?}", row.crm[0]);
        assert_eq!(rows.iter().map(score).collect::<HashSet<_>>().len(), 4_000);
        assert_eq!(rows.iter().map(name).collect::<HashSet<_>>().len(), 4_000);
    }
}
