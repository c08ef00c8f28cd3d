//! The parameters of a request, whose shapes were checked before.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json};
use stonecrop_dynamodb::value::{Item, ItemAction, ItemWrite, decode_item, encode_item};

use super::refusal::Result;

/// Parameters by name; null is as if not given.
#[derive(Clone, Debug, Default)]
pub(super) struct Input {
    fields: Map<String, Json>,
    /// The one that was read already, without JSON in between.
    read: Option<(&'static str, Read)>,
}

#[derive(Clone, Debug)]
enum Read {
    Item(Item),
    /// Of a batch, by table.
    Writes(BTreeMap<String, Vec<ItemWrite>>),
    /// Of a transaction.
    Actions(Vec<Input>),
    /// Parameters of their own.
    Inner(Box<Input>),
}

impl Input {
    pub(super) fn new(fields: Map<String, Json>) -> Self {
        Input { fields, read: None }
    }

    /// Beside an item that was read already.
    pub(super) fn with_item(fields: Map<String, Json>, name: &'static str, item: Item) -> Self {
        Input { fields, read: Some((name, Read::Item(item))) }
    }

    /// Beside writes that were read already.
    pub(super) fn with_writes(
        fields: Map<String, Json>,
        writes: BTreeMap<String, Vec<ItemWrite>>,
    ) -> Self {
        Input { fields, read: Some(("RequestItems", Read::Writes(writes))) }
    }

    /// Beside actions that were read already.
    pub(super) fn with_actions(fields: Map<String, Json>, actions: Vec<ItemAction>) -> Self {
        let input = |action: ItemAction| {
            let name = ItemAction::item_of(action.kind);
            let inner = Box::new(Input::with_item(action.parameters, name, action.item));
            Input { fields: Map::new(), read: Some((action.kind, Read::Inner(inner))) }
        };
        let actions = Read::Actions(actions.into_iter().map(input).collect());
        Input { fields, read: Some(("TransactItems", actions)) }
    }

    /// Of an object in a request; anything else has no parameters.
    pub(super) fn of(json: Json) -> Self {
        match json {
            Json::Object(fields) => Input::new(fields),
            _ => Input::default(),
        }
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.get(name).is_some() || self.read.as_ref().is_some_and(|(known, _)| *known == name)
    }

    pub(super) fn get(&self, name: &str) -> Option<&Json> {
        self.fields.get(name).filter(|json| !json.is_null())
    }

    pub(super) fn take(&mut self, name: &str) -> Option<Json> {
        self.fields.remove(name).filter(|json| !json.is_null())
    }

    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.get(name).and_then(Json::as_str)
    }

    pub(super) fn integer(&self, name: &str) -> Option<i64> {
        self.get(name).and_then(Json::as_i64)
    }

    /// True or false; false if not given.
    pub(super) fn flag(&self, name: &str) -> bool {
        self.get(name).and_then(Json::as_bool).unwrap_or_default()
    }

    pub(super) fn list(&self, name: &str) -> &[Json] {
        self.get(name).and_then(Json::as_array).map_or(&[], Vec::as_slice)
    }

    pub(super) fn take_list(&mut self, name: &str) -> Vec<Json> {
        match self.take(name) {
            Some(Json::Array(list)) => list,
            _ => Vec::new(),
        }
    }

    pub(super) fn take_inner(&mut self, name: &str) -> Option<Input> {
        match self.take_read(name) {
            Some(Read::Inner(inner)) => Some(*inner),
            _ => self.take(name).map(Input::of),
        }
    }

    fn take_read(&mut self, name: &str) -> Option<Read> {
        self.read.take_if(|(known, _)| *known == name).map(|(_, read)| read)
    }

    pub(super) fn take_writes(&mut self) -> Option<BTreeMap<String, Vec<ItemWrite>>> {
        match self.take_read("RequestItems") {
            Some(Read::Writes(writes)) => Some(writes),
            _ => None,
        }
    }

    pub(super) fn take_actions(&mut self) -> Vec<Input> {
        match self.take_read("TransactItems") {
            Some(Read::Actions(actions)) => actions,
            _ => self.take_list("TransactItems").into_iter().map(Input::of).collect(),
        }
    }

    /// Of an action: as JSON again, with the item that was read already.
    pub(super) fn to_json(&self) -> Json {
        let mut fields = self.fields.clone();
        if let Some((name, read)) = &self.read {
            let json = match read {
                Read::Item(item) => encode_item(item),
                Read::Inner(inner) => inner.to_json(),
                Read::Writes(_) | Read::Actions(_) => return fields.into(),
            };
            fields.insert((*name).to_owned(), json);
        }
        fields.into()
    }

    /// All but those that were read already.
    pub(super) fn fields(&self) -> &Map<String, Json> {
        &self.fields
    }

    pub(super) fn into_fields(self) -> Map<String, Json> {
        self.fields
    }

    pub(super) fn take_item(&mut self, name: &str) -> Result<Item> {
        if let Some(Read::Item(item)) = self.take_read(name) {
            return Ok(item);
        }
        Ok(match self.take(name) {
            Some(json) => decode_item(json)?,
            None => Item::new(),
        })
    }
}
