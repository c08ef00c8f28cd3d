//! What filters are written with: names, numbers, text in quotes, words and signs; and how an error
//! tells its place.

use winnow::ascii::{digit1, multispace0};
use winnow::combinator::{alt, opt, repeat};
use winnow::error::{ErrMode, ParserError};
use winnow::prelude::*;
use winnow::stream::{LocatingSlice, Location as _, Stateful};
use winnow::token::{any, literal, one_of, take_till, take_while};

use super::FilterError;

/// The text that is left, and how deep we are in it.
pub(super) type Input<'i> = Stateful<LocatingSlice<&'i str>, usize>;
pub(super) type Parsed<T> = winnow::ModalResult<T, Fault>;

/// Where reading went wrong. Without words of its own, something else was expected there.
#[derive(Clone, Debug)]
pub(super) struct Fault {
    pub(super) offset: usize,
    pub(super) problem: String,
}

impl ParserError<Input<'_>> for Fault {
    type Inner = Self;

    fn from_input(input: &Input<'_>) -> Self {
        Fault { offset: input.current_token_start(), problem: String::new() }
    }

    fn into_inner(self) -> Result<Self, Self> {
        Ok(self)
    }
}

impl Fault {
    pub(super) fn into_error(self, text: &str) -> FilterError {
        let problem = match (self.problem.is_empty(), text.get(self.offset..)) {
            (false, _) => self.problem,
            (true, None | Some("")) => "something is missing at the end".to_owned(),
            (true, Some(_)) => "this is not understood".to_owned(),
        };
        FilterError { text: text.to_owned(), offset: self.offset, problem }
    }
}

/// There is no other way to read it from here.
pub(super) fn cut<T>(offset: usize, problem: impl Into<String>) -> Parsed<T> {
    Err(ErrMode::Cut(Fault { offset, problem: problem.into() }))
}

/// What must follow, in words for when it does not.
pub(super) fn must<'i, T>(
    mut parser: impl Parser<Input<'i>, T, ErrMode<Fault>>,
    expected: &'static str,
) -> impl Parser<Input<'i>, T, ErrMode<Fault>> {
    move |input: &mut Input<'i>| {
        space(input)?;
        let offset = input.current_token_start();
        match parser.parse_next(input) {
            Err(ErrMode::Backtrack(_)) => cut(offset, format!("here should be {expected}")),
            other => other,
        }
    }
}

pub(super) fn name(input: &mut Input<'_>) -> Parsed<()> {
    let bare = (one_of(starts_name), take_while(0.., continues_name)).void();
    alt((bare, quoted_json.void())).parse_next(input)
}

pub(super) fn starts_name(character: char) -> bool {
    character.is_alphabetic() || character == '_'
}

pub(super) fn continues_name(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '_' | '-')
}

pub(super) fn number_text<'i>(input: &mut Input<'i>) -> Parsed<&'i str> {
    let sign = || opt(one_of(['-', '+']));
    let exponent = (one_of(['e', 'E']), sign(), digit1);
    let number = (opt('-'), digit1, opt(('.', digit1)), opt(exponent), opt('d'));
    let text = number.take().parse_next(input)?;
    match input.input.chars().next() {
        Some(next) if continues_name(next) || next == '.' => {
            cut(input.current_token_start(), "a number ends before this, and a space is missing")
        }
        _ => Ok(text),
    }
}

/// Text in quotes of either kind.
pub(super) fn text(input: &mut Input<'_>) -> Parsed<String> {
    let offset = input.current_token_start();
    match input.input.chars().next() {
        Some('"') => {
            let json = quoted_json(input)?;
            match serde_json::from_str(json) {
                Ok(text) => Ok(text),
                Err(_) => cut(offset, "a text in double quotes is written as in JSON"),
            }
        }
        Some('\'') => single_quoted(input),
        _ => Err(ErrMode::Backtrack(Fault { offset, problem: String::new() })),
    }
}

/// JSON's quotes and what is between them, escapes unread.
fn quoted_json<'i>(input: &mut Input<'i>) -> Parsed<&'i str> {
    let offset = input.current_token_start();
    let part = alt((('\\', any).void(), take_till(1.., ['"', '\\']).void()));
    let quoted = ('"', repeat::<_, _, (), _, _>(0.., part), must_end('"', offset));
    quoted.take().parse_next(input)
}

fn single_quoted(input: &mut Input<'_>) -> Parsed<String> {
    let offset = input.current_token_start();
    let part = alt((literal("''").value("'"), take_till(1.., '\'')));
    let inner = repeat::<_, _, Vec<&str>, _, _>(0.., part).map(|parts| parts.concat());
    let (_, text, _) = ('\'', inner, must_end('\'', offset)).parse_next(input)?;
    Ok(text)
}

/// The quote that ends a text which began at `offset`.
fn must_end<'i>(quote: char, offset: usize) -> impl Parser<Input<'i>, (), ErrMode<Fault>> {
    move |input: &mut Input<'i>| match opt(quote).parse_next(input)? {
        Some(_) => Ok(()),
        None => cut(offset, "the quotes that begin here do not end"),
    }
}

pub(super) fn space(input: &mut Input<'_>) -> Parsed<()> {
    multispace0.void().parse_next(input)
}

/// A sign, and the space before it.
pub(super) fn sign<'i>(sign: &'static str) -> impl Parser<Input<'i>, (), ErrMode<Fault>> {
    (multispace0, literal(sign)).void()
}

/// A word in either case, and the space before it. What follows is not of the same word.
pub(super) fn word<'i>(word: &'static str) -> impl Parser<Input<'i>, (), ErrMode<Fault>> {
    let whole = take_while(1.., continues_name);
    (multispace0, whole.verify(move |found: &str| found.eq_ignore_ascii_case(word))).void()
}
