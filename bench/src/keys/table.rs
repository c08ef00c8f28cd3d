//! The tables of the report.

use std::fmt::Write;

use anyhow::Result;
use stonecrop_bench::{CASES, CODECS, Case, MEMCPY, Operation};

use crate::keys::samples::Samples;
use crate::number::{nanoseconds, times};

/// A table for each operation, with a row for each case and a column for each codec.
pub(crate) fn markdown(samples: &Samples) -> Result<String> {
    let mut text = String::new();
    for operation in Operation::ALL {
        let codecs = CODECS.join(" | ");
        writeln!(text, "| {} | {MEMCPY} | {codecs} |", operation.name())?;
        writeln!(text, "|---|{}", "---:|".repeat(1 + CODECS.len()))?;
        for case in CASES {
            writeln!(text, "{}", row(samples, operation, case)?)?;
        }
        writeln!(text)?;
    }
    Ok(text)
}

fn row(samples: &Samples, operation: Operation, case: Case) -> Result<String> {
    let memcpy = samples.get(operation, case, MEMCPY)?;
    let mut row = format!("| {} | {}", case.title, nanoseconds(memcpy));
    for codec in CODECS {
        match samples.find(operation, case, codec) {
            Some(ns) => write!(row, " | {} ({})", nanoseconds(ns), times(ns / memcpy))?,
            None => row.push_str(" | –"),
        }
    }
    row.push_str(" |");
    Ok(row)
}
