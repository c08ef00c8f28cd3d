//! Values as they are written in a statement.

use std::collections::{BTreeMap, BTreeSet};

use stonecrop::Value;
use winnow::error::{ErrMode, ParserError as _};

use super::input::{
    Fault, Input, Parsed, advance, deeper, fail, list_until, must_sign, next_is_sign, next_is_word,
    parameter, peek, refuse, sign,
};
use super::token::Token;
use crate::value::{AttributeType, parse_number};

/// Whether a value is next, rather than a path.
pub(super) fn is_next(input: &Input<'_, '_>) -> bool {
    let signs = ["-", "[", "{", "<<"];
    match peek(input) {
        Some(Token::Text(_) | Token::Number(_) | Token::Parameter) => true,
        Some(Token::Sign(sign)) => signs.contains(&sign),
        _ => ["TRUE", "FALSE", "NULL"].iter().any(|word| next_is_word(input, word)),
    }
}

pub(super) fn value(input: &mut Input<'_, '_>) -> Parsed<Value> {
    let minus = sign(input, "-")?;
    let value = match peek(input) {
        Some(Token::Number(digits)) => {
            let text = if minus { format!("-{digits}") } else { digits.to_owned() };
            match parse_number(&text) {
                Ok(number) => Value::Decimal(number),
                Err(error) => return refuse(error),
            }
        }
        _ if minus => return Err(ErrMode::Cut(Fault::from_input(input))),
        Some(Token::Parameter) => return parameter(input),
        Some(Token::Text(text)) => Value::String(text),
        Some(Token::Sign("[")) => return deeper(input, list),
        Some(Token::Sign("{")) => return deeper(input, map),
        Some(Token::Sign("<<")) => return deeper(input, set),
        _ if next_is_word(input, "TRUE") => Value::Bool(true),
        _ if next_is_word(input, "FALSE") => Value::Bool(false),
        _ if next_is_word(input, "NULL") => Value::Null,
        _ => return Err(ErrMode::Cut(Fault::from_input(input))),
    };
    advance(input)?;
    Ok(value)
}

fn list(input: &mut Input<'_, '_>) -> Parsed<Value> {
    must_sign(input, "[")?;
    list_until(input, "]", value).map(Value::List)
}

fn map(input: &mut Input<'_, '_>) -> Parsed<Value> {
    must_sign(input, "{")?;
    let entries = list_until(input, "}", entry)?;
    let count = entries.len();
    let map: BTreeMap<String, Value> = entries.into_iter().collect();
    match map.len() == count {
        true => Ok(Value::Map(map)),
        false => fail("Duplicate attribute name"),
    }
}

fn entry(input: &mut Input<'_, '_>) -> Parsed<(String, Value)> {
    let (Some(Token::Text(name)) | Some(Token::Name(name))) = peek(input) else {
        return Err(ErrMode::Cut(Fault::from_input(input)));
    };
    advance(input)?;
    must_sign(input, ":")?;
    Ok((name, value(input)?))
}

/// A set is of strings, of numbers or of binaries, each once.
fn set(input: &mut Input<'_, '_>) -> Parsed<Value> {
    must_sign(input, "<<")?;
    if next_is_sign(input, ">>") {
        return fail("A set must have elements");
    }
    let values = list_until(input, ">>", value)?;
    let mut of_first = values.iter().map(AttributeType::of);
    let first = of_first.next();
    if of_first.any(|of| Some(of) != first) {
        return fail("The elements of a set must be of one type");
    }
    let count = values.len();
    let mut texts = BTreeSet::new();
    let mut numbers = BTreeSet::new();
    let mut binaries = BTreeSet::new();
    for value in values {
        match value {
            Value::String(text) => texts.insert(text),
            Value::Decimal(number) => numbers.insert(number),
            Value::Bytes(bytes) => binaries.insert(bytes),
            _ => return fail("The elements of a set must be strings, numbers or binaries"),
        };
    }
    if texts.len() + numbers.len() + binaries.len() != count {
        return fail("Input collection contains duplicates");
    }
    Ok(match first {
        Some(AttributeType::Number) => Value::NumberSet(numbers),
        Some(AttributeType::Binary) => Value::BytesSet(binaries),
        _ => Value::StringSet(texts),
    })
}
