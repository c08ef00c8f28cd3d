//! What every byte of a key is for.

use crate::decode::{KeyReader, read_field};
use crate::error::{Error, Result};
use crate::key::check_stored_length;
use crate::schema::{Direction, Field, Nulls, Schema, Type};
use crate::value::Value;

/// What a byte of a key is for.
///
/// ```
/// use stonecrop_keys::{Role, Schema};
/// let schema: Schema = "name string".parse()?;
/// let key = schema.encode(&["a\0".into()])?;
/// let roles: Vec<Role> = schema.explain(&key).parts.iter().map(|part| part.role).collect();
/// assert_eq!(roles, [Role::Tag, Role::Payload, Role::Escape, Role::Terminator]);
/// # Ok::<(), stonecrop_keys::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Role {
    /// Says the type, the sign of a decimal, true or false, or null.
    Tag,
    /// The value.
    Payload,
    /// A zero byte of text or bytes, as `00 FF`.
    Escape,
    /// The end of text, bytes, a tuple or a list.
    Terminator,
    /// Not understood: where decoding failed, up to the end of the key.
    Unread,
}

impl Role {
    /// The role in lower case.
    ///
    /// ```
    /// assert_eq!(stonecrop_keys::Role::Terminator.name(), "terminator");
    /// ```
    pub fn name(self) -> &'static str {
        match self {
            Role::Tag => "tag",
            Role::Payload => "payload",
            Role::Escape => "escape",
            Role::Terminator => "terminator",
            Role::Unread => "unread",
        }
    }
}

/// Neighbouring bytes of a key that belong to the same field and have the same role.
///
/// ```
/// use stonecrop_keys::Schema;
/// let schema: Schema = "at tuple(x u8, y u8)".parse()?;
/// let part = schema.explain(&[0x60, 0x10, 7, 0x10, 9, 0x01]).parts[4].clone();
/// assert_eq!((part.path.as_str(), part.start, part.end), ("at.y", 4, 5));
/// # Ok::<(), stonecrop_keys::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Part {
    /// Which field of the schema, counted from zero; `fields().len()` for bytes after the last.
    pub field: usize,
    /// The name of the field, with the names of nested ones after dots.
    pub path: String,
    /// What the bytes are for.
    pub role: Role,
    /// The offset of the first byte.
    pub start: usize,
    /// The offset after the last byte.
    pub end: usize,
}

/// A key taken apart: every byte is in exactly one part, in order.
///
/// ```
/// use stonecrop_keys::{Schema, Value};
/// let schema: Schema = "on bool, seq u16".parse()?;
/// let explanation = schema.explain(&[0x09, 0x11, 0x00]);
/// assert_eq!(explanation.values, [Value::Bool(true)]);
/// assert!(explanation.error.unwrap().to_string().contains("1 byte short"));
/// # Ok::<(), stonecrop_keys::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Explanation<'k> {
    /// The parts, from the first byte to the last.
    pub parts: Vec<Part>,
    /// The values of the fields that could be read.
    pub values: Vec<Value<'k>>,
    /// Why the key can't be read to its end, if so.
    pub error: Option<Error>,
}

impl Schema {
    /// Says of every byte of a key what it is for, as far as it can be read.
    ///
    /// ```
    /// use stonecrop_keys::{Role, Schema};
    /// let schema: Schema = "seq u16 desc".parse()?;
    /// let explanation = schema.explain(&[0xEE, 0xFF, 0xF8]);
    /// assert_eq!(explanation.values, [7.into()]);
    /// assert_eq!(explanation.parts[1].role, Role::Payload);
    /// # Ok::<(), stonecrop_keys::Error>(())
    /// ```
    pub fn explain<'k>(&self, key: &'k [u8]) -> Explanation<'k> {
        let mut explanation = Explanation { parts: Vec::new(), values: Vec::new(), error: None };
        if let Err(error) = self.explain_fields(key, &mut explanation) {
            let read = explanation.parts.last().map_or(0, |part| part.end);
            let field = explanation.values.len();
            let path = self.fields().get(field).map_or("", Field::name).to_owned();
            if read < key.len() {
                let role = Role::Unread;
                explanation.parts.push(Part { field, path, role, start: read, end: key.len() });
            }
            explanation.error = Some(error);
        }
        explanation
    }

    fn explain_fields<'k>(&self, key: &'k [u8], explanation: &mut Explanation<'k>) -> Result<()> {
        let last = || self.fields().last().map_or("", Field::name);
        check_stored_length(key).map_err(|error| error.in_field(last()))?;
        let mut reader = KeyReader::new(key);
        for (index, field) in self.fields().iter().enumerate() {
            let start = reader.offset();
            let value =
                read_field(field, &mut reader).map_err(|error| error.in_field(field.name()))?;
            let mut walk =
                Walk { key, field: index, at: start, mask: 0, parts: &mut explanation.parts };
            walk.field(field, field.name(), &value);
            explanation.values.push(value);
        }
        reader.finish().map_err(|error| error.in_field(last()))
    }
}

/// Goes over the bytes of a field that decoding has found to be right.
struct Walk<'w> {
    key: &'w [u8],
    field: usize,
    at: usize,
    mask: u8,
    parts: &'w mut Vec<Part>,
}

impl Walk<'_> {
    /// Assigns the bytes of `field`, which has this value.
    fn field(&mut self, field: &Field, path: &str, value: &Value<'_>) {
        let start = self.at;
        self.part(path, Role::Tag, 1);
        if value.is_null() && field.nulls() != Nulls::NotAllowed {
            return;
        }
        let outer = self.mask;
        if field.direction() == Direction::Desc {
            self.mask = !self.mask;
        }
        match (field.field_type(), value) {
            (Type::String | Type::Bytes | Type::Collated(_), _) => self.escaped(path),
            (Type::Tuple(schema), Value::Tuple(values)) => {
                for (inner, value) in schema.fields().iter().zip(values) {
                    self.field(inner, &format!("{path}.{}", inner.name()), value);
                }
                self.part(path, Role::Terminator, 1);
            }
            (Type::List(element), Value::Tuple(values)) => {
                for (index, value) in values.iter().enumerate() {
                    self.field(element, &format!("{path}.{index}"), value);
                }
                self.part(path, Role::Terminator, 1);
            }
            _ => {
                // Reading it once more tells where it ends.
                let mut reader = KeyReader::resume(self.key, start, outer);
                let end = read_field(field, &mut reader).map_or(self.at, |_| reader.offset());
                self.part(path, Role::Payload, end.saturating_sub(self.at));
            }
        }
        self.mask = outer;
    }

    /// Text and bytes: runs of payload and escapes up to the terminator.
    fn escaped(&mut self, path: &str) {
        loop {
            let rest = self.key.get(self.at..).unwrap_or_default();
            let plain = rest.iter().take_while(|byte| **byte != self.mask).count();
            self.part(path, Role::Payload, plain);
            let after = rest.get(plain + 1).map(|byte| byte ^ self.mask);
            if after != Some(0xFF) {
                return self.part(path, Role::Terminator, 2);
            }
            self.part(path, Role::Escape, 2);
        }
    }

    /// The next bytes have this role; bytes like the ones before join them.
    fn part(&mut self, path: &str, role: Role, length: usize) {
        let start = self.at;
        self.at += length;
        match self.parts.last_mut() {
            _ if length == 0 => {}
            Some(last) if last.role == role && last.path == path && last.field == self.field => {
                last.end = self.at;
            }
            _ => self.parts.push(Part {
                field: self.field,
                path: path.to_owned(),
                role,
                start,
                end: self.at,
            }),
        }
    }
}
