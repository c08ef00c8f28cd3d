//! The words, signs and literals of a statement.

use winnow::ascii::{digit1, multispace0};
use winnow::combinator::{alt, delimited, opt, preceded, repeat};
use winnow::prelude::*;
use winnow::token::{any, literal, one_of, take_till, take_while};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token<'i> {
    /// A keyword, or a name without quotes.
    Word(&'i str),
    /// A name in double quotes.
    Name(String),
    /// A text in single quotes.
    Text(String),
    /// A number without a sign.
    Number(&'i str),
    /// `?`
    Parameter,
    /// One of the signs of the language.
    Sign(&'i str),
    /// A character that is none of these.
    Strange,
    /// Behind the last one.
    End,
}

/// All tokens of a text, with one for its end. Every text has them.
pub(super) fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut input = text;
    let read: ModalResult<Vec<Token<'_>>> =
        repeat(0.., preceded(multispace0, token)).parse_next(&mut input);
    let mut tokens = read.unwrap_or_default();
    tokens.push(Token::End);
    tokens
}

fn token<'i>(input: &mut &'i str) -> ModalResult<Token<'i>> {
    let first = |character: char| character.is_ascii_alphabetic() || character == '_';
    let part = |character: char| character.is_ascii_alphanumeric() || character == '_';
    alt((
        (one_of(first), take_while(0.., part)).take().map(Token::Word),
        quoted('"').map(Token::Name),
        quoted('\'').map(Token::Text),
        number.map(Token::Number),
        '?'.value(Token::Parameter),
        alt((
            literal("<<"),
            literal(">>"),
            literal("<>"),
            literal("<="),
            literal(">="),
            literal("!="),
        ))
        .map(Token::Sign),
        one_of(['(', ')', '[', ']', '{', '}', ',', '.', ':', '=', '<', '>', '+', '-', '*'])
            .take()
            .map(Token::Sign),
        any.value(Token::Strange),
    ))
    .parse_next(input)
}

/// What is between two quotes, in which two of them are one.
fn quoted<'i>(
    quote: char,
) -> impl Parser<&'i str, String, winnow::error::ErrMode<winnow::error::ContextError>> {
    move |input: &mut &'i str| {
        let twice = (quote, quote).take().map(|both: &str| both.get(1..).unwrap_or_default());
        let part = alt((twice, take_till(1.., quote)));
        let inner = repeat::<_, _, Vec<&str>, _, _>(0.., part).map(|parts| parts.concat());
        delimited(quote, inner, quote).parse_next(input)
    }
}

fn number<'i>(input: &mut &'i str) -> ModalResult<&'i str> {
    let sign = opt(one_of(['+', '-']));
    let exponent = (one_of(['e', 'E']), sign, digit1);
    (digit1, opt(('.', digit1)), opt(exponent)).take().parse_next(input)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_in_quotes_are_doubled() {
        assert_eq!(
            tokens(r#""a""b" 'it''s' 1.5e-3?"#),
            [
                Token::Name(r#"a"b"#.to_owned()),
                Token::Text("it's".to_owned()),
                Token::Number("1.5e-3"),
                Token::Parameter,
                Token::End,
            ]
        );
    }

    #[test]
    fn a_quote_without_an_end_is_a_strange_character() {
        assert_eq!(tokens("'a").first(), Some(&Token::Strange));
    }
}
