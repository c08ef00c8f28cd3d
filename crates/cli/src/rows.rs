//! Rows for people: a line a row, or a line a column.

use serde_json::Value as Json;
use stonecrop::{ResponseCell, ResponseRow, Timestamp};
use stonecrop_server::api::Table;

use crate::client::declared;
use crate::grid::{Grid, Text};
use crate::output::DIM;
use crate::value::{is_number, to_show};

/// What stands after a value that is no longer fresh.
const STALE: &str = "~";

/// Rows side by side: the fields of the key, then columns in the order that they were asked for,
/// or else are declared in.
pub(crate) fn grid(rows: &[ResponseRow], table: Option<&Table>, asked: Option<&[String]>) -> Grid {
    let keys: Vec<&str> = match table {
        Some(table) => table.key.iter().map(|field| field.name.as_str()).collect(),
        None => vec!["key"],
    };
    let columns = columns(rows, table, asked);
    let mut grid = Grid::new(keys.iter().chain(&columns));
    for row in rows {
        let mut texts = key_texts(&row.row_key, keys.len());
        texts.extend(columns.iter().map(|name| {
            let cell = row.columns.iter().find(|(column, _)| column == name);
            cell.map_or(Text::new(""), |(_, cell)| show(cell))
        }));
        grid.push(texts);
    }
    grid
}

/// One row from top to bottom, with the clock of every column.
pub(crate) fn card(row: &ResponseRow, table: &Table) -> Grid {
    let mut grid = Grid::new(["column", "value", "family", "written", "fresh until"]);
    for (field, text) in table.key.iter().zip(key_texts(&row.row_key, table.key.len())) {
        grid.push([Text::new(&field.name), Text::new(text.as_str()), Text::new("(key)")]);
    }
    for name in columns(std::slice::from_ref(row), Some(table), None) {
        let Some((_, cell)) = row.columns.iter().find(|(column, _)| column == name) else {
            continue;
        };
        let clock = cell.clock.as_ref();
        let time = |time: Option<Timestamp>, none: &str| match time {
            Some(time) => Text::new(time.to_string()).style(DIM),
            None => Text::new(none).style(DIM),
        };
        grid.push([
            Text::new(name),
            show(cell).left(),
            Text::new(clock.map_or("", |clock| &clock.family)),
            time(clock.and_then(|clock| clock.written_at), ""),
            time(clock.and_then(|clock| clock.fresh_until), "ever"),
        ]);
    }
    grid
}

/// The columns that occur: those of the table in its order, then others as they come.
fn columns<'r>(
    rows: &'r [ResponseRow],
    table: Option<&'r Table>,
    asked: Option<&'r [String]>,
) -> Vec<&'r str> {
    if let Some(asked) = asked {
        return asked.iter().map(String::as_str).collect();
    }
    let mut occurring: Vec<&str> = Vec::new();
    for (name, _) in rows.iter().flat_map(|row| &row.columns) {
        if !occurring.contains(&name.as_str()) {
            occurring.push(name);
        }
    }
    let in_table: Vec<&str> = table
        .into_iter()
        .flat_map(|table| declared(table).map(|column| column.name.as_str()))
        .collect();
    // Sorting is stable: those that are not declared stay as they came, after the others.
    occurring.sort_by_key(|name| {
        in_table.iter().position(|other| other == name).unwrap_or(in_table.len())
    });
    occurring
}

fn key_texts(key: &Json, fields: usize) -> Vec<Text> {
    match key {
        Json::Array(values) if fields > 1 => values.iter().map(key_text).collect(),
        value => vec![key_text(value)],
    }
}

fn key_text(value: &Json) -> Text {
    match value {
        Json::String(text) => Text::new(text),
        Json::Number(number) => Text::number(number.to_string()),
        other => Text::new(other.to_string()),
    }
}

/// A value, marked if it is stale.
fn show(cell: &ResponseCell) -> Text {
    let mark = if cell.fresh { "" } else { STALE };
    let shown = format!("{}{mark}", to_show(&cell.value));
    let text = if is_number(&cell.value) { Text::number(shown) } else { Text::new(shown) };
    let is_null = matches!(cell.value, stonecrop::Value::Null);
    if cell.fresh && !is_null { text } else { text.style(DIM) }
}
