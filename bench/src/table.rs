//! The tables of the report.

use std::fmt::Write;

use anyhow::Result;
use stonecrop_bench::{CASES, CODECS, Case, MEMCPY, Operation};

use crate::samples::Samples;

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

/// Three digits, or as many as there are before the point.
pub(crate) fn nanoseconds(ns: f64) -> String {
    format!("{} ns", short(ns))
}

/// A ratio, as "2.5×".
pub(crate) fn times(ratio: f64) -> String {
    format!("{}×", short(ratio))
}

fn short(number: f64) -> String {
    let places = match number {
        ..9.995 => 2,
        ..99.95 => 1,
        _ => 0,
    };
    format!("{number:.places$}")
}

#[cfg(test)]
mod tests {
    use super::short;

    #[test]
    fn numbers_have_three_digits_or_all_before_the_point() {
        let numbers = [0.454, 9.994, 9.996, 31.25, 99.96, 1343.1].map(short);
        assert_eq!(numbers, ["0.45", "9.99", "10.0", "31.2", "100", "1343"]);
    }
}
