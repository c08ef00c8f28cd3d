//! What may not be in a condition, in the service's order: parentheses that say nothing, functions
//! that do not exist or are not for here, reserved words; then, test by test, placeholders, numbers
//! of operands, operands that are the same, and their types.

use std::cmp::Ordering;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use stonecrop::{Comparison, Value};

use super::super::grammar::{REDUNDANT_PARENTHESES, Raw, RawStep, too_many_operators};
use super::super::placeholders::index;
use super::super::{MAX_OPERATORS, Placeholders, is_reserved, path_text};
use super::grammar::RawCondition;
use super::{Condition, Operand};
use crate::value::{AttributeType, encode, order};

const MAX_IN_OPERANDS: usize = 100;
/// The types that a value in an item can have, by the service's own reckoning.
const ANY_TYPE: &str = "{S,SS,N,NS,B,BS,BOOL,NULL,L,M,HD,DOUBLE,FLOAT,HDS,FS,DOUBLESET,DICT,\
                        DECIMAL,INT,DECIMALSET,INTSET}";

type Checked<T> = Result<T, String>;

pub(super) fn condition(
    raw: &RawCondition<'_>,
    placeholders: &mut Placeholders,
) -> Checked<Condition> {
    let mut found = Found::default();
    found.look_at(raw, false);
    if found.redundant {
        return Err(REDUNDANT_PARENTHESES.to_owned());
    }
    if found.operators > MAX_OPERATORS {
        return Err(too_many_operators(found.operators));
    }
    match found.unknown.or(found.misused).or(found.reserved) {
        Some(problem) => Err(problem),
        None => build(raw, placeholders),
    }
}

/// What a walk over the whole condition finds, the first of each kind.
#[derive(Default)]
struct Found {
    redundant: bool,
    operators: usize,
    unknown: Option<String>,
    misused: Option<String>,
    reserved: Option<String>,
}

impl Found {
    fn look_at(&mut self, raw: &RawCondition<'_>, in_parentheses: bool) {
        match raw {
            RawCondition::Any(parts) | RawCondition::All(parts) => {
                self.operators += parts.len() - 1;
                parts.iter().for_each(|part| self.look_at(part, false));
            }
            RawCondition::Not(inner) => {
                self.operators += 1;
                self.look_at(inner, false);
            }
            RawCondition::Parentheses(inner) => {
                self.redundant |= in_parentheses;
                self.look_at(inner, true);
            }
            RawCondition::Compare(_, a, b) => self.test([a, b]),
            RawCondition::Between(a, b, c) => self.test([a, b, c]),
            RawCondition::In(a, others) => self.test([a].into_iter().chain(others)),
            RawCondition::Operand(raw) => self.operand(raw, in_parentheses, true),
        }
    }

    fn test<'r>(&mut self, operands: impl IntoIterator<Item = &'r Raw<'r>>) {
        self.operators += 1;
        operands.into_iter().for_each(|operand| self.operand(operand, false, false));
    }

    fn operand(&mut self, raw: &Raw<'_>, in_parentheses: bool, is_condition: bool) {
        match raw {
            Raw::Parentheses(inner) => {
                self.redundant |= in_parentheses;
                self.operand(inner, true, is_condition);
            }
            Raw::Path(steps) => self.path(steps),
            Raw::Call(name, arguments) => {
                self.operators += 1;
                arguments.iter().for_each(|argument| self.operand(argument, false, false));
                self.call(name, is_condition);
            }
            Raw::Sum(_, sides) => {
                self.operators += 1;
                self.operand(&sides.0, false, false);
                self.operand(&sides.1, false, false);
            }
            Raw::Value(_) => {}
        }
    }

    fn path(&mut self, steps: &[RawStep<'_>]) {
        for step in steps {
            let problem = match step {
                RawStep::Word(name) if is_reserved(name) => {
                    format!("Attribute name is a reserved keyword; reserved keyword: {name}")
                }
                RawStep::Index(digits) => match index(digits) {
                    Err(problem) => problem,
                    Ok(_) => continue,
                },
                _ => continue,
            };
            self.reserved.get_or_insert(problem);
        }
    }

    fn call(&mut self, name: &str, is_condition: bool) {
        let Some(function) = Function::named(name) else {
            self.unknown.get_or_insert_with(|| match name {
                "if_not_exists" | "list_append" => format!(
                    "The function is not allowed in a condition expression; function: {name}"
                ),
                _ => format!("Invalid function name; function: {name}"),
            });
            return;
        };
        if (function == Function::Size) == is_condition {
            self.misused.get_or_insert_with(|| {
                format!(
                    "The function is not allowed to be used this way in an expression; \
                     function: {name}"
                )
            });
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Function {
    AttributeExists,
    AttributeNotExists,
    AttributeType,
    BeginsWith,
    Contains,
    Size,
}

impl Function {
    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "attribute_exists" => Function::AttributeExists,
            "attribute_not_exists" => Function::AttributeNotExists,
            "attribute_type" => Function::AttributeType,
            "begins_with" => Function::BeginsWith,
            "contains" => Function::Contains,
            "size" => Function::Size,
            _ => return None,
        })
    }

    fn operands(self) -> usize {
        match self {
            Function::AttributeExists | Function::AttributeNotExists | Function::Size => 1,
            Function::AttributeType | Function::BeginsWith | Function::Contains => 2,
        }
    }
}

fn build(raw: &RawCondition<'_>, placeholders: &mut Placeholders) -> Checked<Condition> {
    match raw {
        RawCondition::Any(parts) => Ok(Condition::Any(build_all(parts, placeholders)?)),
        RawCondition::All(parts) => Ok(Condition::All(build_all(parts, placeholders)?)),
        RawCondition::Not(inner) => Ok(Condition::Not(Box::new(build(inner, placeholders)?))),
        RawCondition::Parentheses(inner) => build(inner, placeholders),
        RawCondition::Compare(how, a, b) => {
            let mut test = Test::default();
            let (a, b) = (test.operand(a, placeholders)?, test.operand(b, placeholders)?);
            test.finish(how, &[&a, &b], is_ordering(how))?;
            Ok(Condition::Compare(a, comparison(how), b))
        }
        RawCondition::Between(a, low, high) => {
            let mut test = Test::default();
            let a = test.operand(a, placeholders)?;
            let (low, high) = (test.operand(low, placeholders)?, test.operand(high, placeholders)?);
            test.finish("BETWEEN", &[&a, &low, &high], true)?;
            check_bounds(&low, &high)?;
            Ok(Condition::Between(a, low, high))
        }
        RawCondition::In(a, others) => {
            let mut test = Test::default();
            let a = test.operand(a, placeholders)?;
            let others: Checked<Vec<_>> =
                others.iter().map(|other| test.operand(other, placeholders)).collect();
            let others = others?;
            if others.len() > MAX_IN_OPERANDS {
                return Err(format!(
                    "The IN operator is provided with too many operands; number of operands: {}",
                    others.len()
                ));
            }
            let all: Vec<&Operand> = [&a].into_iter().chain(&others).collect();
            test.finish("IN", &all, false)?;
            Ok(Condition::In(a, others))
        }
        RawCondition::Operand(raw) => match raw.bare() {
            Raw::Call(name, arguments) => call(name, arguments, placeholders),
            _ => Err("a side of a comparison is no condition".to_owned()),
        },
    }
}

fn build_all(
    parts: &[RawCondition<'_>],
    placeholders: &mut Placeholders,
) -> Checked<Vec<Condition>> {
    parts.iter().map(|part| build(part, placeholders)).collect()
}

fn is_ordering(how: &str) -> bool {
    !matches!(how, "=" | "<>")
}

fn comparison(how: &str) -> Comparison {
    match how {
        "<>" => Comparison::Ne,
        "<" => Comparison::Lt,
        "<=" => Comparison::Le,
        ">" => Comparison::Gt,
        ">=" => Comparison::Ge,
        _ => Comparison::Eq,
    }
}

/// The faults of one test that are told only if its placeholders are in order.
#[derive(Default)]
struct Test {
    operands: Option<String>,
    types: Option<String>,
}

impl Test {
    fn operand(&mut self, raw: &Raw<'_>, placeholders: &mut Placeholders) -> Checked<Operand> {
        match raw.bare() {
            Raw::Path(path) => placeholders.path(path).map(Operand::Path),
            Raw::Value(key) => placeholders.value(key).map(Operand::Value),
            Raw::Call(name, arguments) => {
                let mut inner = Vec::with_capacity(arguments.len());
                for argument in arguments {
                    inner.push(self.operand(argument, placeholders)?);
                }
                self.count(Function::Size, name, inner.len());
                let Some(inner) = inner.into_iter().next() else {
                    return Err("a call has operands".to_owned());
                };
                if let Some(of) = constant_type(&inner)
                    && matches!(
                        of,
                        AttributeType::Number | AttributeType::Bool | AttributeType::Null
                    )
                {
                    self.types.get_or_insert(incorrect_type(name, of.code()));
                }
                Ok(Operand::Size(Box::new(inner)))
            }
            Raw::Parentheses(_) | Raw::Sum(..) => Err("a sum is no operand".to_owned()),
        }
    }

    fn count(&mut self, function: Function, name: &str, operands: usize) {
        if operands != function.operands() {
            self.operands.get_or_insert_with(|| {
                format!(
                    "Incorrect number of operands for operator or function; \
                     operator or function: {name}, number of operands: {operands}"
                )
            });
        }
    }

    /// Tells what was found, and looks at the operands together.
    fn finish(self, how: &str, operands: &[&Operand], ordered: bool) -> Checked<()> {
        if let Some(problem) = self.operands {
            return Err(problem);
        }
        check_distinct(how, operands)?;
        if let Some(problem) = self.types {
            return Err(problem);
        }
        let unordered = |operand: &&&Operand| {
            ordered && constant_type(operand).is_some_and(|of| !of.is_ordered())
        };
        match operands.iter().find(unordered).and_then(|operand| constant_type(operand)) {
            Some(of) => Err(incorrect_type(how, of.code())),
            None => Ok(()),
        }
    }
}

fn check_distinct(how: &str, operands: &[&Operand]) -> Checked<()> {
    let Some((Operand::Path(first), others)) = operands.split_first() else { return Ok(()) };
    match others.iter().any(|other| matches!(other, Operand::Path(path) if path == first)) {
        true => Err(format!(
            "The first operand must be distinct from the remaining operands for this operator or \
             function; operator: {how}, first operand: {}",
            path_text(first)
        )),
        false => Ok(()),
    }
}

fn incorrect_type(how: &str, of: &str) -> String {
    format!(
        "Incorrect operand type for operator or function; operator or function: {how}, \
         operand type: {of}"
    )
}

/// The type that an operand has in every item.
fn constant_type(operand: &Operand) -> Option<AttributeType> {
    match operand {
        Operand::Path(_) => None,
        Operand::Value(value) => Some(AttributeType::of(value)),
        Operand::Size(_) => Some(AttributeType::Number),
    }
}

fn check_bounds(low: &Operand, high: &Operand) -> Checked<()> {
    let (Operand::Value(low), Operand::Value(high)) = (low, high) else { return Ok(()) };
    let problem = match order(low, high) {
        None => "same data type for lower and upper bounds",
        Some(Ordering::Greater) => "upper bound to be greater than or equal to lower bound",
        Some(_) => return Ok(()),
    };
    Err(format!(
        "The BETWEEN operator requires {problem}; lower bound operand: AttributeValue: {}, \
         upper bound operand: AttributeValue: {}",
        shown(low),
        shown(high)
    ))
}

/// A bound as messages show it.
fn shown(value: &Value) -> String {
    let of = AttributeType::of(value);
    let content = match value {
        Value::Bytes(bytes) => BASE64.encode(bytes),
        _ => encode(value).get(of.code()).and_then(|json| json.as_str()).unwrap_or("").to_owned(),
    };
    format!("{{{of}:{content}}}")
}

fn call(name: &str, arguments: &[Raw<'_>], placeholders: &mut Placeholders) -> Checked<Condition> {
    let Some(function) = Function::named(name) else {
        return Err(format!("Invalid function name; function: {name}"));
    };
    let mut test = Test::default();
    let mut operands = Vec::with_capacity(arguments.len());
    for argument in arguments {
        operands.push(test.operand(argument, placeholders)?);
    }
    test.count(function, name, operands.len());
    test.finish(name, &operands.iter().collect::<Vec<_>>(), false)?;
    let mut operands = operands.into_iter();
    match (function, operands.next(), operands.next()) {
        (Function::AttributeExists, Some(Operand::Path(path)), _) => Ok(Condition::Exists(path)),
        (Function::AttributeNotExists, Some(Operand::Path(path)), _) => {
            Ok(Condition::NotExists(path))
        }
        (Function::AttributeType, Some(operand), Some(of)) => attribute_type(operand, &of),
        (Function::BeginsWith, Some(whole), Some(start)) => {
            let wrong =
                |of: &AttributeType| !matches!(of, AttributeType::String | AttributeType::Binary);
            let found = [&whole, &start].into_iter().filter_map(constant_type).find(wrong);
            match found {
                Some(of) => Err(incorrect_type(name, of.code())),
                None => Ok(Condition::BeginsWith(whole, start)),
            }
        }
        (Function::Contains, Some(whole), Some(part)) => Ok(Condition::Contains(whole, part)),
        _ => Err(format!(
            "Operator or function requires a document path; operator or function: {name}"
        )),
    }
}

fn attribute_type(operand: Operand, of: &Operand) -> Checked<Condition> {
    let code = match (of, constant_type(of)) {
        (Operand::Value(Value::String(code)), _) => code,
        (_, Some(of)) => return Err(incorrect_type("attribute_type", of.code())),
        (_, None) => return Err(incorrect_type("attribute_type", ANY_TYPE)),
    };
    AttributeType::from_code(code).map(|of| Condition::IsType(operand, of)).ok_or_else(|| {
        let valid = AttributeType::ALL.map(AttributeType::code).join(",");
        format!("Invalid attribute type name found; type: {code}, valid types: {{{valid}}}")
    })
}
