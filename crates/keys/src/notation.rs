//! The one-line notation of schemas: `tenant string, at timestamp desc, score f64 nulls last`.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, Result};
use crate::schema::{Direction, ELEMENT, Field, MAX_DEPTH, Nulls, Schema, Type};
use crate::types::collated::{Collation, Strength};
use crate::types::geo::Curve;
use crate::types::time::TimeUnit;

/// The types that are a name alone.
const PLAIN: [(&str, Type); 22] = [
    ("bool", Type::Bool),
    ("u8", Type::U8),
    ("u16", Type::U16),
    ("u32", Type::U32),
    ("u64", Type::U64),
    ("u128", Type::U128),
    ("i8", Type::I8),
    ("i16", Type::I16),
    ("i32", Type::I32),
    ("i64", Type::I64),
    ("i128", Type::I128),
    ("varuint", Type::Varuint),
    ("varint", Type::Varint),
    ("f32", Type::F32),
    ("f64", Type::F64),
    ("f32_exact", Type::F32Exact),
    ("f64_exact", Type::F64Exact),
    ("decimal", Type::Decimal),
    ("string", Type::String),
    ("uuid", Type::Uuid),
    ("uuid_v1", Type::UuidV1),
    ("date", Type::Date),
];

const UNITS: [(&str, TimeUnit); 3] =
    [("ms", TimeUnit::Milliseconds), ("us", TimeUnit::Microseconds), ("ns", TimeUnit::Nanoseconds)];

const CURVES: [(&str, Curve); 2] = [("morton", Curve::Morton), ("hilbert", Curve::Hilbert)];

impl FromStr for Schema {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let mut parser = Parser { text, position: 0, depth: 0 };
        let fields = parser.fields()?;
        match parser.peek() {
            None => Schema::new(fields),
            Some(_) => Err(parser.expected("a comma or the end of the schema")),
        }
    }
}

struct Parser<'t> {
    text: &'t str,
    position: usize,
    depth: usize,
}

impl<'t> Parser<'t> {
    fn rest(&self) -> &'t str {
        self.text.get(self.position..).unwrap_or_default()
    }

    /// The next character that is not white space.
    fn peek(&mut self) -> Option<char> {
        let rest = self.rest();
        self.position += rest.len() - rest.trim_start().len();
        self.rest().chars().next()
    }

    fn take(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        if found {
            self.position += wanted.len_utf8();
        }
        found
    }

    /// The next word, which stays where it is.
    fn peek_word(&mut self) -> &'t str {
        self.peek();
        let rest = self.rest();
        let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        rest.get(..end).unwrap_or_default()
    }

    fn word(&mut self) -> &'t str {
        let word = self.peek_word();
        self.position += word.len();
        word
    }

    /// Takes the word if it is this one, in any case.
    fn take_word(&mut self, wanted: &str) -> bool {
        let word = self.peek_word();
        let found = word.eq_ignore_ascii_case(wanted);
        if found {
            self.position += word.len();
        }
        found
    }

    fn expected(&mut self, what: &str) -> Error {
        let found = match self.peek_word() {
            "" => match self.rest().chars().next() {
                Some(other) => format!("{:?}", other.to_string()),
                None => "the end".to_owned(),
            },
            word => format!("{word:?}"),
        };
        Error::schema(format!("expected {what}, found {found}")).at(self.position)
    }

    fn fields(&mut self) -> Result<Vec<Field>> {
        let mut fields = vec![self.field()?];
        while self.take(',') {
            fields.push(self.field()?);
        }
        Ok(fields)
    }

    fn field(&mut self) -> Result<Field> {
        let name = self.name()?;
        self.typed(name.as_str()).map_err(|error| match error.field() {
            Some(_) => error.in_field(&name),
            None => error,
        })
    }

    fn name(&mut self) -> Result<String> {
        if self.peek() != Some('"') {
            return match self.word() {
                "" => Err(self.expected("the name of a field")),
                word => Ok(word.to_owned()),
            };
        }
        let start = self.position;
        let mut name = String::new();
        let mut characters = self.rest().char_indices().skip(1);
        while let Some((at, character)) = characters.next() {
            match character {
                '"' => {
                    self.position += at + 1;
                    return Ok(name);
                }
                '\\' => match characters.next() {
                    Some((_, escaped @ ('"' | '\\'))) => name.push(escaped),
                    _ => break,
                },
                other => name.push(other),
            }
        }
        let message = "this name has no closing quote, or a \\ before another letter than \" or \\";
        Err(Error::schema(message).at(start))
    }

    /// A type, its direction, and the place of its nulls.
    fn typed(&mut self, name: impl Into<String>) -> Result<Field> {
        let ty = self.field_type()?;
        let direction = if self.take_word("desc") {
            Direction::Desc
        } else {
            self.take_word("asc");
            Direction::Asc
        };
        let nulls = if self.take_word("nulls") {
            if self.take_word("first") {
                Nulls::First
            } else if self.take_word("last") {
                Nulls::Last
            } else {
                return Err(self.expected("\"first\" or \"last\" after \"nulls\""));
            }
        } else if self.take_word("not") {
            if !self.take_word("null") {
                return Err(self.expected("\"null\" after \"not\""));
            }
            Nulls::NotAllowed
        } else {
            Nulls::NotAllowed
        };
        if !matches!(self.peek(), None | Some(',' | ')')) {
            return Err(self.expected(
                "asc, desc, \"nulls first\", \"nulls last\", \"not null\", a comma or the end",
            ));
        }
        Ok(Field::new(name, ty).ordered(direction, nulls))
    }

    fn field_type(&mut self) -> Result<Type> {
        self.peek();
        let start = self.position;
        let word = self.word().to_ascii_lowercase();
        if let Some((_, ty)) = PLAIN.iter().find(|(name, _)| *name == word) {
            return Ok(ty.clone());
        }
        Ok(match word.as_str() {
            "bytes" => match self.argument(Self::length)? {
                Some(length) => Type::FixedBytes(length),
                None => Type::Bytes,
            },
            "timestamp" => Type::Timestamp(
                self.argument(|parser| parser.one_of("ms, us or ns", &UNITS))?
                    .unwrap_or(TimeUnit::Milliseconds),
            ),
            "geo2" => Type::Geo2(self.curve()?),
            "geo3" => Type::Geo3(self.curve()?),
            "collated" => match self.argument(Self::collation)? {
                Some(collation) => Type::Collated(collation),
                None => return Err(self.expected("a locale in parentheses, as in collated(de)")),
            },
            "tuple" => match self.argument(|parser| parser.nested(Self::fields))? {
                Some(fields) => Type::Tuple(Schema::new(fields)?),
                None => return Err(self.expected("fields in parentheses, as in tuple(x u8)")),
            },
            "list" => {
                match self.argument(|parser| parser.nested(|parser| parser.typed(ELEMENT)))? {
                    Some(element) => Type::List(Box::new(element)),
                    None => return Err(self.expected("a type in parentheses, as in list(u8)")),
                }
            }
            "raw" => Type::Raw,
            _ => return Err(unknown_type(&word).at(start)),
        })
    }

    /// What stands in parentheses, if anything does.
    fn argument<T>(&mut self, parse: impl FnOnce(&mut Self) -> Result<T>) -> Result<Option<T>> {
        if !self.take('(') {
            return Ok(None);
        }
        let argument = parse(self)?;
        if self.take(')') { Ok(Some(argument)) } else { Err(self.expected("\")\"")) }
    }

    fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth >= MAX_DEPTH {
            let message = format!("tuples and lists can be nested {MAX_DEPTH} deep");
            return Err(Error::schema(message).at(self.position));
        }
        self.depth += 1;
        let parsed = parse(self);
        self.depth -= 1;
        parsed
    }

    fn length(&mut self) -> Result<u16> {
        let length = self.peek_word().parse().ok().filter(|n| (1..u16::MAX).contains(n));
        match length {
            Some(length) => {
                self.word();
                Ok(length)
            }
            None => Err(self.expected("a number of bytes from 1 to 65534")),
        }
    }

    fn curve(&mut self) -> Result<Curve> {
        let curve = self.argument(|parser| parser.one_of("morton or hilbert", &CURVES))?;
        Ok(curve.unwrap_or(Curve::Morton))
    }

    fn collation(&mut self) -> Result<Collation> {
        self.peek();
        let start = self.position;
        let locale = self.word();
        let strength = if self.take(',') {
            self.one_of("primary, secondary, tertiary or identical", &Strength::ALL)?
        } else {
            Strength::default()
        };
        Collation::new(locale, strength).map_err(|error| error.at(start))
    }

    fn one_of<T: Copy>(&mut self, names: &str, choices: &[(&str, T)]) -> Result<T> {
        let word = self.peek_word();
        match choices.iter().find(|(name, _)| word.eq_ignore_ascii_case(name)) {
            Some((_, choice)) => {
                self.word();
                Ok(*choice)
            }
            None => Err(self.expected(names)),
        }
    }
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '_' | '-' | '.' | '#')
}

fn unknown_type(word: &str) -> Error {
    // Not `join`: it adds up the 22 lengths, and LLVM 22 takes minutes to reason about the sum.
    let mut plain = String::new();
    for (name, _) in &PLAIN {
        plain.push_str(name);
        plain.push_str(", ");
    }
    let found = if word.is_empty() {
        "a type is missing".to_owned()
    } else {
        format!("{word:?} is not a type")
    };
    Error::schema(format!(
        "{found}; the types are {plain}bytes, bytes(n), timestamp, timestamp(us), timestamp(ns), \
         geo2, geo3, collated(locale), tuple(...), list(type) and raw"
    ))
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((name, _)) = PLAIN.iter().find(|(_, ty)| ty == self) {
            return f.write_str(name);
        }
        match self {
            Type::Bytes => f.write_str("bytes"),
            Type::FixedBytes(length) => write!(f, "bytes({length})"),
            Type::Timestamp(TimeUnit::Microseconds) => f.write_str("timestamp(us)"),
            Type::Timestamp(TimeUnit::Nanoseconds) => f.write_str("timestamp(ns)"),
            Type::Timestamp(_) => f.write_str("timestamp"),
            Type::Geo2(Curve::Hilbert) => f.write_str("geo2(hilbert)"),
            Type::Geo2(Curve::Morton) => f.write_str("geo2"),
            Type::Geo3(Curve::Hilbert) => f.write_str("geo3(hilbert)"),
            Type::Geo3(Curve::Morton) => f.write_str("geo3"),
            Type::Collated(collation) => write!(f, "collated({collation})"),
            Type::Tuple(schema) => write!(f, "tuple({schema})"),
            Type::List(element) => {
                f.write_str("list(")?;
                element.write_type(f)?;
                f.write_str(")")
            }
            Type::Raw => f.write_str("raw"),
            // The plain ones were found by name above.
            _ => Ok(()),
        }
    }
}

impl Field {
    fn write_type(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.field_type())?;
        if self.direction() == Direction::Desc {
            f.write_str(" desc")?;
        }
        f.write_str(match self.nulls() {
            Nulls::NotAllowed => "",
            Nulls::First => " nulls first",
            Nulls::Last => " nulls last",
        })
    }
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.name().chars().all(is_word) {
            f.write_str(self.name())?;
        } else {
            let escaped = self.name().replace('\\', "\\\\").replace('"', "\\\"");
            write!(f, "\"{escaped}\"")?;
        }
        f.write_str(" ")?;
        self.write_type(f)
    }
}

impl fmt::Display for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, field) in self.fields().iter().enumerate() {
            f.write_str(if index > 0 { ", " } else { "" })?;
            write!(f, "{field}")?;
        }
        Ok(())
    }
}
