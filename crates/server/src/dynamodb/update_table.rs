//! UpdateTable: billing, protection, streams, and indexes that come and go.

use serde_json::{Value as Json, json};
use stonecrop::{Database, Index};

use super::about::{About, IndexAbout};
use super::create::{BILLING, CLASSES, check_index_units, units_on_demand};
use super::declare::{
    Definitions, MOST_UNITS, check_bounds, check_index, check_members, check_together, check_units,
    database_index, definitions, index, units,
};
use super::describe::{description, named};
use super::faults::{Faults, check_table, table_name};
use super::input::Input;
use super::known::{FAMILY, Known};
use super::refusal::{Refusal, Result};
use super::streams;
use crate::app::App;

/// Said of units for an index that are too many to be counted.
const BLOCKED: &str = "This operation cannot be performed with given input values. Please contact \
                       DynamoDB service team for more info: Action Blocked: IndexUpdate";

const CHANGES: [&str; 6] = [
    "ProvisionedThroughput",
    "BillingMode",
    "StreamSpecification",
    "GlobalSecondaryIndexUpdates",
    "DeletionProtectionEnabled",
    "TableClass",
];

pub(super) async fn update(app: &App, input: Input) -> Result<Json> {
    check_table(&input)?;
    let mut faults = Faults::default();
    faults.table_name(&input);
    faults.one_of(&input, "BillingMode", BILLING);
    faults.one_of(&input, "TableClass", CLASSES);
    check_members(&input, &mut faults, "", 2);
    check_index_changes(&input, &mut faults);
    faults.finish()?;
    let name = table_name(&input)?;
    let is_given = |name: &&&str| match **name {
        "GlobalSecondaryIndexUpdates" => !input.list(name).is_empty(),
        name => input.has(name),
    };
    let given = CHANGES.iter().filter(is_given).count();
    if given == 0 {
        return Err(Refusal::validation(
            "At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, \
             GlobalSecondaryIndexUpdates or SSESpecification or ReplicaUpdates is required",
        ));
    }
    if given > 1 && input.has("TableClass") {
        return Err(Refusal::invalid(
            "Table Class modification must be the only operation in the request",
        ));
    }
    if input.text("BillingMode") == Some("PROVISIONED") && !input.has("ProvisionedThroughput") {
        return Err(Refusal::invalid(
            "ProvisionedThroughput must be specified when BillingMode is PROVISIONED",
        ));
    }
    check_bounds(&input)?;
    let changes = index_changes(&input)?;
    app.known(&name).await.map_err(named(&name))?;
    let of_app = app.clone();
    let now = app.database.now().as_micros() as f64 / 1e6;
    let known = app.apart(move |database| apply(&of_app, database, &name, input, changes, now));
    Ok(json!({"TableDescription": description(&*known.await?, "ACTIVE")}))
}

/// The rules for single members of what is asked of indexes.
fn check_index_changes(input: &Input, faults: &mut Faults) {
    for (number, json) in (1..).zip(input.list("GlobalSecondaryIndexUpdates")) {
        let mut change = Input::of(json.clone());
        let within = format!("globalSecondaryIndexUpdates.{number}.member.");
        if let Some(create) = change.take_inner("Create") {
            check_index(&create, faults, &format!("{within}create."), 8);
        }
        if let Some(update) = change.take_inner("Update") {
            let within = format!("{within}update.");
            faults.index_name(&update, &within);
            faults.required_at(&update, "ProvisionedThroughput", &within);
            check_units(&update, faults, &within);
        }
        if let Some(delete) = change.take_inner("Delete") {
            faults.index_name(&delete, &format!("{within}delete."));
        }
    }
}

/// What is asked of one index.
enum IndexChange {
    Create(Input),
    Update(Input),
    Delete(String),
}

fn index_changes(input: &Input) -> Result<Vec<IndexChange>> {
    let mut changes = Vec::new();
    let mut names: Vec<String> = Vec::new();
    for json in input.list("GlobalSecondaryIndexUpdates") {
        let mut input = Input::of(json.clone());
        let given = ["Create", "Update", "Delete"].into_iter().filter(|kind| input.has(kind));
        match given.count() {
            1 => {}
            0 => {
                return Err(Refusal::invalid(
                    "One of GlobalSecondaryIndexUpdate.Update, GlobalSecondaryIndexUpdate.Create, \
                     GlobalSecondaryIndexUpdate.Delete must not be null",
                ));
            }
            _ => {
                return Err(Refusal::invalid(
                    "Only one global secondary index action is allowed per \
                     GlobalSecondaryIndexUpdate object",
                ));
            }
        }
        let change = if let Some(create) = input.take_inner("Create") {
            IndexChange::Create(create)
        } else if let Some(update) = input.take_inner("Update") {
            IndexChange::Update(update)
        } else {
            let delete = input.take_inner("Delete").unwrap_or_default();
            IndexChange::Delete(delete.text("IndexName").unwrap_or_default().to_owned())
        };
        let name = match &change {
            IndexChange::Create(input) | IndexChange::Update(input) => {
                input.text("IndexName").unwrap_or_default()
            }
            IndexChange::Delete(name) => name,
        };
        if names.iter().any(|known| known == name) {
            return Err(Refusal::invalid(format!(
                "Only one global secondary index update per index is allowed simultaneously. \
                 Index: {name}"
            )));
        }
        names.push(name.to_owned());
        changes.push(change);
    }
    let made = |change: &&IndexChange| !matches!(change, IndexChange::Update(_));
    if changes.iter().filter(made).count() > 1 {
        return Err(Refusal::new(
            "LimitExceededException",
            "Subscriber limit exceeded: Only 1 online index can be created or deleted \
             simultaneously per table",
        ));
    }
    Ok(changes)
}

fn apply(
    app: &App,
    database: &Database,
    name: &str,
    mut input: Input,
    changes: Vec<IndexChange>,
    now: f64,
) -> Result<std::sync::Arc<Known>> {
    let _altering = app.dynamodb.lock();
    let known = app.dynamodb.load(database, name)?;
    let mut about = known.about.clone();
    change_billing(&mut about, &input, now)?;
    if let Some(protected) = input.get("DeletionProtectionEnabled").and_then(Json::as_bool) {
        about.protected = protected;
    }
    if let Some(class) = input.text("TableClass") {
        about.class = Some(class.to_owned());
    }
    if let Some(specification) = input.take_inner("StreamSpecification") {
        streams::change(&known, &mut about, specification, now)?;
    }
    let mut made: Vec<(IndexAbout, Index)> = Vec::new();
    for change in changes {
        match change {
            IndexChange::Create(create) => {
                made.push(new_index(&known, &mut about, create, &input)?);
            }
            IndexChange::Update(update) => {
                let wanted = update.text("IndexName").unwrap_or_default();
                let asked = units(&update);
                if asked.read.max(asked.write) > MOST_UNITS {
                    return Err(Refusal::validation(BLOCKED));
                }
                let found = about.indexes.iter_mut().find(|index| index.name == wanted);
                found.ok_or_else(Refusal::no_table)?.units = asked;
            }
            IndexChange::Delete(gone) => {
                let before = about.indexes.len();
                about.indexes.retain(|index| index.name != gone || index.is_local);
                if about.indexes.len() == before {
                    return Err(Refusal::no_table());
                }
                // Before what is told of it is forgotten: it is told as long as it is there.
                known.table.drop_index(&gone)?;
                let key: Vec<String> = known.key.iter().map(|part| part.name.clone()).collect();
                let used: Vec<String> =
                    about.indexes.iter().flat_map(IndexAbout::key).chain(&key).cloned().collect();
                about.attributes.retain(|(name, _)| used.contains(name));
            }
        }
    }
    // Before indexes are made: of one that is not there, nothing is told.
    app.dynamodb.store(database, name, &about)?;
    for (about, index) in made {
        declare(&known, &about)?;
        known.table.create_index(index)?;
    }
    app.dynamodb.load(database, name)
}

/// Declares the attributes that an index is over, so that they are kept with the others.
fn declare(known: &Known, index: &IndexAbout) -> Result<()> {
    for column in known.undeclared(index.key().map(String::as_str)) {
        match known.table.add_columns(FAMILY, [column]) {
            // Rows have it as an undeclared one, which an index can be over as well.
            Ok(()) | Err(stonecrop::Error::Column { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

fn change_billing(about: &mut About, input: &Input, now: f64) -> Result<()> {
    match input.text("BillingMode") {
        Some("PAY_PER_REQUEST") => {
            if input.has("ProvisionedThroughput") {
                return Err(units_on_demand());
            }
            (about.on_demand, about.tells_billing) = (true, true);
            (about.units.read, about.units.write) = (0, 0);
            return Ok(());
        }
        Some(_) => about.tells_billing = true,
        None if about.on_demand && input.has("ProvisionedThroughput") => {
            return Err(units_on_demand());
        }
        None => {}
    }
    if !input.has("ProvisionedThroughput") {
        return Ok(());
    }
    let (old, new) = (about.units.clone(), units(input));
    if !about.on_demand && (old.read, old.write) == (new.read, new.write) {
        return Err(Refusal::validation(format!(
            "The provisioned throughput for the table will not change. The requested value equals \
             the current value. Current ReadCapacityUnits provisioned for the table: {read}. \
             Requested ReadCapacityUnits: {read}. Current WriteCapacityUnits provisioned for the \
             table: {write}. Requested WriteCapacityUnits: {write}. Refer to the Amazon DynamoDB \
             Developer Guide for current limits and how to request higher limits.",
            read = old.read,
            write = old.write
        )));
    }
    about.on_demand = false;
    (about.units.read, about.units.write) = (new.read, new.write);
    if new.read > old.read || new.write > old.write {
        about.units.increased = Some(now);
    }
    if new.read < old.read || new.write < old.write {
        about.units.decreased = Some(now);
    }
    Ok(())
}

/// Checks an index that is to be made, and adds what is told of it.
fn new_index(
    known: &Known,
    about: &mut About,
    create: Input,
    input: &Input,
) -> Result<(IndexAbout, Index)> {
    let key: Vec<String> = known.key.iter().map(|part| part.name.clone()).collect();
    let has_units = create.has("ProvisionedThroughput");
    let given = definitions(input);
    let defined: Definitions = about.attributes.iter().chain(&given).cloned().collect();
    let new = index(create, false, &key, &defined)?;
    if about.index(&new.name).is_some() {
        return Err(Refusal::validation("Attempting to create an index which already exists"));
    }
    check_index_units(&new.name, has_units, about.on_demand)?;
    for (name, of) in given {
        match about.attributes.iter_mut().find(|(known, _)| *known == name) {
            Some(known) if !key.contains(&name) => known.1 = of,
            Some(_) => {}
            None if new.key().any(|used| *used == name) => about.attributes.push((name, of)),
            None => {}
        }
    }
    about.indexes.push(new.clone());
    check_together(&about.indexes)?;
    let of_database =
        database_index(&new, |name| known.type_in_index(name, about.type_of(name).unwrap_or("S")))?;
    Ok((new, of_database))
}
