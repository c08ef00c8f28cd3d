//! What can be had at most: servers that read the same requests and answer each with an item, and do
//! nothing else, or only keep the request.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use anyhow::Result;

use super::contender::{Contender, Keeps};
use super::data::customer;
use super::figures::Figures;
use super::measure::{CLIENTS, Place};
use super::workload::{Scope, Workload, check_customer};
use crate::cores::Cores;
use crate::http::{self, Kind};
use crate::load;
use crate::number::{microseconds, rate, times};

/// The customer that every request is answered with.
const CUSTOMER: u64 = 1;

/// What a get of an item is answered with.
pub(crate) fn answer() -> String {
    format!(r#"{{"Item":{}}}"#, customer(CUSTOMER))
}

/// A row of the table: a server, what it is asked, and whose rate it is a limit of.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Limit {
    Hyper,
    Bare,
    Synced,
}

impl Limit {
    const ALL: [Limit; 3] = [Limit::Hyper, Limit::Bare, Limit::Synced];

    fn title(self) -> &'static str {
        match self {
            Limit::Hyper => "GetItem, by axum and hyper alone",
            Limit::Bare => "GetItem, by a thread a client that reads and writes",
            Limit::Synced => "PutItem, by the same with an append and a sync",
        }
    }

    fn kind(self) -> Kind {
        match self {
            Limit::Hyper => Kind::Item,
            Limit::Bare => Kind::Bare,
            Limit::Synced => Kind::BareSynced,
        }
    }

    fn workload(self) -> Workload {
        match self {
            Limit::Hyper | Limit::Bare => Workload::Get,
            Limit::Synced => Workload::Put,
        }
    }

    /// Ours, and how the peers keep writes that it is compared with.
    fn beside(self) -> (Contender, Keeps) {
        match self {
            Limit::Hyper | Limit::Bare => (Contender::StonecropInMemory, Keeps::InMemory),
            Limit::Synced => (Contender::Stonecrop, Keeps::Synced),
        }
    }

    /// A thread of its own for every client syncs for each by itself: that is no limit.
    fn clients(self) -> &'static [u64] {
        if self == Limit::Synced { &CLIENTS[..1] } else { &CLIENTS }
    }
}

/// The highest rate of each, and the server's processor time for an answer then.
#[derive(Default)]
pub(super) struct Limits {
    best: BTreeMap<(Limit, u64), (f64, f64)>,
}

impl Limits {
    pub(super) fn pass(&mut self, place: Place<'_>, cores: &Cores, time: Duration) -> Result<()> {
        std::fs::create_dir_all(place.directory)?;
        for limit in Limit::ALL {
            let folder = tempfile::tempdir_in(place.directory)?;
            let start = || http::start(place.program, limit.kind(), folder.path(), 0);
            let server = cores.start(start)?;
            for clients in limit.clients() {
                let scope = Scope { customers: 10_000, partitions: 1, first: 0, counter: 0 };
                let before = server.processor_seconds()?;
                let outcome = load::run(
                    server.address,
                    *clients,
                    load::Limit::time(time),
                    &|number| limit.workload().request(number, scope),
                    &|_, body| check_customer(CUSTOMER, body),
                )?;
                let processor = server.processor_seconds()? - before;
                let figure = (outcome.rate, processor * 1e6 / outcome.answers as f64);
                let best = self.best.entry((limit, *clients)).or_insert(figure);
                if figure.0 > best.0 {
                    *best = figure;
                }
            }
        }
        Ok(())
    }

    pub(super) fn markdown(&self, figures: &Figures) -> Result<String> {
        let mut text = String::from(
            "| an item, whatever is asked | clients | requests/s | processor time \
             | to the fastest peer | stonecrop to it |\n|---|---:|---:|---:|---:|---:|\n",
        );
        for ((limit, clients), (most, processor)) in &self.best {
            let (ours, keeps) = limit.beside();
            let ours = figures.find(limit.workload(), *clients, ours);
            let peer = figures.fastest_peer(limit.workload(), *clients, Some(keeps));
            let ratio = |ratio: Option<f64>| ratio.map_or("–".to_owned(), times);
            writeln!(
                text,
                "| {} | {clients} | {} | {} | {} | {} |",
                limit.title(),
                rate(*most),
                microseconds(*processor),
                ratio(peer.map(|(_, peer)| most / peer.rate)),
                ratio(ours.map(|ours| ours.rate / most)),
            )?;
        }
        text.push('\n');
        Ok(text)
    }
}
