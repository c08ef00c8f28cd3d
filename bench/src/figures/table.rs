//! The table of the report.

use std::fmt::Write;

use anyhow::Result;

use crate::figures::{Figures, Measure, Name};
use crate::number::times;

/// A row for each measure and a column for each database, with its multiple of SQLite's figure.
pub(crate) fn markdown<M: Measure>(figures: &Figures<M>, names: &[Name]) -> Result<String> {
    let mut text = String::from("| |");
    for name in names {
        write!(text, " {} |", name.title())?;
    }
    writeln!(text, "\n|---|{}", "---:|".repeat(names.len()))?;
    for measure in M::ALL.iter().copied() {
        write!(text, "| {} |", measure.title())?;
        let sqlite = figures.get(measure, Name::Sqlite)?;
        for name in names.iter().copied() {
            match figures.find(measure, name) {
                None => text.push_str(" – |"),
                Some(figure) if name == Name::Sqlite => {
                    write!(text, " {} |", measure.amount(figure))?;
                }
                Some(figure) => {
                    write!(text, " {} ({}) |", measure.amount(figure), times(figure / sqlite))?;
                }
            }
        }
        text.push('\n');
    }
    text.push('\n');
    Ok(text)
}
