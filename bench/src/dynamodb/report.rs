//! The section of the report.

use std::fmt::Write as _;

use anyhow::Result;

use super::contender::{Contender, Keeps};
use super::figures::{Figure, Figures};
use super::measure::CLIENTS;
use super::workload::Workload;
use crate::number::{microseconds, rate, times};
use crate::plot::{Bars, Group};

/// How much of an error the report tells.
const TOLD: usize = 300;

/// All tables.
pub(super) fn markdown(figures: &Figures) -> Result<String> {
    let mut text = String::new();
    table(&mut text, figures, "requests/s", |figure| rate(figure.rate))?;
    table(&mut text, figures, "99 of 100 answers within", |figure| microseconds(figure.p99))?;
    let processor = |figure: Figure| microseconds(figure.processor);
    table(&mut text, figures, "server's processor time a request", processor)?;
    ratios(&mut text, figures)?;
    for contender in figures.missing() {
        let title = contender.title();
        writeln!(text, "- {title} is not installed and was not measured: `make bench-peers`.")?;
    }
    for (contender, what, told) in figures.failures() {
        let told: String = told.chars().take(TOLD).collect();
        writeln!(text, "- {} failed, {what}: `{}`", contender.title(), told.replace('`', "'"))?;
    }
    text.push('\n');
    Ok(text)
}

/// A row for each measurement and a column for each server.
fn table(
    text: &mut String,
    figures: &Figures,
    title: &str,
    amount: impl Fn(Figure) -> String,
) -> Result<()> {
    let contenders = figures.contenders();
    write!(text, "| {title} | clients |")?;
    for contender in &contenders {
        write!(text, " {} |", contender.title())?;
    }
    writeln!(text, "\n|---|---:|{}", "---:|".repeat(contenders.len()))?;
    for (workload, clients) in rows() {
        write!(text, "| {} | {clients} |", workload.title())?;
        for contender in contenders.iter().copied() {
            match figures.find(workload, clients, contender) {
                Some(figure) => write!(text, " {} |", amount(figure))?,
                None => text.push_str(" failed |"),
            }
        }
        text.push('\n');
    }
    text.push('\n');
    Ok(())
}

/// Ours beside the fastest peers.
fn ratios(text: &mut String, figures: &Figures) -> Result<()> {
    text.push_str(
        "| ratio of rates | clients | stonecrop to the fastest peer \
         | stonecrop to the fastest that syncs | in memory, to the fastest in memory |\n\
         |---|---:|---:|---:|---:|\n",
    );
    for (workload, clients) in rows() {
        let ratio = |ours, keeps| {
            let ours = figures.find(workload, clients, ours)?;
            let (peer, theirs) = figures.fastest_peer(workload, clients, keeps)?;
            Some(format!("{} ({})", times(ours.rate / theirs.rate), peer.title()))
        };
        let ratio = |ours, keeps| ratio(ours, keeps).unwrap_or("–".to_owned());
        writeln!(
            text,
            "| {} | {clients} | {} | {} | {} |",
            workload.title(),
            ratio(Contender::Stonecrop, None),
            ratio(Contender::Stonecrop, Some(Keeps::Synced)),
            ratio(Contender::StonecropInMemory, Some(Keeps::InMemory)),
        )?;
    }
    text.push('\n');
    Ok(())
}

fn rows() -> impl Iterator<Item = (Workload, u64)> {
    Workload::ALL.into_iter().flat_map(|workload| CLIENTS.map(|clients| (workload, clients)))
}

/// Where each server keeps what it was given.
pub(super) fn durability(figures: &Figures) -> Result<String> {
    let mut text = String::from("| | writes are kept |\n|---|---|\n");
    for contender in figures.contenders() {
        writeln!(text, "| {} | {} |", contender.title(), contender.keeps().title())?;
    }
    text.push('\n');
    Ok(text)
}

/// For each workload and server a bar, as long as its rate is a multiple of that of dynoxide on disk.
pub(super) fn chart(figures: &Figures) -> Bars {
    let contenders: Vec<_> =
        figures.contenders().into_iter().filter(|one| *one != Contender::Dynoxide).collect();
    let ratio = |workload, clients, contender| {
        let dynoxide = figures.find(workload, clients, Contender::Dynoxide)?;
        Some(figures.find(workload, clients, contender)?.rate / dynoxide.rate)
    };
    let group = |workload: Workload| Group {
        label: workload.title().to_owned(),
        ratios: CLIENTS
            .map(|clients| contenders.iter().map(|one| ratio(workload, clients, *one)).collect())
            .into(),
    };
    Bars {
        title: "DynamoDB's protocol",
        subtitle: "Rate as a multiple of dynoxide's on disk; more is better; the scale is logarithmic",
        unit: "dynoxide",
        panels: vec!["1 client", "16 clients", "64 clients"],
        series: contenders.iter().map(|one| (one.title(), one.colour())).collect(),
        labels: 190.0,
        groups: Workload::ALL.map(group).into(),
    }
}
