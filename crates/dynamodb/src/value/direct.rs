//! Items straight from the bytes of a request.
//!
//! Most requests are as simple as can be: every value has one type, and nothing is wrong with it.
//! Of such the items are read without JSON in between, of which every value would have a map of
//! its own. All others are left to [`read_json`](super::read_json) and
//! [`decode_item`](super::decode_item), which say what is wrong in the service's words and in its
//! order.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value as Json};
use stonecrop::Value;

use super::decode::{MAX_NESTING, decode_typed};
use super::number::parse_number;
use super::{AttributeType, Item};

/// Parameters, and items by name.
type Request<'n> = (Map<String, Json>, Vec<(&'n str, Item)>);

/// The parameters of a request, and apart from them the items that some of its names stand for.
/// None where anything is not as simple as that.
///
/// ```
/// use stonecrop_dynamodb::value::read_items;
/// let request = br#"{"TableName": "people", "Key": {"id": {"N": "1"}}}"#;
/// let (parameters, items) = read_items(request, &["Key"]).unwrap();
/// assert_eq!(parameters["TableName"], "people");
/// assert!(items[0].1.contains_key("id"));
/// assert!(read_items(br#"{"Key": {"id": {"N": "one"}}}"#, &["Key"]).is_none());
/// ```
pub fn read_items<'n>(request: &[u8], names: &[&'n str]) -> Option<Request<'n>> {
    let mut json = serde_json::Deserializer::from_slice(request);
    let read = Parameters { names }.deserialize(&mut json).ok()?;
    json.end().ok()?;
    Some(read)
}

/// Says no more than that it is left to others.
fn not_simple<E: Error>() -> E {
    E::custom("not simple")
}

/// A text that need not be kept.
struct Text<'de>(Cow<'de, str>);

impl<'de> Deserialize<'de> for Text<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Texts;

        impl<'de> Visitor<'de> for Texts {
            type Value = Text<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }
        }

        deserializer.deserialize_str(Texts)
    }
}

struct Parameters<'a, 'n> {
    names: &'a [&'n str],
}

impl<'de, 'n> DeserializeSeed<'de> for Parameters<'_, 'n> {
    type Value = Request<'n>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de, 'n> Visitor<'de> for Parameters<'_, 'n> {
    type Value = Request<'n>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("parameters")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let (mut parameters, mut items) = (Map::new(), Vec::<(&'n str, Item)>::new());
        while let Some(Text(name)) = map.next_key()? {
            let before = match self.names.iter().find(|known| **known == name) {
                Some(known) if items.iter().any(|(name, _)| name == known) => true,
                Some(known) => {
                    items.push((known, map.next_value_seed(Items { depth: 1 })?));
                    false
                }
                None => parameters.insert(name.into_owned(), map.next_value()?).is_some(),
            };
            if before {
                return Err(not_simple());
            }
        }
        Ok((parameters, items))
    }
}

/// An item, or a map in one, whose values are at a depth.
struct Items {
    depth: usize,
}

impl<'de> DeserializeSeed<'de> for Items {
    type Value = Item;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Item, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Items {
    type Value = Item;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an item")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Item, A::Error> {
        let mut item = Item::new();
        while let Some(name) = map.next_key::<String>()? {
            let value = map.next_value_seed(Values { depth: self.depth })?;
            if item.insert(name, value).is_some() {
                return Err(not_simple());
            }
        }
        Ok(item)
    }
}

/// A value at a depth.
struct Values {
    depth: usize,
}

impl<'de> DeserializeSeed<'de> for Values {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        match self.depth > MAX_NESTING {
            true => Err(not_simple()),
            false => deserializer.deserialize_map(self),
        }
    }
}

impl<'de> Visitor<'de> for Values {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let code = map.next_key::<Text<'de>>()?;
        let of = code.and_then(|Text(code)| AttributeType::from_code(&code));
        let depth = self.depth + 1;
        let value = match of.ok_or_else(not_simple)? {
            AttributeType::String => Value::String(map.next_value()?),
            AttributeType::Number => {
                let Text(number) = map.next_value()?;
                Value::Decimal(parse_number(&number).map_err(|_| not_simple())?)
            }
            AttributeType::Bool => Value::Bool(map.next_value()?),
            AttributeType::Map => Value::Map(map.next_value_seed(Items { depth })?),
            AttributeType::List => Value::List(map.next_value_seed(Lists { depth })?),
            of => {
                let json: Json = map.next_value()?;
                decode_typed(of, json, self.depth).map_err(|_| not_simple())?
            }
        };
        match map.next_key::<Text<'de>>()? {
            None => Ok(value),
            Some(_) => Err(not_simple()),
        }
    }
}

/// Values in a list, at a depth.
struct Lists {
    depth: usize,
}

impl<'de> DeserializeSeed<'de> for Lists {
    type Value = Vec<Value>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Vec<Value>, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Lists {
    type Value = Vec<Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of values")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<Value>, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = list.next_element_seed(Values { depth: self.depth })? {
            values.push(value);
        }
        Ok(values)
    }
}
