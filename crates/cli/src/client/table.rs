//! What commands want to know of a table beyond what the server says of it.

use stonecrop_server::api::{Column, Table};

/// The fields of the key, a semicolon between the partition key and the sort key.
pub(crate) fn key_text(table: &Table) -> String {
    match table.sort_key.as_str() {
        "" => table.partition_key.clone(),
        sort_key => format!("{}; {sort_key}", table.partition_key),
    }
}

/// The columns that are declared, family by family.
pub(crate) fn declared(table: &Table) -> impl Iterator<Item = &Column> {
    table.families.iter().flat_map(|family| &family.columns)
}
