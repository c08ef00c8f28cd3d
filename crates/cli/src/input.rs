//! What comes in: lines of bounded length, and hex.

use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use crate::error::{Error, HexProblem, LineProblem, Result};

/// Enough for the longest key in any notation: 65,535 bytes, each as `\u0000`.
const MAX_LINE_BYTES: usize = 1 << 20;

/// The text of a file, or of standard input if it is `-`.
pub(crate) fn read_text(path: &Path) -> Result<String> {
    if path == Path::new("-") {
        return io::read_to_string(io::stdin().lock()).map_err(Error::Input);
    }
    std::fs::read_to_string(path).map_err(|cause| Error::File { path: path.to_owned(), cause })
}

const BUFFER_BYTES: usize = 1 << 16;

/// The lines of a stream, one in memory at a time.
pub(crate) struct Lines<R> {
    input: BufReader<R>,
    line: Vec<u8>,
    number: u64,
    bytes: u64,
}

impl<R: Read> Lines<R> {
    pub(crate) fn new(input: R) -> Self {
        Lines {
            input: BufReader::with_capacity(BUFFER_BYTES, input),
            line: Vec::new(),
            number: 0,
            bytes: 0,
        }
    }

    /// The number of the line that was read last, counted from one.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// How many bytes of the stream were read, up to the end of that line.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Whether the next line may keep us waiting, so that output should go out before.
    pub(crate) fn may_wait(&self) -> bool {
        !self.input.buffer().contains(&b'\n')
    }

    /// The next line without its end, or what is wrong with it. An empty last line is none.
    pub(crate) fn next(&mut self) -> Option<Result<&str>> {
        match self.read() {
            Ok(true) => {}
            Ok(false) => return None,
            Err(error) => return Some(Err(error)),
        }
        let line = self.line.strip_suffix(b"\n").unwrap_or(&self.line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        Some(str::from_utf8(line).map_err(|error| {
            Error::Line(LineProblem::NotUtf8 { byte: error.valid_up_to().saturating_add(1) })
        }))
    }

    fn read(&mut self) -> Result<bool> {
        self.line.clear();
        let limit = MAX_LINE_BYTES as u64 + 1;
        let limited = (&mut self.input).take(limit).read_until(b'\n', &mut self.line);
        let read = limited.map_err(Error::Input)?;
        if read == 0 {
            return Ok(false);
        }
        self.number += 1;
        self.bytes += read as u64;
        if self.line.len() > MAX_LINE_BYTES && !self.line.ends_with(b"\n") {
            self.bytes += self.input.skip_until(b'\n').map_err(Error::Input)? as u64;
            return Err(Error::Line(LineProblem::TooLong { limit: MAX_LINE_BYTES }));
        }
        if !self.line.trim_ascii().is_empty() {
            return Ok(true);
        }
        match self.at_end().map_err(Error::Input)? {
            true => Ok(false),
            false => Err(Error::Line(LineProblem::Blank)),
        }
    }

    fn at_end(&mut self) -> io::Result<bool> {
        Ok(self.input.fill_buf()?.is_empty())
    }
}

/// The bytes of a key in hex: either case, `0x` before it or not, and spaces, colons or
/// underscores between the bytes or not.
pub(crate) fn parse_hex(text: &str) -> Result<Vec<u8>> {
    let digits = text.trim_start();
    let digits = digits.strip_prefix("0x").or(digits.strip_prefix("0X")).unwrap_or(digits);
    let skipped = text.chars().count() - digits.chars().count();
    let mut bytes = Vec::with_capacity(digits.len() / 2);
    let mut half = None;
    let mut last = 0;
    for (index, found) in digits.trim_end().chars().enumerate() {
        let character = skipped + index + 1;
        last = character;
        let bad = |problem| Err(Error::Hex { character, problem });
        half = match (found.to_digit(16), half) {
            (Some(low), Some(high)) => {
                bytes.push((high << 4 | low) as u8);
                None
            }
            (Some(high), None) => Some(high),
            (None, _) if !matches!(found, ' ' | ':' | '_') => {
                return bad(HexProblem::NotADigit(found));
            }
            (None, Some(_)) => return bad(HexProblem::HalfAByte),
            (None, None) => None,
        };
    }
    match half {
        None => Ok(bytes),
        Some(_) => {
            let problem = HexProblem::OddDigits(bytes.len() * 2 + 1);
            Err(Error::Hex { character: last, problem })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(text: &str) -> (usize, HexProblem) {
        match parse_hex(text) {
            Err(Error::Hex { character, problem }) => (character, problem),
            other => panic!("{text:?} gave {other:?}"),
        }
    }

    #[test]
    fn hex_is_taken_in_every_usual_form() {
        let forms =
            ["0a1bff", "0A1BFF", "0x0a1bff", "0X0a1Bff", "0a 1b ff", "0a:1B:ff", "0a_1b_ff"];
        for form in forms.into_iter().chain([" 0x0a 1b:ff\t"]) {
            assert_eq!(parse_hex(form).unwrap(), [0x0A, 0x1B, 0xFF], "{form:?}");
        }
        assert!(parse_hex("").unwrap().is_empty());
    }

    #[test]
    fn bad_hex_says_where_it_is_bad() {
        assert_eq!(problem("0a1g"), (4, HexProblem::NotADigit('g')));
        assert_eq!(problem(" 0xé0"), (4, HexProblem::NotADigit('é')));
        assert_eq!(problem("0a1 b"), (4, HexProblem::HalfAByte));
        assert_eq!(problem("0x0a1"), (5, HexProblem::OddDigits(3)));
        assert_eq!(problem("0a 1 "), (4, HexProblem::OddDigits(3)));
        assert_eq!(problem("0a0x1b"), (4, HexProblem::NotADigit('x')));
    }

    #[test]
    fn lines_end_with_or_without_a_carriage_return_and_the_last_may_be_empty() {
        let mut lines = Lines::new(&b"one\r\ntwo\n\r\n"[..]);
        assert_eq!(lines.next().unwrap().unwrap(), "one");
        assert_eq!(lines.next().unwrap().unwrap(), "two");
        assert!(lines.next().is_none());
    }

    #[test]
    fn a_line_of_the_limit_is_taken_and_a_longer_one_is_skipped_to_its_end() {
        let mut text = "a".repeat(MAX_LINE_BYTES);
        text.push('\n');
        text.push_str(&"b".repeat(3 * MAX_LINE_BYTES));
        text.push_str("\nafter");
        let mut lines = Lines::new(text.as_bytes());
        assert_eq!(lines.next().unwrap().unwrap().len(), MAX_LINE_BYTES);
        let too_long = lines.next().unwrap().unwrap_err();
        assert!(matches!(too_long, Error::Line(LineProblem::TooLong { .. })));
        assert_eq!(lines.number(), 2);
        assert_eq!(lines.next().unwrap().unwrap(), "after");
        assert_eq!(lines.number(), 3);
    }
}
