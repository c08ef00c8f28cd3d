//! Query and Scan.

use std::sync::Arc;

use serde::Serialize;
use serde_json::Value as Json;
use stonecrop_dynamodb::expression::{
    Condition, KeyAttribute, KeyConditions, KeySearch, Placeholders, Projection,
};
use stonecrop_dynamodb::legacy;
use stonecrop_dynamodb::value::{AttributeType, Encoded, Item};

use super::about::{IndexAbout, Projected};
use super::capacity::{Cost, read_units};
use super::expressions::{check_kinds, listed, placeholders, projection};
use super::faults::{Faults, OPERATOR, RETURN_CAPACITY, SELECT, table_name};
use super::found::{Found, Reading};
use super::input::Input;
use super::item::Shown;
use super::keys::{check_content, type_of};
use super::known::Known;
use super::refusal::{Refusal, Result};
use super::wire::Answer;
use crate::app::App;

const MOST_SEGMENTS: i64 = 1_000_000;

/// What both operations have in common.
struct Search {
    input: Input,
    start: Option<Item>,
    filter: Option<Condition>,
    projection: Option<Projection>,
    key: Option<KeyConditions>,
}

pub(super) async fn query(app: &App, mut input: Input) -> Result<Answer> {
    check(&input, Faults::default())?;
    check_query_limit(&input)?;
    let name = table_name(&input)?;
    check_kinds(
        &input,
        &["ProjectionExpression", "FilterExpression", "KeyConditionExpression"],
        &["AttributesToGet", "QueryFilter", "ConditionalOperator", "KeyConditions"],
    )?;
    check_operator(&input, "QueryFilter")?;
    check_select(&input)?;
    let filter = older_filter(&mut input, "QueryFilter", legacy::Filter::Query)?;
    let listed = listed(&input)?;
    let start = start(&mut input)?;
    if !input.has("KeyConditions") && !input.has("KeyConditionExpression") {
        return Err(Refusal::validation(
            "Either the KeyConditions or KeyConditionExpression parameter must be specified in \
             the request.",
        ));
    }
    let mut places = placeholders(&mut input)?;
    let key = input.text("KeyConditionExpression");
    let key = key.map(|text| Condition::parse_key_condition(text, &mut places)).transpose()?;
    let filter = filter_expression(&input, &mut places)?.or(filter);
    let projection = projection(&mut input, &mut places)?.or(listed);
    places.check_all_used()?;
    let key = match (key, input.take("KeyConditions")) {
        (Some(key), _) => KeyConditions::new(&key)?,
        (None, json) => legacy::key_conditions(json.unwrap_or_default())?,
    };
    // An index may have a key of more attributes, which only the table tells.
    if key.tests().is_empty() || (key.tests().len() > 2 && !input.has("IndexName")) {
        return Err(Refusal::validation("Conditions can be of length 1 or 2 only"));
    }
    let known = app.known(&name).await?;
    Search { input, start, filter, projection, key: Some(key) }.answer(app, known).await
}

pub(super) async fn scan(app: &App, mut input: Input) -> Result<Answer> {
    let mut faults = Faults::default();
    faults.at_least(input.integer("Segment"), "segment", 0);
    faults.at_least(input.integer("TotalSegments"), "totalSegments", 1);
    faults.at_most(input.integer("TotalSegments"), "totalSegments", MOST_SEGMENTS);
    faults.at_least(input.integer("Limit"), "limit", 1);
    check(&input, faults)?;
    let name = table_name(&input)?;
    check_kinds(
        &input,
        &["ProjectionExpression", "FilterExpression"],
        &["AttributesToGet", "ScanFilter", "ConditionalOperator"],
    )?;
    check_operator(&input, "ScanFilter")?;
    check_select(&input)?;
    let listed = listed(&input)?;
    let filter = older_filter(&mut input, "ScanFilter", legacy::Filter::Scan)?;
    let start = start(&mut input)?;
    check_segments(&input)?;
    let mut places = placeholders(&mut input)?;
    let filter = filter_expression(&input, &mut places)?.or(filter);
    let projection = projection(&mut input, &mut places)?.or(listed);
    places.check_all_used()?;
    let known = app.known(&name).await?;
    Search { input, start, filter, projection, key: None }.answer(app, known).await
}

/// The rules for single parameters.
fn check(input: &Input, mut faults: Faults) -> Result<()> {
    faults.table_name(input);
    if input.has("IndexName") {
        faults.index_name(input, "");
    }
    faults.one_of(input, "Select", SELECT);
    faults.one_of(input, "ConditionalOperator", OPERATOR);
    faults.one_of(input, "ReturnConsumedCapacity", RETURN_CAPACITY);
    faults.finish()
}

/// The service has words of its own for the limit of a query, after all other rules.
fn check_query_limit(input: &Input) -> Result<()> {
    let mut faults = Faults::default();
    if input.integer("Limit").is_some_and(|limit| limit < 1) {
        faults.add_unshown("Limit", "Member must have value greater than or equal to 1");
    }
    faults.finish()
}

fn check_operator(input: &Input, filter: &str) -> Result<()> {
    let conditions = input.get(filter).and_then(Json::as_object).map_or(0, |fields| fields.len());
    Ok(legacy::check_conditional_operator(input.text("ConditionalOperator"), conditions)?)
}

fn check_segments(input: &Input) -> Result<()> {
    match (input.integer("Segment"), input.integer("TotalSegments")) {
        (Some(_), None) => Err(Refusal::validation(
            "The TotalSegments parameter is required but was not present in the request when \
             Segment parameter is present",
        )),
        (None, Some(_)) => Err(Refusal::validation(
            "The Segment parameter is required but was not present in the request when parameter \
             TotalSegments is present",
        )),
        (Some(segment), Some(total)) if segment >= total => Err(Refusal::validation(format!(
            "The Segment parameter is zero-based and must be less than parameter TotalSegments: \
             Segment: {segment} is not less than TotalSegments: {total}"
        ))),
        _ => Ok(()),
    }
}

fn check_select(input: &Input) -> Result<()> {
    let given =
        ["ProjectionExpression", "AttributesToGet"].into_iter().find(|name| input.has(name));
    let problem = match (input.text("Select"), given) {
        (Some("ALL_PROJECTED_ATTRIBUTES"), _) if !input.has("IndexName") => {
            "ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName".to_owned()
        }
        (Some("COUNT"), Some(name)) => {
            format!("Cannot specify the {name} when choosing to get only the Count")
        }
        (Some(select @ ("ALL_ATTRIBUTES" | "ALL_PROJECTED_ATTRIBUTES")), Some(name)) => {
            format!("Cannot specify the {name} when choosing to get {select}")
        }
        (Some("SPECIFIC_ATTRIBUTES"), None) => {
            "Must specify the AttributesToGet or ProjectionExpression when choosing to get \
             SPECIFIC_ATTRIBUTES"
                .to_owned()
        }
        _ => return Ok(()),
    };
    Err(Refusal::validation(problem))
}

fn start(input: &mut Input) -> Result<Option<Item>> {
    // The service says so of some of its rules, and not of these.
    const UNNAMED: [&str; 5] =
        ["contains duplicates", "number set", "numeric value", "significant digits", "magnitude"];
    if !input.has("ExclusiveStartKey") {
        return Ok(None);
    }
    input.take_item("ExclusiveStartKey").map(Some).map_err(|refusal| {
        match UNNAMED.iter().any(|part| refusal.message.contains(part)) {
            true => refusal,
            false => Refusal {
                message: format!("The provided starting key is invalid: {}", refusal.message),
                ..refusal
            },
        }
    })
}

fn filter_expression(input: &Input, places: &mut Placeholders) -> Result<Option<Condition>> {
    let text = input.text("FilterExpression");
    Ok(text.map(|text| Condition::parse_filter(text, places)).transpose()?)
}

fn older_filter(
    input: &mut Input,
    older: &str,
    which: legacy::Filter,
) -> Result<Option<Condition>> {
    let operator = input.text("ConditionalOperator").map(str::to_owned);
    Ok(match input.take(older) {
        Some(json) => Some(legacy::filter(which, json, operator.as_deref())?),
        None => None,
    })
}

/// The key attributes of a table or an index, with their types.
pub(super) type Parts<'k> = (Vec<KeyAttribute<'k>>, Vec<KeyAttribute<'k>>);

pub(super) fn key_attributes<'k>(known: &'k Known, index: Option<&'k IndexAbout>) -> Parts<'k> {
    let Some(index) = index else {
        let part = |part: &'k super::known::KeyPart| KeyAttribute::new(&part.name, part.of);
        return (
            known.key.iter().take(1).map(part).collect(),
            known.key.iter().skip(1).map(part).collect(),
        );
    };
    let part = |name: &'k String| {
        let of = known.about.type_of(name).and_then(AttributeType::from_code);
        KeyAttribute::new(name, of.unwrap_or(AttributeType::String))
    };
    (index.partition.iter().map(part).collect(), index.sort.iter().map(part).collect())
}

const INVALID_START: &str = "The provided starting key is invalid";
const NOT_OF_SCHEMA: &str = "The provided key element does not match the schema";

/// Refuses a start that has more or fewer attributes than a position has.
fn check_start_count(known: &Known, index: Option<&IndexAbout>, start: &Item) -> Result<()> {
    let of_index = index.into_iter().flat_map(IndexAbout::key);
    let own = known.key.iter().map(|part| &part.name);
    let names: std::collections::BTreeSet<&String> = own.chain(of_index).collect();
    match names.len() == start.len() {
        true => Ok(()),
        false => Err(Refusal::validation(INVALID_START)),
    }
}

/// Refuses a start that has others than its search, or of other types.
fn check_start_parts(start: Option<&Item>, parts: &[KeyAttribute<'_>]) -> Result<()> {
    let Some(start) = start else { return Ok(()) };
    for part in parts {
        let value = start.get(part.name).ok_or_else(|| Refusal::validation(INVALID_START))?;
        if type_of(value) != part.of {
            return Err(Refusal::validation(NOT_OF_SCHEMA));
        }
    }
    Ok(())
}

impl Search {
    async fn answer(self, app: &App, known: Arc<Known>) -> Result<Answer> {
        let index = match self.input.text("IndexName") {
            Some(name) => Some(known.index(name)?.clone()),
            None => None,
        };
        if let Some(index) = &index {
            self.check_index(index)?;
        }
        let (partition, sort) = key_attributes(&known, index.as_ref());
        let search = self.search(&known, index.as_ref(), (&partition, &sort))?;
        for (part, value) in
            search.iter().flat_map(|search| partition.iter().zip(&search.partition))
        {
            check_content(value, part.name)?;
        }
        let segment = (
            self.input.integer("Segment").unwrap_or_default() as u32,
            self.input.integer("TotalSegments").unwrap_or(1) as u32,
        );
        if let Some(start) = &self.start {
            self.check_start(&known, index.as_ref(), search.as_ref(), start, segment)?;
        }
        known.check_scalars(self.projection.iter().flat_map(Projection::paths))?;
        if self.key.is_some() {
            self.check_filter(partition.iter().chain(&sort).map(|part| part.name))?;
        }
        if let Some(index) = &index {
            self.check_shown(&known, index)?;
        }
        if let Some(filter) = &self.filter {
            known.check_scalars(filter.paths().into_iter())?;
        }
        let reading = Reading {
            known: known.clone(),
            index,
            search,
            backward: self.input.get("ScanIndexForward").and_then(Json::as_bool) == Some(false),
            limit: self.input.integer("Limit").map(|limit| limit as usize),
            start: self.start.clone(),
            segment,
            now: app.database.now(),
        };
        if reading.is_of_partition() {
            let (found, rest) = app.read_here(|| reading.begin())?;
            let Some(rows) = rest else { return Ok(self.told(&known, None, &found)) };
            let finish = move |_: &_| {
                let found = reading.finish(found, rows)?;
                Ok(self.told(&known, None, &found))
            };
            return app.apart(finish).await;
        }
        app.apart(move |_| {
            let found = reading.read()?;
            Ok(self.told(&known, reading.index.as_ref(), &found))
        })
        .await
    }

    /// Where to look, once the start is of the right shape. The service asks for the start's part
    /// of an attribute, then for the condition on it, then for the next.
    fn search(
        &self,
        known: &Known,
        index: Option<&IndexAbout>,
        (partition, sort): (&[KeyAttribute<'_>], &[KeyAttribute<'_>]),
    ) -> Result<Option<KeySearch>> {
        if let Some(start) = &self.start {
            let of_table = self.key.is_none() && index.is_none();
            check_start_count(known, index, start).map_err(|refusal| match of_table {
                true => Refusal::validation(format!("{INVALID_START}: {NOT_OF_SCHEMA}")),
                false => refusal,
            })?;
            if of_table {
                // All else is asked of the key as a whole.
                return Ok(None);
            }
        }
        let start = self.start.as_ref();
        check_start_parts(start, partition)?;
        let search = self.key.as_ref().map(|key| key.search(partition, sort)).transpose()?;
        check_start_parts(start, sort)?;
        if let (None, Some(index)) = (&self.key, index) {
            self.check_select_all(index)?;
        }
        Ok(search)
    }

    fn check_index(&self, index: &IndexAbout) -> Result<()> {
        if !index.is_local && self.input.flag("ConsistentRead") {
            return Err(Refusal::validation(
                "Consistent reads are not supported on global secondary indexes",
            ));
        }
        Ok(())
    }

    /// Refuses to tell what a global index does not show.
    fn check_shown(&self, known: &Known, index: &IndexAbout) -> Result<()> {
        if index.is_local {
            return Ok(());
        }
        self.check_select_all(index)?;
        let name = &index.name;
        let paths = self.projection.iter().flat_map(Projection::paths);
        let hidden: Vec<&str> =
            paths.map(|path| path.column()).filter(|name| !known.shows(index, name)).collect();
        if !hidden.is_empty() {
            return Err(Refusal::invalid(format!(
                "Global secondary index {name} does not project [{}]",
                hidden.join(", ")
            )));
        }
        Ok(())
    }

    fn check_select_all(&self, index: &IndexAbout) -> Result<()> {
        let wants_all = self.input.text("Select") == Some("ALL_ATTRIBUTES");
        if index.is_local || !wants_all || matches!(index.projection, Projected::All) {
            return Ok(());
        }
        let name = &index.name;
        Err(Refusal::invalid(format!(
            "Select type ALL_ATTRIBUTES is not supported for global secondary index {name} because \
             its projection type is not ALL"
        )))
    }

    /// Refuses a filter of a query on what its key conditions are for.
    fn check_filter<'k>(&self, mut key: impl Iterator<Item = &'k str>) -> Result<()> {
        let Some(filter) = &self.filter else { return Ok(()) };
        let paths = filter.paths();
        let Some(name) = key.find(|name| paths.iter().any(|path| path.column() == *name)) else {
            return Ok(());
        };
        let which =
            if self.input.has("FilterExpression") { "Filter Expression" } else { "QueryFilter" };
        Err(Refusal::validation(format!(
            "{which} can only contain non-primary key attributes: Primary key attribute: {name}"
        )))
    }

    fn check_start(
        &self,
        known: &Known,
        index: Option<&IndexAbout>,
        search: Option<&KeySearch>,
        start: &Item,
        (segment, total): (u32, u32),
    ) -> Result<()> {
        let key = known.key_of(&known.key_item(start)).map_err(|refusal| Refusal {
            message: format!("The provided starting key is invalid: {}", refusal.message),
            ..refusal
        })?;
        if index.is_none() && total > 1 && !known.table.is_in_segment(key, segment, total)? {
            return Err(Refusal::validation(format!(
                "The provided starting key is invalid: Invalid ExclusiveStartKey. Please use \
                 ExclusiveStartKey with correct Segment. TotalSegments: {total} Segment: {segment}"
            )));
        }
        let Some(search) = search else { return Ok(()) };
        let (partition, sort) = key_attributes(known, index);
        let is = |part: &KeyAttribute<'_>, value| start.get(part.name) == Some(value);
        let is_of_partition =
            partition.iter().zip(&search.partition).all(|(p, value)| is(p, value));
        let tested = search.range.as_ref().zip(sort.get(search.sort.len()));
        if tested.is_none() && search.sort.is_empty() {
            return match is_of_partition {
                true => Ok(()),
                false => Err(Refusal::validation(
                    "The provided starting key is outside query boundaries based on provided \
                     conditions",
                )),
            };
        }
        let is_within = tested.is_none_or(|(test, part)| {
            start.get(part.name).is_some_and(|value| test.matches(value))
        });
        if !is_within || !sort.iter().zip(&search.sort).all(|(part, value)| is(part, value)) {
            return Err(Refusal::validation(
                "The provided starting key does not match the range key predicate",
            ));
        }
        match is_of_partition {
            true => Ok(()),
            false => Err(Refusal::validation(
                "The query can return at most one row and cannot be restarted",
            )),
        }
    }

    /// What was found, as it is told.
    fn told(&self, known: &Known, index: Option<&IndexAbout>, found: &Found) -> Answer {
        let select = self.input.text("Select");
        // A local index fetches from the table what it does not show itself.
        let hides = index.filter(|index| !matches!(index.projection, Projected::All));
        let (hides_first, hides_last) = match index.is_some_and(|index| index.is_local) {
            true => (None, hides.filter(|_| select != Some("ALL_ATTRIBUTES"))),
            false => (hides, None),
        };
        let is_all = self.filter.is_none() && self.projection.is_none() && hides.is_none();
        let shown = |row| {
            if is_all {
                return Some(Shown::Whole(known, row));
            }
            let mut item = known.whole_item(row);
            if let Some(index) = hides_first {
                item = known.projected(index, &item);
            }
            if self.filter.as_ref().is_some_and(|filter| !filter.matches(&item)) {
                return None;
            }
            Some(Shown::Part(match (&self.projection, hides_last) {
                (Some(projection), _) => projection.apply(&item),
                (None, Some(index)) => known.projected(index, &item),
                (None, None) => item,
            }))
        };
        let items: Vec<Shown<'_>> = found.rows.iter().filter_map(shown).collect();
        let units = read_units(found.bytes, self.input.flag("ConsistentRead"));
        let cost = match index {
            Some(index) => Cost::of_index(index, units),
            None => Cost::of_read(units),
        };
        let page = Page {
            count: items.len(),
            scanned_count: found.rows.len(),
            items: (select != Some("COUNT")).then_some(items),
            last_evaluated_key: found.last.as_ref().map(Encoded),
            consumed_capacity: cost
                .told(known.table.name(), self.input.text("ReturnConsumedCapacity")),
        };
        // Types and quotes take about as much as the items themselves.
        let room = if page.items.is_some() { 2 * found.bytes } else { 0 };
        Answer::with_room(room, &page)
    }
}

/// What is answered.
#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct Page<'f> {
    count: usize,
    scanned_count: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    items: Option<Vec<Shown<'f>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_evaluated_key: Option<Encoded<'f, Item>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    consumed_capacity: Option<Json>,
}
