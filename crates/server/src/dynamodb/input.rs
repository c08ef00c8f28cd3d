//! The parameters of a request, whose shapes were checked before.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json};
use stonecrop_dynamodb::value::{Item, ItemWrite, decode_item};

use super::refusal::Result;

/// Parameters by name; null is as if not given.
#[derive(Clone, Debug, Default)]
pub(super) struct Input {
    fields: Map<String, Json>,
    /// The one that was read as an item already.
    item: Option<(&'static str, Item)>,
    /// The writes of a batch, if they were read already.
    writes: Option<BTreeMap<String, Vec<ItemWrite>>>,
}

impl Input {
    pub(super) fn new(fields: Map<String, Json>) -> Self {
        Input { fields, ..Input::default() }
    }

    /// Beside an item that was read already.
    pub(super) fn with_item(fields: Map<String, Json>, name: &'static str, item: Item) -> Self {
        Input { item: Some((name, item)), ..Input::new(fields) }
    }

    /// Beside writes that were read already.
    pub(super) fn with_writes(
        fields: Map<String, Json>,
        writes: BTreeMap<String, Vec<ItemWrite>>,
    ) -> Self {
        Input { writes: Some(writes), ..Input::new(fields) }
    }

    /// Of an object in a request; anything else has no parameters.
    pub(super) fn of(json: Json) -> Self {
        match json {
            Json::Object(fields) => Input::new(fields),
            _ => Input::default(),
        }
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.get(name).is_some() || self.item.as_ref().is_some_and(|(known, _)| *known == name)
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
        self.take(name).map(Input::of)
    }

    pub(super) fn take_writes(&mut self) -> Option<BTreeMap<String, Vec<ItemWrite>>> {
        self.writes.take()
    }

    /// All but those that were read already.
    pub(super) fn fields(&self) -> &Map<String, Json> {
        &self.fields
    }

    pub(super) fn into_fields(self) -> Map<String, Json> {
        self.fields
    }

    pub(super) fn take_item(&mut self, name: &str) -> Result<Item> {
        if let Some((_, item)) = self.item.take_if(|(known, _)| *known == name) {
            return Ok(item);
        }
        Ok(match self.take(name) {
            Some(json) => decode_item(json)?,
            None => Item::new(),
        })
    }
}
