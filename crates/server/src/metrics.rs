//! Figures for Prometheus.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{EncodeLabelSet, LabelSetEncoder};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;
use stonecrop::{Database, Stats, WriterStats};

use crate::api::{Objects, TableFreshness};
use crate::{dynamodb, v1};

/// Counted for every request.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Answer {
    method: &'static str,
    route: Arc<str>,
    status: u16,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Route {
    method: &'static str,
    route: Arc<str>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct State {
    table: String,
    family: String,
    state: &'static str,
}

impl EncodeLabelSet for State {
    fn encode(&self, encoder: &mut LabelSetEncoder<'_>) -> Result<(), std::fmt::Error> {
        use prometheus_client::encoding::EncodeLabel;
        ("table", self.table.as_str()).encode(encoder.encode_label())?;
        ("family", self.family.as_str()).encode(encoder.encode_label())?;
        ("state", self.state).encode(encoder.encode_label())
    }
}

/// Figures about requests; those about the database are asked of it.
pub(crate) struct Metrics {
    answers: Family<Answer, Counter>,
    seconds: Family<Route, Histogram, fn() -> Histogram>,
    pub(crate) in_flight: Gauge,
    pub(crate) connections: Gauge,
    often: [Often; 2],
}

const OK: u16 = 200;

/// What is answered most, and always in the same way.
struct Often {
    method: &'static str,
    route: &'static str,
    answers: Counter,
    seconds: Histogram,
}

impl Often {
    fn is(&self, method: &str, route: &str) -> bool {
        self.method == method && self.route == route
    }
}

/// From 50 microseconds to 26 seconds.
fn buckets() -> Histogram {
    Histogram::new(exponential_buckets(0.000_05, 2.0, 20))
}

/// The figures of an answer; to find them takes longer than to count it.
fn figures(
    answers: &Family<Answer, Counter>,
    seconds: &Family<Route, Histogram, fn() -> Histogram>,
    method: &'static str,
    route: &str,
    status: u16,
) -> (Counter, Histogram) {
    let route: Arc<str> = route.into();
    let answer = Answer { method, route: route.clone(), status };
    let answers = answers.get_or_create(&answer).clone();
    let seconds = seconds.get_or_create(&Route { method, route }).clone();
    (answers, seconds)
}

impl Metrics {
    pub(crate) fn new() -> Self {
        let answers = Family::default();
        let seconds = Family::new_with_constructor(buckets as fn() -> Histogram);
        let often = [("GET", v1::ROW), ("POST", dynamodb::ROUTE)].map(|(method, route)| {
            let (answers, seconds) = figures(&answers, &seconds, method, route, OK);
            Often { method, route, answers, seconds }
        });
        Metrics {
            answers,
            seconds,
            often,
            in_flight: Gauge::default(),
            connections: Gauge::default(),
        }
    }

    pub(crate) fn count(&self, method: &'static str, route: &str, status: u16, took: Duration) {
        let count = |answers: &Counter, seconds: &Histogram| {
            answers.inc();
            seconds.observe(took.as_secs_f64());
        };
        if let Some(often) = self.often.iter().find(|often| often.is(method, route))
            && status == OK
        {
            return count(&often.answers, &often.seconds);
        }
        let (answers, seconds) = figures(&self.answers, &self.seconds, method, route, status);
        count(&answers, &seconds);
    }

    /// All figures, as text.
    pub(crate) fn text(
        &self,
        database: &Database,
        freshness: &[(String, TableFreshness)],
        uptime: Duration,
    ) -> Result<String, stonecrop::Error> {
        let mut registry = Registry::with_prefix("stonecrop");
        registry.register("http_requests", "Requests answered", self.answers.clone());
        registry.register("http_request_seconds", "How long they took", self.seconds.clone());
        registry.register("http_in_flight", "Requests being worked on", self.in_flight.clone());
        registry.register("http_connections", "Connections", self.connections.clone());
        register_writer(&mut registry, database.writer_stats());
        let stats = database.stats()?;
        register_engine(&mut registry, stats);
        if let Some(objects) = Objects::new(&stats, uptime) {
            register_objects(&mut registry, &objects);
        }
        if let Some(lag) = database.lag() {
            let gauge: Gauge<f64, AtomicU64> = Gauge::default();
            gauge.set(lag.as_secs_f64());
            registry.register(
                "lag_seconds",
                "How far behind the server that writes it may be",
                gauge,
            );
        }
        let rows: Family<State, Gauge> = Family::default();
        for (table, counted) in freshness {
            for family in &counted.families {
                let states =
                    [("fresh", family.fresh), ("stale", family.stale), ("missing", family.missing)];
                for (state, count) in states {
                    let (table, family) = (table.clone(), family.family.clone());
                    let labels = State { table, family, state };
                    rows.get_or_create(&labels).set(count.try_into().unwrap_or(i64::MAX));
                }
            }
        }
        registry.register("family_rows", "Rows by freshness, as last counted", rows);
        let mut text = String::new();
        // Writing to a string does not fail.
        let _ = encode(&mut text, &registry);
        Ok(text)
    }
}

fn register_objects(registry: &mut Registry, objects: &Objects) {
    let requests: Family<[(&'static str, &'static str); 1], Counter> = Family::default();
    let kinds = [
        ("put", objects.object_puts),
        ("get", objects.object_gets),
        ("list", objects.object_lists),
        ("delete", objects.object_deletes),
    ];
    for (kind, count) in kinds {
        requests.get_or_create(&[("kind", kind)]).inc_by(count);
    }
    registry.register("object_requests", "Requests to object storage", requests);
    registry.register("object_errors", "Those that failed", counter(objects.object_errors));
    let sent = counter(objects.object_sent_bytes);
    registry.register("object_sent_bytes", "Bytes written to object storage", sent);
    let received = counter(objects.object_received_bytes);
    registry.register("object_received_bytes", "Bytes read from object storage", received);
    let dollars: Family<[(&'static str, &'static str); 1], Gauge<f64, AtomicU64>> =
        Family::default();
    dollars.get_or_create(&[("of", "requests")]).set(objects.request_dollars_a_month);
    dollars.get_or_create(&[("of", "storage")]).set(objects.storage_dollars_a_month);
    registry.register("object_dollars_a_month", "Cost at list prices", dollars);
}

fn counter(count: u64) -> Counter<u64, AtomicU64> {
    let counter = Counter::default();
    counter.inc_by(count);
    counter
}

fn gauge(value: u64) -> Gauge {
    let gauge = Gauge::default();
    gauge.set(value.try_into().unwrap_or(i64::MAX));
    gauge
}

fn register_writer(registry: &mut Registry, writer: WriterStats) {
    registry.register("commits", "Groups of writes committed", counter(writer.commits));
    registry.register("syncs", "Commits that were synced to disk", counter(writer.syncs));
    registry.register("writes", "Writes committed", counter(writer.writes));
    let queued = gauge(writer.queued_bytes as u64);
    registry.register("queued_bytes", "Bytes of writes that wait", queued);
}

fn register_engine(registry: &mut Registry, engine: Stats) {
    registry.register("entries", "Entries stored, about", gauge(engine.entries));
    registry.register("disk_bytes", "Bytes of all files", gauge(engine.disk_bytes));
    registry.register("journal_bytes", "Bytes of journals", gauge(engine.journal_bytes));
    registry.register("memory_bytes", "Bytes of writes in memory", gauge(engine.memory_bytes));
    registry.register("compactions", "Compactions run", counter(engine.compactions));
}
