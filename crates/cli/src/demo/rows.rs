//! Rows that are plausible to the eye, the same from the same seed.

use std::time::Duration;

use fastrand::Rng;
use stonecrop::keys::{Date, Decimal, Value as KeyValue};
use stonecrop::{RowKey, Timestamp, Value, Write};

use super::Counts;
use super::words::{
    CARRIER, CITY, COMPANY, FIRST, INDUSTRY, KIND, LAST, ORDER_STATUS, OWNER, PLAN, SHIPPING, TITLE,
};

const DAY_MICROS: i64 = 86_400_000_000;

/// Makes rows.
pub(super) struct Maker {
    random: Rng,
    now: Timestamp,
    counts: Counts,
}

pub(super) fn account_key(account: u64) -> String {
    format!("acct_{:06}", account + 1)
}

/// The key of a row of a table whose partitions are accounts.
pub(super) fn key_in(account: u64, id: u64) -> RowKey<'static> {
    RowKey::from(vec![KeyValue::from(account_key(account)), KeyValue::from(id)])
}

impl Maker {
    pub(super) fn new(seed: u64, now: Timestamp, counts: Counts) -> Self {
        Maker { random: Rng::with_seed(seed), now, counts }
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> Option<T> {
        self.random.choice(from).copied()
    }

    fn word(&mut self, from: &'static [&'static str]) -> &'static str {
        self.pick(from).unwrap_or_default()
    }

    /// Large numbers are rare.
    fn skewed(&mut self, most: u64) -> u64 {
        let part = self.random.f64();
        (part * part * part * most as f64) as u64
    }

    /// Some time ago, but for a few not longer than the rows of a source take to come round.
    fn some_time_ago(&mut self, most: Duration) -> Timestamp {
        let micros = self.random.i64(0..=most.as_micros() as i64);
        Timestamp::from_micros(self.now.as_micros() - micros)
    }

    fn person(&mut self) -> (&'static str, &'static str) {
        (self.word(&FIRST), self.word(&LAST))
    }

    fn days_from_now(&mut self, days: std::ops::Range<i64>) -> Value {
        let day = self.now.as_micros() / DAY_MICROS + self.random.i64(days);
        Value::Date(Date(day.try_into().unwrap_or_default()))
    }

    pub(super) fn account(&mut self, account: u64) -> Write<'static> {
        let name = format!("{} {}", self.word(&COMPANY), self.word(&KIND));
        let name = match account / 512 {
            0 => name,
            number => format!("{name} {number}"),
        };
        let (city, country) = self.pick(&CITY).unwrap_or_default();
        let status = match self.random.u8(0..10) {
            0 => "churned",
            1 | 2 => "trial",
            _ => "active",
        };
        let (plan, cents) = match status {
            "trial" => ("free", 0),
            _ => self.pick(&PLAN).unwrap_or_default(),
        };
        let seats = 1 + self.skewed(200) as i64;
        let owner = self.word(&OWNER);
        let industry = self.word(&INDUSTRY);
        let write = Write::put(account_key(account))
            .set("name", name)
            .set("owner", owner)
            .set("industry", industry)
            .set("city", city)
            .set("country", country)
            .set("status", status)
            .set("plan", plan)
            .set("mrr", cents_value(cents * seats / 10))
            .set("renews", self.days_from_now(1..365));
        let written_at = self.some_time_ago(Duration::from_secs(50));
        self.scores(write).written_at(written_at)
    }

    /// What the scoring source says of an account.
    pub(super) fn scores(&mut self, write: Write<'static>) -> Write<'static> {
        let risk = (self.random.f64() * 1000.0).round() / 1000.0;
        write.set("score", self.random.i64(1..1000)).set("churn_risk", risk)
    }

    /// The account that a row belongs to: the first ones have more of them.
    pub(super) fn account_of(&self, row: u64) -> u64 {
        let part = (row % 9973) as f64 / 9973.0;
        (part * part * self.counts.accounts as f64) as u64
    }

    /// Both sources of a contact, each with a time of its own.
    pub(super) fn contact(&mut self, contact: u64) -> [Write<'static>; 2] {
        let key = key_in(self.account_of(contact), contact + 1);
        let (first, last) = self.person();
        let plain = |name: &str| name.to_lowercase().replace('ü', "ue");
        let email = format!("{}.{}.{}@example.com", plain(first), plain(last), contact + 1);
        let phone = format!(
            "+{} {:03} {:04}",
            self.random.u8(20..99),
            self.random.u16(100..999),
            self.random.u16(1000..9999)
        );
        let directory = Write::put(key.clone())
            .set("name", format!("{first} {last}"))
            .set("email", email)
            .set("title", self.word(&TITLE))
            .set("phone", phone)
            .written_at(self.some_time_ago(Duration::from_secs(3000)));
        let written_at = self.some_time_ago(Duration::from_secs(80));
        let seen = self.engagement(Write::put(key)).written_at(written_at);
        [directory, seen]
    }

    pub(super) fn engagement(&mut self, write: Write<'static>) -> Write<'static> {
        let seen = self.some_time_ago(Duration::from_secs(14 * 86_400));
        write.set("last_seen", seen).set("opens", self.skewed(500) as i64)
    }

    pub(super) fn order(&mut self, order: u64) -> [Write<'static>; 2] {
        let key = key_in(self.account_of(order), order + 1);
        let items = 1 + self.skewed(40) as i64;
        let total = cents_value(items * self.random.i64(300..20_000));
        let placed = self.some_time_ago(Duration::from_secs(90 * 86_400));
        let shop = Write::put(key.clone())
            .set("number", format!("SO-{:07}", order + 1))
            .set("placed", placed)
            .set("total", total)
            .set("items", items)
            .set("status", self.word(&ORDER_STATUS))
            .written_at(self.some_time_ago(Duration::from_secs(3000)));
        let written_at = self.some_time_ago(Duration::from_secs(120));
        let shipping = self.shipping(Write::put(key)).written_at(written_at);
        [shop, shipping]
    }

    pub(super) fn shipping(&mut self, write: Write<'static>) -> Write<'static> {
        write
            .set("carrier", self.word(&CARRIER))
            .set("state", self.word(&SHIPPING))
            .set("eta", self.days_from_now(0..21))
    }

    pub(super) fn owner(&mut self) -> &'static str {
        self.word(&OWNER)
    }

    pub(super) fn any(&mut self, below: u64) -> u64 {
        self.random.u64(0..below.max(1))
    }

    pub(super) fn at(&mut self, now: Timestamp) {
        self.now = now;
    }
}

/// An amount of money.
fn cents_value(cents: i64) -> Value {
    let text = format!("{}.{:02}", cents / 100, cents % 100);
    text.parse::<Decimal>().map_or(Value::Int(cents / 100), Value::Decimal)
}
