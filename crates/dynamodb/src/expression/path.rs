//! Document paths: where they lead, how messages show them, and which are in each other's way.

use stonecrop::{Path, Step, Value};

use crate::value::Item;

/// The value that a path leads to in an item.
///
/// ```
/// use stonecrop::Path;
/// use stonecrop_dynamodb::expression::find;
/// use stonecrop_dynamodb::value::decode_item;
/// let item = decode_item(serde_json::json!({"a": {"L": [{"M": {"b": {"S": "c"}}}]}}))?;
/// assert_eq!(find(&item, &Path::new("a").index(0).field("b")), Some(&"c".into()));
/// assert_eq!(find(&item, &Path::new("a").index(1)), None);
/// # Ok::<(), stonecrop_dynamodb::Error>(())
/// ```
pub fn find<'i>(item: &'i Item, path: &Path) -> Option<&'i Value> {
    path.steps().iter().try_fold(item.get(path.column())?, |value, step| match (value, step) {
        (Value::Map(values), Step::Field(name)) => values.get(name),
        (Value::List(values), Step::Index(index)) => values.get(*index),
        _ => None,
    })
}

/// A path as messages of the service show it.
///
/// ```
/// use stonecrop::Path;
/// use stonecrop_dynamodb::expression::path_text;
/// assert_eq!(path_text(&Path::new("a").index(1).field("b")), "[a, [1], b]");
/// ```
pub fn path_text(path: &Path) -> String {
    let mut text = format!("[{}", path.column());
    for step in path.steps() {
        match step {
            Step::Field(name) => text.extend([", ", name]),
            Step::Index(index) => text.push_str(&format!(", [{index}]")),
        }
    }
    text.push(']');
    text
}

/// How two paths are in each other's way, if they are.
fn clash(one: &Path, two: &Path) -> Option<&'static str> {
    if one.column() != two.column() {
        return None;
    }
    for steps in one.steps().iter().zip(two.steps()) {
        match steps {
            (Step::Field(a), Step::Field(b)) if a == b => {}
            (Step::Index(a), Step::Index(b)) if a == b => {}
            (Step::Field(_), Step::Index(_)) | (Step::Index(_), Step::Field(_)) => {
                return Some("conflict");
            }
            _ => return None,
        }
    }
    Some("overlap")
}

/// Refuses paths of which one is in another, or that take one value as a list and as a map.
pub(crate) fn check_apart(paths: &[&Path]) -> Result<(), String> {
    let pairs = || {
        let seconds = paths.iter().enumerate();
        seconds.flat_map(|(at, two)| paths.iter().take(at).map(move |one| (*one, *two)))
    };
    for kind in ["overlap", "conflict"] {
        if let Some((one, two)) = pairs().find(|(one, two)| clash(one, two) == Some(kind)) {
            return Err(format!(
                "Two document paths {kind} with each other; must remove or rewrite one of these \
                 paths; path one: {}, path two: {}",
                path_text(one),
                path_text(two)
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_overlap_where_one_leads_into_the_other() {
        let (a, ab) = (Path::new("a"), Path::new("a").field("b"));
        assert_eq!(clash(&a, &ab), Some("overlap"));
        assert_eq!(clash(&ab, &ab), Some("overlap"));
        assert_eq!(clash(&ab, &Path::new("a").index(1)), Some("conflict"));
        assert_eq!(clash(&ab, &Path::new("a").field("c")), None);
        assert_eq!(clash(&a, &Path::new("b")), None);
    }

    #[test]
    fn an_overlap_is_told_before_a_conflict() {
        let paths = [
            Path::new("d").index(1),
            Path::new("d").field("b"),
            Path::new("c").index(1),
            Path::new("c"),
        ];
        let problem = check_apart(&paths.each_ref()).unwrap_err();
        assert!(problem.starts_with("Two document paths overlap"), "{problem}");
        assert!(problem.ends_with("path one: [c, [1]], path two: [c]"), "{problem}");
    }
}
