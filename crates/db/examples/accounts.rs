//! A grid of accounts, filled from two sources that refresh at their own pace.
//!
//!     cargo run --release -p stonecrop --example accounts
//!
//! The CRM delivers name, status and owner, good for 12 hours; another system delivers a score, good
//! for 30 minutes. The grid shows an owner's accounts with a mark on what is stale, and an account
//! that changes hands is never under two owners.

use std::sync::Arc;
use std::time::Duration;

use stonecrop::{
    Condition, Database, Family, Index, ManualClock, Options, Page, Query, Result, Sort, Table,
    TableSchema, Timestamp, Value, Write,
};

const HOUR: Duration = Duration::from_secs(3600);

fn main() -> Result<()> {
    // A clock of our own, to let the hours pass.
    let clock = Arc::new(ManualClock::new(Timestamp::from_micros(1_768_471_200_000_000)));
    let db = Database::open_with("memory:", Options::default().clock(clock.clone()))?;
    let crm = Family::new("crm").column("name").column("status").column("owner").ttl(12 * HOUR);
    let scoring = Family::new("scoring").column("score").ttl(HOUR / 2);
    let accounts = db.create_table(
        TableSchema::new("accounts", "id string", "")?
            .family(crm)
            .family(scoring)
            .index(Index::new("by_owner", "owner string")?)
            .index(Index::new("by_score", "score i64 desc")?),
    )?;

    println!("The CRM delivers 1,000 accounts, and the scores come from elsewhere.\n");
    let owners = ["u:adam", "u:bob", "u:carol", "u:dora"];
    accounts.write_all((0..1000).zip(owners.into_iter().cycle()).map(|(id, owner)| {
        Write::put(format!("acct_{id:04}"))
            .set("name", format!("Account {id}"))
            .set("status", if id % 3 == 0 { "closed" } else { "active" })
            .set("owner", owner)
    }))?;
    accounts.write_all(
        (0..1000).map(|id: i64| Write::put(format!("acct_{id:04}")).set("score", id * 7919 % 1000)),
    )?;

    let adams = Query::new()
        .columns(["name", "score"])
        .filter(Condition::all([
            Condition::eq("owner", "u:adam"),
            Condition::eq("status", "active"),
        ]))
        .sort([Sort::desc("score")])
        .take(5);
    let first = accounts.query(&adams)?;
    show("Adam's best active accounts", &first);
    println!("How they were found:\n{}\n", accounts.explain_analyze(&adams)?);

    if let Some(next) = first.next {
        show("The next page", &accounts.query(&adams.clone().after(next))?);
    }

    clock.advance(HOUR);
    show("An hour later the scores are stale, and still there", &accounts.query(&adams)?);
    for family in accounts.freshness(&Query::new())? {
        println!("{}: {} fresh, {} stale", family.family, family.fresh, family.stale);
    }

    println!("\nAdam's accounts before one of them goes to Bob: {}", owned(&accounts, "u:adam")?);
    accounts.write(Write::put("acct_0004").set("owner", "u:bob"))?;
    println!("and after: {}; Bob has {}", owned(&accounts, "u:adam")?, owned(&accounts, "u:bob")?);

    println!("\nRows and indexes agree: {}", db.check()?.is_clean());
    Ok(())
}

fn owned(accounts: &Table, owner: &str) -> Result<u64> {
    accounts.count(&Query::new().filter(Condition::eq("owner", owner)))
}

fn show(title: &str, page: &Page) {
    println!("{title}:");
    for row in &page.rows {
        let cell = |name: &str| {
            let Some(cell) = row.cell(name) else { return String::new() };
            let mark = if cell.fresh { "" } else { " (stale)" };
            match &cell.value {
                Value::String(text) => format!("{text}{mark}"),
                Value::Int(number) => format!("{number}{mark}"),
                other => format!("{other:?}{mark}"),
            }
        };
        println!("  {:<12} {:>4}", cell("name"), cell("score"));
    }
    println!();
}
