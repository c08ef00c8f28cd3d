//! What may not be in an update, in the service's order: reserved words, functions that do not
//! exist, sections that come twice, names, values, paths in each other's way, and types.

use stonecrop::Path;

use super::super::grammar::{Raw, RawPath, RawStep, too_many_operators};
use super::super::projection::check_words;
use super::super::{MAX_OPERATORS, Placeholders, check_apart};
use super::grammar::Section;
use super::{Action, SetValue};
use crate::value::AttributeType;

type Checked<T> = Result<T, String>;

pub(super) fn update(
    sections: &[Section<'_>],
    placeholders: &mut Placeholders,
) -> Checked<Vec<Action>> {
    let operators: usize = sections.iter().map(operators).sum();
    if operators > MAX_OPERATORS {
        return Err(too_many_operators(operators));
    }
    each_path(sections, &mut |path| check_words(path))?;
    each_value(sections, &mut check_functions)?;
    check_sections(sections)?;
    // Names come before values, wherever they are.
    each_path(sections, &mut |path| placeholders.check_path(path))?;
    each_value(sections, &mut |raw| check_values(raw, placeholders))?;
    let paths = target_paths(sections).into_iter().map(|path| placeholders.path(path));
    let paths: Vec<Path> = paths.collect::<Checked<_>>()?;
    check_apart(&paths.iter().collect::<Vec<_>>())?;
    build(sections, paths, placeholders)
}

fn operators(section: &Section<'_>) -> usize {
    fn of(raw: &Raw<'_>) -> usize {
        match raw {
            Raw::Path(_) | Raw::Value(_) => 0,
            Raw::Call(_, arguments) => 1 + arguments.iter().map(of).sum::<usize>(),
            Raw::Parentheses(inner) => of(inner),
            Raw::Sum(_, sides) => 1 + of(&sides.0) + of(&sides.1),
        }
    }
    match section {
        Section::Set(sets) => sets.iter().map(|(_, raw)| of(raw)).sum(),
        _ => 0,
    }
}

/// The paths that are changed, in their order.
fn target_paths<'s, 'i>(sections: &'s [Section<'i>]) -> Vec<&'s RawPath<'i>> {
    let mut paths = Vec::new();
    for section in sections {
        match section {
            Section::Set(sets) => paths.extend(sets.iter().map(|(path, _)| path)),
            Section::Remove(removed) => paths.extend(removed),
            Section::Add(pairs) | Section::Delete(pairs) => {
                paths.extend(pairs.iter().map(|(path, _)| path));
            }
        }
    }
    paths
}

/// Goes over all paths, also those that are only read.
fn each_path(
    sections: &[Section<'_>],
    visit: &mut dyn FnMut(&[RawStep<'_>]) -> Checked<()>,
) -> Checked<()> {
    fn within(raw: &Raw<'_>, visit: &mut dyn FnMut(&[RawStep<'_>]) -> Checked<()>) -> Checked<()> {
        match raw {
            Raw::Path(path) => visit(path),
            Raw::Value(_) => Ok(()),
            Raw::Call(_, arguments) => {
                arguments.iter().try_for_each(|argument| within(argument, visit))
            }
            Raw::Parentheses(inner) => within(inner, visit),
            Raw::Sum(_, sides) => {
                within(&sides.0, visit)?;
                within(&sides.1, visit)
            }
        }
    }
    for section in sections {
        match section {
            Section::Set(sets) => {
                for (path, raw) in sets {
                    visit(path)?;
                    within(raw, visit)?;
                }
            }
            Section::Remove(paths) => paths.iter().try_for_each(|path| visit(path))?,
            Section::Add(pairs) | Section::Delete(pairs) => {
                pairs.iter().try_for_each(|(path, _)| visit(path))?;
            }
        }
    }
    Ok(())
}

/// Goes over what is set, added and deleted.
fn each_value(
    sections: &[Section<'_>],
    visit: &mut dyn FnMut(&Raw<'_>) -> Checked<()>,
) -> Checked<()> {
    for section in sections {
        match section {
            Section::Set(sets) => sets.iter().try_for_each(|(_, raw)| visit(raw))?,
            Section::Remove(_) => {}
            Section::Add(pairs) | Section::Delete(pairs) => {
                pairs.iter().try_for_each(|(_, key)| visit(&Raw::Value(key)))?;
            }
        }
    }
    Ok(())
}

fn check_functions(raw: &Raw<'_>) -> Checked<()> {
    match raw {
        Raw::Path(_) | Raw::Value(_) => Ok(()),
        Raw::Parentheses(inner) => check_functions(inner),
        Raw::Sum(_, sides) => {
            check_functions(&sides.0)?;
            check_functions(&sides.1)
        }
        Raw::Call(name, arguments) => {
            arguments.iter().try_for_each(check_functions)?;
            match *name {
                "if_not_exists" | "list_append" => Ok(()),
                "attribute_exists"
                | "attribute_not_exists"
                | "attribute_type"
                | "begins_with"
                | "contains"
                | "size" => Err(format!(
                    "The function is not allowed in an update expression; function: {name}"
                )),
                _ => Err(format!("Invalid function name; function: {name}")),
            }
        }
    }
}

fn check_sections(sections: &[Section<'_>]) -> Checked<()> {
    for (at, section) in sections.iter().enumerate() {
        let keyword = section.keyword();
        if sections.iter().take(at).any(|before| before.keyword() == keyword) {
            return Err(format!(
                "The \"{keyword}\" section can only be used once in an update expression;"
            ));
        }
    }
    Ok(())
}

fn check_values(raw: &Raw<'_>, placeholders: &Placeholders) -> Checked<()> {
    match raw {
        Raw::Path(_) => Ok(()),
        Raw::Value(key) => placeholders.look_at(key).map(drop),
        Raw::Parentheses(inner) => check_values(inner, placeholders),
        Raw::Call(_, arguments) => {
            arguments.iter().try_for_each(|argument| check_values(argument, placeholders))
        }
        Raw::Sum(_, sides) => {
            check_values(&sides.0, placeholders)?;
            check_values(&sides.1, placeholders)
        }
    }
}

/// The actions, given the paths that they change. The operands of ADD and DELETE are judged before
/// those of functions.
fn build(
    sections: &[Section<'_>],
    paths: Vec<Path>,
    placeholders: &mut Placeholders,
) -> Checked<Vec<Action>> {
    for section in sections {
        if let Section::Add(pairs) | Section::Delete(pairs) = section {
            for (_, key) in pairs {
                check_operand(section.keyword(), AttributeType::of(placeholders.look_at(key)?))?;
            }
        }
    }
    let mut actions = Vec::with_capacity(paths.len());
    let mut paths = paths.into_iter();
    for section in sections {
        match section {
            Section::Set(sets) => {
                for ((_, raw), path) in sets.iter().zip(&mut paths) {
                    actions.push(Action::Set(path, set_value(raw, placeholders)?));
                }
            }
            Section::Remove(removed) => {
                actions.extend(paths.by_ref().take(removed.len()).map(Action::Remove));
            }
            Section::Add(pairs) => {
                for ((_, key), path) in pairs.iter().zip(&mut paths) {
                    actions.push(Action::Add(path, placeholders.value(key)?));
                }
            }
            Section::Delete(pairs) => {
                for ((_, key), path) in pairs.iter().zip(&mut paths) {
                    actions.push(Action::Delete(path, placeholders.value(key)?));
                }
            }
        }
    }
    Ok(actions)
}

fn check_operand(keyword: &str, of: AttributeType) -> Checked<()> {
    if of.is_set() || (keyword == "ADD" && of == AttributeType::Number) {
        return Ok(());
    }
    Err(format!(
        "Incorrect operand type for operator or function; operator: {keyword}, operand type: {}, \
         typeSet: ALLOWED_FOR_{keyword}_OPERAND",
        of.long_name()
    ))
}

fn set_value(raw: &Raw<'_>, placeholders: &mut Placeholders) -> Checked<SetValue> {
    match raw {
        Raw::Path(path) => placeholders.path(path).map(SetValue::Path),
        Raw::Value(key) => placeholders.value(key).map(SetValue::Value),
        Raw::Parentheses(inner) => set_value(inner, placeholders),
        Raw::Sum(how, sides) => {
            let a = set_value(&sides.0, placeholders)?;
            let b = set_value(&sides.1, placeholders)?;
            check_types(how, AttributeType::Number, [&a, &b])?;
            let make = if *how == "+" { SetValue::Sum } else { SetValue::Difference };
            Ok(make(Box::new(a), Box::new(b)))
        }
        Raw::Call(name, arguments) => {
            let values = arguments.iter().map(|argument| set_value(argument, placeholders));
            let values = values.collect::<Checked<Vec<_>>>()?;
            call(name, values)
        }
    }
}

fn call(name: &str, values: Vec<SetValue>) -> Checked<SetValue> {
    let count = values.len();
    let Ok([a, b]) = <[SetValue; 2]>::try_from(values) else {
        return Err(format!(
            "Incorrect number of operands for operator or function; operator or function: {name}, \
             number of operands: {count}"
        ));
    };
    if name == "list_append" {
        check_types(name, AttributeType::List, [&a, &b])?;
        return Ok(SetValue::ListAppend(Box::new(a), Box::new(b)));
    }
    match a {
        SetValue::Path(path) => Ok(SetValue::IfNotExists(path, Box::new(b))),
        _ => Err(format!(
            "Operator or function requires a document path; operator or function: {name}"
        )),
    }
}

fn check_types(how: &str, expected: AttributeType, values: [&SetValue; 2]) -> Checked<()> {
    let types = values.into_iter().filter_map(|value| match value {
        SetValue::Value(value) => Some(AttributeType::of(value)),
        _ => None,
    });
    match types.into_iter().find(|of| *of != expected) {
        Some(of) => Err(format!(
            "Incorrect operand type for operator or function; operator or function: {how}, \
             operand type: {of}"
        )),
        None => Ok(()),
    }
}
