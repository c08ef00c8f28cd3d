//! `stonecrop table alter`: further families and columns, other lifetimes, changes kept or not.

use clap::Args;
use hyper::Method;
use stonecrop_server::api::{
    Alteration, Column, Family, KeptChanges, NewColumn, NewLifetime, Table,
};

use super::notation;
use crate::client::table_path;
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

    /// Keep every change of a row for so long from now on, as 24h, or "off"
    #[arg(long, value_name = "DURATION")]
    changes: Option<String>,

    /// Print the table as JSON
    #[arg(long)]
    json: bool,
}

const HELP: &str = concat!(
    heading!("Examples:"),
    "
  stonecrop table alter people --add-family 'billing: plan string, ttl 1d'
  stonecrop table alter people --add-column 'crm: phone string' --lifetime 'crm: ttl 1h'
  stonecrop table alter people --changes 24h"
);

pub(crate) fn run(arguments: &Arguments, session: &mut Session) -> Result<()> {
    let families = arguments.families.iter().map(|text| notation::family(text));
    let mut change =
        Alteration { add_families: families.collect::<Result<_>>()?, ..Alteration::default() };
    for text in &arguments.columns {
        let Family { name: family, columns, .. } = notation::family(text)?;
        change.add_columns.extend(columns.into_iter().map(|Column { name, column_type }| {
            NewColumn { family: family.clone(), name, column_type }
        }));
    }
    for text in &arguments.lifetimes {
        let Family { name: family, ttl, keep, .. } = notation::family(text)?;
        change.lifetimes.push(NewLifetime { family, ttl, keep });
    }
    change.changes = match arguments.changes.as_deref() {
        None => None,
        Some("off") => Some(None),
        Some(keep) => Some(Some(KeptChanges { keep: keep.parse().map_err(Error::Usage)? })),
    };
    let lists = [change.add_families.len(), change.add_columns.len(), change.lifetimes.len()];
    if lists == [0; 3] && change.changes.is_none() {
        let problem = "nothing to alter: give --add-family, --add-column, --lifetime or --changes";
        return Err(Error::Usage(problem.to_owned()));
    }
    let client = session.open()?;
    let path = table_path(&arguments.table, "");
    let table: Table = client.request(Method::PATCH, &path, &change)?;
    client.close()?;
    match arguments.json {
        true => session.print_json(&table),
        false => super::describe(session.out(), &table).map_err(Error::Output),
    }
}
