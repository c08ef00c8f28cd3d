//! What a key is made of: fields with a name, a type, a direction, and a place for nulls.

use std::collections::HashSet;

use crate::error::{Error, Result};
use crate::tag;
use crate::types::collated::Collation;
use crate::types::geo::Curve;
use crate::types::time::TimeUnit;

/// Tuples and lists can be nested this deep, so that reading one takes a bounded stack.
pub(crate) const MAX_DEPTH: usize = 16;

/// The name of a list's element, which the notation does not write.
pub(crate) const ELEMENT: &str = "element";

/// Whether small values or large ones come first.
///
/// ```
/// use stonecrop_keys::{Direction, Schema};
/// let schema: Schema = "at date desc".parse()?;
/// assert_eq!(schema.fields()[0].direction(), Direction::Desc);
/// # Ok::<(), stonecrop_keys::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Direction {
    /// Small values first; the default.
    #[default]
    Asc,
    /// Large values first.
    Desc,
}

/// Where nulls sort, in either direction, if the field can be null at all.
///
/// ```
/// use stonecrop_keys::{Nulls, Schema};
/// let schema: Schema = "a i64, b i64 nulls first, c i64 desc nulls last".parse()?;
/// let nulls: Vec<_> = schema.fields().iter().map(|field| field.nulls()).collect();
/// assert_eq!(nulls, [Nulls::NotAllowed, Nulls::First, Nulls::Last]);
/// # Ok::<(), stonecrop_keys::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Nulls {
    /// The field is never null; the default.
    #[default]
    NotAllowed,
    /// Nulls before all values.
    First,
    /// Nulls after all values.
    Last,
}

impl Nulls {
    /// The byte that is null. Where null is not allowed the caller has refused it before.
    #[inline]
    pub(crate) fn byte(self) -> u8 {
        match self {
            Nulls::NotAllowed | Nulls::First => tag::NULL_FIRST,
            Nulls::Last => tag::NULL_LAST,
        }
    }
}

/// The type of a field. Its `Display` is the notation that [`Schema`] parses.
///
/// ```
/// use stonecrop_keys::{TimeUnit, Type};
/// assert_eq!(Type::FixedBytes(20).to_string(), "bytes(20)");
/// assert_eq!(Type::Timestamp(TimeUnit::Milliseconds).to_string(), "timestamp");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Type {
    /// `bool`
    Bool,
    /// `u8`
    U8,
    /// `u16`
    U16,
    /// `u32`
    U32,
    /// `u64`
    U64,
    /// `u128`
    U128,
    /// `i8`
    I8,
    /// `i16`
    I16,
    /// `i32`
    I32,
    /// `i64`
    I64,
    /// `i128`
    I128,
    /// `varuint`: an unsigned integer of up to 64 bits, shorter where it is small.
    Varuint,
    /// `varint`: a signed integer of up to 64 bits, shorter where it is near zero.
    Varint,
    /// `f32`, with one zero and one NaN.
    F32,
    /// `f64`, with one zero and one NaN.
    F64,
    /// `f32_exact`, bit by bit.
    F32Exact,
    /// `f64_exact`, bit by bit.
    F64Exact,
    /// `decimal`: 38 digits.
    Decimal,
    /// `string`: text in the order of its code points.
    String,
    /// `bytes`
    Bytes,
    /// `bytes(n)`: always n of them.
    FixedBytes(u16),
    /// `collated(locale)`: text in the order of a language, which can't be decoded.
    Collated(Collation),
    /// `uuid`, in the order of its bytes.
    Uuid,
    /// `uuid_v1`, in the order of its time.
    UuidV1,
    /// `timestamp`, `timestamp(us)`, `timestamp(ns)`
    Timestamp(TimeUnit),
    /// `date`
    Date,
    /// `geo2`, `geo2(hilbert)`: a place on the map.
    Geo2(Curve),
    /// `geo3`, `geo3(hilbert)`: a place on the map and its altitude.
    Geo3(Curve),
    /// `tuple(a string, b i64 desc)`: a key within the key.
    Tuple(Schema),
    /// `list(string)`: any number of values of one type; the field gives their order.
    List(Box<Field>),
    /// `raw`: bytes up to the end of the key; the last field, ascending.
    Raw,
}

impl Type {
    /// Whether a key gives the value back. Collated text does not: the key holds its sort key.
    ///
    /// ```
    /// use stonecrop_keys::{Schema, Type};
    /// assert!(Type::String.is_decodable());
    /// let schema: Schema = "name collated(de)".parse()?;
    /// assert!(!schema.fields()[0].field_type().is_decodable());
    /// # Ok::<(), stonecrop_keys::Error>(())
    /// ```
    pub fn is_decodable(&self) -> bool {
        match self {
            Type::Collated(_) => false,
            Type::Tuple(schema) => schema.is_decodable(),
            Type::List(element) => element.ty.is_decodable(),
            _ => true,
        }
    }

    /// The first and the last tag that an ascending field of this type can begin with.
    pub(crate) fn tags(&self) -> (u8, u8) {
        let tag = match self {
            Type::Bool => return (tag::FALSE, tag::TRUE),
            Type::Decimal => return (tag::DECIMAL_NEGATIVE, tag::DECIMAL_POSITIVE),
            Type::U8 => tag::U8,
            Type::U16 => tag::U16,
            Type::U32 => tag::U32,
            Type::U64 => tag::U64,
            Type::U128 => tag::U128,
            Type::I8 => tag::I8,
            Type::I16 => tag::I16,
            Type::I32 => tag::I32,
            Type::I64 => tag::I64,
            Type::I128 => tag::I128,
            Type::Varuint => tag::VARUINT,
            Type::Varint => tag::VARINT,
            Type::F32 => tag::F32,
            Type::F64 => tag::F64,
            Type::F32Exact => tag::F32_EXACT,
            Type::F64Exact => tag::F64_EXACT,
            Type::String => tag::STRING,
            Type::Bytes => tag::BYTES,
            Type::FixedBytes(_) => tag::FIXED_BYTES,
            Type::Collated(_) => tag::COLLATED,
            Type::Uuid => tag::UUID,
            Type::UuidV1 => tag::UUID_V1,
            Type::Timestamp(TimeUnit::Milliseconds) => tag::TIMESTAMP_MS,
            Type::Timestamp(TimeUnit::Microseconds) => tag::TIMESTAMP_US,
            Type::Timestamp(TimeUnit::Nanoseconds) => tag::TIMESTAMP_NS,
            Type::Date => tag::DATE,
            Type::Geo2(Curve::Morton) => tag::GEO2_MORTON,
            Type::Geo2(Curve::Hilbert) => tag::GEO2_HILBERT,
            Type::Geo3(Curve::Morton) => tag::GEO3_MORTON,
            Type::Geo3(Curve::Hilbert) => tag::GEO3_HILBERT,
            Type::Tuple(_) => tag::TUPLE,
            Type::List(_) => tag::LIST,
            Type::Raw => tag::RAW,
        };
        (tag, tag)
    }
}

/// One field of a [`Schema`].
///
/// ```
/// use stonecrop_keys::{Field, Type};
/// let field = Field::new("score", Type::F64).desc().nulls_last();
/// assert_eq!(field.to_string(), "score f64 desc nulls last");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    name: String,
    ty: Type,
    direction: Direction,
    nulls: Nulls,
}

impl Field {
    /// An ascending field that is not null.
    ///
    /// ```
    /// use stonecrop_keys::{Field, Type};
    /// assert_eq!(Field::new("id", Type::Uuid).to_string(), "id uuid");
    /// ```
    pub fn new(name: impl Into<String>, ty: Type) -> Self {
        Field { name: name.into(), ty, direction: Direction::Asc, nulls: Nulls::NotAllowed }
    }

    /// The same field, large values first.
    ///
    /// ```
    /// # use stonecrop_keys::{Field, Type};
    /// assert_eq!(Field::new("at", Type::Date).desc().to_string(), "at date desc");
    /// ```
    #[must_use]
    pub fn desc(self) -> Self {
        Field { direction: Direction::Desc, ..self }
    }

    /// The same field, nullable, nulls before all values.
    ///
    /// ```
    /// # use stonecrop_keys::{Field, Type};
    /// assert_eq!(Field::new("at", Type::Date).nulls_first().to_string(), "at date nulls first");
    /// ```
    #[must_use]
    pub fn nulls_first(self) -> Self {
        Field { nulls: Nulls::First, ..self }
    }

    /// The same field, nullable, nulls after all values.
    ///
    /// ```
    /// # use stonecrop_keys::{Field, Type};
    /// assert_eq!(Field::new("at", Type::Date).nulls_last().to_string(), "at date nulls last");
    /// ```
    #[must_use]
    pub fn nulls_last(self) -> Self {
        Field { nulls: Nulls::Last, ..self }
    }

    /// The same field with another direction and place for nulls.
    ///
    /// ```
    /// # use stonecrop_keys::{Direction, Field, Nulls, Type};
    /// let field = Field::new("at", Type::Date).ordered(Direction::Desc, Nulls::Last);
    /// assert_eq!(field.to_string(), "at date desc nulls last");
    /// ```
    #[must_use]
    pub fn ordered(self, direction: Direction, nulls: Nulls) -> Self {
        Field { direction, nulls, ..self }
    }

    /// The field's name.
    ///
    /// ```
    /// # use stonecrop_keys::{Field, Type};
    /// assert_eq!(Field::new("at", Type::Date).name(), "at");
    /// ```
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The field's type.
    ///
    /// ```
    /// # use stonecrop_keys::{Field, Type};
    /// assert_eq!(Field::new("at", Type::Date).field_type(), &Type::Date);
    /// ```
    pub fn field_type(&self) -> &Type {
        &self.ty
    }

    /// Whether small or large values come first.
    ///
    /// ```
    /// # use stonecrop_keys::{Direction, Field, Type};
    /// assert_eq!(Field::new("at", Type::Date).direction(), Direction::Asc);
    /// ```
    pub fn direction(&self) -> Direction {
        self.direction
    }

    /// Whether the field can be null, and where nulls sort.
    ///
    /// ```
    /// # use stonecrop_keys::{Field, Nulls, Type};
    /// assert_eq!(Field::new("at", Type::Date).nulls(), Nulls::NotAllowed);
    /// ```
    pub fn nulls(&self) -> Nulls {
        self.nulls
    }
}

/// The fields of a key, in order.
///
/// It is written in one line: `name type [asc | desc] [nulls first | nulls last | not null]`, with
/// commas between the fields.
///
/// ```
/// use stonecrop_keys::{Field, Schema, Type};
/// let schema: Schema = "tenant string, at timestamp desc, score f64 nulls last".parse()?;
/// assert_eq!(schema.fields()[0], Field::new("tenant", Type::String));
/// assert_eq!(schema.to_string().parse::<Schema>()?, schema);
/// # Ok::<(), stonecrop_keys::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schema {
    fields: Vec<Field>,
}

impl Schema {
    /// Takes one field or more, with different names; `raw` can only be the last one.
    ///
    /// ```
    /// use stonecrop_keys::{Field, Schema, Type};
    /// let error = Schema::new(vec![
    ///     Field::new("tail", Type::Raw),
    ///     Field::new("id", Type::U64),
    /// ]).unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "field tail: raw has no end of its own, so it can only be the last field",
    /// );
    /// ```
    pub fn new(fields: Vec<Field>) -> Result<Self> {
        check_fields(&fields, 0)?;
        Ok(Schema { fields })
    }

    /// The fields, in order.
    ///
    /// ```
    /// # use stonecrop_keys::Schema;
    /// let schema: Schema = "a u8, b u8".parse()?;
    /// assert_eq!(schema.fields().len(), 2);
    /// # Ok::<(), stonecrop_keys::Error>(())
    /// ```
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// Whether a key gives all its values back; see [`Type::is_decodable`].
    ///
    /// ```
    /// # use stonecrop_keys::Schema;
    /// assert!("a u8, b u8".parse::<Schema>()?.is_decodable());
    /// # Ok::<(), stonecrop_keys::Error>(())
    /// ```
    pub fn is_decodable(&self) -> bool {
        self.fields.iter().all(|field| field.ty.is_decodable())
    }
}

fn check_fields(fields: &[Field], depth: usize) -> Result<()> {
    if fields.is_empty() {
        return Err(Error::schema("a key has at least one field"));
    }
    let mut names = HashSet::new();
    for (index, field) in fields.iter().enumerate() {
        let last = depth == 0 && index + 1 == fields.len();
        let checked = match names.insert(field.name.as_str()) {
            true => check_field(field, last, depth),
            false => Err(Error::schema("another field has this name already")),
        };
        checked.map_err(|error| error.in_field(&field.name))?;
    }
    Ok(())
}

fn check_field(field: &Field, last: bool, depth: usize) -> Result<()> {
    if field.name.is_empty() {
        return Err(Error::schema("a field needs a name"));
    }
    if depth > MAX_DEPTH {
        return Err(Error::schema(format!(
            "tuples and lists can be nested {MAX_DEPTH} deep, and this is deeper"
        )));
    }
    match &field.ty {
        Type::Tuple(schema) => check_fields(&schema.fields, depth + 1),
        Type::List(element) => check_field(element, false, depth + 1),
        Type::FixedBytes(0 | u16::MAX) => Err(Error::schema("bytes(n) has 1 to 65534 bytes")),
        Type::Raw if !last => {
            Err(Error::schema("raw has no end of its own, so it can only be the last field"))
        }
        Type::Raw if field.direction == Direction::Desc => Err(Error::schema(
            "raw has no end of its own, so it can't be descending: a short value has to sort \
             after the longer ones that it begins",
        )),
        _ => Ok(()),
    }
}
