//! Every plan of a random query against a naive look at all rows.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use stonecrop::{Facets, Path, Query, Row, Summary, Value};

use super::model::{Seen, compare_sorted, hundredths, key_text, order, sort_values};
use super::random::{Random, RandomQuery, World};

/// How many tables there are, and how many queries of each; STONECROP_TABLES makes it more.
const TABLES: u64 = 400;
const QUERIES: usize = 25;

static EXECUTIONS: AtomicUsize = AtomicUsize::new(0);

fn tables() -> u64 {
    let wanted = std::env::var("STONECROP_TABLES").ok();
    wanted.map_or(TABLES, |wanted| wanted.parse().unwrap())
}

/// On two threads, since that is what there is.
fn on_two_threads(check: impl Fn(u64) + Sync) {
    let first = std::env::var("STONECROP_SEED").ok().map(|seed| seed.parse::<u64>().unwrap());
    let seeds = match first {
        Some(seed) => seed..seed + 1,
        None => 0..tables(),
    };
    let check = &check;
    std::thread::scope(|scope| {
        for thread in 0..2 {
            let seeds = seeds.clone();
            scope.spawn(move || seeds.filter(|seed| seed % 2 == thread).for_each(check));
        }
    });
}

#[test]
fn every_plan_gives_the_rows_that_a_naive_look_gives() {
    on_two_threads(|seed| {
        let world = World::new(seed);
        let rows = world.seen();
        let check = Check { world: &world, rows: &rows };
        check.stored();
        let mut random = Random(seed ^ 0xABCD);
        for _ in 0..QUERIES {
            let parts = world.query(&mut random);
            check.query(&parts, &mut random);
        }
    });
    println!("{} executions", EXECUTIONS.load(Relaxed));
}

struct Check<'w> {
    world: &'w World,
    rows: &'w [Seen],
}

impl Check<'_> {
    /// That the list of rows is the table.
    fn stored(&self) {
        let page = self.world.table.query(&Query::new()).unwrap();
        let mut found: Vec<String> = page.rows.iter().map(key_text).collect();
        found.sort();
        let mut expected: Vec<String> = self.rows.iter().map(Seen::key_text).collect();
        expected.sort();
        assert_eq!(found, expected, "the whole table");
        let report = self.world.fixture.db.check().unwrap();
        assert!(report.problems.is_empty(), "{report:?}");
    }

    fn query(&self, parts: &RandomQuery, random: &mut Random) {
        let query = parts.query();
        let expected = parts.select(self.rows);
        let mut sorted = expected.clone();
        sorted.sort_by(|a, b| {
            let (a, b) = (sort_values(a, &parts.sort), sort_values(b, &parts.sort));
            compare_sorted(&parts.sort, &a, &b)
        });
        let explanation = self.world.table.explain(&query);
        let explanation = explanation.unwrap_or_else(|error| panic!("{error}: {query:?}"));
        let plans = explanation.plans.iter().map(|name| query.clone().plan(name.as_str()));
        for query in [query.clone()].into_iter().chain(plans) {
            EXECUTIONS.fetch_add(1, Relaxed);
            let all = self.page(&query, parts, &sorted, 0, None);
            let take = random.below(sorted.len() + 3);
            self.page(&query.clone().take(take), parts, &sorted, 0, Some(take));
            let skip = random.below(sorted.len() + 2);
            self.page(&query.clone().skip(skip).take(take), parts, &sorted, skip, Some(take));
            if random.once_in(3) {
                let keys: Vec<String> = all.iter().map(key_text).collect();
                self.walk(&query, parts, &sorted, &keys, 1 + random.below(take + 3));
            }
            self.aggregates(&query, self.world.column(random), &expected);
        }
    }

    fn page(
        &self,
        query: &Query,
        parts: &RandomQuery,
        sorted: &[&Seen],
        skip: usize,
        take: Option<usize>,
    ) -> Vec<Row> {
        let page = self.world.table.query(query);
        let page = page.unwrap_or_else(|error| panic!("{error}: {query:?}"));
        let after = &sorted[skip.min(sorted.len())..];
        let expected = &after[..take.unwrap_or(after.len()).min(after.len())];
        let found: Vec<String> = page.rows.iter().map(key_text).collect();
        if take.is_none() {
            let mut keys: Vec<String> = expected.iter().map(|row| row.key_text()).collect();
            let mut found = found.clone();
            keys.sort();
            found.sort();
            assert_eq!(found, keys, "the rows of {query:?}");
        }
        assert_eq!(found.len(), expected.len(), "how many rows of {query:?}");
        let by_key: BTreeMap<String, &Seen> =
            sorted.iter().map(|row| (row.key_text(), *row)).collect();
        let mut once: Vec<&String> = found.iter().collect();
        once.sort();
        once.dedup();
        assert_eq!(once.len(), found.len(), "a row twice in {query:?}");
        for ((row, key), expected) in page.rows.iter().zip(&found).zip(expected) {
            let known = by_key.get(key);
            let known = known.unwrap_or_else(|| panic!("{key} does not qualify for {query:?}"));
            let sort = &parts.sort;
            let (is, should) = (sort_values(known, sort), sort_values(expected, sort));
            let order = compare_sorted(sort, &is, &should);
            assert!(order.is_eq(), "{is:?} where {should:?} should be: {query:?}");
            same_cells(row, known, parts, query);
        }
        assert_eq!(page.next.is_some(), expected.len() < after.len() && !found.is_empty());
        assert_eq!(page.previous.is_some(), skip > 0 && !found.is_empty());
        page.rows
    }

    /// All pages forward, and back again.
    fn walk(
        &self,
        query: &Query,
        parts: &RandomQuery,
        sorted: &[&Seen],
        all: &[String],
        take: usize,
    ) {
        let query = query.clone().take(take);
        let ask = |query: Query| {
            let page = self.world.table.query(&query);
            page.unwrap_or_else(|error| panic!("{error}: {query:?}"))
        };
        let mut pages = vec![ask(query.clone())];
        while let Some(next) = pages.last().unwrap().next.clone() {
            pages.push(ask(query.clone().after(next)));
            assert!(pages.len() <= all.len() + 1, "there is no end to {query:?}");
        }
        let keys = |page: &stonecrop::Page| page.rows.iter().map(key_text).collect::<Vec<_>>();
        let found: Vec<String> = pages.iter().flat_map(keys).collect();
        let mut a = found.clone();
        let mut b = all.to_vec();
        a.sort();
        b.sort();
        assert_eq!(a, b, "all pages of {query:?}");
        let by_key: BTreeMap<String, &Seen> =
            sorted.iter().map(|row| (row.key_text(), *row)).collect();
        for (key, expected) in found.iter().zip(sorted) {
            let (is, should) =
                (sort_values(by_key[key], &parts.sort), sort_values(expected, &parts.sort));
            assert!(compare_sorted(&parts.sort, &is, &should).is_eq(), "the order of {query:?}");
        }
        let mut back = vec![pages.last().unwrap().clone()];
        while let Some(previous) = back.last().unwrap().previous.clone() {
            back.push(ask(query.clone().before(previous)));
            assert!(back.len() <= all.len() + 1, "there is no beginning of {query:?}");
        }
        back.reverse();
        let (there, back): (Vec<_>, Vec<_>) =
            (pages.iter().map(keys).collect(), back.iter().map(keys).collect());
        assert_eq!(back, there, "the pages of {query:?} on the way back");
    }

    fn aggregates(&self, query: &Query, column: &str, expected: &[&Seen]) {
        let table = &self.world.table;
        assert_eq!(table.count(query).unwrap(), expected.len() as u64, "count of {query:?}");
        let facets = table.facets(query, column).unwrap();
        let values = sorted_facets(&facets);
        let expected_values = expected_facets(column, expected);
        let same = values.len() == expected_values.len()
            && values
                .iter()
                .zip(&expected_values)
                .all(|(a, b)| order(&a.0, &b.0).is_eq() && a.1 == b.1);
        assert!(same, "{column}: {values:?}, not {expected_values:?}, in {query:?}");
        let summary = table.summarize(query, column).unwrap();
        check_summary(&summary, column, expected, query);
        for family in table.freshness(query).unwrap() {
            let known = expected.iter().map(|row| row.families.get(family.family.as_str()));
            let count = |wanted: Option<bool>| {
                known.clone().filter(|fresh| fresh.copied() == wanted).count() as u64
            };
            let found = (family.fresh, family.stale, family.missing);
            let expected = (count(Some(true)), count(Some(false)), count(None));
            assert_eq!(found, expected, "freshness of {} in {query:?}", family.family);
        }
    }
}

/// That a row has the columns that were asked for, as they are.
fn same_cells(row: &Row, known: &Seen, parts: &RandomQuery, query: &Query) {
    let wanted = known
        .cells
        .iter()
        .filter(|(name, _)| parts.columns.as_ref().is_none_or(|columns| columns.contains(name)));
    let mut found: BTreeMap<&str, _> = row.columns().collect();
    for (name, cell) in wanted {
        let Some(found) = found.remove(name) else {
            panic!("{name} is missing in {row:?} of {query:?}");
        };
        assert_eq!(found.value, cell.value, "{name} in {query:?}");
        assert_eq!((found.fresh, found.written_at), (cell.fresh, cell.written_at), "{query:?}");
    }
    assert!(found.is_empty(), "{found:?} too much in {query:?}");
}

fn sorted_facets(facets: &Facets) -> Vec<(Value, u64)> {
    assert!(facets.values.is_sorted_by(|a, b| a.1 >= b.1));
    let mut values = facets.values.clone();
    values.sort_by(|a, b| order(&a.0, &b.0));
    values
}

fn expected_facets(column: &str, rows: &[&Seen]) -> Vec<(Value, u64)> {
    let path = Path::from(column);
    let values = rows.iter().filter_map(|row| row.at(&path));
    let mut values: Vec<&Value> = values.filter(|value| **value != Value::Null).collect();
    values.sort_by(|a, b| order(a, b));
    let groups = values.chunk_by(|a, b| order(a, b).is_eq());
    groups.map(|group| (group[0].clone(), group.len() as u64)).collect()
}

fn check_summary(summary: &Summary, column: &str, rows: &[&Seen], query: &Query) {
    let path = Path::from(column);
    let values = rows.iter().filter_map(|row| row.at(&path)).filter(|value| **value != Value::Null);
    let values: Vec<&Value> = values.collect();
    assert_eq!(summary.rows, rows.len() as u64, "{query:?}");
    assert_eq!(summary.values, values.len() as u64, "{column} in {query:?}");
    let same = |a: Option<&Value>, b: Option<&&Value>| match (a, b) {
        (Some(a), Some(b)) => order(a, b).is_eq(),
        (a, b) => a.is_none() && b.is_none(),
    };
    let max = values.iter().max_by(|a, b| order(a, b));
    let min = values.iter().min_by(|a, b| order(a, b));
    assert!(same(summary.max.as_ref(), max), "max of {column}: {summary:?} in {query:?}");
    assert!(same(summary.min.as_ref(), min), "min of {column}: {summary:?} in {query:?}");
    let is_float = values.iter().any(|value| matches!(value, Value::Float(_)));
    let numbers: Vec<i128> = values.iter().filter_map(|value| hundredths(value)).collect();
    assert_eq!(summary.numbers, numbers.len() as u64);
    let found = summary.sum.as_ref().map(|sum| hundredths(sum).unwrap());
    // The largest ints are no floats.
    if !is_float || numbers.iter().all(|number| number.abs() < 1 << 50) {
        let sum = (!numbers.is_empty()).then(|| numbers.iter().sum());
        assert_eq!(found, sum, "sum of {column} in {query:?}");
    }
}
