//! A cursor that was changed is refused as one, or leads to a page like any other.
//!
//! The first bytes of the input pick a query, one of its cursors, the direction, and what is
//! changed: nothing, the text, or the bytes behind it, which are then sealed again. The rest are the
//! changes, three bytes each; or instead of a cursor, all of it is text.
#![no_main]

mod accounts;

use std::sync::LazyLock;

use accounts::{DATABASE, TABLES};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use stonecrop::{Condition, Error, Query, Scan, Sort, Table, Timestamp};

const TAKE: usize = 4;

struct Known {
    table: Table,
    query: Query,
    cursors: Vec<String>,
}

/// New ones go to the end: the committed inputs pick by number.
fn queries() -> Vec<Query> {
    vec![
        Query::new(),
        Query::new().sort([Sort::desc("id")]),
        Query::new().sort([Sort::asc("region"), Sort::asc("id")]),
        Query::new().sort([Sort::asc("score"), Sort::desc("name").nulls_first()]),
        Query::new().sort([Sort::desc("address.zip"), Sort::asc("rating")]),
        Query::new().filter(Condition::eq("owner", "u:adam")).sort([Sort::desc("score")]),
        Query::new().filter(Condition::begins_with("note", "")).sort([Sort::desc("note")]),
        Query::new().filter(Condition::eq("region", "eu")).sort([Sort::asc("id")]),
        Query::new().filter(Condition::is_in("id", [0, 3, 4, 9, 12, 15, 18])),
        Query::new().index("by_status").columns(["name"]),
        Query::new().as_of(Timestamp::from_micros(1_800_001_000_000_000)),
    ]
}

static KNOWN: LazyLock<Vec<Known>> = LazyLock::new(|| {
    let tables = TABLES.map(|(name, _)| DATABASE.table(name).unwrap());
    let queries = queries().into_iter().map(|query| query.take(TAKE));
    let known = queries.flat_map(|query| tables.clone().map(|table| (table, query.clone())));
    let with_cursors = known.map(|(table, query)| {
        let mut cursors = Vec::new();
        let mut page = table.query(&query).unwrap();
        while let Some(next) = page.next {
            page = table.query(&query.clone().after(&next)).unwrap();
            cursors.extend([next, page.previous.unwrap()]);
        }
        let mut rows = table.scan(Scan::all()).unwrap();
        rows.next().unwrap().unwrap();
        cursors.push(rows.cursor().unwrap());
        Known { table, query, cursors }
    });
    with_cursors.collect()
});

fn change(bytes: &mut Vec<u8>, changes: &[u8]) {
    for change in changes.chunks_exact(3) {
        let [kind, at, byte] = *change else { return };
        let at = usize::from(at) % (bytes.len() + 1);
        match kind % 5 {
            0 if at < bytes.len() => bytes[at] ^= byte,
            1 if at < bytes.len() => bytes[at] = byte,
            2 if at < bytes.len() => {
                bytes.remove(at);
            }
            3 => bytes.insert(at, byte),
            4 => bytes.truncate(at),
            _ => {}
        }
    }
}

fn changed(cursor: &str, how: u8, changes: &[u8]) -> String {
    match how % 4 {
        0 => cursor.to_owned(),
        1 => String::from_utf8_lossy(changes).into_owned(),
        2 => {
            let mut text = cursor.as_bytes().to_vec();
            change(&mut text, changes);
            String::from_utf8_lossy(&text).into_owned()
        }
        _ => {
            let mut bytes = BASE64.decode(cursor).unwrap();
            bytes.truncate(bytes.len() - 4);
            change(&mut bytes, changes);
            bytes.extend_from_slice(&crc32fast::hash(&bytes).to_be_bytes());
            BASE64.encode(bytes)
        }
    }
}

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    let Some((&[query, cursor, direction, how], changes)) = input.split_first_chunk() else {
        return;
    };
    let Known { table, query, cursors } = &KNOWN[usize::from(query) % KNOWN.len()];
    let cursor = &cursors[usize::from(cursor) % cursors.len()];
    let text = changed(cursor, how, changes);
    let page = match direction % 2 {
        0 => table.query(&query.clone().after(&text)),
        _ => table.query(&query.clone().before(&text)),
    };
    match page {
        Ok(page) => {
            assert!(page.rows.len() <= TAKE);
            // What it leads to are rows, and these have good cursors.
            let next = page.next.map(|next| query.clone().after(next));
            if let Some(next) = next.or(page.previous.map(|cursor| query.clone().before(cursor))) {
                table.query(&next).unwrap();
            }
        }
        Err(error) => assert!(matches!(error, Error::Cursor { .. }), "{error}"),
    }
    match table.scan(Scan::all().after(&text).limit(TAKE)) {
        Ok(rows) => assert!(rows.map(Result::unwrap).count() <= TAKE),
        Err(error) => assert!(matches!(error, Error::Cursor { .. }), "{error}"),
    }
});
