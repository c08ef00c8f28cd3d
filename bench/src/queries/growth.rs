//! How the time of an answer grows with the table.

use std::collections::BTreeMap;
use std::fmt::Write;

use anyhow::{Context, Result};

use crate::figures::{Figures, Measure as _, Name};
use crate::goal::Goal;
use crate::number::{microseconds, thousands, times};
use crate::plot::{Line, Lines, Panel};
use crate::queries::measure::Measure;

const NAMES: [Name; 2] = [Name::Stonecrop, Name::Sqlite];

/// What was measured, by the rows of the table.
#[derive(Debug, Default)]
pub(crate) struct Growth {
    figures: BTreeMap<usize, Figures<Measure>>,
}

impl Growth {
    /// The figures of a table of so many rows.
    pub(crate) fn of(&mut self, rows: usize) -> &mut Figures<Measure> {
        self.figures.entry(rows).or_default()
    }

    /// Those of the largest table.
    pub(crate) fn largest(&self) -> Result<&Figures<Measure>> {
        self.figures.values().next_back().context("nothing was measured")
    }

    /// The times by the rows of the table.
    fn line(&self, measure: Measure, name: Name) -> Result<Line> {
        let points = self.figures.iter();
        points
            .map(|(rows, figures)| Ok((*rows as f64, 1e6 / figures.get(measure, name)?)))
            .collect()
    }

    /// A row for each question and database, and a column for each table.
    pub(crate) fn markdown(&self) -> Result<String> {
        let mut text = String::from("| time of an answer, by the rows of the table | |");
        for rows in self.figures.keys() {
            write!(text, " {} |", thousands(*rows as f64))?;
        }
        writeln!(text, " growth |\n|---|---|{}", "---:|".repeat(self.figures.len() + 1))?;
        for measure in Measure::GROWTH {
            for name in NAMES {
                write!(text, "| {} | {} |", label(measure), name.title())?;
                let line = self.line(measure, name)?;
                for (_, us) in &line {
                    write!(text, " {} |", microseconds(*us))?;
                }
                let (first, last) = ends(&line)?;
                writeln!(text, " {} |", times(last / first))?;
            }
        }
        text.push('\n');
        Ok(text)
    }

    /// In the largest table at most twice as long as in the smallest.
    pub(crate) fn goal(&self, measure: Measure) -> Result<Goal> {
        let line = self.line(measure, Name::Stonecrop)?;
        let (first, last) = ends(&line)?;
        let rows = self.figures.keys().map(|rows| thousands(*rows as f64));
        let rows: Vec<String> = rows.collect();
        let [least, .., most] = rows.as_slice() else {
            anyhow::bail!("growth takes two tables");
        };
        Ok(Goal {
            text: format!("{} of {most} rows in at most 2× of {least}'s time", label(measure)),
            figures: format!(
                "{} to {}: {}",
                microseconds(last),
                microseconds(first),
                times(last / first)
            ),
            met: last / first <= 2.0,
        })
    }

    /// A panel for each question.
    pub(crate) fn chart(&self) -> Result<Lines> {
        let mut panels = Vec::new();
        for measure in Measure::GROWTH {
            let lines = NAMES.map(|name| self.line(measure, name));
            let lines = lines.into_iter().collect::<Result<_>>()?;
            panels.push(Panel { title: label(measure), lines });
        }
        Ok(Lines {
            title: "Time of an answer by the rows of the table",
            subtitle: "Less is better, and a level line is best; both scales are logarithmic",
            series: NAMES.map(|name| (name.title(), name.colour())).to_vec(),
            across: thousands,
            upwards: |us| format!("{} µs", thousands(us)),
            panels,
        })
    }
}

fn label(measure: Measure) -> &'static str {
    match measure {
        Measure::OwnerPage => "page of an owner",
        Measure::ScorePage => "page in the order of an index",
        Measure::ScorePageOfStatus => "the same with a filter",
        Measure::CountOwner => "count of 200 rows",
        other => other.title(),
    }
}

fn ends(line: &Line) -> Result<(f64, f64)> {
    let ends = line.first().zip(line.last()).map(|((_, first), (_, last))| (*first, *last));
    ends.context("nothing was measured")
}
