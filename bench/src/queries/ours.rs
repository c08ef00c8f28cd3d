//! Stonecrop.

use std::hint::black_box;
use std::path::Path;
use std::time::Duration;

use anyhow::{Result, bail};
use stonecrop::{
    ColumnType, Condition, Database, Facets, Family, Index, Options, Page, Query, Sort, Table,
    TableSchema, Value, Write,
};

use crate::datum::{Datum, TTL_SECONDS};
use crate::engine::CACHE_BYTES;
use crate::queries::contender::{Contender, Rival};
use crate::queries::data::{Account, COLUMNS, CRM, Data, PAGE_ROWS, USAGE};
use crate::queries::measure::Measure;

/// With the options that everybody gets, synced and one shard, but for the cache.
pub(crate) struct Ours {
    database: Database,
    table: Table,
    data: Data,
}

/// What comes of a question.
enum Answer {
    Page(Page),
    Count(u64),
    Facets(Facets),
}

impl Ours {
    pub(crate) fn open(folder: &Path, data: Data) -> Result<Self> {
        let ttl = Duration::from_secs(TTL_SECONDS.into());
        let text = |family: Family, name| family.typed(name, ColumnType::String);
        let crm = CRM.into_iter().fold(Family::new("crm").ttl(ttl), text);
        let usage = Family::new("usage")
            .ttl(ttl)
            .typed("score", ColumnType::Int)
            .typed("seen", ColumnType::Timestamp)
            .typed("plan", ColumnType::String);
        let database = Database::open_with(folder, Options::default().cache_bytes(CACHE_BYTES))?;
        let table = database.create_table(
            TableSchema::new("accounts", "id string", "")?
                .family(crm)
                .family(usage)
                .index(Index::new("by_owner", "owner string")?)
                .index(Index::new("by_score", "score i64 desc")?)
                .index(Index::new("by_status", "status string")?),
        )?;
        Ok(Ours { database, table, data })
    }

    fn find(&self, question: Measure, value: Option<&str>) -> Result<Answer> {
        let value = value.unwrap_or_default();
        let page = || Query::new().columns(COLUMNS).take(PAGE_ROWS);
        let owner = || Condition::eq("owner", value);
        let status = || Condition::eq("status", value);
        let by_score = [Sort::desc("score")];
        let table = &self.table;
        Ok(match question {
            Measure::NewOwnerPage | Measure::OwnerPage => {
                Answer::Page(table.query(&page().filter(owner()))?)
            }
            Measure::ScorePage => Answer::Page(table.query(&page().sort(by_score))?),
            Measure::ScorePageOfStatus => {
                Answer::Page(table.query(&page().filter(status()).sort(by_score))?)
            }
            Measure::NamePage => Answer::Page(table.query(&page().sort([Sort::asc("name")]))?),
            Measure::CountOwner => Answer::Count(table.count(&Query::new().filter(owner()))?),
            Measure::CountStatus => Answer::Count(table.count(&Query::new().filter(status()))?),
            Measure::Facets => Answer::Facets(table.facets(&Query::new(), "status")?),
            Measure::Refresh => bail!("a refresh is no question"),
        })
    }
}

impl Contender for Ours {
    fn load(&self) -> Result<()> {
        for batch in self.data.batches() {
            self.table.write_all(batch.iter().map(|account| {
                let write = set(Write::put(account.id.as_str()), &CRM, &account.crm);
                set(write, &USAGE, &account.usage)
            }))?;
        }
        Ok(self.database.compact()?)
    }

    fn ask(&self, question: Measure, values: &[Option<String>]) -> Result<()> {
        for value in values {
            black_box(self.find(question, value.as_deref())?);
        }
        Ok(())
    }
}

impl Rival for Ours {
    fn answer(&self, question: Measure, value: Option<&str>) -> Result<Vec<String>> {
        Ok(match self.find(question, value)? {
            Answer::Page(page) => {
                let line = |row: &stonecrop::Row| {
                    let columns = COLUMNS.map(|name| row.value(name).map(text));
                    let id = row.key().values().first().and_then(|id| match id {
                        stonecrop::keys::Value::String(id) => Some(id.to_string()),
                        _ => None,
                    });
                    [id].into_iter().chain(columns).flatten().collect::<Vec<_>>().join(" ")
                };
                page.rows.iter().map(line).collect()
            }
            Answer::Count(count) => vec![count.to_string()],
            Answer::Facets(facets) => {
                let line = |(value, rows): &(Value, u64)| format!("{} {rows}", text(value));
                facets.values.iter().map(line).collect()
            }
        })
    }

    fn refresh(&self, batches: &[Vec<Account>]) -> Result<()> {
        for batch in batches {
            self.table.write_all(
                batch
                    .iter()
                    .map(|account| set(Write::put(account.id.as_str()), &CRM, &account.crm)),
            )?;
        }
        Ok(())
    }
}

fn set<'w>(write: Write<'w>, names: &[&'static str], values: &'w [Datum]) -> Write<'w> {
    names.iter().zip(values).fold(write, |write, (name, value)| write.set(*name, value))
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.to_string(),
        other => format!("{other:?}"),
    }
}
