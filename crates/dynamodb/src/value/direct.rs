//! Items straight from the bytes of a request.
//!
//! Most requests are as simple as can be: every value has one type, and nothing is wrong with it.
//! Of such the items are read without JSON in between, of which every value would have a map of
//! its own. All others are left to [`read_json`](super::read_json) and
//! [`decode_item`](super::decode_item), which say what is wrong in the service's words and in its
//! order.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value as Json};
use stonecrop::Value;

use super::decode::{MAX_NESTING, decode_typed};
use super::number::parse_number;
use super::{AttributeType, Item};

/// A write of a batch.
///
/// ```
/// use stonecrop_dynamodb::value::{ItemWrite, read_writes};
/// let request = br#"{"RequestItems": {"people": [{"DeleteRequest": {"Key": {"id": {"N": "1"}}}}]}}"#;
/// let (_, tables) = read_writes(request).unwrap();
/// assert!(matches!(tables["people"][0], ItemWrite::Delete(_)));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum ItemWrite {
    /// Of a whole item.
    Put(Item),
    /// Of the item with this key.
    Delete(Item),
}

/// What a transaction does to an item.
#[derive(Clone, Debug, PartialEq)]
pub struct ItemAction {
    /// One of [`KINDS`](Self::KINDS).
    pub kind: &'static str,
    /// All but the item.
    pub parameters: Map<String, Json>,
    /// The whole item of a put, and otherwise its key.
    pub item: Item,
}

impl ItemAction {
    /// What can be done to an item.
    pub const KINDS: [&'static str; 4] = ["ConditionCheck", "Put", "Update", "Delete"];

    /// The parameter that has the item, or its key, in an action of a kind.
    ///
    /// ```
    /// use stonecrop_dynamodb::value::ItemAction;
    /// assert_eq!(ItemAction::item_of("Put"), "Item");
    /// assert_eq!(ItemAction::item_of("Delete"), "Key");
    /// ```
    pub fn item_of(kind: &str) -> &'static str {
        if kind == "Put" { "Item" } else { "Key" }
    }
}

/// The parameters of a request, and apart from them the item that one of its names stands for. None
/// where anything is not as simple as that.
///
/// ```
/// use stonecrop_dynamodb::value::read_item;
/// let request = br#"{"TableName": "people", "Key": {"id": {"N": "1"}}}"#;
/// let (parameters, key) = read_item(request, "Key").unwrap();
/// assert_eq!(parameters["TableName"], "people");
/// assert!(key.contains_key("id"));
/// assert!(read_item(br#"{"Key": {"id": {"N": "one"}}}"#, "Key").is_none());
/// ```
pub fn read_item(request: &[u8], name: &str) -> Option<(Map<String, Json>, Item)> {
    read(request, Parameters { name, seed: Items { depth: 1 } })
}

/// The parameters of a BatchWriteItem, and apart from them what it writes, by table. None where
/// anything is not as simple as that.
///
/// ```
/// use stonecrop_dynamodb::value::read_writes;
/// let put = r#"{"PutRequest": {"Item": {"id": {"N": "1"}}}}"#;
/// let request = format!(r#"{{"RequestItems": {{"people": [{put}, {put}]}}}}"#);
/// let (_, tables) = read_writes(request.as_bytes()).unwrap();
/// assert_eq!(tables["people"].len(), 2);
/// assert!(read_writes(br#"{"RequestItems": {"people": [{}]}}"#).is_none());
/// ```
#[expect(clippy::type_complexity, reason = "it is told apart at once")]
pub fn read_writes(
    request: &[u8],
) -> Option<(Map<String, Json>, BTreeMap<String, Vec<ItemWrite>>)> {
    read(request, Parameters { name: "RequestItems", seed: Tables })
}

/// The parameters of a TransactWriteItems, and apart from them its actions. None where anything is
/// not as simple as that.
///
/// ```
/// use stonecrop_dynamodb::value::read_actions;
/// let put = r#"{"Put": {"TableName": "people", "Item": {"id": {"N": "1"}}}}"#;
/// let request = format!(r#"{{"TransactItems": [{put}]}}"#);
/// let (_, actions) = read_actions(request.as_bytes()).unwrap();
/// assert_eq!(actions[0].kind, "Put");
/// assert_eq!(actions[0].parameters["TableName"], "people");
/// assert!(read_actions(br#"{"TransactItems": [{}]}"#).is_none());
/// ```
pub fn read_actions(request: &[u8]) -> Option<(Map<String, Json>, Vec<ItemAction>)> {
    read(request, Parameters { name: "TransactItems", seed: PhantomData })
}

fn read<'de, S: DeserializeSeed<'de>>(request: &'de [u8], seed: S) -> Option<S::Value> {
    // All at once: text by text it took a seventh of the time.
    let mut json = serde_json::Deserializer::from_str(std::str::from_utf8(request).ok()?);
    let read = seed.deserialize(&mut json).ok()?;
    json.end().ok()?;
    Some(read)
}

/// Says no more than that it is left to others.
fn not_simple<E: Error>() -> E {
    E::custom("not simple")
}

/// Nothing more is in a map.
fn ended<'de, A: MapAccess<'de>>(map: &mut A) -> Result<(), A::Error> {
    match map.next_key::<Text<'de>>()? {
        None => Ok(()),
        Some(_) => Err(not_simple()),
    }
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

/// Parameters, of which one is read apart.
struct Parameters<'n, S> {
    name: &'n str,
    seed: S,
}

impl<'de, S: DeserializeSeed<'de> + Copy> DeserializeSeed<'de> for Parameters<'_, S> {
    type Value = (Map<String, Json>, S::Value);

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de, S: DeserializeSeed<'de> + Copy> Visitor<'de> for Parameters<'_, S> {
    type Value = (Map<String, Json>, S::Value);

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("parameters")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let (mut parameters, mut apart) = (Map::new(), None);
        while let Some(Text(name)) = map.next_key()? {
            let before = match name == self.name {
                true => apart.replace(map.next_value_seed(self.seed)?).is_some(),
                false => parameters.insert(name.into_owned(), map.next_value()?).is_some(),
            };
            if before {
                return Err(not_simple());
            }
        }
        Ok((parameters, apart.ok_or_else(not_simple)?))
    }
}

/// The writes of a batch, by table.
#[derive(Clone, Copy)]
struct Tables;

impl<'de> DeserializeSeed<'de> for Tables {
    type Value = BTreeMap<String, Vec<ItemWrite>>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Tables {
    type Value = BTreeMap<String, Vec<ItemWrite>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("writes by table")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut tables = BTreeMap::new();
        while let Some((table, writes)) = map.next_entry()? {
            if tables.insert(table, writes).is_some() {
                return Err(not_simple());
            }
        }
        Ok(tables)
    }
}

impl<'de> Deserialize<'de> for ItemWrite {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Kinds;

        impl<'de> Visitor<'de> for Kinds {
            type Value = ItemWrite;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a write of a batch")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ItemWrite, A::Error> {
                let Some(Text(kind)) = map.next_key()? else { return Err(not_simple()) };
                let mut item = |name| map.next_value_seed(Only { name });
                let write = match &*kind {
                    "PutRequest" => ItemWrite::Put(item("Item")?),
                    "DeleteRequest" => ItemWrite::Delete(item("Key")?),
                    _ => return Err(not_simple()),
                };
                ended(&mut map).map(|()| write)
            }
        }

        deserializer.deserialize_map(Kinds)
    }
}

impl<'de> Deserialize<'de> for ItemAction {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Kinds;

        impl<'de> Visitor<'de> for Kinds {
            type Value = ItemAction;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an action of a transaction")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ItemAction, A::Error> {
                let Some(Text(kind)) = map.next_key()? else { return Err(not_simple()) };
                let kind = ItemAction::KINDS.into_iter().find(|known| *known == kind);
                let kind = kind.ok_or_else(not_simple)?;
                let name = ItemAction::item_of(kind);
                let parameters = Parameters { name, seed: Items { depth: 1 } };
                let (parameters, item) = map.next_value_seed(parameters)?;
                ended(&mut map).map(|()| ItemAction { kind, parameters, item })
            }
        }

        deserializer.deserialize_map(Kinds)
    }
}

/// An item that is the only parameter.
struct Only {
    name: &'static str,
}

impl<'de> DeserializeSeed<'de> for Only {
    type Value = Item;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Item, D::Error> {
        let parameters = Parameters { name: self.name, seed: Items { depth: 1 } };
        match parameters.deserialize(deserializer)? {
            (others, item) if others.is_empty() => Ok(item),
            _ => Err(not_simple()),
        }
    }
}

/// An item, or a map in one, whose values are at a depth.
#[derive(Clone, Copy)]
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
        ended(&mut map).map(|()| value)
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
