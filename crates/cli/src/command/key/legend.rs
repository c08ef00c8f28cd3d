//! The table beneath a drawn key: a row for every field, and for the fields within it.

use std::io::{self, Write};
use std::ops::Range;
use std::slice;

use anstyle::Style;
use stonecrop_keys::{Direction, Explanation, Field, Nulls, Part, Role, Schema, Type, Value};

use super::picture::{letter, roles_in_order, style};
use crate::output::{HEADING, terminal_columns, visible, width};

/// Names and types longer than this are cut, to the narrow one if the table does not fit the
/// terminal otherwise. The JSON form has them in full.
const MAX_CELL_COLUMNS: usize = 24;
const MAX_NARROW_CELL_COLUMNS: usize = 16;

/// Values are not wrapped into less than this, however narrow the terminal.
const MIN_VALUE_COLUMNS: usize = 16;

const GAP: &str = "  ";

pub(super) fn direction(direction: Direction) -> &'static str {
    match direction {
        Direction::Asc => "asc",
        Direction::Desc => "desc",
    }
}

pub(super) fn nulls(nulls: Nulls) -> &'static str {
    match nulls {
        Nulls::NotAllowed => "not_allowed",
        Nulls::First => "first",
        Nulls::Last => "last",
    }
}

pub(super) fn write(
    out: &mut impl Write,
    schema: &Schema,
    explanation: &Explanation<'_>,
) -> io::Result<()> {
    let rows = rows(schema, explanation);
    let terminal = terminal_columns().unwrap_or(usize::MAX);
    let mut table = Table::new(&rows, MAX_CELL_COLUMNS);
    if table.value_column() + MIN_VALUE_COLUMNS > terminal {
        table = Table::new(&rows, MAX_NARROW_CELL_COLUMNS);
    }
    table.write(out, terminal)
}

const HEADINGS: [&str; 6] = ["field", "type", "order", "nulls", "bytes", "parts"];

/// The rows with the widths of their columns; the values, which can be long, come last.
struct Table<'r> {
    rows: Vec<(&'r Row, [String; 6])>,
    widths: [usize; 6],
}

impl<'r> Table<'r> {
    fn new(rows: &'r [Row], max_columns: usize) -> Self {
        let rows: Vec<_> = rows.iter().map(|row| (row, row.cells(max_columns))).collect();
        let mut widths = HEADINGS.map(width);
        for (row, cells) in &rows {
            for (index, (widest, cell)) in widths.iter_mut().zip(cells).enumerate() {
                let indent = if index == 0 { row.indent() } else { 0 };
                *widest = (*widest).max(indent + width(cell));
            }
        }
        Table { rows, widths }
    }

    fn value_column(&self) -> usize {
        self.widths.iter().map(|width| width + GAP.len()).sum()
    }

    fn write(&self, out: &mut impl Write, terminal: usize) -> io::Result<()> {
        for (heading, width) in HEADINGS.iter().zip(self.widths) {
            write!(out, "{HEADING}{heading:width$}{HEADING:#}{GAP}")?;
        }
        writeln!(out, "{HEADING}value{HEADING:#}")?;
        let before = self.value_column();
        let columns = terminal.saturating_sub(before).max(MIN_VALUE_COLUMNS);
        for (row, cells) in &self.rows {
            self.write_cells(out, row, cells)?;
            for (index, line) in wrapped(&row.value, columns).iter().enumerate() {
                let before = if index == 0 { 0 } else { before };
                writeln!(out, "{:before$}{line}", "")?;
            }
        }
        Ok(())
    }

    /// All but the value. The colour is on the name alone, where the eye looks for it.
    fn write_cells(&self, out: &mut impl Write, row: &Row, cells: &[String]) -> io::Result<()> {
        for (index, (cell, widest)) in cells.iter().zip(self.widths).enumerate() {
            let (indent, style) =
                if index == 0 { (row.indent(), row.style) } else { (0, Style::new()) };
            let padding = widest.saturating_sub(indent + width(cell));
            write!(out, "{:indent$}{style}{cell}{style:#}{:padding$}{GAP}", "", "")?;
        }
        Ok(())
    }
}

struct Row {
    depth: usize,
    name: String,
    style: Style,
    ty: String,
    direction: &'static str,
    nulls: &'static str,
    bytes: Range<usize>,
    /// How many bytes of each role, without those of the fields within.
    counts: Vec<(Role, usize)>,
    value: String,
}

impl Row {
    fn new(field: &Field, name: &str, depth: usize) -> Self {
        Row {
            depth,
            name: name.to_owned(),
            style: Style::new(),
            ty: field.field_type().to_string(),
            direction: direction(field.direction()),
            nulls: match field.nulls() {
                Nulls::NotAllowed => "no",
                nullable => nulls(nullable),
            },
            bytes: 0..0,
            counts: Vec::new(),
            value: String::new(),
        }
    }

    fn add(&mut self, part: &Part) {
        if self.counts.is_empty() {
            self.bytes.start = part.start;
        }
        self.bytes.end = part.end;
        self.style = style(part.field, part.role);
        self.counts.push((part.role, part.end - part.start));
    }

    fn indent(&self) -> usize {
        self.depth * 2
    }

    fn cells(&self, max_columns: usize) -> [String; 6] {
        [
            shortened(&self.name, max_columns),
            shortened(&self.ty, max_columns),
            self.direction.to_owned(),
            self.nulls.to_owned(),
            match self.bytes.len() {
                0 => "-".to_owned(),
                1 => self.bytes.start.to_string(),
                _ => format!("{}-{}", self.bytes.start, self.bytes.end - 1),
            },
            self.parts(),
        ]
    }

    /// As in `T1 p4 z2`: one byte of tag, four of payload, two of terminator.
    fn parts(&self) -> String {
        let count = |wanted| -> usize {
            let of_role = self.counts.iter().filter(|(role, _)| *role == wanted);
            of_role.map(|(_, count)| count).sum()
        };
        let parts: Vec<_> = roles_in_order(|role| count(role) > 0)
            .map(|role| format!("{}{}", letter(role), count(role)))
            .collect();
        if parts.is_empty() { "-".to_owned() } else { parts.join(" ") }
    }
}

fn rows(schema: &Schema, explanation: &Explanation<'_>) -> Vec<Row> {
    let mut walk = Walk { parts: explanation.parts.iter(), rows: Vec::new() };
    let mut values = explanation.values.iter();
    for (index, field) in schema.fields().iter().enumerate() {
        match values.next() {
            Some(value) => walk.field(field, field.name(), value, 0),
            None => walk.unread(field, index, index == explanation.values.len()),
        }
    }
    walk.rest();
    walk.rows
}

/// Goes through the fields and, side by side with them, through the parts they are made of.
struct Walk<'e> {
    parts: slice::Iter<'e, Part>,
    rows: Vec<Row>,
}

impl<'e> Walk<'e> {
    fn next_if(&mut self, wanted: impl Fn(&Part) -> bool) -> Option<&'e Part> {
        let part = self.parts.as_slice().first().filter(|part| wanted(part))?;
        self.parts.next();
        Some(part)
    }

    fn field(&mut self, field: &Field, name: &str, value: &Value<'_>, depth: usize) {
        let mut row = Row::new(field, name, depth);
        row.value = visible(&field.field_type().value_to_json(value)).into_owned();
        let Some(tag) = self.next_if(|part| part.role == Role::Tag) else {
            return self.rows.push(row);
        };
        row.add(tag);
        let place = self.rows.len();
        match (field.field_type(), value) {
            (Type::Tuple(schema), Value::Tuple(values)) => {
                for (inner, value) in schema.fields().iter().zip(values) {
                    self.field(inner, inner.name(), value, depth + 1);
                }
            }
            (Type::List(element), Value::Tuple(values)) => {
                for (index, value) in values.iter().enumerate() {
                    self.field(element, &index.to_string(), value, depth + 1);
                }
            }
            _ => {}
        }
        while let Some(part) = self.next_if(|part| part.role != Role::Tag && part.path == tag.path)
        {
            row.add(part);
        }
        // Before the rows of the fields within it.
        self.rows.insert(place, row);
    }

    fn unread(&mut self, field: &Field, index: usize, failed: bool) {
        let mut row = Row::new(field, field.name(), 0);
        if let Some(part) = self.next_if(|part| part.field == index) {
            row.add(part);
        }
        row.value = if failed { "can't be read" } else { "not reached" }.to_owned();
        self.rows.push(row);
    }

    /// The bytes after the last field.
    fn rest(&mut self) {
        let Some(part) = self.parts.next() else {
            return;
        };
        let mut row = Row {
            depth: 0,
            name: "(none)".to_owned(),
            style: Style::new(),
            ty: "-".to_owned(),
            direction: "-",
            nulls: "-",
            bytes: 0..0,
            counts: Vec::new(),
            value: "after the last field".to_owned(),
        };
        row.add(part);
        self.rows.push(row);
    }
}

/// The text in at most so many columns.
fn shortened(text: &str, columns: usize) -> String {
    let text = visible(text);
    if width(&text) <= columns {
        return text.into_owned();
    }
    let first = wrapped(&text, columns.saturating_sub(1)).into_iter().next();
    format!("{}…", first.unwrap_or_default())
}

/// The text in lines of at most so many columns.
fn wrapped(text: &str, columns: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    let mut used = 0;
    let mut buffer = [0; 4];
    for character in text.chars() {
        let needed = width(character.encode_utf8(&mut buffer));
        if used > 0 && used + needed > columns {
            lines.push(std::mem::take(&mut line));
            used = 0;
        }
        line.push(character);
        used += needed;
    }
    lines.push(line);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_wrapped_and_shortened_by_the_columns_it_takes() {
        assert_eq!(wrapped("abcdef", 4), ["abcd", "ef"]);
        assert_eq!(wrapped("a東京b", 4), ["a東", "京b"]);
        assert_eq!(wrapped("", 4), [""]);
        assert_eq!(shortened("abcd", 4), "abcd");
        assert_eq!(shortened("abcde", 4), "abc…");
        assert_eq!(shortened("東京東京", 4), "東…");
    }
}
