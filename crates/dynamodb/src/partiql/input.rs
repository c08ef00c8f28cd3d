//! Tokens one by one, the parameters that stand for `?`, and how reading fails.

use stonecrop::{Path, Value};
use winnow::combinator::separated;
use winnow::error::{ErrMode, ParserError};
use winnow::prelude::*;
use winnow::stream::{Stateful, TokenSlice};
use winnow::token::any;

use super::token::{Token, tokens};
use crate::error::{Error, Result};

/// How deep parentheses, lists and NOTs can be in each other, so that reading them takes a bounded
/// stack.
const MAX_DEPTH: usize = 128;

/// Words that are no names unless they are quoted.
const KEYWORDS: [&str; 26] = [
    "SELECT",
    "INSERT",
    "UPDATE",
    "DELETE",
    "EXISTS",
    "FROM",
    "INTO",
    "VALUE",
    "WHERE",
    "SET",
    "REMOVE",
    "RETURNING",
    "ORDER",
    "BY",
    "ASC",
    "DESC",
    "AND",
    "OR",
    "NOT",
    "IN",
    "BETWEEN",
    "IS",
    "NULL",
    "MISSING",
    "TRUE",
    "FALSE",
];

pub(super) type Input<'t, 'i> = Stateful<TokenSlice<'t, Token<'i>>, Reader>;
pub(super) type Parsed<T> = winnow::ModalResult<T, Fault>;

/// What is known while reading.
#[derive(Clone, Debug)]
pub(super) struct Reader {
    depth: usize,
    parameters: Vec<Value>,
    /// How many of them were used.
    used: usize,
}

/// What is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// A token that can't be there.
    Token(&'static str),
    /// There are more `?` than parameters.
    Parameters,
    /// Anything else.
    Other(Error),
}

impl ParserError<Input<'_, '_>> for Fault {
    type Inner = Self;

    fn from_input(input: &Input<'_, '_>) -> Self {
        Fault::Token(match input.input.as_ref().first() {
            Some(Token::Word(word)) if is_keyword(word) => "Unexpected keyword",
            None | Some(Token::End) => "Unexpected end of statement",
            _ => "Unexpected token",
        })
    }

    fn into_inner(self) -> Result<Self, Self> {
        Ok(self)
    }
}

fn is_keyword(word: &str) -> bool {
    KEYWORDS.iter().any(|keyword| keyword.eq_ignore_ascii_case(word))
}

/// Reads all of a text by a rule, which uses all of the parameters.
pub(super) fn read<T>(
    text: &str,
    parameters: Vec<Value>,
    rule: for<'t, 'i> fn(&mut Input<'t, 'i>) -> Parsed<T>,
) -> Result<T> {
    let tokens = tokens(text);
    let state = Reader { depth: 0, parameters, used: 0 };
    let mut input = Stateful { input: TokenSlice::new(&tokens), state };
    let read = rule(&mut input).and_then(|read| match input.input.as_ref() {
        [Token::End] => Ok(read),
        _ => Err(ErrMode::Cut(Fault::Token("Unexpected token after expression"))),
    });
    let mismatch = "Number of parameters in request and statement don't match.";
    match read {
        Ok(read) if input.state.used == input.state.parameters.len() => Ok(read),
        Ok(_) => Err(Error::validation(mismatch)),
        Err(ErrMode::Backtrack(fault) | ErrMode::Cut(fault)) => Err(match fault {
            Fault::Token(problem) => not_well_formed(problem),
            Fault::Parameters => Error::validation(mismatch),
            Fault::Other(error) => error,
        }),
        Err(ErrMode::Incomplete(_)) => Err(not_well_formed("Unexpected end of statement")),
    }
}

fn not_well_formed(problem: &str) -> Error {
    Error::validation(format!("Statement wasn't well formed, can't be processed: {problem}"))
}

/// There is no other way to read it from here.
pub(super) fn fail<T>(problem: &'static str) -> Parsed<T> {
    Err(ErrMode::Cut(Fault::Token(problem)))
}

/// A rule of values that was broken.
pub(super) fn refuse<T>(error: Error) -> Parsed<T> {
    Err(ErrMode::Cut(Fault::Other(error)))
}

pub(super) fn peek<'t, 'i>(input: &Input<'t, 'i>) -> Option<Token<'i>> {
    input.input.as_ref().first().cloned()
}

pub(super) fn next_is_sign(input: &Input<'_, '_>, sign: &str) -> bool {
    matches!(input.input.as_ref(), [Token::Sign(found), ..] if *found == sign)
}

pub(super) fn next_is_word(input: &Input<'_, '_>, word: &str) -> bool {
    matches!(input.input.as_ref(), [Token::Word(found), ..] if found.eq_ignore_ascii_case(word))
}

/// The function that is called next, in small letters.
pub(super) fn next_call(input: &Input<'_, '_>) -> Option<String> {
    match input.input.as_ref() {
        [Token::Word(name), Token::Sign("("), ..] if !is_keyword(name) => {
            Some(name.to_ascii_lowercase())
        }
        _ => None,
    }
}

pub(super) fn advance(input: &mut Input<'_, '_>) -> Parsed<()> {
    any.void().parse_next(input)
}

/// A sign, if it is next.
pub(super) fn sign(input: &mut Input<'_, '_>, sign: &str) -> Parsed<bool> {
    let found = next_is_sign(input, sign);
    if found {
        advance(input)?;
    }
    Ok(found)
}

/// A word, if it is next.
pub(super) fn word(input: &mut Input<'_, '_>, word: &str) -> Parsed<bool> {
    let found = next_is_word(input, word);
    if found {
        advance(input)?;
    }
    Ok(found)
}

pub(super) fn must_sign(input: &mut Input<'_, '_>, expected: &str) -> Parsed<()> {
    match sign(input, expected)? {
        true => Ok(()),
        false => Err(ErrMode::Cut(Fault::from_input(input))),
    }
}

pub(super) fn must_word(input: &mut Input<'_, '_>, expected: &str) -> Parsed<()> {
    match word(input, expected)? {
        true => Ok(()),
        false => Err(ErrMode::Cut(Fault::from_input(input))),
    }
}

/// One or more with commas between them.
pub(super) fn list<'t, 'i: 't, T>(
    input: &mut Input<'t, 'i>,
    part: fn(&mut Input<'t, 'i>) -> Parsed<T>,
) -> Parsed<Vec<T>> {
    let comma = |input: &mut Input<'t, 'i>| match sign(input, ",")? {
        true => Ok(()),
        false => Err(ErrMode::Backtrack(Fault::from_input(input))),
    };
    separated(1.., part, comma).parse_next(input)
}

/// None or more with commas between them, up to a sign.
pub(super) fn list_until<'t, 'i: 't, T>(
    input: &mut Input<'t, 'i>,
    end: &str,
    part: fn(&mut Input<'t, 'i>) -> Parsed<T>,
) -> Parsed<Vec<T>> {
    if sign(input, end)? {
        return Ok(Vec::new());
    }
    let parts = list(input, part)?;
    must_sign(input, end)?;
    Ok(parts)
}

/// One level deeper, as long as there is room.
pub(super) fn deeper<'t, 'i, T>(
    input: &mut Input<'t, 'i>,
    rule: impl FnOnce(&mut Input<'t, 'i>) -> Parsed<T>,
) -> Parsed<T> {
    if input.state.depth >= MAX_DEPTH {
        return fail("Statement is nested too deep");
    }
    input.state.depth += 1;
    let inner = rule(input)?;
    input.state.depth -= 1;
    Ok(inner)
}

/// The value of the next `?`.
pub(super) fn parameter(input: &mut Input<'_, '_>) -> Parsed<Value> {
    advance(input)?;
    let reader = &mut input.state;
    let Some(value) = reader.parameters.get(reader.used).cloned() else {
        return Err(ErrMode::Cut(Fault::Parameters));
    };
    reader.used += 1;
    Ok(value)
}

pub(super) fn name(input: &mut Input<'_, '_>) -> Parsed<String> {
    let name = match peek(input) {
        Some(Token::Name(name)) => name,
        Some(Token::Word(word)) if !is_keyword(word) => word.to_owned(),
        _ => return Err(ErrMode::Cut(Fault::from_input(input))),
    };
    advance(input)?;
    Ok(name)
}

pub(super) fn path(input: &mut Input<'_, '_>) -> Parsed<Path> {
    let mut path = Path::new(name(input)?);
    loop {
        if sign(input, ".")? {
            path = path.field(name(input)?);
        } else if sign(input, "[")? {
            let index = match peek(input) {
                Some(Token::Number(digits)) => digits.parse().ok(),
                _ => None,
            };
            let Some(index) = index else { return Err(ErrMode::Cut(Fault::from_input(input))) };
            advance(input)?;
            must_sign(input, "]")?;
            path = path.index(index);
        } else {
            return Ok(path);
        }
    }
}
