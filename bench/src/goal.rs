//! Goals, and whether they are met.

use std::fmt::Write;

use anyhow::Result;

/// Something that was to be reached.
pub(crate) struct Goal {
    pub(crate) text: String,
    /// What decides it.
    pub(crate) figures: String,
    pub(crate) met: bool,
}

/// A table of goals with the figures that decide them.
pub(crate) fn markdown(goals: &[Goal]) -> Result<String> {
    let mut text = String::from("| goal | measured | |\n|---|---|---|\n");
    for goal in goals {
        let met = if goal.met { "met" } else { "**not met**" };
        writeln!(text, "| {} | {} | {met} |", goal.text, goal.figures)?;
    }
    Ok(text)
}
