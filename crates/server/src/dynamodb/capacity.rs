//! What requests would cost: told, and never charged.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json, json};
use stonecrop_dynamodb::value::{Item, encode_item, item_size};

use super::about::IndexAbout;
use super::change::{Change, Outcome};
use super::input::Input;
use super::known::Known;

/// The units that a table and its indexes have cost.
#[derive(Default)]
pub(super) struct Cost {
    pub(super) table: f64,
    indexes: BTreeMap<String, (bool, f64)>,
}

pub(super) fn read_units(size: usize, is_consistent: bool) -> f64 {
    let units = size.div_ceil(4096).max(1) as f64;
    if is_consistent { units } else { units / 2.0 }
}

fn write_units(size: usize) -> f64 {
    size.div_ceil(1024).max(1) as f64
}

impl Cost {
    pub(super) fn of_read(units: f64) -> Self {
        Cost { table: units, ..Cost::default() }
    }

    pub(super) fn of_index(index: &IndexAbout, units: f64) -> Self {
        let mut cost = Cost::default();
        cost.add_index(index, units);
        cost
    }

    pub(super) fn of_write(known: &Known, outcome: &Outcome) -> Self {
        let size = |item: &Option<Item>| item.as_ref().map_or(0, item_size);
        let larger = size(&outcome.old).max(size(&outcome.new));
        let mut cost = Cost::of_read(write_units(larger));
        for index in &known.about.indexes {
            let units = index_units(known, index, outcome);
            if units > 0.0 {
                cost.add_index(index, units);
            }
        }
        cost
    }

    fn add_index(&mut self, index: &IndexAbout, units: f64) {
        let entry = self.indexes.entry(index.name.clone()).or_insert((index.is_local, 0.0));
        entry.1 += units;
    }

    pub(super) fn add(&mut self, other: &Cost, times: f64) {
        self.table += other.table * times;
        for (name, (is_local, units)) in &other.indexes {
            let entry = self.indexes.entry(name.clone()).or_insert((*is_local, 0.0));
            entry.1 += units * times;
        }
    }

    /// As it is told, if it is asked for.
    pub(super) fn told(&self, table: &str, wish: Option<&str>) -> Option<Json> {
        let wish = wish.filter(|wish| *wish != "NONE")?;
        let total = self.table + self.indexes.values().map(|(_, units)| units).sum::<f64>();
        let mut told = Map::new();
        told.insert("TableName".to_owned(), table.into());
        told.insert("CapacityUnits".to_owned(), total.into());
        if wish == "INDEXES" {
            told.insert("Table".to_owned(), json!({"CapacityUnits": self.table}));
            for (name, of) in [("LocalSecondaryIndexes", true), ("GlobalSecondaryIndexes", false)] {
                let indexes: Map<String, Json> = self
                    .indexes
                    .iter()
                    .filter(|(_, (is_local, _))| *is_local == of)
                    .map(|(name, (_, units))| (name.clone(), json!({"CapacityUnits": units})))
                    .collect();
                if !indexes.is_empty() {
                    told.insert(name.to_owned(), indexes.into());
                }
            }
        }
        Some(told.into())
    }
}

/// What several tables have cost.
#[derive(Default)]
pub(super) struct Costs(BTreeMap<String, Cost>);

impl Costs {
    pub(super) fn add(&mut self, known: &Known, cost: &Cost, times: f64) {
        self.0.entry(known.table.name().to_owned()).or_default().add(cost, times);
    }

    /// Adds them to an answer, if they are asked for.
    pub(super) fn tell(&self, wish: Option<&str>, answer: &mut Map<String, Json>) {
        let told = self.0.iter().filter_map(|(table, cost)| cost.told(table, wish));
        let told: Vec<Json> = told.collect();
        if !told.is_empty() {
            answer.insert("ConsumedCapacity".to_owned(), told.into());
        }
    }
}

/// What a write costs in an index: an entry that moves is taken away and made again.
fn index_units(known: &Known, index: &IndexAbout, outcome: &Outcome) -> f64 {
    let shown = |item: &Option<Item>| {
        let item = item.as_ref().filter(|item| index.key().all(|name| item.contains_key(name)))?;
        Some(known.projected(index, item))
    };
    let units = |item: &Item| write_units(item_size(item));
    match (shown(&outcome.old), shown(&outcome.new)) {
        (None, None) => 0.0,
        (Some(one), None) | (None, Some(one)) => units(&one),
        (Some(old), Some(new)) if old == new => 0.0,
        (Some(old), Some(new)) => {
            let stays = index.key().all(|name| old.get(name) == new.get(name));
            if stays { units(&old).max(units(&new)) } else { units(&old) + units(&new) }
        }
    }
}

/// What a write has cost, if that is asked for.
pub(super) fn of_write(input: &Input, change: &Change, outcome: &Outcome) -> Option<Json> {
    let wish = input.text("ReturnConsumedCapacity")?;
    let known = &change.known;
    Cost::of_write(known, outcome).told(known.table.name(), Some(wish))
}

/// The collection of what was written, if that is asked for.
pub(super) fn metrics(input: &Input, change: &Change) -> Option<Json> {
    let is_asked = input.text("ReturnItemCollectionMetrics") == Some("SIZE");
    is_asked.then(|| collection(&change.known, &change.key_item())).flatten()
}

/// The size of a collection, which is estimated as next to nothing: nothing limits it here.
pub(super) fn collection(known: &Known, key: &Item) -> Option<Json> {
    if !known.about.indexes.iter().any(|index| index.is_local) {
        return None;
    }
    let partition = known.key.first()?;
    let value = key.get(&partition.name)?;
    let partition = Item::from([(partition.name.clone(), value.clone())]);
    Some(json!({
        "ItemCollectionKey": encode_item(&partition),
        "SizeEstimateRangeGB": [0.0, 1.0],
    }))
}
