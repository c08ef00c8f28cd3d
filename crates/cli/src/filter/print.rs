//! Conditions as filters, to compare with what they are read as.

use stonecrop::{Comparison, Condition, Path, Step, Value};

use super::parse::{continues_name, starts_name};

pub(super) fn print(condition: &Condition) -> String {
    let list = |values: &[Value]| values.iter().map(literal).collect::<Vec<_>>().join(", ");
    match condition {
        Condition::Exists => "exists".to_owned(),
        Condition::NotExists => "not exists".to_owned(),
        Condition::Has(at) => format!("{} exists", path(at)),
        Condition::IsNull(at) => format!("{} is null", path(at)),
        Condition::HasValue(at) => format!("{} is not null", path(at)),
        Condition::Compare(at, how, value) => {
            format!("{} {} {}", path(at), sign(*how), literal(value))
        }
        Condition::In(at, values) => format!("{} in ({})", path(at), list(values)),
        Condition::Between(at, low, high) => {
            format!("{} between {} and {}", path(at), literal(low), literal(high))
        }
        Condition::BeginsWith(at, start) => format!("{} begins with {}", path(at), literal(start)),
        Condition::Contains(at, value) => format!("{} contains {}", path(at), literal(value)),
        Condition::WrittenAt(column, how, time) => {
            let time = literal(&Value::Timestamp(*time));
            format!("{} written {} {time}", path(&Path::new(column)), sign(*how))
        }
        Condition::IsFresh(column) => format!("{} is fresh", path(&Path::new(column))),
        Condition::IsStale(column) => format!("{} is stale", path(&Path::new(column))),
        Condition::All(all) => all.iter().map(nested).collect::<Vec<_>>().join(" and "),
        Condition::Any(any) => any.iter().map(nested).collect::<Vec<_>>().join(" or "),
        Condition::Not(inner) => format!("not {}", nested(inner)),
        other => panic!("{other:?} is new"),
    }
}

/// In parentheses where it has parts of its own.
fn nested(condition: &Condition) -> String {
    match condition {
        Condition::All(_) | Condition::Any(_) | Condition::Exists => {
            format!("({})", print(condition))
        }
        _ => print(condition),
    }
}

fn sign(how: Comparison) -> &'static str {
    match how {
        Comparison::Eq => "=",
        Comparison::Ne => "!=",
        Comparison::Lt => "<",
        Comparison::Le => "<=",
        Comparison::Gt => ">",
        Comparison::Ge => ">=",
    }
}

fn path(path: &Path) -> String {
    let text = path.to_string();
    let bare = |name: &str| name.starts_with(starts_name) && name.chars().all(continues_name);
    let quoted = |name: &str| serde_json::Value::from(name).to_string();
    let reserved = ["and", "or", "not", "exists"];
    let column = path.column();
    let mut printed = match bare(column) && !text.starts_with('"') && !reserved.contains(&column) {
        true => column.to_owned(),
        false => quoted(column),
    };
    for step in path.steps() {
        printed += &match step {
            Step::Field(name) if bare(name) => format!(".{name}"),
            Step::Field(name) => format!(".{}", quoted(name)),
            Step::Index(index) => format!("[{index}]"),
        };
    }
    printed
}

fn literal(value: &Value) -> String {
    let json = serde_json::to_value(value).unwrap();
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Int(value) => value.to_string(),
        Value::Float(value) => format!("{value:?}"),
        Value::Decimal(value) => format!("{value}d"),
        Value::String(text) => serde_json::Value::from(text.as_str()).to_string(),
        Value::Bytes(bytes) => format!("x\"{}\"", crate::output::hex(bytes)),
        Value::Timestamp(_) => format!("timestamp {}", json["Timestamp"]),
        Value::Date(_) => format!("date {}", json["Date"]),
        Value::Uuid(_) => format!("uuid {}", json["Uuid"]),
        other => panic!("{other:?} can't be written in a filter"),
    }
}
