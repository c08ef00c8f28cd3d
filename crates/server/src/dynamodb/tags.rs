//! TagResource, UntagResource, ListTagsOfResource.

use std::collections::BTreeSet;

use serde_json::{Value as Json, json};

use super::about::About;
use super::describe::ACCOUNT;
use super::faults::Faults;
use super::input::Input;
use super::refusal::{Refusal, Result};
use crate::app::App;

const MOST_TAGS: usize = 50;

/// The tags that a request gives.
pub(super) fn read(input: &Input) -> Result<Vec<(String, String)>> {
    let mut seen = BTreeSet::new();
    let mut tags = Vec::new();
    for json in input.list("Tags") {
        let text = |name: &str| json[name].as_str().unwrap_or_default().to_owned();
        let (key, value) = (text("Key"), text("Value"));
        if !(1..=128).contains(&key.chars().count()) {
            return Err(Refusal::validation(format!("Tag Key provided is invalid: {key}")));
        }
        if value.chars().count() > 256 {
            return Err(Refusal::validation(format!("Tag Value provided is invalid: {value}")));
        }
        if key.starts_with("aws:") {
            return Err(Refusal::validation("Tag Key cannot be prefixed with aws:"));
        }
        if !seen.insert(key.clone()) {
            return Err(Refusal::validation("Duplicate Tag Keys provided as input"));
        }
        tags.push((key, value));
    }
    Ok(tags)
}

/// The ARN that a request names, before the rules for the other parameters.
fn resource(input: &Input, operation: &str) -> Result<String> {
    let Some(arn) = input.text("ResourceArn") else {
        return Err(Refusal::validation("Invalid TableArn"));
    };
    let rest = arn.strip_prefix("arn:aws:dynamodb:");
    let account = rest.and_then(|rest| rest.split(':').nth(1));
    match account.is_none_or(|account| account == ACCOUNT) {
        true => Ok(arn.to_owned()),
        false => Err(Refusal::new(
            "AccessDeniedException",
            format!(
                "User: arn:aws:iam::{ACCOUNT}:user/stonecrop is not authorized to perform: \
                 dynamodb:{operation} on resource: {arn} because no resource-based policy allows \
                 the dynamodb:{operation} action"
            ),
        )),
    }
}

/// The table of an ARN.
fn table_of(arn: &str) -> Result<String> {
    let rest = arn.strip_prefix("arn:aws:dynamodb:");
    match rest.and_then(|rest| rest.split_once(":table/")) {
        Some((_, name)) if name.len() > 2 && !name.contains('/') => Ok(name.to_owned()),
        _ => Err(Refusal::validation(format!(
            "Invalid TableArn: Invalid ResourceArn provided as input {arn}"
        ))),
    }
}

fn no_resource(arn: &str) -> impl Fn(Refusal) -> Refusal + '_ {
    move |refusal| match refusal.kind {
        "ResourceNotFoundException" => Refusal::new(
            "ResourceNotFoundException",
            format!("Requested resource not found: ResourcArn: {arn} not found"),
        ),
        _ => refusal,
    }
}

/// Changes what is told of a table.
pub(super) async fn alter_about<T: Send + 'static>(
    app: &App,
    name: &str,
    alter: impl FnOnce(&mut About) -> Result<T> + Send + 'static,
) -> Result<T> {
    let (of_app, name) = (app.clone(), name.to_owned());
    app.apart(move |database| {
        let _altering = of_app.dynamodb.lock();
        let mut about = of_app.dynamodb.load(database, &name)?.about.clone();
        let done = alter(&mut about)?;
        of_app.dynamodb.store(database, &name, &about)?;
        Ok(done)
    })
    .await
}

pub(super) async fn tag(app: &App, input: Input) -> Result<Json> {
    let arn = resource(&input, "TagResource")?;
    let mut faults = Faults::default();
    faults.required(&input, "Tags");
    faults.finish()?;
    let name = table_of(&arn)?;
    let tags = read(&input)?;
    if tags.is_empty() {
        return Err(Refusal::validation("Atleast one Tag needs to be provided as Input."));
    }
    let alter = move |about: &mut About| {
        about.tags.extend(tags);
        match about.tags.len() > MOST_TAGS {
            true => Err(Refusal::validation(
                "Number of Tags exceed the current limit for the provided ResourceArn",
            )),
            false => Ok(()),
        }
    };
    alter_about(app, &name, alter).await.map_err(no_resource(&arn))?;
    Ok(json!({}))
}

pub(super) async fn untag(app: &App, mut input: Input) -> Result<Json> {
    let arn = resource(&input, "UntagResource")?;
    let mut faults = Faults::default();
    faults.required(&input, "TagKeys");
    faults.finish()?;
    let name = table_of(&arn)?;
    let keys = input.take_list("TagKeys");
    if keys.is_empty() {
        return Err(Refusal::validation("Atleast one Tag Key needs to be provided as Input."));
    }
    let alter = move |about: &mut About| {
        about.tags.retain(|key, _| !keys.iter().any(|gone| gone == key.as_str()));
        Ok(())
    };
    alter_about(app, &name, alter).await?;
    Ok(json!({}))
}

pub(super) async fn list(app: &App, input: Input) -> Result<Json> {
    let arn = resource(&input, "ListTagsOfResource")?;
    let name = table_of(&arn)?;
    let known = app.known(&name).await.map_err(no_resource(&arn))?;
    let tags = known.about.tags.iter();
    let tags: Vec<Json> = tags.map(|(key, value)| json!({"Key": key, "Value": value})).collect();
    Ok(json!({"Tags": tags}))
}
