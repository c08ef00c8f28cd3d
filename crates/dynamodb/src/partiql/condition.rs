//! What stands behind `WHERE`.

use stonecrop::{Comparison, Value};
use winnow::error::{ErrMode, ParserError as _};

use super::input::{
    Fault, Input, Parsed, advance, deeper, fail, list, must_sign, must_word, next_call,
    next_is_sign, next_is_word, path, peek, sign, word,
};
use super::literal;
use super::token::Token;
use crate::expression::{Condition, Operand};
use crate::value::AttributeType;

/// What may turn out to be a side of a comparison.
enum Side {
    Condition(Condition),
    Operand(Operand),
}

pub(super) fn condition(input: &mut Input<'_, '_>) -> Parsed<Condition> {
    let side = any(input)?;
    complete(side, input)
}

/// A side of a comparison is no condition: what follows it can't be there.
fn complete(side: Side, input: &Input<'_, '_>) -> Parsed<Condition> {
    match side {
        Side::Condition(condition) => Ok(condition),
        Side::Operand(_) => Err(ErrMode::Cut(Fault::from_input(input))),
    }
}

fn any(input: &mut Input<'_, '_>) -> Parsed<Side> {
    chain(input, all, "OR", Condition::Any)
}

fn all(input: &mut Input<'_, '_>) -> Parsed<Side> {
    chain(input, not, "AND", Condition::All)
}

fn chain<'t, 'i>(
    input: &mut Input<'t, 'i>,
    part: fn(&mut Input<'t, 'i>) -> Parsed<Side>,
    between: &'static str,
    group: fn(Vec<Condition>) -> Condition,
) -> Parsed<Side> {
    let first = part(input)?;
    if !next_is_word(input, between) {
        return Ok(first);
    }
    let mut parts = vec![complete(first, input)?];
    while word(input, between)? {
        let next = part(input)?;
        parts.push(complete(next, input)?);
    }
    Ok(Side::Condition(group(parts)))
}

fn not(input: &mut Input<'_, '_>) -> Parsed<Side> {
    if !word(input, "NOT")? {
        return test(input);
    }
    let inner = deeper(input, not)?;
    Ok(Side::Condition(Condition::Not(Box::new(complete(inner, input)?))))
}

fn test(input: &mut Input<'_, '_>) -> Parsed<Side> {
    let first = if next_is_sign(input, "(") {
        parentheses(input)?
    } else if let Some(function) = next_call(input).filter(|name| name != "size") {
        Side::Condition(call(input, &function)?)
    } else {
        Side::Operand(operand(input)?)
    };
    let Side::Operand(left) = first else { return Ok(first) };
    if let Some(how) = comparison(input)? {
        return Ok(Side::Condition(Condition::Compare(left, how, operand(input)?)));
    }
    if word(input, "BETWEEN")? {
        let low = operand(input)?;
        must_word(input, "AND")?;
        return Ok(Side::Condition(Condition::Between(left, low, operand(input)?)));
    }
    if word(input, "IN")? {
        return Ok(Side::Condition(Condition::In(left, alternatives(input)?)));
    }
    if word(input, "IS")? {
        return is(left, input).map(Side::Condition);
    }
    Ok(Side::Operand(left))
}

fn parentheses(input: &mut Input<'_, '_>) -> Parsed<Side> {
    deeper(input, |input| {
        must_sign(input, "(")?;
        let inner = any(input)?;
        must_sign(input, ")")?;
        Ok(inner)
    })
}

fn comparison(input: &mut Input<'_, '_>) -> Parsed<Option<Comparison>> {
    let how = match peek(input) {
        Some(Token::Sign("=")) => Comparison::Eq,
        Some(Token::Sign("<>" | "!=")) => Comparison::Ne,
        Some(Token::Sign("<")) => Comparison::Lt,
        Some(Token::Sign("<=")) => Comparison::Le,
        Some(Token::Sign(">")) => Comparison::Gt,
        Some(Token::Sign(">=")) => Comparison::Ge,
        _ => return Ok(None),
    };
    advance(input)?;
    Ok(Some(how))
}

/// The values behind `IN`, in parentheses or brackets.
fn alternatives(input: &mut Input<'_, '_>) -> Parsed<Vec<Operand>> {
    let end = if sign(input, "[")? { "]" } else { ")" };
    if end == ")" {
        must_sign(input, "(")?;
    }
    let others = list(input, operand)?;
    must_sign(input, end)?;
    Ok(others)
}

fn is(left: Operand, input: &mut Input<'_, '_>) -> Parsed<Condition> {
    let negated = word(input, "NOT")?;
    if word(input, "NULL")? {
        let is_null = Condition::IsType(left, AttributeType::Null);
        return Ok(if negated { Condition::Not(Box::new(is_null)) } else { is_null });
    }
    must_word(input, "MISSING")?;
    match (left, negated) {
        (Operand::Path(path), true) => Ok(Condition::Exists(path)),
        (Operand::Path(path), false) => Ok(Condition::NotExists(path)),
        _ => fail("Expected a path"),
    }
}

fn call(input: &mut Input<'_, '_>, function: &str) -> Parsed<Condition> {
    advance(input)?;
    must_sign(input, "(")?;
    let first = operand(input)?;
    must_sign(input, ",")?;
    let second = operand(input)?;
    must_sign(input, ")")?;
    match (function, &second) {
        ("begins_with", _) => Ok(Condition::BeginsWith(first, second)),
        ("contains", _) => Ok(Condition::Contains(first, second)),
        ("attribute_type", Operand::Value(Value::String(code))) => {
            match AttributeType::from_code(code) {
                Some(of) => Ok(Condition::IsType(first, of)),
                None => fail("Invalid attribute type name found"),
            }
        }
        _ => fail("Unexpected function"),
    }
}

pub(super) fn operand(input: &mut Input<'_, '_>) -> Parsed<Operand> {
    if next_is_sign(input, "(") {
        return deeper(input, |input| {
            must_sign(input, "(")?;
            let inner = operand(input)?;
            must_sign(input, ")")?;
            Ok(inner)
        });
    }
    if literal::is_next(input) {
        return literal::value(input).map(Operand::Value);
    }
    match next_call(input).as_deref() {
        Some("size") => deeper(input, |input| {
            advance(input)?;
            must_sign(input, "(")?;
            let inner = operand(input)?;
            must_sign(input, ")")?;
            Ok(Operand::Size(Box::new(inner)))
        }),
        Some(_) => fail("Unexpected function"),
        None => path(input).map(Operand::Path),
    }
}
