//! What is told of tables: DescribeTable, ListTables, and the service's own limits.

use serde_json::{Map, Value as Json, json};
use stonecrop::IndexProgress;

use super::about::{IndexAbout, Projected, Units};
use super::faults::{Faults, check_name_length, check_table, table_name};
use super::input::Input;
use super::known::{Known, is_own_name};
use super::refusal::{Refusal, Result};
use crate::app::App;

/// The account that all tables are of: the one of AWS's own examples. What is of another is not ours.
pub(super) const ACCOUNT: &str = "123456789012";
const MOST_LISTED: i64 = 100;

pub(super) fn arn(table: &str) -> String {
    format!("arn:aws:dynamodb:us-east-1:{ACCOUNT}:table/{table}")
}

/// As operations on tables tell that there is none.
pub(super) fn named(name: &str) -> impl Fn(Refusal) -> Refusal + '_ {
    move |refusal| match refusal.kind {
        "ResourceNotFoundException" => Refusal::no_table_named(name),
        _ => refusal,
    }
}

pub(super) async fn describe(app: &App, input: Input) -> Result<Json> {
    check_table(&input)?;
    let mut faults = Faults::default();
    faults.table_name(&input);
    faults.finish()?;
    let name = table_name(&input)?;
    let known = app.known(&name).await.map_err(named(&name))?;
    Ok(json!({"Table": description(&known, "ACTIVE")}))
}

pub(super) async fn list(app: &App, input: Input) -> Result<Json> {
    let mut faults = Faults::default();
    let (limit, start) = (input.integer("Limit"), input.text("ExclusiveStartTableName"));
    faults.at_least(limit, "limit", 1);
    faults.at_most(limit, "limit", MOST_LISTED);
    if let Some(start) = start {
        faults.table(start, "exclusiveStartTableName");
    }
    faults.finish()?;
    if let Some(start) = start {
        check_name_length(start)?;
    }
    let limit = limit.unwrap_or(MOST_LISTED) as usize;
    let mut names = app.database.tables();
    names.retain(|name| !is_own_name(name) && start.is_none_or(|start| name.as_str() > start));
    names.sort();
    let has_more = names.len() > limit;
    names.truncate(limit);
    let mut answer = Map::new();
    if let Some(last) = names.last().filter(|_| has_more) {
        answer.insert("LastEvaluatedTableName".to_owned(), last.as_str().into());
    }
    answer.insert("TableNames".to_owned(), names.into());
    Ok(answer.into())
}

/// A table in the service's words.
pub(super) fn description(known: &Known, status: &str) -> Json {
    let (about, name) = (&known.about, known.table.name());
    let keys: Vec<&String> = known.key.iter().map(|part| &part.name).collect();
    let (partition, sort) = keys.split_at(1.min(keys.len()));
    let attributes: Vec<Json> = about
        .attributes
        .iter()
        .map(|(name, of)| json!({"AttributeName": name, "AttributeType": of}))
        .collect();
    let mut told = json!({
        "TableName": name,
        "TableStatus": status,
        "TableArn": arn(name),
        "TableId": about.id,
        "CreationDateTime": about.created,
        "AttributeDefinitions": attributes,
        "KeySchema": key_schema(partition, sort),
        "ItemCount": 0,
        "TableSizeBytes": 0,
        "DeletionProtectionEnabled": about.protected,
        "ProvisionedThroughput": throughput(&about.units),
    });
    let Some(fields) = told.as_object_mut() else { return told };
    if about.tells_billing {
        let mode = if about.on_demand { "PAY_PER_REQUEST" } else { "PROVISIONED" };
        fields.insert("BillingModeSummary".to_owned(), json!({"BillingMode": mode}));
    }
    if let Some(class) = &about.class {
        fields.insert("TableClassSummary".to_owned(), json!({"TableClass": class}));
    }
    if let Some(stream) = &about.stream {
        let specification = json!({"StreamEnabled": true, "StreamViewType": stream.view});
        fields.insert("StreamSpecification".to_owned(), specification);
    }
    if let Some(stream) = about.stream.as_ref().or(about.former.last()) {
        fields.insert("LatestStreamLabel".to_owned(), stream.label.as_str().into());
        fields.insert("LatestStreamArn".to_owned(), stream.arn(name).into());
    }
    for (field, is_local) in [("LocalSecondaryIndexes", true), ("GlobalSecondaryIndexes", false)] {
        let indexes = about.indexes.iter().filter(|index| index.is_local == is_local);
        let indexes: Vec<Json> = indexes.map(|index| index_description(known, index)).collect();
        if !indexes.is_empty() {
            fields.insert(field.to_owned(), indexes.into());
        }
    }
    told
}

fn index_description(known: &Known, index: &IndexAbout) -> Json {
    let projection = match &index.projection {
        Projected::All => json!({"ProjectionType": "ALL"}),
        Projected::Keys => json!({"ProjectionType": "KEYS_ONLY"}),
        Projected::Include(names) => {
            json!({"ProjectionType": "INCLUDE", "NonKeyAttributes": names})
        }
    };
    let mut told = json!({
        "IndexName": index.name,
        "KeySchema": key_schema(&index.partition, &index.sort),
        "Projection": projection,
        "IndexSizeBytes": 0,
        "ItemCount": 0,
        "IndexArn": format!("{}/index/{}", arn(known.table.name()), index.name),
    });
    let Some(fields) = told.as_object_mut().filter(|_| !index.is_local) else { return told };
    let is_building =
        matches!(known.table.index_progress(&index.name), Ok(IndexProgress::Building { .. }));
    let status = if is_building { "CREATING" } else { "ACTIVE" };
    fields.insert("IndexStatus".to_owned(), status.into());
    if is_building {
        fields.insert("Backfilling".to_owned(), true.into());
    }
    fields.insert("ProvisionedThroughput".to_owned(), throughput(&index.units));
    told
}

fn key_schema<N: AsRef<str>>(partition: &[N], sort: &[N]) -> Vec<Json> {
    let element = |kind: &'static str| move |name: &N| json!({"AttributeName": name.as_ref(), "KeyType": kind});
    partition.iter().map(element("HASH")).chain(sort.iter().map(element("RANGE"))).collect()
}

fn throughput(units: &Units) -> Json {
    let mut told = json!({
        "ReadCapacityUnits": units.read,
        "WriteCapacityUnits": units.write,
        "NumberOfDecreasesToday": 0,
    });
    let times =
        [("LastIncreaseDateTime", units.increased), ("LastDecreaseDateTime", units.decreased)];
    if let Some(fields) = told.as_object_mut() {
        for (name, time) in times {
            fields.extend(time.map(|time| (name.to_owned(), time.into())));
        }
    }
    told
}

pub(super) fn limits() -> Json {
    json!({
        "AccountMaxReadCapacityUnits": 80_000,
        "AccountMaxWriteCapacityUnits": 80_000,
        "TableMaxReadCapacityUnits": 40_000,
        "TableMaxWriteCapacityUnits": 40_000,
    })
}

pub(super) fn endpoints(host: &str) -> Json {
    json!({"Endpoints": [{"Address": host, "CachePeriodInMinutes": 1440}]})
}

pub(super) async fn backups(app: &App, input: Input) -> Result<Json> {
    check_table(&input)?;
    let mut faults = Faults::default();
    faults.table_name(&input);
    faults.finish()?;
    let name = table_name(&input)?;
    app.known(&name)
        .await
        .map_err(|_| Refusal::new("TableNotFoundException", format!("Table not found: {name}")))?;
    Ok(json!({"ContinuousBackupsDescription": {
        "ContinuousBackupsStatus": "ENABLED",
        "PointInTimeRecoveryDescription": {"PointInTimeRecoveryStatus": "DISABLED"},
    }}))
}
