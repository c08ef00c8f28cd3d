//! One server after the other: filled, and asked everything.

use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use super::contender::Contender;
use super::data::{
    CUSTOMERS, EVENTS, PARTITION, batch, check_batch, customer, event, object, request,
};
use super::figures::{Figure, Figures};
use super::workload::{BATCH, Scope, Workload, check_customer, get_counter, get_customer, hits};
use crate::cores::Cores;
use crate::load::{self, Limit};
use crate::process::Running;

/// How many connections there are at a time.
pub(super) const CLIENTS: [u64; 3] = [1, 16, 64];
/// New items of one measurement have numbers from here to the next one's.
const ROOM: u64 = 100_000_000;
/// How many of the items that were written are read again.
const SAMPLES: u64 = 100;
const FILLING: u64 = 16;
const DESCRIPTIONS: u64 = 200;

/// How much there is before, and how long each measurement takes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Size {
    pub(super) customers: u64,
    pub(super) partitions: u64,
    pub(super) time: Duration,
}

/// The programs, and where databases may live.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a> {
    pub(crate) program: &'a Path,
    pub(crate) peers: &'a Path,
    pub(crate) directory: &'a Path,
}

/// Measures everything once; what fails is a figure too.
pub(super) fn pass(
    contender: Contender,
    place: Place<'_>,
    cores: &Cores,
    size: Size,
    figures: &mut Figures,
) -> Result<()> {
    std::fs::create_dir_all(place.directory)?;
    let folder = tempfile::tempdir_in(place.directory)?;
    let start = || contender.start(place.program, place.peers, folder.path());
    let started = cores.start(start).and_then(|server| {
        fill(server.address, size)?;
        Ok(server)
    });
    let server = match started {
        Ok(server) => server,
        Err(error) => {
            figures.fail(contender, "start", &error);
            return Ok(());
        }
    };
    for (turn, clients) in (1..).zip(CLIENTS) {
        for (place, workload) in (1..).zip(Workload::ALL) {
            let scope = Scope {
                customers: size.customers,
                partitions: size.partitions,
                first: ROOM * (turn * 10 + place),
                counter: clients,
            };
            match measure(&server, workload, clients, scope, size.time) {
                Ok(figure) => figures.add(contender, workload, clients, figure),
                Err(error) => figures.fail(contender, workload.title(), &error),
            }
        }
    }
    Ok(())
}

fn measure(
    server: &Running,
    workload: Workload,
    clients: u64,
    scope: Scope,
    time: Duration,
) -> Result<Figure> {
    let address = server.address;
    let before = server.processor_seconds()?;
    let outcome = load::run(
        address,
        clients,
        Limit::time(time),
        &|number| workload.request(number, scope),
        &|number, body| workload.check(number, scope, body),
    )?;
    let processor = server.processor_seconds()? - before;
    verify(address, workload, scope, outcome.answers)?;
    Ok(Figure {
        rate: outcome.rate,
        p99: outcome.p99,
        processor: processor * 1e6 / outcome.answers as f64,
    })
}

/// What was acknowledged has to be there.
fn verify(address: SocketAddr, workload: Workload, scope: Scope, answers: u64) -> Result<()> {
    if workload == Workload::Update {
        let counted = hits(&object(&load::once(address, &get_counter(scope.counter))?)?, "Item")?;
        ensure!(counted == answers, "{answers} were acknowledged, and {counted} counted");
    }
    let written = answers * workload.items();
    if written > 0 {
        let sample = |number| scope.first + number * written / SAMPLES;
        load::run(
            address,
            1,
            Limit::requests(SAMPLES),
            &|number| get_customer(sample(number)),
            &|number, body| check_customer(sample(number), body),
        )
        .context("what was acknowledged is not there")?;
    }
    Ok(())
}

/// Makes the tables and what is in them.
fn fill(address: SocketAddr, size: Size) -> Result<()> {
    create(
        address,
        CUSTOMERS,
        r#"[{"AttributeName":"id","KeyType":"HASH"}]"#,
        r#"[{"AttributeName":"id","AttributeType":"S"}]"#,
    )?;
    create(
        address,
        EVENTS,
        r#"[{"AttributeName":"device","KeyType":"HASH"},{"AttributeName":"at","KeyType":"RANGE"}]"#,
        r#"[{"AttributeName":"device","AttributeType":"S"},{"AttributeName":"at","AttributeType":"N"}]"#,
    )?;
    put(address, CUSTOMERS, size.customers, customer)?;
    let events = size.partitions * PARTITION;
    put(address, EVENTS, events, |number| event(number / PARTITION, number % PARTITION))
}

fn create(address: SocketAddr, table: &str, keys: &str, attributes: &str) -> Result<()> {
    let body = format!(
        r#"{{"TableName":"{table}","KeySchema":{keys},"AttributeDefinitions":{attributes},"BillingMode":"PAY_PER_REQUEST"}}"#
    );
    load::once(address, &request("CreateTable", &body))?;
    // Some take their time.
    let describe = request("DescribeTable", &format!(r#"{{"TableName":"{table}"}}"#));
    for _ in 0..DESCRIPTIONS {
        let described = object(&load::once(address, &describe)?)?;
        if described.pointer("/Table/TableStatus").is_some_and(|status| status == "ACTIVE") {
            return Ok(());
        }
    }
    anyhow::bail!("{table} did not become active")
}

/// In batches; the last one may have fewer.
fn put(address: SocketAddr, table: &str, items: u64, item: impl Fn(u64) -> String) -> Result<()> {
    let batch_of = |number: u64| {
        let all = number * BATCH..(number * BATCH + BATCH).min(items);
        request("BatchWriteItem", &batch(table, all.map(&item)))
    };
    let batches = Limit::requests(items.div_ceil(BATCH));
    load::run(address, FILLING, batches, &batch_of, &|_, body| check_batch(body))?;
    Ok(())
}
