//! The table of the report.

use std::fmt::Write;

use anyhow::Result;

use crate::db::figures::{Figures, Measure, Name};
use crate::number::{thousands, times};

/// A row for each measure and a column for each database, with its multiple of SQLite's figure.
pub(crate) fn markdown(figures: &Figures) -> Result<String> {
    let mut text = String::from("| |");
    for name in Name::ALL {
        write!(text, " {} |", name.title())?;
    }
    writeln!(text, "\n|---|{}", "---:|".repeat(Name::ALL.len()))?;
    for measure in Measure::ALL {
        write!(text, "| {} |", measure.title())?;
        let sqlite = figures.get(measure, Name::Sqlite)?;
        for name in Name::ALL {
            match figures.find(measure, name) {
                None => text.push_str(" – |"),
                Some(figure) if name == Name::Sqlite => {
                    write!(text, " {} |", amount(measure, figure))?;
                }
                Some(figure) => {
                    write!(text, " {} ({}) |", amount(measure, figure), times(figure / sqlite))?;
                }
            }
        }
        text.push('\n');
    }
    text.push('\n');
    Ok(text)
}

/// A figure as the report has it.
pub(crate) fn amount(measure: Measure, figure: f64) -> String {
    match measure {
        Measure::DiskBytes => format!("{:.1}", figure / 1e6),
        _ => thousands(figure),
    }
}
