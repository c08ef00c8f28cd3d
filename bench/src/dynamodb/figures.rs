//! What was measured, and what it says.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Error, Result, bail};

use super::contender::{Contender, Keeps};
use super::workload::Workload;

/// One measurement.
#[derive(Clone, Copy, Debug)]
pub(super) struct Figure {
    /// Answers a second.
    pub(super) rate: f64,
    /// How long 99 of 100 answers took at most, in microseconds.
    pub(super) p99: f64,
    /// The server's processor time for an answer, in microseconds.
    pub(super) processor: f64,
}

/// The pass with the highest rate counts, with all that belongs to it.
#[derive(Debug, Default)]
pub(super) struct Figures {
    best: BTreeMap<(Workload, u64, Contender), Figure>,
    failures: BTreeMap<(Contender, String), String>,
    missing: BTreeSet<Contender>,
}

impl Figures {
    pub(super) fn add(
        &mut self,
        contender: Contender,
        workload: Workload,
        clients: u64,
        figure: Figure,
    ) {
        let best = self.best.entry((workload, clients, contender)).or_insert(figure);
        if figure.rate > best.rate {
            *best = figure;
        }
    }

    /// The first failure of a kind is told.
    pub(super) fn fail(&mut self, contender: Contender, what: &str, error: &Error) {
        let told = || format!("{error:#}").split_whitespace().collect::<Vec<_>>().join(" ");
        self.failures.entry((contender, what.to_owned())).or_insert_with(told);
    }

    pub(super) fn miss(&mut self, contender: Contender) {
        self.missing.insert(contender);
    }

    pub(super) fn failures(&self) -> impl Iterator<Item = (Contender, &str, &str)> {
        self.failures
            .iter()
            .map(|((contender, what), told)| (*contender, what.as_str(), told.as_str()))
    }

    /// A failure of a peer is a figure, one of ours an error.
    pub(super) fn ours_are_right(&self) -> Result<()> {
        let mut ours = self.failures().filter(|(contender, ..)| contender.is_ours());
        match ours.next() {
            None => Ok(()),
            Some((contender, what, told)) => bail!("{}, {what}: {told}", contender.title()),
        }
    }

    pub(super) fn missing(&self) -> impl Iterator<Item = Contender> {
        self.missing.iter().copied()
    }

    /// Those that were measured, whatever came of it.
    pub(super) fn contenders(&self) -> Vec<Contender> {
        let measured = self.best.keys().map(|(_, _, contender)| contender);
        let failed = self.failures.keys().map(|(contender, _)| contender);
        measured.chain(failed).copied().collect::<BTreeSet<_>>().into_iter().collect()
    }

    pub(super) fn find(
        &self,
        workload: Workload,
        clients: u64,
        contender: Contender,
    ) -> Option<Figure> {
        self.best.get(&(workload, clients, contender)).copied()
    }

    /// The peer with the highest rate, of all or of those that keep writes alike.
    pub(super) fn fastest_peer(
        &self,
        workload: Workload,
        clients: u64,
        keeps: Option<Keeps>,
    ) -> Option<(Contender, Figure)> {
        let peers = Contender::ALL
            .into_iter()
            .filter(|peer| !peer.is_ours() && keeps.is_none_or(|keeps| peer.keeps() == keeps));
        let measured = peers.filter_map(|peer| Some((peer, self.find(workload, clients, peer)?)));
        measured.max_by(|(_, a), (_, b)| a.rate.total_cmp(&b.rate))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CASE: (Workload, u64) = (Workload::Put, 16);

    fn figures(rates: &[(Contender, f64)]) -> Figures {
        let mut figures = Figures::default();
        for (contender, rate) in rates.iter().copied() {
            let figure = Figure { rate, p99: rate, processor: rate };
            figures.add(contender, CASE.0, CASE.1, figure);
        }
        figures
    }

    #[test]
    fn the_fastest_pass_counts_whole() {
        let figures =
            figures(&[(Contender::Moto, 2.0), (Contender::Moto, 3.0), (Contender::Moto, 1.0)]);
        let best = figures.find(CASE.0, CASE.1, Contender::Moto).unwrap();
        assert_eq!((best.rate, best.p99, best.processor), (3.0, 3.0, 3.0));
    }

    #[test]
    fn the_fastest_peer_is_never_ours_and_keeps_what_was_asked_for() {
        let figures = figures(&[
            (Contender::Stonecrop, 9.0),
            (Contender::Dynoxide, 2.0),
            (Contender::DynaliteInMemory, 5.0),
        ]);
        let fastest = |keeps| figures.fastest_peer(CASE.0, CASE.1, keeps).map(|(peer, _)| peer);
        assert_eq!(fastest(None), Some(Contender::DynaliteInMemory));
        assert_eq!(fastest(Some(Keeps::Synced)), Some(Contender::Dynoxide));
        assert_eq!(fastest(Some(Keeps::Unsynced)), None);
    }

    #[test]
    fn a_failure_is_kept_beside_figures_of_other_passes() {
        let mut figures = figures(&[(Contender::Moto, 2.0)]);
        figures.fail(Contender::Moto, CASE.0.title(), &anyhow::anyhow!("a\r\nb"));
        assert!(figures.ours_are_right().is_ok());
        assert_eq!(
            figures.failures().collect::<Vec<_>>(),
            [(Contender::Moto, CASE.0.title(), "a b")]
        );
        figures.fail(Contender::Stonecrop, "start", &anyhow::anyhow!("c"));
        assert!(figures.ours_are_right().is_err());
    }
}
