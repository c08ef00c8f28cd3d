//! Tokens with which clients send a transaction again without doing it again. A token is a row that
//! is written with the transaction: both are there or neither, and it is known after a restart.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use sha2::{Digest, Sha256};
use stonecrop::{Database, Error, Family, Table, TableSchema, Value, Write};

use super::refusal::Refusal;

/// The table that has a row for each token.
pub(super) const TABLE: &str = "stonecrop.dynamodb.tokens";
const COLUMN: &str = "request";
/// For so long a token stands for the transaction that it was first sent with.
const KEPT: Duration = Duration::from_secs(10 * 60);

/// A token that came with a transaction.
#[derive(Clone, Debug)]
pub(super) struct Token {
    text: String,
    /// A hash of the request.
    print: Vec<u8>,
    told: Arc<Mutex<Option<Told>>>,
}

/// What a token stands for that was known already.
#[derive(Clone, Copy, Debug)]
enum Told {
    /// The same transaction was done.
    Done,
    /// Another transaction was done.
    Other,
}

impl Token {
    pub(super) fn new(text: &str, request: impl Iterator<Item = String>) -> Self {
        let mut hash = Sha256::new();
        for json in request {
            hash.update(json);
        }
        Token { text: text.to_owned(), print: hash.finalize().to_vec(), told: Arc::default() }
    }

    /// The write of its row, which refuses the transaction where the token is known.
    pub(super) fn write(&self) -> Write<'static> {
        let token = self.clone();
        Write::decide(self.text.clone(), move |row| {
            let Some(row) = row else {
                let print = Value::Bytes(token.print.clone());
                return Ok(Some(Write::put(token.text.clone()).set(COLUMN, print)));
            };
            let is_same = row.value(COLUMN) == Some(&Value::Bytes(token.print.clone()));
            let told = if is_same { Told::Done } else { Told::Other };
            *token.told.lock().unwrap_or_else(PoisonError::into_inner) = Some(told);
            Err(Error::Refused { reason: "the token is known".to_owned() })
        })
    }

    /// Whether its transaction was done before; refused where it was another.
    pub(super) fn was_done(&self) -> Result<bool, Refusal> {
        match *self.told.lock().unwrap_or_else(PoisonError::into_inner) {
            None => Ok(false),
            Some(Told::Done) => Ok(true),
            Some(Told::Other) => Err(Refusal::new("IdempotentParameterMismatchException", "")),
        }
    }
}

pub(super) fn table(database: &Database) -> stonecrop::Result<Table> {
    match database.table(TABLE) {
        Err(Error::NoTable { .. }) => {}
        found => return found,
    }
    let schema = TableSchema::new(TABLE, "token string", "")?;
    let family = Family::new("token").column(COLUMN).ttl(KEPT).keep(Duration::ZERO);
    match database.create_table(schema.family(family)) {
        Err(Error::TableExists { .. }) => database.table(TABLE),
        made => made,
    }
}
