//! Tables for people: columns side by side, as wide as the terminal allows.

use std::io::{self, Write};

use anstyle::Style;

use crate::output::{HEADING, visible, width};

/// No column is made narrower than this to fit the terminal.
const NARROWEST: usize = 8;
const GAP: usize = 2;

/// A table that is filled row by row.
pub(crate) struct Grid {
    headings: Vec<String>,
    rows: Vec<Vec<Text>>,
}

/// What stands in a place of a grid.
#[derive(Clone, Debug, Default)]
pub(crate) struct Text {
    text: String,
    style: Style,
    right: bool,
}

impl Text {
    pub(crate) fn new(text: impl AsRef<str>) -> Self {
        Text { text: visible(text.as_ref()).into_owned(), ..Text::default() }
    }

    /// A number, which ends where those above it end.
    pub(crate) fn number(text: impl AsRef<str>) -> Self {
        Text { right: true, ..Text::new(text) }
    }

    /// Where numbers stand among texts.
    pub(crate) fn left(self) -> Self {
        Text { right: false, ..self }
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    pub(crate) fn style(self, style: Style) -> Self {
        Text { style, ..self }
    }
}

impl Grid {
    pub(crate) fn new<T: AsRef<str>>(headings: impl IntoIterator<Item = T>) -> Self {
        let headings = headings.into_iter().map(|text| visible(text.as_ref()).into_owned());
        Grid { headings: headings.collect(), rows: Vec::new() }
    }

    pub(crate) fn push(&mut self, row: impl IntoIterator<Item = Text>) {
        self.rows.push(row.into_iter().collect());
    }

    /// Writes it, in so many columns of the terminal if there is one.
    pub(crate) fn write(&self, out: &mut impl Write, columns: Option<usize>) -> io::Result<()> {
        let widths = self.widths(columns);
        let right: Vec<bool> = (0..widths.len()).map(|column| self.is_right(column)).collect();
        let headings = self.headings.iter().zip(&right).map(|(heading, right)| Text {
            text: heading.clone(),
            style: HEADING,
            right: *right,
        });
        write_row(out, &headings.collect::<Vec<_>>(), &widths)?;
        self.rows.iter().try_for_each(|row| write_row(out, row, &widths))
    }

    /// Whether a column has numbers, and nothing else.
    fn is_right(&self, column: usize) -> bool {
        let mut texts = self.rows.iter().filter_map(|row| row.get(column)).peekable();
        let mut filled = texts.by_ref().filter(|text| !text.text.is_empty()).peekable();
        filled.peek().is_some() && filled.all(|text| text.right)
    }

    fn widths(&self, columns: Option<usize>) -> Vec<usize> {
        let mut widths: Vec<usize> = self.headings.iter().map(|text| width(text)).collect();
        for row in &self.rows {
            for (known, text) in widths.iter_mut().zip(row) {
                *known = (*known).max(width(&text.text));
            }
        }
        if let Some(columns) = columns {
            narrow(&mut widths, columns);
        }
        widths
    }
}

/// Takes from the widest until all fit.
fn narrow(widths: &mut [usize], columns: usize) {
    let gaps = GAP * widths.len().saturating_sub(1);
    loop {
        let total = widths.iter().sum::<usize>() + gaps;
        let Some(widest) = widths.iter_mut().max() else { return };
        if total <= columns || *widest <= NARROWEST {
            return;
        }
        *widest -= 1;
    }
}

fn write_row(out: &mut impl Write, row: &[Text], widths: &[usize]) -> io::Result<()> {
    let mut owed = 0;
    for (text, available) in row.iter().zip(widths) {
        let shown = cut(&text.text, *available);
        let padding = available - width(&shown).min(*available);
        if !shown.is_empty() {
            let before = owed + if text.right { padding } else { 0 };
            let style = text.style;
            write!(out, "{:before$}{style}{shown}{style:#}", "")?;
            owed = if text.right { 0 } else { padding };
        } else {
            owed += padding;
        }
        owed += GAP;
    }
    writeln!(out)
}

/// As much of the text as fits, and a mark where there is more.
fn cut(text: &str, available: usize) -> String {
    if width(text) <= available {
        return text.to_owned();
    }
    let mut shown = String::new();
    let mut taken = 1;
    for character in text.chars() {
        taken += width(character.encode_utf8(&mut [0; 4]));
        if taken > available {
            break;
        }
        shown.push(character);
    }
    shown.push('…');
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(grid: &Grid, columns: Option<usize>) -> String {
        let mut out = Vec::new();
        grid.write(&mut out, columns).unwrap();
        anstream::adapter::strip_str(&String::from_utf8(out).unwrap()).to_string()
    }

    #[test]
    fn columns_are_aligned_numbers_to_the_right_and_nothing_trails() {
        let mut grid = Grid::new(["name", "age", "city"]);
        grid.push([Text::new("Ann"), Text::number("7"), Text::new("東京")]);
        grid.push([Text::new("Bartholomew"), Text::number("41"), Text::new("")]);
        let expected = "name         age  city\nAnn            7  東京\nBartholomew   41\n";
        assert_eq!(written(&grid, None), expected);
    }

    #[test]
    fn the_widest_column_gives_way_on_a_narrow_terminal() {
        let mut grid = Grid::new(["a", "b"]);
        grid.push([Text::new("short"), Text::new("x".repeat(50))]);
        let text = written(&grid, Some(20));
        assert!(text.lines().all(|line| width(line) <= 20), "{text}");
        assert!(text.contains("short  xxxxxxxxxxxx…"), "{text}");
    }

    #[test]
    fn what_steers_a_terminal_is_escaped() {
        let mut grid = Grid::new(["a\x1b[31m"]);
        grid.push([Text::new("b\nc")]);
        assert_eq!(written(&grid, None), "a\\u001b[31m\nb\\u000ac\n");
    }
}
