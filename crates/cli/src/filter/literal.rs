//! Values as they are written in a filter, and the types that stand before a text.

use stonecrop::Value;

/// The types that are written as a word and a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TypedText {
    Timestamp,
    Date,
    Uuid,
    Decimal,
    /// Base64, as in JSON.
    Bytes,
}

impl TypedText {
    fn tag(self) -> &'static str {
        match self {
            TypedText::Timestamp => "Timestamp",
            TypedText::Date => "Date",
            TypedText::Uuid => "Uuid",
            TypedText::Decimal => "Decimal",
            TypedText::Bytes => "Bytes",
        }
    }
}

/// The value of a type that a text stands for, by the rules of the JSON of values.
pub(crate) fn typed(of: TypedText, text: &str) -> Result<Value, String> {
    let json = serde_json::json!({ of.tag(): text });
    serde_json::from_value(json).map_err(|error| {
        let problem = error.to_string();
        let tag = format!("{}: ", of.tag());
        problem.strip_prefix(&tag).unwrap_or(&problem).to_owned()
    })
}

/// A number: whole if it has neither point nor exponent, decimal if it ends with `d`.
pub(crate) fn number(text: &str) -> Result<Value, String> {
    if let Some(decimal) = text.strip_suffix('d') {
        return typed(TypedText::Decimal, decimal);
    }
    if text.contains(['.', 'e', 'E']) {
        let value: f64 = text.parse().map_err(|_| format!("{text} is no number"))?;
        return match value.is_finite() {
            true => Ok(Value::Float(value)),
            false => Err(format!("{text} is too large for a float; {text}d is a decimal")),
        };
    }
    let whole = text.parse().map(Value::Int);
    whole.map_err(|_| format!("{text} does not fit in 64 bits; {text}d is a decimal"))
}
