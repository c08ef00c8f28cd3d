//! A key drawn byte by byte, with a colour a field and a letter a role.

use std::io::{self, Write};

use anstyle::Style;
use stonecrop_keys::{Error, Explanation, Role, Schema};

use super::legend;
use crate::output::{UNREAD, field_style};

const ROW_BYTES: usize = 16;

/// The roles in the order in which a field has them.
const ROLES: [Role; 5] = [Role::Tag, Role::Payload, Role::Escape, Role::Terminator, Role::Unread];

pub(crate) fn write(
    out: &mut impl Write,
    schema: &Schema,
    key: &[u8],
    explanation: &Explanation<'_>,
) -> io::Result<()> {
    let fault = explanation.error.as_ref().and_then(Error::offset);
    let margin = key.len().to_string().len().max(2);
    for (index, row) in cells(explanation, key, fault).chunks(ROW_BYTES).enumerate() {
        let offset = index * ROW_BYTES;
        let edge = match row.first() {
            Some(first) if first.starts_field && offset > 0 => '│',
            _ => ' ',
        };
        write!(out, "{offset:>margin$} {edge}")?;
        write_hex(out, row)?;
        // Where the key ends too early, the error is at the byte that is not there.
        let ends_early = fault == Some(key.len()) && offset + row.len() == key.len();
        let roles = roles(row) + if ends_early { " ^" } else { "" };
        writeln!(out, "\n{:margin$} {edge}{}", "", roles.trim_end())?;
    }
    if !key.is_empty() {
        writeln!(out)?;
    }
    legend::write(out, schema, explanation)?;
    write_letters(out, explanation)
}

/// The letter that stands for a role beneath the bytes.
pub(super) fn letter(role: Role) -> char {
    match role {
        Role::Tag => 'T',
        Role::Payload => 'p',
        Role::Escape => 'x',
        Role::Terminator => 'z',
        _ => '?',
    }
}

/// The roles that `has` is true of, in order.
pub(super) fn roles_in_order(has: impl Fn(Role) -> bool) -> impl Iterator<Item = Role> {
    ROLES.into_iter().filter(move |role| has(*role))
}

/// The colour of bytes with this role in the field at this place.
pub(super) fn style(field: usize, role: Role) -> Style {
    if role == Role::Unread { UNREAD } else { field_style(field) }
}

/// One byte and how to draw it.
struct Cell {
    byte: u8,
    style: Style,
    letter: char,
    starts_field: bool,
    starts_part: bool,
    ends_part: bool,
    /// The error is at this byte.
    faulty: bool,
}

fn cells(explanation: &Explanation<'_>, key: &[u8], fault: Option<usize>) -> Vec<Cell> {
    let mut cells = Vec::with_capacity(key.len());
    let mut field_before = None;
    for part in &explanation.parts {
        let bytes = key.get(part.start..part.end).unwrap_or_default();
        for (offset, byte) in (part.start..part.end).zip(bytes) {
            let field = Some((part.field, part.role == Role::Unread));
            cells.push(Cell {
                byte: *byte,
                style: style(part.field, part.role),
                letter: letter(part.role),
                starts_field: field != field_before,
                starts_part: offset == part.start,
                ends_part: offset + 1 == part.end,
                faulty: fault == Some(offset),
            });
            field_before = field;
        }
    }
    cells
}

/// A row of bytes, with a bar between fields.
fn write_hex(out: &mut impl Write, row: &[Cell]) -> io::Result<()> {
    for (index, field) in row.chunk_by(|_, next| !next.starts_field).enumerate() {
        let style = field.first().map_or(Style::new(), |cell| cell.style);
        let hex: Vec<_> = field.iter().map(|cell| format!("{:02x}", cell.byte)).collect();
        let bar = if index > 0 { "│" } else { "" };
        write!(out, "{bar}{style}{}{style:#}", hex.join(" "))?;
    }
    Ok(())
}

/// The line beneath a row: every part is its letter, drawn out to the part's last byte.
fn roles(row: &[Cell]) -> String {
    let mut line = String::new();
    for (index, cell) in row.iter().enumerate() {
        let is_start = index == 0 || cell.starts_part;
        if index > 0 {
            line.push(match (cell.starts_field, cell.starts_part) {
                (true, _) => '│',
                (_, true) => ' ',
                _ => '─',
            });
        }
        line.push(match (cell.faulty, is_start) {
            (true, _) => '^',
            (_, true) => cell.letter,
            _ => '─',
        });
        line.push(if cell.starts_part && cell.ends_part { ' ' } else { '─' });
    }
    line
}

/// What the letters mean, of those that occur.
fn write_letters(out: &mut impl Write, explanation: &Explanation<'_>) -> io::Result<()> {
    let occurs = |role| explanation.parts.iter().any(|part| part.role == role);
    let mut letters: Vec<_> =
        roles_in_order(occurs).map(|role| format!("{} {}", letter(role), role.name())).collect();
    if letters.is_empty() {
        return Ok(());
    }
    if explanation.error.as_ref().and_then(Error::offset).is_some() {
        letters.push("^ error".to_owned());
    }
    writeln!(out, "\n{}", letters.join("   "))
}
