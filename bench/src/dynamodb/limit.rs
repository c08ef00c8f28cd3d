//! How many gets axum and hyper alone can answer: the same requests, each with an item of the same
//! length, and nothing done for it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use anyhow::Result;

use super::contender::{Contender, Keeps};
use super::data::customer;
use super::figures::Figures;
use super::measure::CLIENTS;
use super::workload::{Workload, check_customer, get_customer};
use crate::http::{self, Kind};
use crate::load;
use crate::number::{microseconds, rate, times};

/// The customer that every request is answered with.
const CUSTOMER: u64 = 1;

/// What a get of an item is answered with.
pub(crate) fn answer() -> String {
    format!(r#"{{"Item":{}}}"#, customer(CUSTOMER))
}

/// The highest rate for a number of clients, and the server's processor time for an answer then.
#[derive(Default)]
pub(super) struct Limit {
    best: BTreeMap<u64, (f64, f64)>,
}

impl Limit {
    pub(super) fn pass(&mut self, program: &Path, time: Duration) -> Result<()> {
        let server = http::start(program, Kind::Item, Path::new("memory:"), 0)?;
        for clients in CLIENTS {
            let before = server.processor_seconds()?;
            let outcome = load::run(
                server.address,
                clients,
                load::Limit::time(time),
                &get_customer,
                &|_, body| check_customer(CUSTOMER, body),
            )?;
            let processor = server.processor_seconds()? - before;
            let figure = (outcome.rate, processor * 1e6 / outcome.answers as f64);
            let best = self.best.entry(clients).or_insert(figure);
            if figure.0 > best.0 {
                *best = figure;
            }
        }
        Ok(())
    }

    pub(super) fn markdown(&self, figures: &Figures) -> Result<String> {
        let mut text = String::from(
            "| GetItem | clients | axum and hyper alone | their processor time \
             | to the fastest in memory | stonecrop, memory, to them |\n\
             |---|---:|---:|---:|---:|---:|\n",
        );
        for (clients, (most, processor)) in &self.best {
            let ours = figures.find(Workload::Get, *clients, Contender::StonecropInMemory);
            let peer = figures.fastest_peer(Workload::Get, *clients, Some(Keeps::InMemory));
            let ratio = |ratio: Option<f64>| ratio.map_or("–".to_owned(), times);
            writeln!(
                text,
                "| an item, whatever is asked | {clients} | {} | {} | {} | {} |",
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
