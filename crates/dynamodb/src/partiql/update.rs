//! What stands behind `SET` and `REMOVE`.

use super::condition::operand;
use super::input::{
    Input, Parsed, advance, fail, list, must_sign, next_call, next_is_word, path, refuse, sign,
    word,
};
use crate::error::Error;
use crate::expression::{Action, Operand, SetValue, Update, check_apart};

/// The sections of an update, as many as there are.
pub(super) fn sections(input: &mut Input<'_, '_>) -> Parsed<Update> {
    let mut actions = Vec::new();
    loop {
        if word(input, "SET")? {
            actions.extend(list(input, set)?);
        } else if word(input, "REMOVE")? {
            actions.extend(list(input, path)?.into_iter().map(Action::Remove));
        } else if actions.is_empty() || !next_is_word(input, "WHERE") {
            return fail("Expected SET or REMOVE, then WHERE");
        } else {
            break;
        }
    }
    let paths: Vec<_> = actions.iter().map(Action::path).collect();
    match check_apart(&paths) {
        Ok(()) => Ok(Update::new(actions)),
        Err(problem) => refuse(Error::validation(problem)),
    }
}

fn set(input: &mut Input<'_, '_>) -> Parsed<Action> {
    let target = path(input)?;
    must_sign(input, "=")?;
    if let Some(function @ ("set_add" | "set_delete")) = next_call(input).as_deref() {
        advance(input)?;
        must_sign(input, "(")?;
        let of = path(input)?;
        must_sign(input, ",")?;
        let Operand::Value(value) = operand(input)? else { return fail("Expected a set") };
        must_sign(input, ")")?;
        return match (of == target, function) {
            (false, _) => fail("A set is changed where it is"),
            (true, "set_add") => Ok(Action::Add(target, value)),
            (true, _) => Ok(Action::Delete(target, value)),
        };
    }
    let first = term(input)?;
    let make = if sign(input, "+")? {
        SetValue::Sum
    } else if sign(input, "-")? {
        SetValue::Difference
    } else {
        return Ok(Action::Set(target, first));
    };
    let second = term(input)?;
    Ok(Action::Set(target, make(Box::new(first), Box::new(second))))
}

fn term(input: &mut Input<'_, '_>) -> Parsed<SetValue> {
    let Some(function) = next_call(input) else {
        return match operand(input)? {
            Operand::Path(path) => Ok(SetValue::Path(path)),
            Operand::Value(value) => Ok(SetValue::Value(value)),
            Operand::Size(_) => fail("Unexpected function"),
        };
    };
    advance(input)?;
    must_sign(input, "(")?;
    let first = simple(input)?;
    must_sign(input, ",")?;
    let second = simple(input)?;
    must_sign(input, ")")?;
    match (function.as_str(), first) {
        ("list_append", first) => Ok(SetValue::ListAppend(Box::new(first), Box::new(second))),
        ("if_not_exists", SetValue::Path(path)) => {
            Ok(SetValue::IfNotExists(path, Box::new(second)))
        }
        _ => fail("Unexpected function"),
    }
}

fn simple(input: &mut Input<'_, '_>) -> Parsed<SetValue> {
    match operand(input)? {
        Operand::Path(path) => Ok(SetValue::Path(path)),
        Operand::Value(value) => Ok(SetValue::Value(value)),
        Operand::Size(_) => fail("Unexpected function"),
    }
}
