//! Where a value is in a row: a column, and the steps into what it holds.

use std::fmt;
use std::str::FromStr;

use crate::error::Error;

/// How many steps a path takes at most: no value is nested deeper.
const MAX_STEPS: usize = 32;

/// A column of a row, or a value inside of it.
///
/// As text, a name in a map follows a dot, and the place in a list, counted from 0, is in brackets.
/// A name with one of `.[]"` in it, or an empty one, is quoted as in JSON. Text without quotes is
/// the name of a whole column first: where a table declares a column `a.b`, that one is meant by
/// `a.b`, and `"a".b` is the value `b` in the map `a`.
///
/// ```
/// use stonecrop::{Condition, Path};
/// let city: Path = "address.city".parse()?;
/// assert_eq!((city.column(), city.steps().len()), ("address", 1));
/// assert_eq!(Path::new("a.b").index(2).field("c d").to_string(), r#""a.b"[2].c d"#);
/// assert_eq!(Condition::eq("address.city", "Bern"), Condition::eq(city, "Bern"));
/// # Ok::<(), stonecrop::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Path {
    column: String,
    steps: Vec<Step>,
    /// There are steps, but the whole text, which has no quotes, can be a column's name as well.
    ambiguous: bool,
}

/// One step of a [`Path`].
///
/// ```
/// use stonecrop::{Path, Step};
/// assert_eq!(Path::from("tags[0]").steps(), [Step::Index(0)]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// To the value of this name in a map.
    Field(String),
    /// To this element of a list, counted from 0.
    Index(usize),
}

impl Path {
    /// A column, whatever its name.
    ///
    /// ```
    /// use stonecrop::Path;
    /// assert_eq!(Path::new("a.b").to_string(), r#""a.b""#);
    /// ```
    pub fn new(column: impl Into<String>) -> Self {
        Path { column: column.into(), steps: Vec::new(), ambiguous: false }
    }

    /// On to a value in a map. More than 32 steps lead nowhere, since no value is nested deeper.
    ///
    /// ```
    /// use stonecrop::Path;
    /// assert_eq!(Path::new("address").field("city").to_string(), r#""address".city"#);
    /// ```
    pub fn field(mut self, name: impl Into<String>) -> Self {
        self.steps.push(Step::Field(name.into()));
        self.ambiguous = false;
        self
    }

    /// On to an element of a list, counted from 0.
    ///
    /// ```
    /// use stonecrop::Path;
    /// assert_eq!(Path::new("tags").index(0).to_string(), r#""tags"[0]"#);
    /// ```
    pub fn index(mut self, index: usize) -> Self {
        self.steps.push(Step::Index(index));
        self.ambiguous = false;
        self
    }

    /// The column that it begins with.
    ///
    /// ```
    /// assert_eq!(stonecrop::Path::from("address.city").column(), "address");
    /// ```
    pub fn column(&self) -> &str {
        &self.column
    }

    /// The steps from there.
    ///
    /// ```
    /// assert!(stonecrop::Path::from("age").steps().is_empty());
    /// ```
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// The name of the column that the whole path can be, without any steps.
    pub(crate) fn whole(&self) -> Option<String> {
        match self.ambiguous {
            true => Some(self.to_string()),
            false => self.steps.is_empty().then(|| self.column.clone()),
        }
    }
}

fn is_special(character: char) -> bool {
    matches!(character, '.' | '[' | ']' | '"')
}

fn write_name(f: &mut fmt::Formatter<'_>, name: &str, quote: bool) -> fmt::Result {
    if quote || name.is_empty() || name.contains(is_special) {
        return write!(f, "{}", serde_json::Value::from(name));
    }
    f.write_str(name)
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_name(f, &self.column, !self.ambiguous && !self.steps.is_empty())?;
        for step in &self.steps {
            match step {
                Step::Field(name) => {
                    f.write_str(".")?;
                    write_name(f, name, false)?;
                }
                Step::Index(index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}

/// Takes a name off the front.
fn take_name(rest: &mut &str) -> Result<String, &'static str> {
    const OPEN: &str = "a name in quotes does not end, or is not written as in JSON";
    if rest.starts_with('"') {
        let mut names = serde_json::Deserializer::from_str(rest).into_iter::<String>();
        let name = names.next().and_then(Result::ok).ok_or(OPEN)?;
        *rest = rest.get(names.byte_offset()..).ok_or(OPEN)?;
        return Ok(name);
    }
    let (name, after) = rest.split_at(rest.find(is_special).unwrap_or(rest.len()));
    if name.is_empty() {
        return Err("a name is missing; quote one that is empty or has one of .[]\" in it");
    }
    *rest = after;
    Ok(name.to_owned())
}

/// Takes the rest of a place in a list off the front, after its bracket.
fn take_index(rest: &mut &str) -> Result<usize, &'static str> {
    const NO_INDEX: &str = "in brackets is a place in a list, counted from 0";
    let (digits, after) = rest.split_once(']').ok_or("a bracket is not closed")?;
    let index: usize = digits.parse().map_err(|_| NO_INDEX)?;
    // One way to write it, so that a path is its text.
    if index.to_string() != digits {
        return Err(NO_INDEX);
    }
    *rest = after;
    Ok(index)
}

fn parse(text: &str) -> Result<Path, &'static str> {
    let mut rest = text;
    let mut path = Path::new(take_name(&mut rest)?);
    while let Some(kind) = rest.chars().next() {
        if path.steps.len() == MAX_STEPS {
            return Err("it takes more than 32 steps");
        }
        rest = rest.get(kind.len_utf8()..).unwrap_or_default();
        path = match kind {
            '.' => path.field(take_name(&mut rest)?),
            '[' => path.index(take_index(&mut rest)?),
            _ => return Err("after a name comes a dot or a bracket; quote a name with others"),
        };
    }
    path.ambiguous = !path.steps.is_empty() && !text.contains('"');
    Ok(path)
}

impl FromStr for Path {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        parse(text).map_err(|problem| Error::Path { path: text.to_owned(), problem })
    }
}

/// Text that is no path is the name of a column.
///
/// ```
/// use stonecrop::Path;
/// assert_eq!(Path::from("5\" disk"), Path::new("5\" disk"));
/// ```
impl From<&str> for Path {
    fn from(text: &str) -> Self {
        parse(text).unwrap_or_else(|_| Path::new(text))
    }
}

/// As from `&str`.
impl From<String> for Path {
    fn from(text: String) -> Self {
        text.as_str().into()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Paths of a few steps, some of them with names that have to be quoted.
    pub(crate) fn path() -> impl Strategy<Value = Path> {
        let name = || prop_oneof!["[a-c]", ".{0,4}", r#"[.\[\]"\\a]{0,3}"#];
        let step = prop_oneof![
            name().prop_map(Step::Field),
            prop_oneof![0..3_usize, any::<usize>()].prop_map(Step::Index),
        ];
        let built = (name(), prop::collection::vec(step, 0..4)).prop_map(|(column, steps)| Path {
            column,
            steps,
            ambiguous: false,
        });
        prop_oneof![built, "[a-c](\\.[a-c]|\\[[0-3]\\]){0,3}".prop_map(Path::from)]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(5_000))]

        #[test]
        fn every_path_comes_back_from_its_text(path in path()) {
            prop_assert_eq!(path.to_string().parse::<Path>().unwrap(), path);
        }

        #[test]
        fn any_text_is_a_path_or_an_error(text in prop_oneof![".{0,20}", r#"[.\[\]"\\0-2a]{0,9}"#]) {
            match text.parse::<Path>() {
                Ok(path) if text.contains('"') => {
                    prop_assert_eq!(path.to_string().parse::<Path>().unwrap(), path);
                }
                Ok(path) => prop_assert_eq!(path.to_string(), text),
                Err(_) => prop_assert_eq!(Path::from(text.as_str()), Path::new(text)),
            }
        }
    }

    #[test]
    fn steps_are_read_as_they_are_written() {
        let path: Path = r#"a.b[2]."c.\u0064"[0]"#.parse().unwrap();
        let steps = ["b", "c.d"].map(|name| Step::Field(name.to_owned()));
        let [b, c] = steps;
        assert_eq!(path.column(), "a");
        assert_eq!(path.steps(), [b, Step::Index(2), c, Step::Index(0)]);
    }

    #[test]
    fn text_that_is_no_path_says_why() {
        for (text, why) in [
            ("", "a name is missing"),
            ("a.", "a name is missing"),
            ("a..b", "a name is missing"),
            ("a[", "not closed"),
            ("a[-1]", "counted from 0"),
            ("a[01]", "counted from 0"),
            ("a[99999999999999999999]", "counted from 0"),
            ("a[0]b", "a dot or a bracket"),
            ("\"a", "does not end"),
            ("\"\\ud800\"", "not written as in JSON"),
            (&format!("a{}", ".a".repeat(33)), "more than 32 steps"),
        ] {
            let error = text.parse::<Path>().unwrap_err().to_string();
            assert!(error.contains(why), "{text}: {error}");
        }
        assert!(format!("a{}", ".a".repeat(32)).parse::<Path>().is_ok());
    }

    #[test]
    fn a_quote_says_that_the_text_is_not_a_columns_name() {
        assert_eq!(Path::from("a.b").whole(), Some("a.b".to_owned()));
        assert_eq!(Path::from("\"a\".b").whole(), None);
        assert_eq!(Path::from("\"a.b\"").whole(), Some("a.b".to_owned()));
        assert_ne!(Path::from("a.b"), Path::new("a").field("b"));
    }
}
