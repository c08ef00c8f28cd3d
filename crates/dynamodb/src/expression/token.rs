//! The words and signs of an expression, and where each is.

use winnow::ascii::{digit1, multispace0};
use winnow::combinator::{alt, dispatch, peek, preceded, repeat};
use winnow::prelude::*;
use winnow::stream::{LocatingSlice, Location as _};
use winnow::token::{any, take_while};

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A name or a keyword.
    Word,
    /// `#name`
    Name,
    /// `:value`
    Value,
    /// Digits.
    Digits,
    /// One of the signs of the language.
    Sign,
    /// A character that is none of these.
    Strange,
    /// Behind the last one.
    End,
}

/// A token, its number and its place in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token<'i> {
    pub(crate) kind: Kind,
    pub(crate) text: &'i str,
    pub(crate) index: usize,
    start: usize,
}

impl Token<'_> {
    pub(crate) fn is_sign(&self, sign: &str) -> bool {
        self.kind == Kind::Sign && self.text == sign
    }

    pub(crate) fn is_word(&self, word: &str) -> bool {
        self.kind == Kind::Word && self.text.eq_ignore_ascii_case(word)
    }

    fn end(&self) -> usize {
        self.start + self.text.len()
    }
}

/// All tokens of a text, with one for its end. Every text has them.
pub(crate) fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut input = LocatingSlice::new(text);
    let read: ModalResult<Vec<Token<'_>>> =
        repeat(0.., preceded(multispace0, token)).parse_next(&mut input);
    let mut tokens = read.unwrap_or_default();
    tokens.push(Token { kind: Kind::End, text: "", index: 0, start: text.len() });
    for (index, token) in tokens.iter_mut().enumerate() {
        token.index = index;
    }
    tokens
}

fn token<'i>(input: &mut LocatingSlice<&'i str>) -> ModalResult<Token<'i>> {
    let start = input.current_token_start();
    let part = |character: char| character.is_ascii_alphanumeric() || character == '_';
    let marked = || (any, take_while(0.., part)).take();
    let (kind, text) = dispatch! { peek(any);
        'a'..='z' | 'A'..='Z' => take_while(1.., part).map(|text| (Kind::Word, text)),
        '#' => marked().map(|text| (if text == "#" { Kind::Strange } else { Kind::Name }, text)),
        ':' => marked().map(|text| (if text == ":" { Kind::Strange } else { Kind::Value }, text)),
        '0'..='9' => digit1.map(|text| (Kind::Digits, text)),
        '<' => alt(("<>", "<=", "<")).map(|text| (Kind::Sign, text)),
        '>' => alt((">=", ">")).map(|text| (Kind::Sign, text)),
        '(' | ')' | '[' | ']' | ',' | '.' | '=' | '+' | '-' =>
            any.take().map(|text| (Kind::Sign, text)),
        _ => any.take().map(|text| (Kind::Strange, text)),
    }
    .parse_next(input)?;
    Ok(Token { kind, text, index: 0, start })
}

/// The message about a token that should not be where it is: the token, and it between the one
/// before and the one after.
pub(crate) fn syntax_error(text: &str, tokens: &[Token<'_>], at: usize) -> String {
    let found = tokens.get(at).filter(|token| token.kind != Kind::End);
    let before = at.checked_sub(1).and_then(|before| tokens.get(before)).or(found);
    let start = before.map_or(0, |token| token.start);
    let after = tokens.get(at + 1).filter(|token| token.kind != Kind::End);
    let end = after.or(found).or(before).map_or(text.len(), Token::end);
    let near = text.get(start..end).unwrap_or_default();
    let token = found.map_or("<EOF>", |token| token.text);
    format!("Syntax error; token: \"{token}\", near: \"{near}\"")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn texts(text: &str) -> Vec<&str> {
        tokens(text).iter().map(|token| token.text).collect()
    }

    #[test]
    fn a_text_falls_into_words_and_signs() {
        assert_eq!(texts("a.#b[0]<=:c"), ["a", ".", "#b", "[", "0", "]", "<=", ":c", ""]);
        assert_eq!(texts(" _12a # \u{e9}"), ["_", "12", "a", "#", "\u{e9}", ""]);
        assert_eq!(texts(""), [""]);
    }

    #[test]
    fn an_error_shows_the_tokens_on_both_sides() {
        let shown = |text, at| syntax_error(text, &tokens(text), at);
        assert_eq!(shown("a-b", 1), "Syntax error; token: \"-\", near: \"a-b\"");
        assert_eq!(shown("SET _123 = :v", 1), "Syntax error; token: \"_\", near: \"SET _123\"");
        assert_eq!(shown("NOT #a", 2), "Syntax error; token: \"<EOF>\", near: \"#a\"");
        assert_eq!(
            shown("INVALID SYNTAX HERE", 0),
            "Syntax error; token: \"INVALID\", near: \"INVALID SYNTAX\""
        );
        assert_eq!(shown("f()", 2), "Syntax error; token: \")\", near: \"()\"");
    }

    proptest! {
        #[test]
        fn nothing_but_space_is_lost(text in "\\PC{0,40}") {
            let squeezed: String = text.split([' ', '\t', '\r', '\n']).collect();
            prop_assert_eq!(texts(&text).concat(), squeezed);
        }
    }
}
