//! What must be true of a row for a write to happen, or for a scan to return it.

use std::cmp::Ordering;

use crate::clock::Timestamp;
use crate::value::Value;

/// Something that is true of a row or not.
///
/// A column that is not there is equal to nothing, not even to null, and is neither smaller nor
/// larger than anything. Numbers compare by value, whatever their types; values that can't be
/// compared, as a text and a number, are different.
///
/// ```
/// use stonecrop::{Condition, Database, TableSchema, Write};
/// let people = Database::memory().create_table(TableSchema::new("people", "id u64", "")?)?;
/// people.write(Write::put(1).set("age", 41).when(Condition::NotExists))?;
/// people.write(Write::put(1).set("age", 42).when(Condition::eq("age", 41)))?;
/// assert!(people.write(Write::put(1).set("age", 0).when(Condition::lt("age", 18))).is_err());
/// # Ok::<(), stonecrop::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Condition {
    /// The row is there.
    Exists,
    /// The row is not there.
    NotExists,
    /// The column is there, null included.
    Has(String),
    /// The column is there, and its value compares like this with the other.
    Compare(String, Comparison, Value),
    /// The column is there, and was written at a time that compares like this with the other.
    WrittenAt(String, Comparison, Timestamp),
    /// All of them are true; true where there are none.
    All(Vec<Condition>),
    /// One of them is true, or more.
    Any(Vec<Condition>),
    /// It is not true.
    Not(Box<Condition>),
}

/// How two values compare.
///
/// ```
/// use stonecrop::{Comparison, Condition};
/// Condition::Compare("age".to_owned(), Comparison::Ge, 18.into());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Comparison {
    /// `=`
    Eq,
    /// `<>`: true as well where they can't be compared.
    Ne,
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `>`
    Gt,
    /// `>=`
    Ge,
}

impl Comparison {
    pub(crate) fn holds(self, order: Option<Ordering>) -> bool {
        match self {
            Comparison::Eq => order == Some(Ordering::Equal),
            Comparison::Ne => order != Some(Ordering::Equal),
            Comparison::Lt => order == Some(Ordering::Less),
            Comparison::Le => matches!(order, Some(Ordering::Less | Ordering::Equal)),
            Comparison::Gt => order == Some(Ordering::Greater),
            Comparison::Ge => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
        }
    }
}

macro_rules! comparisons {
    ($($name:ident $variant:ident $sign:literal;)*) => {$(
        #[doc = concat!("`column ", $sign, " value`")]
        ///
        /// ```
        /// use stonecrop::Condition;
        #[doc = concat!("Condition::", stringify!($name), "(\"age\", 18);")]
        /// ```
        pub fn $name(column: impl Into<String>, value: impl Into<Value>) -> Self {
            Condition::Compare(column.into(), Comparison::$variant, value.into())
        }
    )*};
}

impl Condition {
    comparisons! {
        eq Eq "=";
        ne Ne "<>";
        lt Lt "<";
        le Le "<=";
        gt Gt ">";
        ge Ge ">=";
    }

    /// Whether a row without any of the columns that the condition names can satisfy it; if not,
    /// the columns of which it must have at least one.
    pub(crate) fn needs_one_of(&self) -> Option<Vec<&str>> {
        match self {
            Condition::Has(column)
            | Condition::Compare(column, _, _)
            | Condition::WrittenAt(column, _, _) => Some(vec![column]),
            Condition::All(all) => {
                let needs = all.iter().filter_map(Condition::needs_one_of);
                needs.min_by_key(Vec::len)
            }
            Condition::Any(any) => {
                let needs: Option<Vec<_>> = any.iter().map(Condition::needs_one_of).collect();
                needs.map(|needs| needs.concat())
            }
            Condition::Exists | Condition::NotExists | Condition::Not(_) => None,
        }
    }

    /// Whether it is true of a row.
    pub(crate) fn holds<E>(&self, row: &mut impl Subject<Error = E>) -> Result<bool, E> {
        Ok(match self {
            Condition::Exists => row.exists()?,
            Condition::NotExists => !row.exists()?,
            Condition::Has(column) => row.written_at(column)?.is_some(),
            Condition::Compare(column, comparison, value) => {
                row.order(column, value)?.is_some_and(|order| comparison.holds(order))
            }
            Condition::WrittenAt(column, comparison, time) => row
                .written_at(column)?
                .is_some_and(|written_at| comparison.holds(Some(written_at.cmp(time)))),
            Condition::All(all) => {
                for condition in all {
                    if !condition.holds(row)? {
                        return Ok(false);
                    }
                }
                true
            }
            Condition::Any(any) => {
                for condition in any {
                    if condition.holds(row)? {
                        return Ok(true);
                    }
                }
                false
            }
            Condition::Not(condition) => !condition.holds(row)?,
        })
    }
}

/// A row as a condition sees it.
pub(crate) trait Subject {
    type Error;

    fn exists(&mut self) -> Result<bool, Self::Error>;

    /// When a column was written; none where it is not there.
    fn written_at(&mut self, column: &str) -> Result<Option<Timestamp>, Self::Error>;

    /// How a column compares with a value; none where the column is not there.
    fn order(
        &mut self,
        column: &str,
        value: &Value,
    ) -> Result<Option<Option<Ordering>>, Self::Error>;
}
