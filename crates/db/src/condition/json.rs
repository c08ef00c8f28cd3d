//! Conditions as JSON: a tree of nodes, of which the leaves have a field, an operator and a value.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value as Json};

use super::{Comparison, Condition};
use crate::path::Path;
use crate::value::Value;

/// How deep nodes may be nested.
const MAX_DEPTH: usize = 32;
/// How many nodes there may be.
const MAX_NODES: usize = 1_000;

const COMPARISONS: [(Comparison, &str, &str); 6] = [
    (Comparison::Eq, "Eq", "WrittenEq"),
    (Comparison::Ne, "Ne", "WrittenNe"),
    (Comparison::Lt, "Lt", "WrittenLt"),
    (Comparison::Le, "Le", "WrittenLe"),
    (Comparison::Gt, "Gt", "WrittenGt"),
    (Comparison::Ge, "Ge", "WrittenGe"),
];
pub(crate) const OPERATORS: &str = "Eq, Ne, Lt, Le, Gt, Ge, In, Between, BeginsWith, Contains, Exists, \
                         IsNull, HasValue, IsFresh, IsStale, WrittenEq, WrittenNe, WrittenLt, WrittenLe, \
                         WrittenGt, WrittenGe, RowExists, RowNotExists";

#[derive(Serialize)]
#[serde(untagged)]
enum Node<'c> {
    Leaf {
        #[serde(rename = "Condition")]
        leaf: Leaf<'c>,
    },
    Group {
        logical: &'static str,
        children: &'c [Condition],
    },
}

#[derive(Serialize)]
struct Leaf<'c> {
    #[serde(skip_serializing_if = "Option::is_none")]
    field: Option<String>,
    operator: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<Operand<'c>>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Operand<'c> {
    One(&'c Value),
    Made(Value),
}

/// A node is a condition on a field, or several nodes with `And`, `Or` or `Not`, which is true
/// where none of them is.
///
/// The field is a [`Path`]. The operators `Eq`, `Ne`, `Lt`, `Le`, `Gt`, `Ge`, `BeginsWith` and
/// `Contains` take a value, `In` a list, `Between` a list of two; `Exists` (which is
/// [`Condition::Has`]), `IsNull`, `HasValue`, `IsFresh` and `IsStale` take none. When a column was written is
/// compared with a timestamp by `WrittenEq`, `WrittenNe`, `WrittenLt`, `WrittenLe`, `WrittenGt` and
/// `WrittenGe`. `RowExists` and `RowNotExists` have neither field nor value.
///
/// ```
/// use serde_json::json;
/// use stonecrop::Condition;
/// let condition = Condition::all([
///     Condition::eq("status", "active"),
///     Condition::between("age", 18, 65).not(),
///     Condition::Exists,
/// ]);
/// let json = json!({"logical": "And", "children": [
///     {"Condition": {"field": "status", "operator": "Eq", "value": {"String": "active"}}},
///     {"logical": "Not", "children": [
///         {"Condition": {"field": "age", "operator": "Between",
///             "value": {"List": [{"Int": 18}, {"Int": 65}]}}},
///     ]},
///     {"Condition": {"operator": "RowExists"}},
/// ]});
/// assert_eq!(serde_json::to_value(&condition)?, json);
/// assert_eq!(serde_json::from_value::<Condition>(json)?, condition);
/// # Ok::<(), serde_json::Error>(())
/// ```
impl Serialize for Condition {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let at =
            |path: &Path, operator, value| Leaf { field: Some(path.to_string()), operator, value };
        let of = |column: &str, operator, value| at(&Path::new(column), operator, value);
        let list = |values: Vec<Value>| Some(Operand::Made(Value::List(values)));
        let group = |logical, children| Node::Group { logical, children };
        let leaf = match self {
            Condition::All(all) => return group("And", all).serialize(serializer),
            Condition::Any(any) => return group("Or", any).serialize(serializer),
            Condition::Not(one) => {
                return group("Not", std::slice::from_ref(&**one)).serialize(serializer);
            }
            Condition::Exists => Leaf { field: None, operator: "RowExists", value: None },
            Condition::NotExists => Leaf { field: None, operator: "RowNotExists", value: None },
            Condition::Has(path) => at(path, "Exists", None),
            Condition::IsNull(path) => at(path, "IsNull", None),
            Condition::HasValue(path) => at(path, "HasValue", None),
            Condition::Compare(path, how, value) => {
                at(path, how.names().0, Some(Operand::One(value)))
            }
            Condition::In(path, values) => at(path, "In", list(values.clone())),
            Condition::Between(path, low, high) => {
                at(path, "Between", list(vec![low.clone(), high.clone()]))
            }
            Condition::BeginsWith(path, start) => at(path, "BeginsWith", Some(Operand::One(start))),
            Condition::Contains(path, value) => at(path, "Contains", Some(Operand::One(value))),
            Condition::WrittenAt(column, how, time) => {
                of(column, how.names().1, Some(Operand::Made(Value::Timestamp(*time))))
            }
            Condition::IsFresh(column) => of(column, "IsFresh", None),
            Condition::IsStale(column) => of(column, "IsStale", None),
        };
        Node::Leaf { leaf }.serialize(serializer)
    }
}

impl Comparison {
    /// As an operator on a value, and on the time when it was written.
    fn names(self) -> (&'static str, &'static str) {
        let names = COMPARISONS.iter().find(|(how, _, _)| *how == self);
        names.map_or(("", ""), |(_, value, time)| (value, time))
    }
}

/// At most 1,000 nodes, nested at most 32 deep, where a `Not` of several counts as two. An error
/// names the path to the node.
///
/// The forms `{"Group": {"logical": …, "children": …}}` and `{"Not": node}` are read as well.
///
/// ```
/// use stonecrop::Condition;
/// let json = r#"{"Not": {"Condition": {"field": "age", "operator": "Equals", "value": null}}}"#;
/// let error = serde_json::from_str::<Condition>(json).unwrap_err().to_string();
/// assert!(error.starts_with(r#"filter.Not.operator: "Equals" is none of Eq, Ne, Lt"#));
/// ```
impl<'de> Deserialize<'de> for Condition {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let json = Json::deserialize(deserializer)?;
        Reader { nodes: 0 }.node(&json, 0).map_err(|Problem { path, problem }| {
            serde::de::Error::custom(format_args!("filter{path}: {problem}"))
        })
    }
}

/// What is wrong, and where below the node that is read.
struct Problem {
    path: String,
    problem: String,
}

impl Problem {
    fn new(path: &str, problem: impl Into<String>) -> Self {
        Problem { path: path.to_owned(), problem: problem.into() }
    }

    fn under(self, step: &str) -> Self {
        Problem { path: format!("{step}{}", self.path), ..self }
    }
}

const SHAPES: &str = r#"a node is {"Condition": …} or {"logical": …, "children": […]}"#;

struct Reader {
    nodes: usize,
}

impl Reader {
    /// Counts a node.
    fn enter(&mut self, depth: usize) -> Result<(), Problem> {
        self.nodes += 1;
        if self.nodes > MAX_NODES {
            return Err(Problem::new("", format!("there are more than {MAX_NODES} nodes")));
        }
        if depth > MAX_DEPTH {
            return Err(Problem::new("", format!("nodes are nested more than {MAX_DEPTH} deep")));
        }
        Ok(())
    }

    fn node(&mut self, json: &Json, depth: usize) -> Result<Condition, Problem> {
        self.enter(depth)?;
        let object = json.as_object().ok_or_else(|| Problem::new("", SHAPES))?;
        let mut names = object.iter();
        match (names.next(), names.next()) {
            (Some((name, inner)), None) if name == "Condition" => leaf(inner),
            (Some((name, inner)), None) if name == "Group" => {
                let inner = inner.as_object();
                self.group(inner.ok_or_else(|| Problem::new(".Group", SHAPES))?, depth)
            }
            (Some((name, inner)), None) if name == "Not" => {
                let inner = self.node(inner, depth + 1).map_err(|error| error.under(".Not"))?;
                Ok(inner.not())
            }
            _ => self.group(object, depth),
        }
    }

    fn group(&mut self, object: &Map<String, Json>, depth: usize) -> Result<Condition, Problem> {
        only(object, &["logical", "children"], SHAPES)?;
        let (Some(logical), Some(children)) = (object.get("logical"), object.get("children"))
        else {
            return Err(Problem::new("", SHAPES));
        };
        let children = children.as_array();
        let children = children.ok_or_else(|| Problem::new(".children", "it is no array"))?;
        let mut depth = depth;
        if logical == "Not" && children.len() != 1 {
            // None of several is not any of them: a node more, as which it will be written.
            depth += 1;
            self.enter(depth)?;
        }
        let children = children.iter().enumerate().map(|(index, child)| {
            let child = self.node(child, depth + 1);
            child.map_err(|error| error.under(&format!(".children[{index}]")))
        });
        let mut children = children.collect::<Result<Vec<_>, _>>()?;
        match logical.as_str() {
            Some("And") => Ok(Condition::All(children)),
            Some("Or") => Ok(Condition::Any(children)),
            Some("Not") => Ok(match (children.pop(), children.is_empty()) {
                (Some(one), true) => one.not(),
                (last, _) => Condition::any(children.into_iter().chain(last)).not(),
            }),
            _ => Err(Problem::new(".logical", format!("{logical} is none of And, Or, Not"))),
        }
    }
}

/// That an object has no other names than these.
fn only(object: &Map<String, Json>, names: &[&str], hint: &str) -> Result<(), Problem> {
    match object.keys().find(|name| !names.contains(&name.as_str())) {
        None => Ok(()),
        Some(name) => {
            let names = names.join(", ");
            Err(Problem::new("", format!("{name:?} is none of {names}; {hint}")))
        }
    }
}

fn leaf(json: &Json) -> Result<Condition, Problem> {
    const HINT: &str = "a condition has a field, an operator and, for most of them, a value";
    let object = json.as_object().ok_or_else(|| Problem::new("", HINT))?;
    only(object, &["field", "operator", "value"], HINT)?;
    let operator = object.get("operator").ok_or_else(|| Problem::new(".operator", MISSING))?;
    let unknown = || Problem::new(".operator", format!("{operator} is none of {OPERATORS}"));
    let operator = operator.as_str().ok_or_else(unknown)?;
    let members = Members { object, operator };
    if let Some((how, _, _)) = COMPARISONS.iter().find(|(_, name, _)| *name == operator) {
        return Ok(Condition::Compare(members.path()?, *how, members.value()?));
    }
    if let Some((how, _, _)) = COMPARISONS.iter().find(|(_, _, name)| *name == operator) {
        return match members.value()? {
            Value::Timestamp(time) => Ok(Condition::WrittenAt(members.column()?, *how, time)),
            other => Err(members.wrong("a timestamp", &other)),
        };
    }
    match operator {
        "In" => match members.value()? {
            Value::List(values) => Ok(Condition::In(members.path()?, values)),
            other => Err(members.wrong("a list", &other)),
        },
        "Between" => members.between(),
        "BeginsWith" => match members.value()? {
            start @ (Value::String(_) | Value::Bytes(_)) => {
                Ok(Condition::BeginsWith(members.path()?, start))
            }
            other => Err(members.wrong("a string or bytes", &other)),
        },
        "Contains" => Ok(Condition::Contains(members.path()?, members.value()?)),
        "Exists" => members.without(&["value"])?.path().map(Condition::Has),
        "IsNull" => members.without(&["value"])?.path().map(Condition::IsNull),
        "HasValue" => members.without(&["value"])?.path().map(Condition::HasValue),
        "IsFresh" => members.without(&["value"])?.column().map(Condition::IsFresh),
        "IsStale" => members.without(&["value"])?.column().map(Condition::IsStale),
        "RowExists" => members.without(&["field", "value"]).map(|_| Condition::Exists),
        "RowNotExists" => members.without(&["field", "value"]).map(|_| Condition::NotExists),
        _ => Err(unknown()),
    }
}

const MISSING: &str = "it is missing";

/// What a leaf has beside its operator.
struct Members<'j> {
    object: &'j Map<String, Json>,
    operator: &'j str,
}

impl Members<'_> {
    fn path(&self) -> Result<Path, Problem> {
        let field = self.object.get("field").ok_or_else(|| Problem::new(".field", MISSING))?;
        let field = field.as_str().ok_or_else(|| Problem::new(".field", "it is no string"))?;
        field.parse::<Path>().map_err(|error| Problem::new(".field", error.to_string()))
    }

    fn column(&self) -> Result<String, Problem> {
        self.path()?.whole().ok_or_else(|| {
            let operator = self.operator;
            Problem::new(".field", format!("{operator} is asked of a column, not of a part of it"))
        })
    }

    fn value(&self) -> Result<Value, Problem> {
        let value = self.object.get("value").ok_or_else(|| Problem::new(".value", MISSING))?;
        Value::deserialize(value).map_err(|error| Problem::new(".value", error.to_string()))
    }

    fn between(&self) -> Result<Condition, Problem> {
        let values = match self.value()? {
            Value::List(values) => values,
            other => return Err(self.wrong("a list of two", &other)),
        };
        let [low, high] = <[Value; 2]>::try_from(values).map_err(|values| {
            let count = values.len();
            Problem::new(".value", format!("Between takes a list of two, not of {count}"))
        })?;
        Ok(Condition::Between(self.path()?, low, high))
    }

    /// That these are not there.
    fn without(&self, names: &[&str]) -> Result<&Self, Problem> {
        match names.iter().find(|name| self.object.contains_key(**name)) {
            None => Ok(self),
            Some(name) => {
                Err(Problem::new(&format!(".{name}"), format!("{} takes none", self.operator)))
            }
        }
    }

    fn wrong(&self, expected: &str, found: &Value) -> Problem {
        let (operator, found) = (self.operator, found.column_type());
        Problem::new(".value", format!("{operator} takes {expected}, not {found}"))
    }
}
