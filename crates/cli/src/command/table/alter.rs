//! `stonecrop table alter`: further families and columns, other lifetimes.

use clap::Args;
use hyper::Method;
use serde_json::{Value as Json, json};

use super::notation;
use crate::client::table_path;
use crate::client::wire::Table;
use crate::command::heading;
use crate::error::{Error, Result};
use crate::session::Session;

/// Adds families and columns to a table, and changes how long values are fresh
///
/// Lifetimes are for what is written from now on.
#[derive(Args)]
#[command(after_help = HELP)]
pub(crate) struct Arguments {
    /// The table
    table: String,

    /// A further family, as in 'billing: plan string, ttl 1d'; can be given several times
    #[arg(long = "add-family", value_name = "FAMILY")]
    families: Vec<String>,

    /// Further columns of a family, as in 'crm: phone string, fax'; can be given several times
    #[arg(long = "add-column", value_name = "COLUMNS")]
    columns: Vec<String>,

    /// How a family ages from now on, as in 'crm: ttl 1h, keep 7d'; without one of them it is for
    /// ever; can be given several times
    #[arg(long = "lifetime", value_name = "LIFETIME")]
    lifetimes: Vec<String>,

    /// Print the table as JSON
    #[arg(long)]
    json: bool,
}

const HELP: &str = concat!(
    heading!("Examples:"),
    "
  stonecrop table alter people --add-family 'billing: plan string, ttl 1d'
  stonecrop table alter people --add-column 'crm: phone string' --lifetime 'crm: ttl 1h'"
);

pub(crate) fn run(arguments: &Arguments, session: &mut Session) -> Result<()> {
    let families: Vec<Json> =
        arguments.families.iter().map(|text| notation::family(text)).collect::<Result<_>>()?;
    let mut columns = Vec::new();
    for text in &arguments.columns {
        let (family, mut added) = of_family(text)?;
        for column in added["columns"].as_array_mut().into_iter().flatten() {
            column["family"] = family.clone();
            columns.push(column.take());
        }
    }
    let mut lifetimes = Vec::new();
    for text in &arguments.lifetimes {
        let (family, aged) = of_family(text)?;
        lifetimes.push(json!({ "family": family, "ttl": aged["ttl"], "keep": aged["keep"] }));
    }
    if families.is_empty() && columns.is_empty() && lifetimes.is_empty() {
        let problem = "nothing to alter: give --add-family, --add-column or --lifetime";
        return Err(Error::Usage(problem.to_owned()));
    }
    let change =
        json!({ "add_families": families, "add_columns": columns, "lifetimes": lifetimes });
    let client = session.open()?;
    let path = table_path(&arguments.table, "");
    let table: Table = client.request(Method::PATCH, &path, &change)?;
    client.close()?;
    match arguments.json {
        true => session.print_json(&table),
        false => super::describe(session.out(), &table).map_err(Error::Output),
    }
}

/// The family that is named, and what is said of it.
fn of_family(text: &str) -> Result<(Json, Json)> {
    let family = notation::family(text)?;
    Ok((family.get("name").cloned().unwrap_or_default(), family))
}
