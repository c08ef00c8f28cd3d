//! What must be true of a row for a write to happen, or for a scan to return it.

mod compiled;
mod json;
#[cfg(test)]
mod tests;

use std::cmp::Ordering;

use crate::clock::Timestamp;
use crate::path::Path;
use crate::value::Value;

pub(crate) use compiled::{Compiled, Test, find};
#[cfg(feature = "openapi")]
pub(crate) use json::OPERATORS;

/// Something that is true of a row or not.
///
/// A column that is not there is equal to nothing, not even to null, and is neither smaller nor
/// larger than anything: nothing but [`NotExists`](Self::NotExists) and [`Not`](Self::Not) is true
/// of it. Numbers compare by value, whatever their types; values that can't be compared, as a text
/// and a number, are different.
///
/// Columns are named by a [`Path`], which can lead into maps and lists. The fields of the key can
/// be named as well, and are there if the row is; they are always fresh, and were written at no
/// time.
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
    /// The value is there, null included.
    Has(Path),
    /// The value is there, and is null.
    IsNull(Path),
    /// The value is there, and is not null.
    HasValue(Path),
    /// The value is there, and compares like this with the other.
    Compare(Path, Comparison, Value),
    /// The value is there, and is equal to one of the others.
    In(Path, Vec<Value>),
    /// The value is there, and from the first to the second, both included.
    Between(Path, Value, Value),
    /// The value is a text or bytes, and begins with the other of the same kind.
    BeginsWith(Path, Value),
    /// The value is a text or bytes that have the other of the same kind in them, or a list or set
    /// with an element that is equal to the other.
    Contains(Path, Value),
    /// The column is there, and was written at a time that compares like this with the other.
    WrittenAt(String, Comparison, Timestamp),
    /// The column is there, and fresh.
    IsFresh(String),
    /// The column is there, and no longer fresh.
    IsStale(String),
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
/// Condition::Compare("age".into(), Comparison::Ge, 18.into());
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
        pub fn $name(path: impl Into<Path>, value: impl Into<Value>) -> Self {
            Condition::Compare(path.into(), Comparison::$variant, value.into())
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

    /// The value is there, null included.
    ///
    /// ```
    /// # use stonecrop::Condition;
    /// Condition::has("address.city");
    /// ```
    pub fn has(path: impl Into<Path>) -> Self {
        Condition::Has(path.into())
    }

    /// The value is there, and is null.
    ///
    /// ```
    /// # use stonecrop::Condition;
    /// Condition::is_null("email");
    /// ```
    pub fn is_null(path: impl Into<Path>) -> Self {
        Condition::IsNull(path.into())
    }

    /// The value is there, and is not null.
    ///
    /// ```
    /// stonecrop::Condition::has_value("address.city");
    /// ```
    pub fn has_value(path: impl Into<Path>) -> Self {
        Condition::HasValue(path.into())
    }

    /// The value is one of these.
    ///
    /// ```
    /// # use stonecrop::Condition;
    /// Condition::is_in("plan", ["free", "pro"]);
    /// ```
    pub fn is_in<V: Into<Value>>(
        path: impl Into<Path>,
        values: impl IntoIterator<Item = V>,
    ) -> Self {
        Condition::In(path.into(), values.into_iter().map(Into::into).collect())
    }

    /// The value is from `low` to `high`, both included.
    ///
    /// ```
    /// # use stonecrop::Condition;
    /// Condition::between("age", 18, 65);
    /// ```
    pub fn between(path: impl Into<Path>, low: impl Into<Value>, high: impl Into<Value>) -> Self {
        Condition::Between(path.into(), low.into(), high.into())
    }

    /// The text or the bytes begin like this.
    ///
    /// ```
    /// # use stonecrop::Condition;
    /// Condition::begins_with("phone", "+41");
    /// ```
    pub fn begins_with(path: impl Into<Path>, start: impl Into<Value>) -> Self {
        Condition::BeginsWith(path.into(), start.into())
    }

    /// The text or the bytes have this in them, or the list or the set this element.
    ///
    /// ```
    /// use stonecrop::{Condition, Database, Scan, TableSchema, Write};
    /// let stock = Database::memory().create_table(TableSchema::new("stock", "item string", "")?)?;
    /// stock.write(Write::put("apple").append("tags", ["red", "fruit"]))?;
    /// assert_eq!(stock.scan(Scan::all().filter(Condition::contains("tags", "fruit")))?.count(), 1);
    /// assert_eq!(stock.scan(Scan::all().filter(Condition::contains("tags[0]", "re")))?.count(), 1);
    /// # Ok::<(), stonecrop::Error>(())
    /// ```
    pub fn contains(path: impl Into<Path>, value: impl Into<Value>) -> Self {
        Condition::Contains(path.into(), value.into())
    }

    /// The column is there, and fresh at the time of the read.
    ///
    /// ```
    /// # use stonecrop::Condition;
    /// Condition::is_fresh("score");
    /// ```
    pub fn is_fresh(column: impl Into<String>) -> Self {
        Condition::IsFresh(column.into())
    }

    /// The column is there, and no longer fresh at the time of the read.
    ///
    /// ```
    /// # use stonecrop::Condition;
    /// Condition::is_stale("score");
    /// ```
    pub fn is_stale(column: impl Into<String>) -> Self {
        Condition::IsStale(column.into())
    }

    /// All of these are true.
    ///
    /// ```
    /// # use stonecrop::Condition;
    /// Condition::all([Condition::has("email"), Condition::ge("age", 18)]);
    /// ```
    pub fn all(conditions: impl IntoIterator<Item = Condition>) -> Self {
        Condition::All(conditions.into_iter().collect())
    }

    /// One of these is true, or more.
    ///
    /// ```
    /// # use stonecrop::Condition;
    /// Condition::any([Condition::is_stale("name"), Condition::is_stale("score")]);
    /// ```
    pub fn any(conditions: impl IntoIterator<Item = Condition>) -> Self {
        Condition::Any(conditions.into_iter().collect())
    }

    /// It is not true.
    ///
    /// ```
    /// # use stonecrop::Condition;
    /// assert_eq!(Condition::Exists.not(), Condition::Not(Box::new(Condition::Exists)));
    /// ```
    #[allow(clippy::should_implement_trait, reason = "a link of the chain that builds a condition")]
    pub fn not(self) -> Self {
        Condition::Not(Box::new(self))
    }
}
