//! Keys and indexes as a request declares them, with the service's rules for them.

use std::collections::BTreeSet;

use serde_json::Value as Json;
use stonecrop::Index;
use stonecrop::keys::{Field, Schema, Type};

use super::about::{IndexAbout, Projected, Units};
use super::faults::Faults;
use super::input::Input;
use super::refusal::{Refusal, Result};

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

/// The rules for single members of a key schema, definitions and units.
pub(super) fn check_members(input: &Input, faults: &mut Faults, at: &str) {
    for (number, json) in (1..).zip(input.list("KeySchema")) {
        let at = format!("{at}keySchema.{number}.member");
        faults.word(json["KeyType"].as_str(), &format!("{at}.keyType"), &["HASH", "RANGE"]);
        faults.text(json["AttributeName"].as_str(), &format!("{at}.attributeName"), 1, 255);
    }
    for (number, json) in (1..).zip(input.list("AttributeDefinitions")) {
        let at = format!("{at}attributeDefinitions.{number}.member");
        faults.word(
            json["AttributeType"].as_str(),
            &format!("{at}.attributeType"),
            &["B", "N", "S"],
        );
        faults.text(json["AttributeName"].as_str(), &format!("{at}.attributeName"), 1, 255);
    }
    if let Some(units) = input.get("ProvisionedThroughput") {
        for name in ["ReadCapacityUnits", "WriteCapacityUnits"] {
            let member = format!("{at}provisionedThroughput.{}", lower(name));
            faults.at_least(units[name].as_i64(), &member, 1);
        }
    }
}

fn lower(name: &str) -> String {
    let mut letters = name.chars();
    letters
        .next()
        .map(|c| format!("{}{}", c.to_ascii_lowercase(), letters.as_str()))
        .unwrap_or_default()
}

/// The names of a key schema: those of the partition, and those of the order.
pub(super) fn key_names(list: &[Json], most: usize) -> Result<(Vec<String>, Vec<String>)> {
    let invalid = |problem: &str| Refusal::validation(format!("Invalid KeySchema: {problem}"));
    let of = |json: &Json, kind: &str| json["KeyType"].as_str() == Some(kind);
    if list.first().is_some_and(|first| !of(first, "HASH")) {
        return Err(invalid("The first KeySchemaElement is not a HASH key type"));
    }
    if most == 1 && list.get(1).is_some_and(|second| !of(second, "RANGE")) {
        return Err(invalid("The second KeySchemaElement is not a RANGE key type"));
    }
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
pub(super) fn indexes(input: &mut Input, key: &[String]) -> Result<Vec<IndexAbout>> {
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
            indexes.push(index(Input::of(json), is_local, key)?);
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

pub(super) fn index(mut input: Input, is_local: bool, key: &[String]) -> Result<IndexAbout> {
    let mut faults = Faults::default();
    faults.required(&input, "IndexName");
    faults.text(input.text("IndexName"), "indexName", 3, 255);
    faults.required(&input, "KeySchema");
    faults.required(&input, "Projection");
    check_members(&input, &mut faults, "");
    faults.finish()?;
    let name = input.text("IndexName").unwrap_or_default().to_owned();
    let most = if is_local { 1 } else { MOST_KEY_ATTRIBUTES };
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

/// Refuses keys without a type, and types without a key.
pub(super) fn check_definitions(
    definitions: &Definitions,
    key: &[String],
    indexes: &[IndexAbout],
) -> Result<()> {
    let shown = |names: &mut dyn Iterator<Item = &String>| -> String {
        names.cloned().collect::<Vec<_>>().join(", ")
    };
    let defined: BTreeSet<&String> = definitions.iter().map(|(name, _)| name).collect();
    let all = || shown(&mut definitions.iter().map(|(name, _)| name));
    let undefined = |names: &[String]| names.iter().any(|name| !defined.contains(name));
    if defined.len() < definitions.len() && indexes.is_empty() {
        return Err(Refusal::invalid(
            "Number of attributes in KeySchema does not exactly match number of attributes defined \
             in AttributeDefinitions",
        ));
    }
    if undefined(key) {
        if definitions.len() < key.len() {
            return Err(Refusal::validation(
                "Invalid KeySchema: Some index key attribute have no definition",
            ));
        }
        return Err(Refusal::invalid(format!(
            "Some index key attributes are not defined in AttributeDefinitions. Keys: [{}], \
             AttributeDefinitions: [{}]",
            key.join(", "),
            all()
        )));
    }
    for index in indexes {
        let names: Vec<String> = index.key().cloned().collect();
        if undefined(&names) {
            return Err(Refusal::invalid(format!(
                "Some index key attributes are not defined in AttributeDefinitions. Keys: [{}], \
                 AttributeDefinitions: [{}]",
                names.join(", "),
                all()
            )));
        }
    }
    let used: BTreeSet<&String> =
        key.iter().chain(indexes.iter().flat_map(IndexAbout::key)).collect();
    if used.len() != definitions.len() {
        return Err(Refusal::invalid(match indexes.is_empty() {
            true => {
                "Number of attributes in KeySchema does not exactly match number of attributes \
                     defined in AttributeDefinitions"
                    .to_owned()
            }
            false => format!(
                "Some AttributeDefinitions are not used. AttributeDefinitions: [{}], keys used: \
                 [{}]",
                all(),
                shown(&mut used.into_iter())
            ),
        }));
    }
    Ok(())
}

/// An index as the database has it.
pub(super) fn database_index(index: &IndexAbout, type_of: impl Fn(&str) -> Type) -> Result<Index> {
    let fields = index.key().map(|name| Field::new(name.clone(), type_of(name)));
    let schema = Schema::new(fields.collect())
        .map_err(|error| Refusal::invalid(format!("index {}: {error}", index.name)))?;
    Ok(Index::new(index.name.clone(), &schema.to_string())?)
}
