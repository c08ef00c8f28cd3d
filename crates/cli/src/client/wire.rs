//! What the server answers with, as far as the command line looks at it.

use serde::{Deserialize, Serialize};
use stonecrop::ColumnType;

#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Tables {
    pub(crate) tables: Vec<Table>,
}

/// A table as it is declared.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Table {
    pub(crate) name: String,
    pub(crate) partition_key: String,
    #[serde(default)]
    pub(crate) sort_key: Option<String>,
    pub(crate) placement: String,
    pub(crate) families: Vec<Family>,
    pub(crate) indexes: Vec<Index>,
    pub(crate) version: u64,
    pub(crate) key: Vec<KeyField>,
    pub(crate) partition_fields: usize,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct KeyField {
    pub(crate) name: String,
    #[serde(rename = "type")]
    pub(crate) field_type: String,
    pub(crate) descending: bool,
    pub(crate) nullable: bool,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Family {
    pub(crate) name: String,
    pub(crate) ttl: Option<String>,
    pub(crate) keep: Option<String>,
    pub(crate) history: Option<History>,
    pub(crate) columns: Vec<Column>,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum History {
    Versions(u64),
    For(String),
}

#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Column {
    pub(crate) name: String,
    #[serde(rename = "type", default)]
    pub(crate) column_type: ColumnType,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Index {
    pub(crate) name: String,
    pub(crate) columns: String,
    #[serde(default)]
    pub(crate) unique: bool,
    #[serde(default)]
    pub(crate) covering: Vec<String>,
    pub(crate) progress: Progress,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) enum Progress {
    Complete,
    Building { rows: u64 },
    Failed { problem: String },
}

impl Table {
    /// The fields of the key, a semicolon between the partition key and the sort key.
    pub(crate) fn key_text(&self) -> String {
        match self.sort_key.as_deref().unwrap_or_default() {
            "" => self.partition_key.clone(),
            sort_key => format!("{}; {sort_key}", self.partition_key),
        }
    }

    /// The columns that are declared, family by family.
    pub(crate) fn columns(&self) -> impl Iterator<Item = &Column> {
        self.families.iter().flat_map(|family| &family.columns)
    }
}

#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Receipt {
    pub(crate) durability: String,
    pub(crate) writes: Vec<Written>,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Written {
    pub(crate) written_at: Option<String>,
    #[serde(default)]
    pub(crate) ignored: Vec<String>,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct CheckReport {
    pub(crate) rows: u64,
    pub(crate) entries: u64,
    pub(crate) disagreements: Vec<String>,
    pub(crate) repaired: bool,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Explained {
    pub(crate) text: String,
}
