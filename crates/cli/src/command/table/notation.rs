//! Keys, families and indexes in a line, as they are given to `stonecrop table`.

use stonecrop_server::api::{Column, Family, History, Index, Lasting};

use crate::error::{Error, Result};
use crate::value::{TYPES, column_type};

/// The fields of the partition key and, after a semicolon, those of the sort key.
pub(crate) fn key(text: &str) -> (String, String) {
    match text.split_once(';') {
        Some((partition, sort)) => (partition.trim().to_owned(), sort.trim().to_owned()),
        None => (text.trim().to_owned(), String::new()),
    }
}

/// A family, as in `crm: name, email string, ttl 10m, keep 1d, history 5 versions`.
pub(crate) fn family(text: &str) -> Result<Family> {
    let (name, rest) = named(text, "family", "crm: name, email string, ttl 10m")?;
    let (mut ttl, mut keep, mut history) = (None, None, None);
    let mut columns = Vec::new();
    for item in rest.split(',').map(str::trim).filter(|item| !item.is_empty()) {
        let words: Vec<&str> = item.split_whitespace().collect();
        match words.as_slice() {
            ["ttl" | "keep" | "history", typed] if column_type(typed).is_some() => {
                columns.push(column(item)?);
            }
            ["ttl", _, ..] => once(&mut ttl, item, lasting(after(item, "ttl"))?)?,
            ["keep", _, ..] => once(&mut keep, item, lasting(after(item, "keep"))?)?,
            ["history", "for", _, ..] => {
                let time = lasting(after(after(item, "history"), "for"))?;
                once(&mut history, item, History::For(time))?;
            }
            ["history", count, "versions" | "version"] => {
                let count = count.parse().map_err(|_| not_understood(text, item))?;
                once(&mut history, item, History::Versions(count))?;
            }
            _ => columns.push(column(item)?),
        }
    }
    Ok(Family { name: name.to_owned(), columns, ttl, keep, history })
}

/// A column, as in `email` or `email string`.
fn column(text: &str) -> Result<Column> {
    let (name, named_type) = match text.split_whitespace().collect::<Vec<_>>().as_slice() {
        [name] => (*name, "any"),
        [name, named_type] => (*name, *named_type),
        _ => return Err(not_understood(text, text)),
    };
    let unknown =
        || Error::Usage(format!("in {text:?}, {named_type:?} is no type; there are {TYPES}"));
    let column_type = column_type(named_type).ok_or_else(unknown)?;
    Ok(Column { name: name.to_owned(), column_type })
}

/// An index, as in `unique by_owner: owner string, score i64 desc; covering name`.
pub(crate) fn index(text: &str) -> Result<Index> {
    let (name, rest) = named(text, "index", "by_owner: owner string, score i64 desc")?;
    let (unique, name) = match name.split_once(char::is_whitespace) {
        Some(("unique", name)) => (true, name.trim()),
        _ => (false, name),
    };
    let (columns, covering) = match rest.split_once(';') {
        None => (rest, Vec::new()),
        Some((columns, more)) => match more.trim().strip_prefix("covering ") {
            Some(names) => (columns, names.split(',').map(|name| name.trim().to_owned()).collect()),
            None => return Err(not_understood(text, more.trim())),
        },
    };
    let (name, columns) = (name.to_owned(), columns.trim().to_owned());
    Ok(Index { name, columns, unique, covering, progress: None })
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

fn once<T>(known: &mut Option<T>, item: &str, found: T) -> Result<()> {
    match known.replace(found) {
        None => Ok(()),
        Some(_) => Err(Error::Usage(format!("{item:?} is said twice of one family"))),
    }
}

fn lasting(text: &str) -> Result<Lasting> {
    text.parse().map_err(Error::Usage)
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
    use serde_json::{Value as Json, json};

    fn as_json(value: impl serde::Serialize) -> Json {
        serde_json::to_value(value).unwrap()
    }

    #[test]
    fn a_key_has_a_partition_and_perhaps_a_sort_key() {
        assert_eq!(key("id u64"), ("id u64".to_owned(), String::new()));
        let expected = ("company string".to_owned(), "id u64, at date".to_owned());
        assert_eq!(key("company string; id u64, at date"), expected);
    }

    #[test]
    fn a_family_is_its_columns_and_how_they_age() {
        let text = "crm: name, email string, ttl 1h 30m, keep 30d, history 5 versions";
        let expected = json!({
            "name": "crm", "ttl": "1h 30m", "keep": "720h", "history": {"versions": 5},
            "columns": [{"name": "name", "type": "any"}, {"name": "email", "type": "string"}],
        });
        assert_eq!(as_json(family(text).unwrap()), expected);
        let aged = as_json(family("f: history for 12h").unwrap());
        assert_eq!(aged["history"], json!({"for": "12h"}));
        let columns = as_json(family("f: ttl, keep int").unwrap());
        assert_eq!(columns["columns"][1], json!({"name": "keep", "type": "int"}));
    }

    #[test]
    fn an_index_can_be_unique_and_covering() {
        let expected = json!({
            "name": "by_owner", "columns": "owner string, score i64 desc", "unique": true,
            "covering": ["name", "plan"],
        });
        let text = "unique by_owner: owner string, score i64 desc; covering name, plan";
        assert_eq!(as_json(index(text).unwrap()), expected);
        assert!(!index("by_x: x i64").unwrap().unique);
    }

    #[test]
    fn what_is_not_understood_is_named() {
        for (error, part) in [
            (family("crm").unwrap_err(), "\"crm\" is no family"),
            (family("crm: name text").unwrap_err(), "\"text\" is no type"),
            (family("crm: ttl 1m, ttl 2m").unwrap_err(), "\"ttl 2m\" is said twice"),
            (family("crm: ttl soon").unwrap_err(), "\"soon\" is no duration"),
            (family("crm: history many versions").unwrap_err(), "\"history many versions\""),
            (index("by_owner").unwrap_err(), "is no index"),
            (index("by_owner: owner string; sorted").unwrap_err(), "\"sorted\""),
        ] {
            let error = error.to_string();
            assert!(error.contains(part), "{error}");
        }
    }
}
