//! Looking into the bytes of a value, without decoding where it can be helped.

use std::cmp::Ordering;

use memchr::memmem::Finder;
use stonecrop_keys::{Date, Uuid};

use super::Value;
use super::compare::{compare, exact, float_order};
use super::encode::{
    BYTES, BYTES_SET, DATE, FALSE, FLOAT, INT, LIST, MAP, NULL, NUMBER_SET, Problem, STRING,
    STRING_SET, TIMESTAMP, TRUE, UUID, read, read_varint, skip, take_array, take_block, take_byte,
    unzigzag, write_number,
};
use crate::clock::Timestamp;
use crate::path::Step;

/// The bytes of the value that the steps lead to; none where they lead nowhere.
pub(crate) fn walk<'b>(mut bytes: &'b [u8], steps: &[Step]) -> Result<Option<&'b [u8]>, Problem> {
    for step in steps {
        let found = match (take_byte(&mut bytes)?, step) {
            (LIST, Step::Index(index)) => element(take_block(&mut bytes)?, *index)?,
            (MAP, Step::Field(name)) => field(take_block(&mut bytes)?, name)?,
            _ => None,
        };
        let Some(found) = found else { return Ok(None) };
        bytes = found;
    }
    Ok(Some(bytes))
}

fn element(mut block: &[u8], index: usize) -> Result<Option<&[u8]>, Problem> {
    // An element has a byte or more.
    if index >= block.len() {
        return Ok(None);
    }
    for _ in 0..index {
        if block.is_empty() {
            return Ok(None);
        }
        skip(&mut block)?;
    }
    if block.is_empty() { Ok(None) } else { skip(&mut block).map(Some) }
}

fn field<'b>(mut block: &'b [u8], name: &str) -> Result<Option<&'b [u8]>, Problem> {
    while !block.is_empty() {
        let order = take_block(&mut block)?.cmp(name.as_bytes());
        let value = skip(&mut block)?;
        match order {
            Ordering::Less => {}
            Ordering::Equal => return Ok(Some(value)),
            // They are in the order of their names.
            Ordering::Greater => break,
        }
    }
    Ok(None)
}

pub(crate) fn is_null(bytes: &[u8]) -> bool {
    bytes.first() == Some(&NULL)
}

/// The order of stored bytes and a value; none where they can't be compared.
#[inline]
pub(crate) fn compare_encoded(bytes: &[u8], value: &Value) -> Result<Option<Ordering>, Problem> {
    let mut rest = bytes;
    Ok(Some(match (take_byte(&mut rest)?, value) {
        (STRING, Value::String(value)) => take_block(&mut rest)?.cmp(value.as_bytes()),
        (INT, Value::Int(value)) => unzigzag(read_varint(&mut rest)?).cmp(value),
        (FLOAT, Value::Float(value)) => {
            float_order(f64::from_bits(u64::from_be_bytes(take_array(&mut rest)?)), *value)
        }
        (FALSE, Value::Bool(value)) => false.cmp(value),
        (TRUE, Value::Bool(value)) => true.cmp(value),
        (BYTES, Value::Bytes(value)) => take_block(&mut rest)?.cmp(value),
        (TIMESTAMP, Value::Timestamp(value)) => {
            Timestamp::from_micros(i64::from_be_bytes(take_array(&mut rest)?)).cmp(value)
        }
        (DATE, Value::Date(value)) => Date(i32::from_be_bytes(take_array(&mut rest)?)).cmp(value),
        (UUID, Value::Uuid(value)) => Uuid(take_array(&mut rest)?).cmp(value),
        // Kinds that don't compare; the others of them are rare enough to be decoded.
        (STRING, Value::Int(_) | Value::Float(_) | Value::Null) => return Ok(None),
        (INT | FLOAT | NULL, Value::String(_)) => return Ok(None),
        _ => return Ok(compare(&read(bytes)?, value)),
    }))
}

/// Whether a stored text or bytes begin with others of their kind.
pub(crate) fn begins_with(mut bytes: &[u8], start: &Value) -> Result<bool, Problem> {
    Ok(match (take_byte(&mut bytes)?, start) {
        (STRING, Value::String(start)) => take_block(&mut bytes)?.starts_with(start.as_bytes()),
        (BYTES, Value::Bytes(start)) => take_block(&mut bytes)?.starts_with(start),
        _ => false,
    })
}

/// What is looked for in texts, bytes, lists and sets.
#[derive(Debug)]
pub(crate) struct Needle {
    value: Value,
    /// For a part of a text or of bytes; and what an element of a set of them has to be.
    part: Option<Finder<'static>>,
    /// A number as it is in a set, where a set can hold it.
    number: Option<Vec<u8>>,
}

impl Needle {
    pub(crate) fn new(value: Value) -> Self {
        let part = match &value {
            Value::String(text) => Some(Finder::new(text.as_bytes()).into_owned()),
            Value::Bytes(bytes) => Some(Finder::new(bytes).into_owned()),
            _ => None,
        };
        let number = || {
            let exact = exact(&value)?.normalized().to_scientific_notation();
            let mut bytes = Vec::new();
            write_number(&exact.parse().ok()?, &mut bytes).ok()?;
            Some(bytes)
        };
        Needle { number: number(), part, value }
    }

    /// Whether a stored text or bytes have it in them, or a stored list or set among its elements.
    pub(crate) fn is_in(&self, mut bytes: &[u8]) -> Result<bool, Problem> {
        let tag = take_byte(&mut bytes)?;
        match (tag, &self.value, &self.part, &self.number) {
            (STRING, Value::String(_), Some(part), _) | (BYTES, Value::Bytes(_), Some(part), _) => {
                Ok(part.find(take_block(&mut bytes)?).is_some())
            }
            (LIST, value, ..) => any(take_block(&mut bytes)?, |block| {
                Ok(compare_encoded(skip(block)?, value)? == Some(Ordering::Equal))
            }),
            (STRING_SET, Value::String(_), Some(whole), _)
            | (BYTES_SET, Value::Bytes(_), Some(whole), _) => {
                any(take_block(&mut bytes)?, |block| Ok(take_block(block)? == whole.needle()))
            }
            // Every number has one form.
            (NUMBER_SET, _, _, Some(number)) => any(take_block(&mut bytes)?, |block| {
                let start = *block;
                take_block(block)?;
                Ok(start.strip_prefix(&**number).is_some_and(|rest| rest.len() == block.len()))
            }),
            _ => Ok(false),
        }
    }
}

/// Whether any of the elements of a block, which `test` takes off its front, passes.
fn any(
    mut block: &[u8],
    mut test: impl FnMut(&mut &[u8]) -> Result<bool, Problem>,
) -> Result<bool, Problem> {
    while !block.is_empty() {
        if test(&mut block)? {
            return Ok(true);
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::encode::{tests::value, write};
    use proptest::prelude::*;

    fn encoded(value: &Value) -> Vec<u8> {
        let mut bytes = Vec::new();
        write(value, &mut bytes).unwrap();
        bytes
    }

    /// Goes to every value inside of one, and to places next to them where nothing is.
    fn check(root: &[u8], value: &Value, steps: &mut Vec<Step>) {
        assert_eq!(walk(root, steps), Ok(Some(encoded(value).as_slice())));
        let mut inner: Vec<(Step, Option<&Value>)> =
            vec![(Step::Field("no such name".to_owned()), None)];
        match value {
            Value::List(list) => {
                inner.extend((0..).map(Step::Index).zip(list.iter().map(Some).chain([None])));
                for element in list {
                    assert_eq!(Needle::new(element.clone()).is_in(&encoded(value)), Ok(true));
                }
            }
            Value::Map(map) => {
                inner.extend(
                    map.iter().map(|(name, value)| (Step::Field(name.clone()), Some(value))),
                );
            }
            _ => inner.push((Step::Index(0), None)),
        }
        for (step, value) in inner {
            steps.push(step);
            match value {
                Some(value) => check(root, value, steps),
                None => assert_eq!(walk(root, steps), Ok(None)),
            }
            steps.pop();
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn steps_lead_to_the_bytes_of_every_value_inside(value in value()) {
            check(&encoded(&value), &value, &mut Vec::new());
        }
    }

    #[test]
    fn the_smallest_elements_are_found() {
        check(
            &encoded(&Value::List(vec![Value::Null])),
            &Value::List(vec![Value::Null]),
            &mut vec![],
        );
        let set = Value::NumberSet([1, 12, 123].map(stonecrop_keys::Decimal::from).into());
        for (number, found) in [
            (Value::Int(12), true),
            (Value::Float(123.0), true),
            (Value::Float(0.1), false),
            (Value::Float(f64::NAN), false),
            (Value::Int(2), false),
        ] {
            assert_eq!(Needle::new(number).is_in(&encoded(&set)), Ok(found));
        }
    }
}
