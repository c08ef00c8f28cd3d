//! Conditions as they are written.

use winnow::combinator::{opt, separated};
use winnow::prelude::*;

use super::super::grammar::{
    Input, Parsed, Raw, after_parentheses, in_operator, in_parentheses, must, next_is_sign,
    operand, peek, read, sign, simple_operand, unexpected, word,
};
use super::super::token::Kind;

const KEYWORDS: &[&str] = &["AND", "OR", "NOT", "IN", "BETWEEN"];

/// A condition as written, with its parentheses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum RawCondition<'i> {
    Any(Vec<RawCondition<'i>>),
    All(Vec<RawCondition<'i>>),
    Not(Box<RawCondition<'i>>),
    Parentheses(Box<RawCondition<'i>>),
    Compare(&'i str, Raw<'i>, Raw<'i>),
    Between(Raw<'i>, Raw<'i>, Raw<'i>),
    In(Raw<'i>, Vec<Raw<'i>>),
    /// A call. While reading, also what may turn out to be a side of a comparison.
    Operand(Raw<'i>),
}

impl RawCondition<'_> {
    /// Whether it can be true or false.
    fn is_condition(&self) -> bool {
        match self {
            RawCondition::Operand(raw) => matches!(raw.bare(), Raw::Call(..)),
            _ => true,
        }
    }
}

pub(super) fn whole(text: &str) -> Result<RawCondition<'_>, String> {
    read(text, KEYWORDS, |input| {
        let condition = any(input)?;
        complete(&condition, input)?;
        Ok(condition)
    })
}

/// A side of a comparison is no condition: what follows it can't be there.
fn complete(condition: &RawCondition<'_>, input: &Input<'_, '_>) -> Parsed<()> {
    match condition.is_condition() {
        true => Ok(()),
        false => unexpected(input),
    }
}

fn any<'i>(input: &mut Input<'_, 'i>) -> Parsed<RawCondition<'i>> {
    chain(input, all, "OR", RawCondition::Any)
}

fn all<'i>(input: &mut Input<'_, 'i>) -> Parsed<RawCondition<'i>> {
    chain(input, not, "AND", RawCondition::All)
}

/// One or more with a word between them.
fn chain<'t, 'i: 't>(
    input: &mut Input<'t, 'i>,
    part: fn(&mut Input<'t, 'i>) -> Parsed<RawCondition<'i>>,
    between: &'static str,
    group: fn(Vec<RawCondition<'i>>) -> RawCondition<'i>,
) -> Parsed<RawCondition<'i>> {
    let first = part(input)?;
    if !peek(input).is_some_and(|token| token.is_word(between)) {
        return Ok(first);
    }
    complete(&first, input)?;
    let mut parts = vec![first];
    while opt(word(between)).parse_next(input)?.is_some() {
        let next = part(input)?;
        complete(&next, input)?;
        parts.push(next);
    }
    Ok(group(parts))
}

fn not<'i>(input: &mut Input<'_, 'i>) -> Parsed<RawCondition<'i>> {
    if opt(word("NOT")).parse_next(input)?.is_none() {
        return test(input);
    }
    let inner = in_operator(input, not)?;
    complete(&inner, input)?;
    Ok(RawCondition::Not(Box::new(inner)))
}

fn test<'i>(input: &mut Input<'_, 'i>) -> Parsed<RawCondition<'i>> {
    let first = if next_is_sign(input, "(") {
        parentheses(input)?
    } else {
        RawCondition::Operand(must(simple_operand).parse_next(input)?)
    };
    let RawCondition::Operand(left) = first else { return Ok(first) };
    if let Some(how) = opt(comparison).parse_next(input)? {
        return Ok(RawCondition::Compare(how, left, must(operand).parse_next(input)?));
    }
    if opt(word("BETWEEN")).parse_next(input)?.is_some() {
        let low = must(operand).parse_next(input)?;
        must(word("AND")).parse_next(input)?;
        return Ok(RawCondition::Between(left, low, must(operand).parse_next(input)?));
    }
    if opt(word("IN")).parse_next(input)?.is_some() {
        must(sign("(")).parse_next(input)?;
        let others = separated(1.., must(operand), sign(",")).parse_next(input)?;
        must(sign(")")).parse_next(input)?;
        return Ok(RawCondition::In(left, others));
    }
    Ok(RawCondition::Operand(left))
}

/// What is in parentheses is a condition or a side of one; what follows them tells which.
fn parentheses<'i>(input: &mut Input<'_, 'i>) -> Parsed<RawCondition<'i>> {
    let inner = in_parentheses(input, any)?;
    let RawCondition::Operand(raw) = inner else {
        return Ok(RawCondition::Parentheses(Box::new(inner)));
    };
    after_parentheses(raw, input).map(RawCondition::Operand)
}

fn comparison<'i>(input: &mut Input<'_, 'i>) -> Parsed<&'i str> {
    let found = peek(input).filter(|token| token.kind == Kind::Sign).map(|token| token.text);
    match found {
        Some(how @ ("=" | "<>" | "<" | "<=" | ">" | ">=")) => {
            winnow::token::any.void().parse_next(input)?;
            Ok(how)
        }
        _ => winnow::combinator::fail.parse_next(input),
    }
}
