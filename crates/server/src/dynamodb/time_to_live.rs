//! UpdateTimeToLive and DescribeTimeToLive. An item is written with the time that it is gone at;
//! those that were there before are given it by [`super::sweep`].

use serde_json::{Value as Json, json};

use super::about::About;
use super::describe::named;
use super::faults::{Faults, check_table, table_name};
use super::input::Input;
use super::refusal::{Refusal, Result};
use super::sweep;
use super::tags::alter_about;
use crate::app::App;

pub(super) async fn update(app: &App, mut input: Input) -> Result<Json> {
    check_table(&input)?;
    let mut faults = Faults::default();
    faults.table_name(&input);
    faults.required(&input, "TimeToLiveSpecification");
    let specification = input.take_inner("TimeToLiveSpecification").unwrap_or_default();
    let at = "timeToLiveSpecification.attributeName";
    faults.text(specification.text("AttributeName"), at, 1, 255);
    faults.finish()?;
    let name = table_name(&input)?;
    let attribute = specification.text("AttributeName").unwrap_or_default().to_owned();
    let enabled = specification.flag("Enabled");
    if attribute.is_empty() {
        return Err(Refusal::validation("TimeToLiveSpecification.AttributeName must not be empty"));
    }
    let answer = json!({"TimeToLiveSpecification": {
        "Enabled": enabled, "AttributeName": attribute,
    }});
    let alter = move |about: &mut About| {
        change(about, attribute, enabled)?;
        about.ttl_changes += 1;
        Ok(())
    };
    alter_about(app, &name, alter).await.map_err(named(&name))?;
    // Writes that were begun before are done by now, or begin anew: the sweep meets all of theirs.
    let table = name.clone();
    let renewed = app.apart(move |database| Ok(database.table(&table)?.renew()?)).await;
    sweep::start(app, &name);
    renewed?;
    Ok(answer)
}

fn change(about: &mut About, attribute: String, enabled: bool) -> Result<()> {
    match (&about.ttl, enabled) {
        (Some(current), _) if *current != attribute => Err(Refusal::validation(format!(
            "TimeToLive is active on a different AttributeName: current AttributeName is {current}"
        ))),
        (Some(_), true) => Err(Refusal::validation("TimeToLive is already enabled")),
        (None, false) => Err(Refusal::validation("TimeToLive is already disabled")),
        (Some(_), false) => {
            about.ttl = None;
            Ok(())
        }
        (None, true) => {
            about.ttl = Some(attribute);
            Ok(())
        }
    }
}

pub(super) async fn describe(app: &App, input: Input) -> Result<Json> {
    check_table(&input)?;
    let mut faults = Faults::default();
    faults.table_name(&input);
    faults.finish()?;
    let name = table_name(&input)?;
    let known = app.known(&name).await.map_err(named(&name))?;
    Ok(json!({"TimeToLiveDescription": match &known.about.ttl {
        Some(name) => json!({"TimeToLiveStatus": "ENABLED", "AttributeName": name}),
        None => json!({"TimeToLiveStatus": "DISABLED"}),
    }}))
}
