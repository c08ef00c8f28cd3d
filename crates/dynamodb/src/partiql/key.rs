//! Which part of a condition is about the key.

use crate::expression::{Condition, KeyConditions};

/// Takes the tests of key attributes out of a condition that asks for all of its parts: the first
/// of each attribute that a key can be searched by, and what is left of the condition.
///
/// ```
/// use stonecrop_dynamodb::partiql::{Statement, parse, split_key};
/// let text = "DELETE FROM people WHERE id = 7 AND age > 5";
/// let Statement::Delete(delete) = parse(text, vec![])? else { unreachable!() };
/// let (key, rest) = split_key(delete.condition, &["id"]);
/// assert_eq!(key.tests()[0].0, "id");
/// assert_eq!(rest.map(|rest| rest.paths()[0].column().to_owned()).as_deref(), Some("age"));
/// # Ok::<(), stonecrop_dynamodb::Error>(())
/// ```
pub fn split_key(condition: Condition, names: &[&str]) -> (KeyConditions, Option<Condition>) {
    let mut tests = Vec::new();
    let mut rest = Vec::new();
    for part in parts(condition) {
        let test = KeyConditions::new(&part).ok();
        match test.as_ref().map(KeyConditions::tests) {
            Some([(name, test)])
                if names.contains(&name.as_str())
                    && !tests.iter().any(|(other, _)| other == name) =>
            {
                tests.push((name.clone(), test.clone()));
            }
            _ => rest.push(part),
        }
    }
    let rest = match rest.len() {
        0 | 1 => rest.pop(),
        _ => Some(Condition::All(rest)),
    };
    (KeyConditions::from_tests(tests), rest)
}

/// All that must be true at once.
fn parts(condition: Condition) -> Vec<Condition> {
    match condition {
        Condition::All(inner) => inner.into_iter().flat_map(parts).collect(),
        other => vec![other],
    }
}
