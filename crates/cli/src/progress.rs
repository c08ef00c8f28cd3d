//! How far a long command is, on standard error if that is a terminal.
//!
//! Bars are drawn from the thread that works: nothing ticks by itself.

use std::time::Duration;

use indicatif::{
    HumanCount, HumanDuration, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle,
};

/// Draws at most so often.
const DRAWS_A_SECOND: u8 = 10;

/// Work of which nobody knows how much there is: a count and a rate.
pub(crate) fn spinner(what: &str) -> ProgressBar {
    let template = format!("{what}: {{human_pos}} rows, {{rate}}");
    bar(None, &template)
}

/// The same, of what a database stores.
pub(crate) fn entries(what: &str) -> ProgressBar {
    bar(None, &format!("{what}: {{human_pos}} entries, {{msg}}"))
}

/// Work on so many units, of which rows are made.
pub(crate) fn rows_of(units: Option<u64>) -> ProgressBar {
    match units {
        Some(units) => bar(Some(units), "{bar:30} {percent:>3}%  {msg}  {left}"),
        None => bar(None, "{spinner} {msg}"),
    }
}

/// What stands beside the bar: rows so far, and how many a second.
pub(crate) fn show_rows(bar: &ProgressBar, rows: u64) {
    let rate = rate(rows, bar.elapsed());
    bar.set_message(format!("{} rows  {rate}", HumanCount(rows)));
}

fn rate(rows: u64, elapsed: Duration) -> String {
    let seconds = elapsed.as_secs_f64().max(0.001);
    format!("{} rows/s", HumanCount((rows as f64 / seconds) as u64))
}

fn bar(length: Option<u64>, template: &str) -> ProgressBar {
    let target = ProgressDrawTarget::stderr_with_hz(DRAWS_A_SECOND);
    let bar = ProgressBar::with_draw_target(length, target);
    let left = |state: &ProgressState, out: &mut dyn std::fmt::Write| {
        let _ = write!(out, "{:#} left", HumanDuration(state.eta()));
    };
    let per_second = |state: &ProgressState, out: &mut dyn std::fmt::Write| {
        let _ = write!(out, "{}", rate(state.pos(), state.elapsed()));
    };
    let style = ProgressStyle::with_template(template)
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .with_key("left", left)
        .with_key("rate", per_second)
        .progress_chars("=> ");
    bar.set_style(style);
    bar
}
