//! Made-up data that lives: three related tables, and sources that deliver again and again.

mod refresh;
mod rows;
mod words;

use std::time::Duration;

use stonecrop::{
    ColumnType, Database, Durability, Family, History, Index, Result, Table, TableSchema, Write,
};

pub(crate) use refresh::refresh;
use rows::Maker;

const BATCH: usize = 2_000;

/// How many rows the tables have, given how many there are in all.
#[derive(Clone, Copy)]
struct Counts {
    accounts: u64,
    contacts: u64,
    orders: u64,
}

impl Counts {
    fn of(rows: u64) -> Self {
        let accounts = (rows * 2 / 13).max(1);
        let contacts = rows * 5 / 13;
        Counts { accounts, contacts, orders: rows - accounts - contacts }
    }
}

fn seconds(count: u64) -> Duration {
    Duration::from_secs(count)
}

fn accounts() -> Result<TableSchema> {
    let crm = Family::new("crm")
        .typed("name", ColumnType::String)
        .typed("owner", ColumnType::String)
        .typed("industry", ColumnType::String)
        .typed("city", ColumnType::String)
        .typed("country", ColumnType::String)
        .typed("status", ColumnType::String)
        .ttl(seconds(12 * 3600))
        .history(History::Versions(5));
    let scoring = Family::new("scoring")
        .typed("score", ColumnType::Int)
        .typed("churn_risk", ColumnType::Float)
        .ttl(seconds(40))
        .history(History::Versions(5));
    let billing = Family::new("billing")
        .typed("plan", ColumnType::String)
        .typed("mrr", ColumnType::Decimal)
        .typed("renews", ColumnType::Date)
        .ttl(seconds(600))
        .keep(seconds(30 * 86_400));
    Ok(TableSchema::new("accounts", "id string", "")?
        .family(crm)
        .family(scoring)
        .family(billing)
        .index(Index::new("by_owner", "owner string, score i64 desc")?)
        .index(Index::new("by_score", "score i64 desc")?)
        .index(Index::new("by_name", "name string")?))
}

fn contacts() -> Result<TableSchema> {
    let directory = Family::new("directory")
        .typed("name", ColumnType::String)
        .typed("email", ColumnType::String)
        .typed("title", ColumnType::String)
        .typed("phone", ColumnType::String)
        .ttl(seconds(3600));
    let engagement = Family::new("engagement")
        .typed("last_seen", ColumnType::Timestamp)
        .typed("opens", ColumnType::Int)
        .ttl(seconds(60));
    Ok(TableSchema::new("contacts", "account string", "id u64")?
        .family(directory)
        .family(engagement)
        .index(Index::new("by_email", "email string")?.unique()))
}

fn orders() -> Result<TableSchema> {
    let shop = Family::new("shop")
        .typed("number", ColumnType::String)
        .typed("placed", ColumnType::Timestamp)
        .typed("total", ColumnType::Decimal)
        .typed("items", ColumnType::Int)
        .typed("status", ColumnType::String)
        .ttl(seconds(3600));
    let shipping = Family::new("shipping")
        .typed("carrier", ColumnType::String)
        .typed("state", ColumnType::String)
        .typed("eta", ColumnType::Date)
        .ttl(seconds(90));
    Ok(TableSchema::new("orders", "account string", "id u64 desc")?
        .family(shop)
        .family(shipping)
        .index(Index::new("by_status", "status string, total decimal desc")?)
        .index(Index::new("newest", "placed timestamp(us) desc")?))
}

/// Makes the tables and fills them.
pub(crate) fn fill(database: &Database, rows: u64, seed: u64) -> Result<()> {
    let counts = Counts::of(rows);
    let mut maker = Maker::new(seed, database.now(), counts);
    let table = database.create_table(accounts()?)?;
    write(&table, (0..counts.accounts).map(|account| maker.account(account)))?;
    let table = database.create_table(contacts()?)?;
    write(&table, (0..counts.contacts).flat_map(|contact| maker.contact(contact)))?;
    let table = database.create_table(orders()?)?;
    write(&table, (0..counts.orders).flat_map(|order| maker.order(order)))?;
    database.sync()
}

fn write<'w>(table: &Table, writes: impl Iterator<Item = Write<'w>>) -> Result<()> {
    let mut writes = writes.peekable();
    while writes.peek().is_some() {
        table.write_with(writes.by_ref().take(BATCH), Durability::None)?;
    }
    Ok(())
}
