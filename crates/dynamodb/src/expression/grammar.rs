//! What expressions of all kinds are made of: paths, values and calls; and how reading one fails.

use winnow::combinator::{opt, separated};
use winnow::error::{ErrMode, ParserError};
use winnow::prelude::*;
use winnow::stream::{Stateful, TokenSlice};
use winnow::token::any;

use super::MAX_OPERATORS;
use super::token::{Kind, Token, syntax_error, tokens};

/// How many parentheses, and how many calls and NOTs, can be around each other. What is deeper has
/// more operators than allowed or parentheses that say nothing, and is refused before the stack is
/// at its end.
const MAX_DEPTH: usize = MAX_OPERATORS + 1;

/// The tokens that are left, and how deep we are.
pub(super) type Input<'t, 'i> = Stateful<TokenSlice<'t, Token<'i>>, Reader>;
pub(super) type Parsed<T> = winnow::ModalResult<T, Fault>;

/// What is known while reading.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reader {
    parentheses: usize,
    operators: usize,
    /// The words that can't begin a path, since they mean something else.
    keywords: &'static [&'static str],
}

/// Where reading went wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// This token should not be here.
    Token(usize),
    /// Too many parentheses are around each other.
    Parentheses,
    /// Too many calls and NOTs are around each other.
    Operators,
}

impl ParserError<Input<'_, '_>> for Fault {
    type Inner = Self;

    fn from_input(input: &Input<'_, '_>) -> Self {
        Fault::Token(peek(input).map_or(0, |token| token.index))
    }

    fn into_inner(self) -> Result<Self, Self> {
        Ok(self)
    }
}

/// Reads all of a text by a rule, or tells what is wrong with it.
pub(super) fn read<'i, T>(
    text: &'i str,
    keywords: &'static [&'static str],
    mut rule: impl FnMut(&mut Input<'_, 'i>) -> Parsed<T>,
) -> Result<T, String> {
    let tokens = tokens(text);
    let state = Reader { parentheses: 0, operators: 0, keywords };
    let mut input = Stateful { input: TokenSlice::new(&tokens), state };
    let read = rule(&mut input).and_then(|read| match peek(&input) {
        Some(token) if token.kind != Kind::End => unexpected(&input),
        _ => Ok(read),
    });
    read.map_err(|error| match error {
        ErrMode::Backtrack(Fault::Token(at)) | ErrMode::Cut(Fault::Token(at)) => {
            syntax_error(text, &tokens, at)
        }
        ErrMode::Backtrack(Fault::Parentheses) | ErrMode::Cut(Fault::Parentheses) => {
            REDUNDANT_PARENTHESES.to_owned()
        }
        _ => too_many_operators(MAX_DEPTH),
    })
}

pub(super) const REDUNDANT_PARENTHESES: &str = "The expression has redundant parentheses;";

pub(super) fn too_many_operators(count: usize) -> String {
    format!("The expression contains too many operators; operator count: {count}")
}

/// The next token, which stays.
pub(super) fn peek<'i>(input: &Input<'_, 'i>) -> Option<Token<'i>> {
    input.input.as_ref().first().copied()
}

/// The next token can't be here.
pub(super) fn unexpected<T>(input: &Input<'_, '_>) -> Parsed<T> {
    Err(ErrMode::Cut(Fault::from_input(input)))
}

pub(super) fn next_is_sign(input: &Input<'_, '_>, sign: &str) -> bool {
    peek(input).is_some_and(|token| token.is_sign(sign))
}

fn one<'t, 'i: 't>(
    is: impl Fn(&Token<'i>) -> bool,
) -> impl Parser<Input<'t, 'i>, &'i str, ErrMode<Fault>> {
    move |input: &mut Input<'t, 'i>| {
        let token: &Token<'i> = any.verify(|token: &&Token<'i>| is(token)).parse_next(input)?;
        Ok(token.text)
    }
}

pub(super) fn sign<'t, 'i: 't>(
    sign: &'static str,
) -> impl Parser<Input<'t, 'i>, &'i str, ErrMode<Fault>> {
    one(move |token| token.is_sign(sign))
}

pub(super) fn word<'t, 'i: 't>(
    word: &'static str,
) -> impl Parser<Input<'t, 'i>, &'i str, ErrMode<Fault>> {
    one(move |token| token.is_word(word))
}

fn of_kind<'t, 'i: 't>(kind: Kind) -> impl Parser<Input<'t, 'i>, &'i str, ErrMode<Fault>> {
    one(move |token| token.kind == kind)
}

/// In parentheses, as long as there is room.
pub(super) fn in_parentheses<'t, 'i: 't, T>(
    input: &mut Input<'t, 'i>,
    rule: fn(&mut Input<'t, 'i>) -> Parsed<T>,
) -> Parsed<T> {
    if input.state.parentheses >= MAX_DEPTH {
        return Err(ErrMode::Cut(Fault::Parentheses));
    }
    input.state.parentheses += 1;
    sign("(").parse_next(input)?;
    let inner = must(rule).parse_next(input)?;
    must(sign(")")).parse_next(input)?;
    input.state.parentheses -= 1;
    Ok(inner)
}

/// Behind a NOT or in a call, as long as there is room.
pub(super) fn in_operator<'t, 'i: 't, T>(
    input: &mut Input<'t, 'i>,
    rule: fn(&mut Input<'t, 'i>) -> Parsed<T>,
) -> Parsed<T> {
    if input.state.operators >= MAX_DEPTH {
        return Err(ErrMode::Cut(Fault::Operators));
    }
    input.state.operators += 1;
    let inner = rule(input)?;
    input.state.operators -= 1;
    Ok(inner)
}

/// A step of a path, as written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RawStep<'i> {
    Word(&'i str),
    Name(&'i str),
    Index(&'i str),
}

/// A path as written: a name, and the steps from there.
pub(super) type RawPath<'i> = Vec<RawStep<'i>>;

/// What can stand on a side of a comparison, as an argument, or behind a SET.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Raw<'i> {
    Path(RawPath<'i>),
    Value(&'i str),
    Call(&'i str, Vec<Raw<'i>>),
    Parentheses(Box<Raw<'i>>),
    /// `+` or `-`, of updates alone.
    Sum(&'i str, Box<(Raw<'i>, Raw<'i>)>),
}

impl<'i> Raw<'i> {
    /// Without parentheses around it.
    pub(super) fn bare(&self) -> &Self {
        let mut inner = self;
        while let Raw::Parentheses(next) = inner {
            inner = next;
        }
        inner
    }
}

fn name<'i>(input: &mut Input<'_, 'i>) -> Parsed<RawStep<'i>> {
    let keywords = input.state.keywords;
    let step = match peek(input) {
        Some(token) if token.kind == Kind::Name => RawStep::Name(token.text),
        Some(token)
            if token.kind == Kind::Word && !keywords.iter().any(|word| token.is_word(word)) =>
        {
            RawStep::Word(token.text)
        }
        _ => return Err(ErrMode::Backtrack(Fault::from_input(input))),
    };
    any.void().parse_next(input)?;
    Ok(step)
}

/// A name, and the steps that follow it.
pub(super) fn path<'i>(input: &mut Input<'_, 'i>) -> Parsed<RawPath<'i>> {
    let mut path = vec![name(input)?];
    steps(&mut path, input)?;
    Ok(path)
}

/// The steps that follow, if there are any.
pub(super) fn steps<'i>(path: &mut RawPath<'i>, input: &mut Input<'_, 'i>) -> Parsed<()> {
    loop {
        if opt(sign(".")).parse_next(input)?.is_some() {
            path.push(must(name).parse_next(input)?);
        } else if opt(sign("[")).parse_next(input)?.is_some() {
            path.push(RawStep::Index(must(of_kind(Kind::Digits)).parse_next(input)?));
            must(sign("]")).parse_next(input)?;
        } else {
            return Ok(());
        }
    }
}

/// What has to follow: there is no other way to read it.
pub(super) fn must<'t, 'i: 't, T>(
    mut rule: impl Parser<Input<'t, 'i>, T, ErrMode<Fault>>,
) -> impl Parser<Input<'t, 'i>, T, ErrMode<Fault>> {
    move |input: &mut Input<'t, 'i>| match rule.parse_next(input) {
        Err(ErrMode::Backtrack(fault)) => Err(ErrMode::Cut(fault)),
        other => other,
    }
}

pub(super) fn value<'i>(input: &mut Input<'_, 'i>) -> Parsed<&'i str> {
    of_kind(Kind::Value).parse_next(input)
}

/// Whether a word and an opening parenthesis follow.
pub(super) fn next_is_call(input: &Input<'_, '_>) -> bool {
    let tokens = input.input.as_ref();
    let keywords = input.state.keywords;
    matches!(tokens, [name, open, ..]
        if name.kind == Kind::Word
            && open.is_sign("(")
            && !keywords.iter().any(|word| name.is_word(word)))
}

/// A name and its arguments in parentheses.
pub(super) fn call<'i>(input: &mut Input<'_, 'i>) -> Parsed<Raw<'i>> {
    in_operator(input, |input| {
        let name = of_kind(Kind::Word).parse_next(input)?;
        sign("(").parse_next(input)?;
        let arguments = separated(1.., must(operand), sign(",")).parse_next(input)?;
        must(sign(")")).parse_next(input)?;
        Ok(Raw::Call(name, arguments))
    })
}

/// A path, a value or a call, or one in parentheses.
pub(super) fn operand<'i>(input: &mut Input<'_, 'i>) -> Parsed<Raw<'i>> {
    match next_is_sign(input, "(") {
        true => {
            let inner = in_parentheses(input, operand)?;
            after_parentheses(inner, input)
        }
        false => simple_operand(input),
    }
}

/// What was in parentheses: `(a.b).c` leads on from where `a.b` leads.
pub(super) fn after_parentheses<'i>(inner: Raw<'i>, input: &mut Input<'_, 'i>) -> Parsed<Raw<'i>> {
    let leads_on = next_is_sign(input, ".") || next_is_sign(input, "[");
    match inner {
        Raw::Path(mut path) if leads_on => {
            steps(&mut path, input)?;
            Ok(Raw::Path(path))
        }
        Raw::Parentheses(_) if leads_on => Err(ErrMode::Cut(Fault::Parentheses)),
        inner => Ok(Raw::Parentheses(Box::new(inner))),
    }
}

/// A path, a value or a call.
pub(super) fn simple_operand<'i>(input: &mut Input<'_, 'i>) -> Parsed<Raw<'i>> {
    if next_is_call(input) {
        return call(input);
    }
    if let Some(value) = opt(value).parse_next(input)? {
        return Ok(Raw::Value(value));
    }
    path(input).map(Raw::Path)
}
