//! Random expressions and items, judged by this crate and by a small program in Python.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that panics has failed, which is what it is for"
)]

mod cases;

use std::io::Write as _;
use std::process::Command;

use cases::Case;
use proptest::strategy::{Strategy, ValueTree as _};
use proptest::test_runner::TestRunner;
use serde_json::{Value as Json, json};
use stonecrop_dynamodb::expression::{Condition, Placeholders, Projection, Update};
use stonecrop_dynamodb::value::{decode_item, encode_item, item_size};

/// Enough to find a disagreement that one case in a few hundred shows.
const CASES: usize = 4_000;
/// At least this many of the cases of a kind must get as far as an item.
const MIN_ACCEPTED: usize = CASES / 8;

/// What this crate says of a case: a boolean, an item, "refused", or why an update fails.
fn verdict(case: &Case) -> Json {
    let names = Some(case.names.clone());
    let mut placeholders = Placeholders::from_json(names, Some(case.values.clone())).unwrap();
    let item = decode_item(case.item.clone()).unwrap();
    let (text, placeholders) = (&case.expression, &mut placeholders);
    match case.kind {
        "condition" => match Condition::parse(text, placeholders) {
            Ok(condition) => json!(condition.matches(&item)),
            Err(error) => refused(case, &error),
        },
        "projection" => match Projection::parse(text, placeholders) {
            Ok(projection) => encode_item(&projection.apply(&item)),
            Err(error) => refused(case, &error),
        },
        _ => match Update::parse(text, placeholders) {
            Ok(update) => match update.apply(&item) {
                Ok(updated) => encode_item(&updated),
                Err(error) if error.message().contains("umber") => {
                    json!("a number that can't be stored")
                }
                Err(error) => json!(error.message()),
            },
            Err(error) => refused(case, &error),
        },
    }
}

/// The cases are made to be read; only what they mean can be wrong with them.
fn refused(case: &Case, error: &stonecrop_dynamodb::Error) -> Json {
    let unexpected = ["Syntax error", "not defined", "reserved", "Invalid function", "redundant"];
    let message = error.message();
    assert!(!unexpected.iter().any(|words| message.contains(words)), "{case:?}: {message}");
    json!("refused")
}

/// What Python says of the cases.
fn judge(cases: &[Case]) -> Vec<Json> {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    for case in cases {
        writeln!(file, "{}", case.to_json()).unwrap();
    }
    let judge = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/differential/judge.py");
    let output = Command::new("python3").arg(judge).arg(file.path()).output();
    let output = output.expect("python3 judges the cases and must be there");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn agree_on(kind: impl Strategy<Value = Case>) {
    // The same cases in every run: a failure is there to be looked at.
    let mut runner = TestRunner::deterministic();
    let cases: Vec<Case> =
        (0..CASES).map(|_| kind.new_tree(&mut runner).unwrap().current()).collect();
    let judged = judge(&cases);
    assert_eq!(judged.len(), cases.len(), "a verdict for every case");
    let mut accepted = 0;
    for (case, judged) in cases.iter().zip(judged) {
        let ours = verdict(case);
        assert_eq!(ours, judged["verdict"], "{case:#?}");
        let item = decode_item(case.item.clone()).unwrap();
        assert_eq!(json!(item_size(&item)), judged["size"], "{}", case.item);
        accepted += usize::from(!ours.is_string());
    }
    assert!(accepted >= MIN_ACCEPTED, "{accepted} of {CASES} got as far as an item");
}

#[test]
fn python_agrees_on_conditions() {
    agree_on(cases::conditions());
}

#[test]
fn python_agrees_on_projections() {
    agree_on(cases::projections());
}

#[test]
fn python_agrees_on_updates() {
    agree_on(cases::updates());
}
