//! What a statement that reads answers with.

use stonecrop::{Path, Step};

use super::Select;
use crate::expression::find;
use crate::value::Item;

/// What a SELECT tells of an item: each part by the last name of its path, without what it was in. A
/// part that is a place in a list has no name, and is told by its number among the parts.
///
/// ```
/// use serde_json::json;
/// use stonecrop_dynamodb::partiql::{Statement, parse, told};
/// use stonecrop_dynamodb::value::{decode_item, encode_item};
/// let text = "SELECT home.town, tags[0] FROM people";
/// let Statement::Select(select) = parse(text, vec![])? else { unreachable!() };
/// let item = json!({"home": {"M": {"town": {"S": "Rome"}}}, "tags": {"L": [{"N": "7"}]}});
/// let told = told(&select, decode_item(item)?);
/// assert_eq!(encode_item(&told), json!({"town": {"S": "Rome"}, "_2": {"N": "7"}}));
/// # Ok::<(), stonecrop_dynamodb::Error>(())
/// ```
pub fn told(select: &Select, item: Item) -> Item {
    let Some(projection) = &select.projection else { return item };
    let part = |(number, path): (usize, &Path)| {
        let name = match path.steps().last() {
            None => path.column().to_owned(),
            Some(Step::Field(name)) => name.clone(),
            Some(Step::Index(_)) => format!("_{number}"),
        };
        Some((name, find(&item, path)?.clone()))
    };
    (1..).zip(projection.paths()).filter_map(part).collect()
}
