//! What goes out: colours, hex, and text that is safe to show.

use std::borrow::Cow;
use std::fmt::Write as _;

use anstream::ColorChoice;
use anstyle::{AnsiColor, Color, Style};
use unicode_width::UnicodeWidthStr as _;

/// When to write colours.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(crate) enum When {
    Auto,
    Always,
    Never,
}

impl From<When> for ColorChoice {
    fn from(when: When) -> Self {
        match when {
            When::Auto => ColorChoice::Auto,
            When::Always => ColorChoice::Always,
            When::Never => ColorChoice::Never,
        }
    }
}

pub(crate) const ERROR: Style = AnsiColor::Red.on_default().bold();
pub(crate) const DIM: Style = Style::new().dimmed();
pub(crate) const HEADING: Style = Style::new().bold();

/// Black on a colour, so that the contrast is the same on light and on dark terminals. Blue is too
/// dark for it; white text and bright colours are greys in some themes, and bold black in others.
const FIELDS: [Style; 4] = [
    black_on(AnsiColor::Cyan),
    black_on(AnsiColor::Yellow),
    black_on(AnsiColor::Green),
    black_on(AnsiColor::Magenta),
];

/// Inverted, because red is dark in many themes: it stands out from the background everywhere.
pub(crate) const UNREAD: Style = AnsiColor::Red.on_default().invert();

const fn black_on(background: AnsiColor) -> Style {
    AnsiColor::Black.on_default().bg_color(Some(Color::Ansi(background)))
}

/// The colour of a field, by its place in the schema.
pub(crate) fn field_style(index: usize) -> Style {
    FIELDS.get(index % FIELDS.len()).copied().unwrap_or_default()
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    let nibbles = bytes.iter().flat_map(|byte| [byte >> 4, byte & 0x0F]);
    nibbles.filter_map(|nibble| char::from_digit(nibble.into(), 16)).collect()
}

/// The columns that text takes on a terminal.
pub(crate) fn width(text: &str) -> usize {
    text.width()
}

/// The columns of the terminal that standard output is, if it is one.
pub(crate) fn terminal_columns() -> Option<usize> {
    terminal_size::terminal_size_of(std::io::stdout()).map(|(width, _)| usize::from(width.0))
}

/// The text with `\u` escapes for what could steer a terminal or reorder what it shows. JSON stays
/// the same JSON: outside of strings it has none of these.
pub(crate) fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(is_unsafe) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        match is_unsafe(character) {
            true => {
                let _ = write!(escaped, "\\u{:04x}", u32::from(character));
            }
            false => escaped.push(character),
        }
    }
    Cow::Owned(escaped)
}

fn is_unsafe(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{200E}' | '\u{200F}' | '\u{2028}'..='\u{202E}')
        || matches!(character, '\u{2066}'..='\u{2069}' | '\u{FEFF}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hex_has_two_digits_a_byte() {
        assert_eq!(hex(&[0x00, 0x0A, 0xFF]), "000aff");
    }

    #[test]
    fn what_steers_a_terminal_is_escaped_and_all_else_stays() {
        assert_eq!(visible("grün 東京 🐙"), "grün 東京 🐙");
        assert_eq!(visible("\u{1b}[31m\u{9b}m\u{7f}\u{202e}"), r"\u001b[31m\u009bm\u007f\u202e");
    }

    #[test]
    fn neighbouring_fields_have_different_colours() {
        for index in 0..20 {
            assert_ne!(field_style(index), field_style(index + 1));
        }
    }
}
