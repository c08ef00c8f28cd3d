//! Keys and indexes as a request declares them, with the service's rules for them.

use std::collections::BTreeSet;

use serde_json::Value as Json;
use stonecrop::Index;
use stonecrop::keys::{Field, Schema, Type};

use super::about::{IndexAbout, Projected, Units};
use super::faults::{Faults, at};
use super::input::Input;
use super::refusal::{Refusal, Result};
use super::shown::shown_key;

pub(super) const MOST_UNITS: i64 = 1_000_000_000_000;
const MOST_LOCAL: usize = 5;
const MOST_GLOBAL: usize = 20;
/// Of all indexes of a table together.
const MOST_INCLUDED: usize = 100;
/// Of a global index, for the partition and for the order.
const MOST_KEY_ATTRIBUTES: usize = 4;

/// The attributes of a key, each with its type.
pub(super) type Definitions = Vec<(String, String)>;

pub(super) fn definitions(input: &Input) -> Definitions {
    let text = |json: &Json, name: &str| json[name].as_str().unwrap_or_default().to_owned();
    let list = input.list("AttributeDefinitions").iter();
    list.map(|json| (text(json, "AttributeName"), text(json, "AttributeType"))).collect()
}

/// The rules for single members of what a request declares: keys, definitions, units and indexes.
/// `within` is the place of the input in the request.
pub(super) fn check_members(input: &Input, faults: &mut Faults, within: &str, most_keys: usize) {
    if input.has("KeySchema") {
        let list = input.list("KeySchema");
        let at = format!("{within}keySchema");
        faults.length(list.len(), &shown_key(list), &at, 1, most_keys);
    }
    for (number, json) in (1..).zip(input.list("KeySchema")) {
        let within = format!("{within}keySchema.{number}.member.");
        check_named(json, faults, &within, "KeyType", &["HASH", "RANGE"]);
    }
    for (number, json) in (1..).zip(input.list("AttributeDefinitions")) {
        let within = format!("{within}attributeDefinitions.{number}.member.");
        check_named(json, faults, &within, "AttributeType", &["B", "N", "S"]);
    }
    check_units(input, faults, within);
    for (name, most_keys) in [("LocalSecondaryIndexes", 2), ("GlobalSecondaryIndexes", 8)] {
        for (number, json) in (1..).zip(input.list(name)) {
            let within = format!("{within}{}.{number}.member.", at(name));
            check_index(&Input::of(json.clone()), faults, &within, most_keys);
        }
    }
}

/// An attribute's name, and a word about it.
fn check_named(json: &Json, faults: &mut Faults, within: &str, word: &str, words: &[&str]) {
    let input = Input::of(json.clone());
    faults.required_at(&input, "AttributeName", within);
    faults.text(input.text("AttributeName"), &format!("{within}attributeName"), 1, 255);
    faults.required_at(&input, word, within);
    faults.word(input.text(word), &format!("{within}{}", at(word)), words);
}

pub(super) fn check_units(input: &Input, faults: &mut Faults, within: &str) {
    let Some(units) = input.get("ProvisionedThroughput") else { return };
    let units = Input::of(units.clone());
    let within = format!("{within}provisionedThroughput.");
    for name in ["ReadCapacityUnits", "WriteCapacityUnits"] {
        faults.required_at(&units, name, &within);
        faults.at_least(units.integer(name), &format!("{within}{}", at(name)), 1);
    }
}

/// An index that is to be made.
pub(super) fn check_index(input: &Input, faults: &mut Faults, within: &str, most_keys: usize) {
    faults.index_name(input, within);
    faults.required_at(input, "KeySchema", within);
    faults.required_at(input, "Projection", within);
    check_members(input, faults, within, most_keys);
    let Some(projection) = input.get("Projection") else { return };
    let projection = Input::of(projection.clone());
    let within = format!("{within}projection.");
    let kinds = ["ALL", "INCLUDE", "KEYS_ONLY"];
    faults.word(projection.text("ProjectionType"), &format!("{within}projectionType"), &kinds);
    if projection.has("NonKeyAttributes") {
        let at = format!("{within}nonKeyAttributes");
        faults.list(projection.list("NonKeyAttributes"), &at, 1, usize::MAX);
    }
}

/// Units that are too many to be counted.
pub(super) fn check_bounds(input: &Input) -> Result<()> {
    let units = units(input);
    for (name, count) in [("ReadCapacityUnits", units.read), ("WriteCapacityUnits", units.write)] {
        if count > MOST_UNITS {
            let problem = format!("Given value {count} for {name} is out of bounds");
            return Err(Refusal::validation(problem));
        }
    }
    Ok(())
}

/// The names of a key schema: those of the partition, and those of the order.
pub(super) fn key_names(list: &[Json], most: usize) -> Result<(Vec<String>, Vec<String>)> {
    let invalid = |problem: &str| Refusal::validation(format!("Invalid KeySchema: {problem}"));
    let of = |json: &Json, kind: &str| json["KeyType"].as_str() == Some(kind);
    let names = |kind: &str| -> Vec<String> {
        let of_kind = list.iter().filter(|json| of(json, kind));
        of_kind.filter_map(|json| json["AttributeName"].as_str().map(str::to_owned)).collect()
    };
    let (partition, sort) = (names("HASH"), names("RANGE"));
    let all: BTreeSet<&String> = partition.iter().chain(&sort).collect();
    if all.len() < list.len() {
        return Err(Refusal::validation(
            "Both the Hash Key and the Range Key element in the KeySchema have the same name",
        ));
    }
    if list.first().is_some_and(|first| !of(first, "HASH")) {
        return Err(invalid("The first KeySchemaElement is not a HASH key type"));
    }
    if most == 1 && list.get(1).is_some_and(|second| !of(second, "RANGE")) {
        return Err(invalid("The second KeySchemaElement is not a RANGE key type"));
    }
    for (kind, names) in [("HASH", &partition), ("RANGE", &sort)] {
        if names.len() > most {
            return Err(Refusal::invalid(format!(
                "The KeySchema exceeds the maximum allowed number of {kind} key attributes"
            )));
        }
    }
    if list.iter().skip(partition.len()).any(|json| of(json, "HASH")) {
        return Err(Refusal::invalid(
            "All HASH key attributes must precede RANGE key attributes in the KeySchema",
        ));
    }
    Ok((partition, sort))
}

/// Indexes as a request declares them.
pub(super) fn indexes(
    input: &mut Input,
    key: &[String],
    defined: &Definitions,
) -> Result<Vec<IndexAbout>> {
    let mut indexes = Vec::new();
    for (name, is_local) in [("LocalSecondaryIndexes", true), ("GlobalSecondaryIndexes", false)] {
        if !input.has(name) {
            continue;
        }
        let list = input.take_list(name);
        if list.is_empty() {
            return Err(Refusal::invalid(format!("List of {name} is empty")));
        }
        if is_local && key.len() < 2 {
            return Err(Refusal::invalid(
                "Table KeySchema does not have a range key, which is required when specifying a \
                 LocalSecondaryIndex",
            ));
        }
        for json in list {
            indexes.push(index(Input::of(json), is_local, key, defined)?);
        }
    }
    check_together(&indexes)?;
    Ok(indexes)
}

/// The rules for all indexes of a table.
pub(super) fn check_together(indexes: &[IndexAbout]) -> Result<()> {
    let mut names = BTreeSet::new();
    if let Some(twice) = indexes.iter().find(|index| !names.insert(&index.name)) {
        return Err(Refusal::invalid(format!("Duplicate index name: {}", twice.name)));
    }
    let count = |local: bool| indexes.iter().filter(|index| index.is_local == local).count();
    if count(true) > MOST_LOCAL {
        return Err(Refusal::invalid(
            "Number of LocalSecondaryIndexes exceeds per-table limit of 5",
        ));
    }
    if count(false) > MOST_GLOBAL {
        return Err(Refusal::invalid(
            "GlobalSecondaryIndex count exceeds the per-table limit of 20",
        ));
    }
    let included = indexes.iter().map(|index| match &index.projection {
        Projected::Include(names) => names.len(),
        _ => 0,
    });
    if included.sum::<usize>() > MOST_INCLUDED {
        return Err(Refusal::invalid(
            "Attributes in all NonKeyAttributes lists exceed the limit of 100",
        ));
    }
    Ok(())
}

pub(super) fn index(
    mut input: Input,
    is_local: bool,
    key: &[String],
    defined: &Definitions,
) -> Result<IndexAbout> {
    let name = input.text("IndexName").unwrap_or_default().to_owned();
    let most = if is_local { 1 } else { MOST_KEY_ATTRIBUTES };
    check_defined(input.list("KeySchema"), defined)?;
    let (partition, sort) = key_names(input.list("KeySchema"), most)?;
    if is_local && sort.is_empty() {
        let problem = format!("Index KeySchema does not have a range key for index: {name}");
        return Err(Refusal::invalid(problem));
    }
    if let (true, Some(own), Some(of_table)) = (is_local, partition.first(), key.first())
        && own != of_table
    {
        return Err(Refusal::invalid(format!(
            "Index KeySchema does not have the same leading hash key as table KeySchema for index: \
             {name}. index hash key: {own}, table hash key: {of_table}"
        )));
    }
    let projection = projection(input.take_inner("Projection").unwrap_or_default())?;
    let units = units(&input);
    Ok(IndexAbout { name, is_local, partition, sort, projection, units })
}

fn projection(input: Input) -> Result<Projected> {
    let names: Vec<String> = input
        .list("NonKeyAttributes")
        .iter()
        .filter_map(|name| name.as_str().map(str::to_owned))
        .collect();
    let has_names = input.has("NonKeyAttributes");
    match input.text("ProjectionType") {
        Some(kind @ ("ALL" | "KEYS_ONLY")) if has_names => Err(Refusal::invalid(format!(
            "ProjectionType is {kind}, but NonKeyAttributes is specified"
        ))),
        Some("ALL") => Ok(Projected::All),
        Some("KEYS_ONLY") => Ok(Projected::Keys),
        Some("INCLUDE") if !has_names => Err(Refusal::invalid(
            "ProjectionType is INCLUDE, but NonKeyAttributes is not specified",
        )),
        Some("INCLUDE") => {
            let mut seen = BTreeSet::new();
            match names.iter().find(|name| !seen.insert(*name)) {
                None => Ok(Projected::Include(names)),
                Some(twice) => {
                    Err(Refusal::invalid(format!("Duplicate element in NonKeyAttributes: {twice}")))
                }
            }
        }
        other => {
            Err(Refusal::invalid(format!("Unknown ProjectionType: {}", other.unwrap_or("null"))))
        }
    }
}

pub(super) fn units(input: &Input) -> Units {
    let unit = |name: &str| {
        let units = input.get("ProvisionedThroughput");
        units.and_then(|units| units[name].as_i64()).unwrap_or_default()
    };
    Units { read: unit("ReadCapacityUnits"), write: unit("WriteCapacityUnits"), ..Units::default() }
}

/// Refuses the key of a table or an index that has an attribute without a type.
pub(super) fn check_defined(schema: &[Json], definitions: &Definitions) -> Result<()> {
    let names: Vec<&str> =
        schema.iter().filter_map(|json| json["AttributeName"].as_str()).collect();
    if names.iter().all(|name| definitions.iter().any(|(defined, _)| defined == name)) {
        return Ok(());
    }
    Err(Refusal::invalid(format!(
        "Some index key attributes are not defined in AttributeDefinitions. Keys: [{}], \
         AttributeDefinitions: [{}]",
        names.join(", "),
        joined(definitions.iter().map(|(name, _)| name)),
    )))
}

/// Refuses types without a key.
pub(super) fn check_used(
    definitions: &Definitions,
    key: &[String],
    indexes: &[IndexAbout],
) -> Result<()> {
    let used: BTreeSet<&String> =
        key.iter().chain(indexes.iter().flat_map(IndexAbout::key)).collect();
    if used.len() == definitions.len() {
        return Ok(());
    }
    Err(Refusal::invalid(format!(
        "Some AttributeDefinitions are not used. AttributeDefinitions: [{}], keys used: [{}]",
        joined(definitions.iter().map(|(name, _)| name)),
        joined(used.into_iter()),
    )))
}

fn joined<'n>(names: impl Iterator<Item = &'n String>) -> String {
    names.map(String::as_str).collect::<Vec<_>>().join(", ")
}

/// An index as the database has it.
pub(super) fn database_index(index: &IndexAbout, type_of: impl Fn(&str) -> Type) -> Result<Index> {
    let fields = index.key().map(|name| Field::new(name.clone(), type_of(name)));
    let schema = Schema::new(fields.collect())
        .map_err(|error| Refusal::invalid(format!("index {}: {error}", index.name)))?;
    Ok(Index::new(index.name.clone(), &schema.to_string())?)
}
