//! CreateTable and DeleteTable.

use std::collections::BTreeSet;

use serde_json::{Value as Json, json};
use stonecrop::keys::{Field, Schema};
use stonecrop::{Error, Family, TableSchema};

use super::about::{About, IndexAbout};
use super::declare::{
    Definitions, check_bounds, check_defined, check_members, check_used, database_index,
    definitions, indexes, key_names, units,
};
use super::describe::{description, named};
use super::faults::{Faults, check_table, check_table_given, table_name};
use super::input::Input;
use super::keys::field_type;
use super::known::{FAMILY, is_own_name};
use super::refusal::{Refusal, Result};
use super::{streams, tags};
use crate::app::App;

pub(super) const BILLING: &[&str] = &["PROVISIONED", "PAY_PER_REQUEST"];
pub(super) const CLASSES: &[&str] = &["STANDARD", "STANDARD_INFREQUENT_ACCESS"];
pub(super) const VIEWS: &[&str] = &["NEW_IMAGE", "OLD_IMAGE", "NEW_AND_OLD_IMAGES", "KEYS_ONLY"];

pub(super) async fn create(app: &App, mut input: Input) -> Result<Json> {
    check_table_given(&input)?;
    let mut faults = Faults::default();
    faults.new_table_name(&input);
    faults.required(&input, "KeySchema");
    faults.required(&input, "AttributeDefinitions");
    faults.one_of(&input, "BillingMode", BILLING);
    faults.one_of(&input, "TableClass", CLASSES);
    check_members(&input, &mut faults, "", 2);
    faults.finish()?;
    let name = table_name(&input)?;
    let definitions = definitions(&input);
    let (on_demand, tells_billing) = billing(&input)?;
    check_bounds(&input)?;
    let key = table_key(&input, &definitions)?;
    let indexes = indexes(&mut input, &key, &definitions)?;
    check_used(&definitions, &key, &indexes)?;
    for index in indexes.iter().filter(|index| !index.is_local) {
        check_index_units(&index.name, index.units.read > 0, on_demand)?;
    }
    let now = app.database.now().as_micros() as f64 / 1e6;
    let about = About {
        id: uuid::Uuid::new_v4().to_string(),
        created: (now * 1e3).round() / 1e3,
        attributes: definitions,
        on_demand,
        tells_billing,
        units: units(&input),
        protected: input.flag("DeletionProtectionEnabled"),
        class: input.text("TableClass").map(str::to_owned),
        indexes,
        tags: tags::read(&input)?.into_iter().collect(),
        stream: streams::created(input.take_inner("StreamSpecification"), now)?,
        ..About::default()
    };
    let schema = schema(&name, &key, &about)?;
    let of_app = app.clone();
    let known = app.apart(move |database| {
        let _altering = of_app.dynamodb.lock();
        let exists =
            || Refusal::new("ResourceInUseException", format!("Table already exists: {name}"));
        if is_own_name(&name) || database.tables().contains(&name) {
            return Err(exists());
        }
        // Before the table, so that it is never there without what is told of it.
        about.write(database, &name)?;
        match database.create_table(schema) {
            Err(error) => {
                About::forget(database, &name)?;
                Err(if matches!(error, Error::TableExists { .. }) {
                    exists()
                } else {
                    error.into()
                })
            }
            Ok(_) => of_app.dynamodb.load(database, &name),
        }
    });
    Ok(json!({"TableDescription": description(&*known.await?, "ACTIVE")}))
}

/// The attributes of the table's own key.
fn table_key(input: &Input, definitions: &Definitions) -> Result<Vec<String>> {
    let schema = input.list("KeySchema");
    if schema.len() > definitions.len() {
        return Err(Refusal::validation(
            "Invalid KeySchema: Some index key attribute have no definition",
        ));
    }
    check_defined(schema, definitions)?;
    let (partition, sort) = key_names(schema, 1)?;
    let has_indexes = input.has("LocalSecondaryIndexes") || input.has("GlobalSecondaryIndexes");
    if !has_indexes && schema.len() != definitions.len() {
        return Err(Refusal::invalid(
            "Number of attributes in KeySchema does not exactly match number of attributes defined \
             in AttributeDefinitions",
        ));
    }
    Ok(partition.into_iter().chain(sort).collect())
}

/// Whether it is on demand, and whether that was said.
fn billing(input: &Input) -> Result<(bool, bool)> {
    let has_units = input.has("ProvisionedThroughput");
    match input.text("BillingMode") {
        Some("PAY_PER_REQUEST") if has_units => Err(units_on_demand()),
        Some("PAY_PER_REQUEST") => Ok((true, true)),
        mode if has_units => Ok((false, mode.is_some())),
        _ => Err(Refusal::invalid(
            "ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is \
             PROVISIONED",
        )),
    }
}

pub(super) fn units_on_demand() -> Refusal {
    Refusal::invalid(
        "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is \
         PAY_PER_REQUEST",
    )
}

pub(super) fn check_index_units(index: &str, has_units: bool, on_demand: bool) -> Result<()> {
    match (has_units, on_demand) {
        (false, false) => Err(Refusal::invalid(format!(
            "ProvisionedThroughput is not specified for index: {index}"
        ))),
        (true, true) => Err(Refusal::invalid(format!(
            "ProvisionedThroughput should not be specified for index: {index} when BillingMode is \
             PAY_PER_REQUEST"
        ))),
        _ => Ok(()),
    }
}

/// A time as the names of streams have it.
pub(super) fn label(now: f64) -> String {
    let time = jiff::Timestamp::from_millisecond((now * 1e3) as i64).unwrap_or_default();
    time.strftime("%Y-%m-%dT%H:%M:%S.%3f").to_string()
}

/// The table as the database has it.
fn schema(name: &str, key: &[String], about: &About) -> Result<TableSchema> {
    let field = |attribute: Option<&String>| -> Result<String> {
        let Some(attribute) = attribute else { return Ok(String::new()) };
        let of = field_type(about.type_of(attribute).unwrap_or("S"));
        let schema = Schema::new(vec![Field::new(attribute.clone(), of)]);
        let schema = schema.map_err(|error| Refusal::invalid(error.to_string()))?;
        Ok(schema.to_string())
    };
    let mut schema = TableSchema::new(name, &field(key.first())?, &field(key.get(1))?)?;
    let columns = about.indexes.iter().flat_map(IndexAbout::key);
    let columns: BTreeSet<&String> = columns.filter(|name| !key.contains(name)).collect();
    let family = columns.into_iter().fold(Family::new(FAMILY), Family::column);
    schema = schema.family(family);
    let type_of = |name: &str| field_type(about.type_of(name).unwrap_or("S"));
    for index in &about.indexes {
        schema = schema.index(database_index(index, type_of)?);
    }
    if about.stream.is_some() {
        schema = schema.changes(streams::KEPT);
    }
    Ok(schema)
}

pub(super) async fn delete(app: &App, input: Input) -> Result<Json> {
    check_table(&input)?;
    let mut faults = Faults::default();
    faults.table_name(&input);
    faults.finish()?;
    let name = table_name(&input)?;
    let known = app.known(&name).await.map_err(named(&name))?;
    if known.about.protected {
        return Err(Refusal::validation(
            "Resource cannot be deleted as it is currently protected against deletion. Disable \
             deletion protection first.",
        ));
    }
    let told = description(&known, "DELETING");
    let of_app = app.clone();
    app.apart(move |database| {
        let _altering = of_app.dynamodb.lock();
        database.drop_table(&name)?;
        About::forget(database, &name)?;
        of_app.dynamodb.forget(&name);
        Ok(())
    })
    .await?;
    Ok(json!({"TableDescription": told}))
}
