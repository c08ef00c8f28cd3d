//! Keys, families and indexes in a line, as they are given to `stonecrop table`.

use serde_json::{Map, Value as Json, json};

use crate::error::{Error, Result};
use crate::value::{TYPES, column_type};

/// The fields of the partition key and, after a semicolon, those of the sort key.
pub(crate) fn key(text: &str) -> (String, Option<String>) {
    match text.split_once(';') {
        Some((partition, sort)) => (partition.trim().to_owned(), Some(sort.trim().to_owned())),
        None => (text.trim().to_owned(), None),
    }
}

/// A family, as in `crm: name, email string, ttl 10m, keep 1d, history 5 versions`.
pub(crate) fn family(text: &str) -> Result<Json> {
    let (name, rest) = named(text, "family", "crm: name, email string, ttl 10m")?;
    let mut family = Map::new();
    family.insert("name".to_owned(), name.into());
    let mut columns = Vec::new();
    for item in rest.split(',').map(str::trim).filter(|item| !item.is_empty()) {
        let words: Vec<&str> = item.split_whitespace().collect();
        match words.as_slice() {
            ["ttl" | "keep" | "history", typed] if column_type(typed).is_some() => {
                columns.push(column(item)?);
            }
            ["ttl", _, ..] => insert(&mut family, "ttl", item, after(item, "ttl").into())?,
            ["keep", _, ..] => insert(&mut family, "keep", item, after(item, "keep").into())?,
            ["history", "for", _, ..] => {
                let duration = after(after(item, "history"), "for");
                insert(&mut family, "history", item, json!({ "for": duration }))?;
            }
            ["history", count, "versions" | "version"] => {
                let count: u32 = count.parse().map_err(|_| not_understood(text, item))?;
                insert(&mut family, "history", item, json!({ "versions": count }))?;
            }
            _ => columns.push(column(item)?),
        }
    }
    family.insert("columns".to_owned(), columns.into());
    Ok(family.into())
}

/// A column, as in `email` or `email string`.
pub(crate) fn column(text: &str) -> Result<Json> {
    match text.split_whitespace().collect::<Vec<_>>().as_slice() {
        [name] => Ok(json!({ "name": name, "type": "any" })),
        [name, named_type] if column_type(named_type).is_some() => {
            Ok(json!({ "name": name, "type": named_type }))
        }
        [_, other] => Err(Error::Usage(format!(
            "in {text:?}, {other:?} is no type of a column; there are {TYPES}"
        ))),
        _ => Err(not_understood(text, text)),
    }
}

/// An index, as in `unique by_owner: owner string, score i64 desc; covering name`.
pub(crate) fn index(text: &str) -> Result<Json> {
    let (name, rest) = named(text, "index", "by_owner: owner string, score i64 desc")?;
    let (unique, name) = match name.split_once(char::is_whitespace) {
        Some(("unique", name)) => (true, name.trim()),
        _ => (false, name),
    };
    let (columns, covering) = match rest.split_once(';') {
        None => (rest, Vec::new()),
        Some((columns, more)) => match more.trim().strip_prefix("covering ") {
            Some(names) => (columns, names.split(',').map(str::trim).collect()),
            None => return Err(not_understood(text, more.trim())),
        },
    };
    Ok(json!({ "name": name, "columns": columns.trim(), "unique": unique, "covering": covering }))
}

/// The name before a colon, and what follows it.
fn named<'t>(text: &'t str, what: &str, example: &str) -> Result<(&'t str, &'t str)> {
    match text.split_once(':') {
        Some((name, rest)) if !name.trim().is_empty() => Ok((name.trim(), rest.trim())),
        _ => Err(Error::Usage(format!(
            "{text:?} is no {what}: its name comes first, then a colon, as in {example:?}"
        ))),
    }
}

fn insert(family: &mut Map<String, Json>, name: &str, item: &str, value: Json) -> Result<()> {
    match family.insert(name.to_owned(), value) {
        None => Ok(()),
        Some(_) => Err(Error::Usage(format!("a family has one {name}, and {item:?} is another"))),
    }
}

fn after<'t>(text: &'t str, word: &str) -> &'t str {
    text.trim().strip_prefix(word).unwrap_or(text).trim()
}

fn not_understood(text: &str, item: &str) -> Error {
    Error::Usage(format!("in {text:?}, {item:?} is not understood; stonecrop table create --help"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_has_a_partition_and_perhaps_a_sort_key() {
        assert_eq!(key("id u64"), ("id u64".to_owned(), None));
        let expected = ("company string".to_owned(), Some("id u64, at date".to_owned()));
        assert_eq!(key("company string; id u64, at date"), expected);
    }

    #[test]
    fn a_family_is_its_columns_and_how_they_age() {
        let text = "crm: name, email string, ttl 1h 30m, keep 30d, history 5 versions";
        let expected = json!({
            "name": "crm", "ttl": "1h 30m", "keep": "30d", "history": {"versions": 5},
            "columns": [{"name": "name", "type": "any"}, {"name": "email", "type": "string"}],
        });
        assert_eq!(family(text).unwrap(), expected);
        let aged = family("f: history for 30d").unwrap();
        assert_eq!(aged["history"], json!({"for": "30d"}));
        let columns = family("f: ttl, keep int").unwrap();
        assert_eq!(columns["columns"][1], json!({"name": "keep", "type": "int"}));
    }

    #[test]
    fn an_index_can_be_unique_and_covering() {
        let expected = json!({
            "name": "by_owner", "columns": "owner string, score i64 desc", "unique": true,
            "covering": ["name", "plan"],
        });
        let text = "unique by_owner: owner string, score i64 desc; covering name, plan";
        assert_eq!(index(text).unwrap(), expected);
        assert_eq!(index("by_x: x i64").unwrap()["unique"], json!(false));
    }

    #[test]
    fn what_is_not_understood_is_named() {
        for (result, part) in [
            (family("crm"), "\"crm\" is no family"),
            (family("crm: name text"), "\"text\" is no type"),
            (family("crm: ttl 1m, ttl 2m"), "\"ttl 2m\" is another"),
            (family("crm: history many versions"), "\"history many versions\""),
            (index("by_owner"), "is no index"),
            (index("by_owner: owner string; sorted"), "\"sorted\" is not understood"),
        ] {
            let error = result.unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
    }
}
