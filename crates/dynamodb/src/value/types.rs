//! The ten types by their names.

use std::fmt;

use stonecrop::Value;

use super::Seen;

/// One of the types of the service.
///
/// ```
/// use stonecrop::Value;
/// use stonecrop_dynamodb::value::AttributeType;
/// assert_eq!(AttributeType::of(&Value::from(1.5)).code(), "N");
/// assert_eq!(AttributeType::from_code("SS"), Some(AttributeType::StringSet));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum AttributeType {
    /// `S`
    String,
    /// `SS`
    StringSet,
    /// `N`
    Number,
    /// `NS`
    NumberSet,
    /// `B`
    Binary,
    /// `BS`
    BinarySet,
    /// `BOOL`
    Bool,
    /// `NULL`
    Null,
    /// `L`
    List,
    /// `M`
    Map,
}

impl AttributeType {
    /// All of them, in the order in which messages list them.
    ///
    /// ```
    /// assert_eq!(stonecrop_dynamodb::value::AttributeType::ALL.len(), 10);
    /// ```
    pub const ALL: [AttributeType; 10] = [
        AttributeType::String,
        AttributeType::StringSet,
        AttributeType::Number,
        AttributeType::NumberSet,
        AttributeType::Binary,
        AttributeType::BinarySet,
        AttributeType::Bool,
        AttributeType::Null,
        AttributeType::List,
        AttributeType::Map,
    ];

    /// The type that a value is told as.
    ///
    /// ```
    /// use stonecrop_dynamodb::value::AttributeType;
    /// assert_eq!(AttributeType::of(&"a".into()), AttributeType::String);
    /// ```
    pub fn of(value: &Value) -> Self {
        match Seen::of(value) {
            Seen::Text(_) => AttributeType::String,
            Seen::Number(_) => AttributeType::Number,
            Seen::Bytes(_) => AttributeType::Binary,
            Seen::Bool(_) => AttributeType::Bool,
            Seen::Null => AttributeType::Null,
            Seen::List(_) => AttributeType::List,
            Seen::Map(_) => AttributeType::Map,
            Seen::StringSet(_) => AttributeType::StringSet,
            Seen::NumberSet(_) => AttributeType::NumberSet,
            Seen::BytesSet(_) => AttributeType::BinarySet,
        }
    }

    /// Its name in JSON.
    ///
    /// ```
    /// assert_eq!(stonecrop_dynamodb::value::AttributeType::Bool.code(), "BOOL");
    /// ```
    pub fn code(self) -> &'static str {
        match self {
            AttributeType::String => "S",
            AttributeType::StringSet => "SS",
            AttributeType::Number => "N",
            AttributeType::NumberSet => "NS",
            AttributeType::Binary => "B",
            AttributeType::BinarySet => "BS",
            AttributeType::Bool => "BOOL",
            AttributeType::Null => "NULL",
            AttributeType::List => "L",
            AttributeType::Map => "M",
        }
    }

    /// The type of a name in JSON.
    ///
    /// ```
    /// use stonecrop_dynamodb::value::AttributeType;
    /// assert_eq!(AttributeType::from_code("M"), Some(AttributeType::Map));
    /// assert_eq!(AttributeType::from_code("m"), None);
    /// ```
    pub fn from_code(code: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|of| of.code() == code)
    }

    /// Its name in messages about `ADD` and `DELETE`.
    pub(crate) fn long_name(self) -> &'static str {
        match self {
            AttributeType::String => "STRING",
            AttributeType::StringSet => "STRING_SET",
            AttributeType::Number => "NUMBER",
            AttributeType::NumberSet => "NUMBER_SET",
            AttributeType::Binary => "BINARY",
            AttributeType::BinarySet => "BINARY_SET",
            AttributeType::Bool => "BOOLEAN",
            AttributeType::Null => "NULL",
            AttributeType::List => "LIST",
            AttributeType::Map => "MAP",
        }
    }

    /// Whether values of the type have an order: only these can be keys and bounds.
    ///
    /// ```
    /// use stonecrop_dynamodb::value::AttributeType;
    /// assert!(AttributeType::Number.is_ordered() && !AttributeType::Bool.is_ordered());
    /// ```
    pub fn is_ordered(self) -> bool {
        matches!(self, AttributeType::String | AttributeType::Number | AttributeType::Binary)
    }

    pub(crate) fn is_set(self) -> bool {
        matches!(
            self,
            AttributeType::StringSet | AttributeType::NumberSet | AttributeType::BinarySet
        )
    }
}

impl fmt::Display for AttributeType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}
