//! Measures the queries. Rivals answer the same question right after each other, so that a busy
//! moment of the machine hits them alike.

use std::path::Path;

use anyhow::{Result, ensure};

use crate::figures::{Figures, Name};
use crate::folders::folders;
use crate::queries::contender::{Contender, Rival};
use crate::queries::data::{Data, PARTS};
use crate::queries::growth::Growth;
use crate::queries::measure::Measure;
use crate::queries::ours::Ours;
use crate::queries::raw_fjall::RawFjall;
use crate::queries::sqlite::Sqlite;
use crate::timer::timed;

/// The tables, from the smallest to the largest.
const ROWS: [usize; 3] = [10_000, 100_000, 1_000_000];
/// How often each question is measured in a pass; each time another part is refreshed.
const ROUNDS: usize = 5;
/// How long a database is asked the same before it is the next one's turn.
const TURN_SECONDS: f64 = 0.1;
/// How many owners are looked at after a refresh.
const CHECKED_OWNERS: u64 = 50;

/// Measures everything so many times, each time in new files.
pub(crate) fn passes(directory: &Path, passes: u32) -> Result<Growth> {
    let mut growth = Growth::default();
    for number in 1..=passes {
        for rows in ROWS {
            eprintln!("queries of {rows} rows, pass {number} of {passes}");
            pass(directory, Data::new(rows), ROUNDS, growth.of(rows))?;
        }
    }
    Ok(growth)
}

/// Measures everything once, with too few rows to mean anything.
pub(crate) fn quick(directory: &Path) -> Result<Growth> {
    let (mut growth, data) = (Growth::default(), Data::new(2_000));
    pass(directory, data, 1, growth.of(data.len()))?;
    Ok(growth)
}

fn pass(directory: &Path, data: Data, rounds: usize, figures: &mut Figures<Measure>) -> Result<()> {
    assert!(rounds <= PARTS, "a part that is written twice has nothing new the second time");
    let (_folder, [ours, sqlite, fjall]) = folders(directory, ["stonecrop", "sqlite", "fjall"])?;
    let ours = Ours::open(&ours, data)?;
    let sqlite = Sqlite::open(&sqlite, data)?;
    let fjall = RawFjall::open(&fjall, data)?;
    for contender in [&ours as &dyn Contender, &sqlite, &fjall] {
        contender.load()?;
    }
    let rivals: Rivals<'_> = [(Name::Stonecrop, &ours), (Name::Sqlite, &sqlite)];
    for question in Measure::questions() {
        check(data, &rivals, question, 0)?;
        let mut contenders: Vec<(Name, &dyn Contender)> =
            vec![(Name::Stonecrop, &ours), (Name::Sqlite, &sqlite)];
        if RawFjall::QUESTIONS.contains(&question) {
            contenders.push((Name::Fjall, &fjall));
        }
        match question {
            Measure::NewOwnerPage => ask_once(data, &contenders, question, rounds, figures)?,
            _ => ask(data, &contenders, question, rounds, figures)?,
        }
    }
    refresh(data, &rivals, rounds, figures)?;
    (0..CHECKED_OWNERS).try_for_each(|seed| check(data, &rivals, Measure::CountOwner, seed))
}

type Rivals<'p> = [(Name, &'p dyn Rival); 2];

/// Asks about every owner once, in turns. What is asked about them later was read before.
fn ask_once(
    data: Data,
    contenders: &[(Name, &dyn Contender)],
    question: Measure,
    rounds: usize,
    figures: &mut Figures<Measure>,
) -> Result<()> {
    let values: Vec<_> = (0..data.owners()).map(|of| question.value(data, of as u64)).collect();
    for values in values.chunks(data.owners().div_ceil(rounds)) {
        for (name, contender) in contenders {
            let (seconds, ()) = timed(|| contender.ask(question, values))?;
            figures.add(question, *name, values.len() as f64 / seconds);
        }
    }
    Ok(())
}

/// Asks the same in turns, each time about others.
fn ask(
    data: Data,
    contenders: &[(Name, &dyn Contender)],
    question: Measure,
    rounds: usize,
    figures: &mut Figures<Measure>,
) -> Result<()> {
    let mut turns = Vec::new();
    for (name, contender) in contenders {
        let (seconds, ()) = timed(|| contender.ask(question, &[question.value(data, 0)]))?;
        turns.push((name, contender, (TURN_SECONDS / seconds).max(1.0) as u64));
    }
    for round in 1..=rounds as u64 {
        for (name, contender, times) in &turns {
            let values = (0..*times).map(|number| question.value(data, round << 32 | number));
            let values: Vec<_> = values.collect();
            let (seconds, ()) = timed(|| contender.ask(question, &values))?;
            figures.add(question, **name, values.len() as f64 / seconds);
        }
    }
    Ok(())
}

/// Writes one part of the rows after the other.
fn refresh(
    data: Data,
    rivals: &Rivals<'_>,
    parts: usize,
    figures: &mut Figures<Measure>,
) -> Result<()> {
    for part in 0..parts {
        let batches = data.refreshed(part);
        let rows: usize = batches.iter().map(Vec::len).sum();
        for (name, rival) in rivals {
            let (seconds, ()) = timed(|| rival.refresh(&batches))?;
            figures.add(Measure::Refresh, *name, rows as f64 / seconds);
        }
    }
    Ok(())
}

/// That both give the same answer: only then it means something how long they take.
fn check(data: Data, rivals: &Rivals<'_>, question: Measure, seed: u64) -> Result<()> {
    let value = question.value(data, seed);
    let answer = |(_, rival): &(Name, &dyn Rival)| {
        let mut answer = rival.answer(question, value.as_deref())?;
        if !question.is_sorted() {
            answer.sort();
        }
        anyhow::Ok(answer)
    };
    let [ours, sqlite] = rivals;
    let (ours, sqlite) = (answer(ours)?, answer(sqlite)?);
    let differs = ours.iter().zip(&sqlite).find(|(ours, sqlite)| ours != sqlite);
    ensure!(
        differs.is_none() && ours.len() == sqlite.len(),
        "{question:?}: {} rows, and {} of SQLite; the first that differ are {differs:?}",
        ours.len(),
        sqlite.len()
    );
    let expected = question.rows(data);
    ensure!(ours.len() == expected, "{question:?}: {} rows, not {expected}", ours.len());
    Ok(())
}
