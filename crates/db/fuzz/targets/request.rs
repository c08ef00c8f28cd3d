//! A request comes back from its own text, and is answered or refused; the rows are the same with
//! every plan, and page by page.
#![no_main]

mod accounts;

use accounts::DATABASE;
use stonecrop::{Condition, FreshnessFilter, Page, Query, Request, Table};

/// The request without cursors and an end.
fn all(request: &Request, table: &Table) -> Query {
    let mut query = Query::new().sort(request.sort.clone());
    if let Some(columns) = &request.columns {
        query = query.columns(columns.clone());
    }
    let stale = request.freshness.map(|wanted| {
        let schema = table.schema().unwrap();
        let declared = schema.families().iter().flat_map(|family| family.columns());
        let declared = || declared.map(str::to_owned).collect();
        let columns = request.columns.clone().unwrap_or_else(declared);
        let stale = Condition::any(columns.into_iter().map(Condition::IsStale));
        if wanted == FreshnessFilter::AllFresh { stale.not() } else { stale }
    });
    let filters: Vec<_> = request.filter.clone().into_iter().chain(stale).collect();
    if !filters.is_empty() {
        query = query.filter(Condition::all(filters));
    }
    if let Some(time) = request.as_of {
        query = query.as_of(time);
    }
    match &request.index {
        Some(index) => query.index(index),
        None => query,
    }
}

fn keys<'p>(pages: impl IntoIterator<Item = &'p Page>) -> Vec<String> {
    let rows = pages.into_iter().flat_map(|page| &page.rows);
    let mut keys: Vec<String> = rows.map(|row| format!("{:?}", row.key().values())).collect();
    keys.sort();
    keys
}

fn check_rows(request: &Request, table: &Table) {
    let query = all(request, table);
    let rows = keys([&table.query(&query).unwrap()]);
    assert_eq!(table.count(&query).unwrap(), rows.len() as u64);
    for plan in table.explain(&query).unwrap().plans {
        let page = table.query(&query.clone().plan(&plan)).unwrap();
        assert_eq!(keys([&page]), rows, "{plan}");
    }
    // Smaller pages are more of the same, and take their time.
    let Some(take @ 5..) = request.take else { return };
    let mut pages = vec![table.query(&query.clone().take(take)).unwrap()];
    while let Some(next) = pages.last().and_then(|page| page.next.clone()) {
        assert!(pages.len() <= rows.len());
        pages.push(table.query(&query.clone().take(take).after(next)).unwrap());
    }
    assert_eq!(keys(&pages), rows);
}

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    let Ok(request) = serde_json::from_slice::<Request>(input) else { return };
    let text = serde_json::to_string(&request).unwrap();
    // As they are shown, because NaN is not equal to itself.
    match serde_json::from_str::<Request>(&text) {
        Ok(again) => assert_eq!(format!("{again:?}"), format!("{request:?}"), "{text}"),
        // See the target `condition`.
        Err(error) => assert!(error.to_string().starts_with("recursion limit exceeded"), "{text}"),
    }

    let Ok(response) = DATABASE.query(&request) else { return };
    serde_json::to_string(&response).unwrap();
    assert!(request.take.is_none_or(|take| response.rows.len() <= take));
    if let [name] = request.prefixes.as_slice() {
        check_rows(&request, &DATABASE.table(name).unwrap());
    }
});
