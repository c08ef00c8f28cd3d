//! What is asked of a row, before it is known what the row holds.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::clock::Timestamp;
use crate::condition::Condition;
use crate::error::Result;
use crate::key::RowKey;
use crate::row::Row;
use crate::value::Value;

/// One change of one row.
///
/// ```
/// use stonecrop::{Condition, Database, TableSchema, Value, Write};
/// let stock = Database::memory().create_table(TableSchema::new("stock", "item string", "")?)?;
/// stock.write(Write::put("apple").set("count", 10).set("tags", vec![Value::from("fruit")]))?;
/// stock.write(
///     Write::put("apple").add("count", -3).append("tags", ["red"]).when(Condition::ge("count", 3)),
/// )?;
/// assert_eq!(stock.get("apple")?.unwrap().value("count"), Some(&7.into()));
/// # Ok::<(), stonecrop::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Write<'a> {
    pub(crate) key: RowKey<'a>,
    pub(crate) kind: WriteKind,
    pub(crate) changes: Vec<(Cow<'a, str>, Change<'a>)>,
    pub(crate) condition: Option<Condition>,
    pub(crate) written_at: Option<Timestamp>,
    pub(crate) ttl: Option<Duration>,
    pub(crate) keep: Option<Duration>,
    pub(crate) gone_at: Option<Timestamp>,
    pub(crate) decide: Option<Decide>,
}

/// What a function makes of a write, with the row as it is: see [`Write::unless`].
///
/// ```
/// use stonecrop::{Decision, Write};
/// let instead = Decision::Instead(Box::new(Write::delete(1)));
/// ```
#[derive(Clone, Debug)]
pub enum Decision {
    /// The write is done as it is.
    AsIs,
    /// Another one is done, to any row of the table.
    Instead(Box<Write<'static>>),
    /// Nothing is done.
    Nothing,
}

/// Another write, or nothing.
impl From<Option<Write<'static>>> for Decision {
    fn from(write: Option<Write<'static>>) -> Self {
        write.map_or(Decision::Nothing, |write| Decision::Instead(Box::new(write)))
    }
}

/// Makes a decision on the row as it is.
#[derive(Clone)]
pub(crate) struct Decide {
    pub(crate) ask: Arc<Asked>,
    /// Whether the write is nothing but the question.
    pub(crate) is_all: bool,
}

type Asked = dyn Fn(Option<&Row>) -> Result<Decision> + Send + Sync;

impl fmt::Debug for Decide {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Decide")
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WriteKind {
    /// What is not named stays.
    Put,
    /// What is not named goes.
    Replace,
    /// All goes.
    Delete,
    /// Nothing changes but when it goes.
    Expire,
}

/// What happens to a column.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Change<'a> {
    Set(Cow<'a, Value>),
    Remove,
    /// Adds to a number; one that is not there counts as zero.
    Add(Value),
    /// Adds to the end of a list; one that is not there counts as empty.
    Append(Vec<Value>),
    /// Sets fields of a map; one that is not there counts as empty.
    Merge(BTreeMap<String, Value>),
}

impl Change<'_> {
    pub(crate) fn into_owned(self) -> Change<'static> {
        match self {
            Change::Set(value) => Change::Set(Cow::Owned(value.into_owned())),
            Change::Remove => Change::Remove,
            Change::Add(number) => Change::Add(number),
            Change::Append(values) => Change::Append(values),
            Change::Merge(fields) => Change::Merge(fields),
        }
    }
}

impl<'a> Write<'a> {
    fn new(key: impl Into<RowKey<'a>>, kind: WriteKind) -> Self {
        Write {
            key: key.into(),
            kind,
            changes: Vec::with_capacity(if kind == WriteKind::Delete { 0 } else { 8 }),
            condition: None,
            written_at: None,
            ttl: None,
            keep: None,
            gone_at: None,
            decide: None,
        }
    }

    /// Writes the columns that are named and keeps all others. A row that is not there is made.
    ///
    /// ```
    /// stonecrop::Write::put(("acme", 7)).set("name", "Ann").remove("phone");
    /// ```
    pub fn put(key: impl Into<RowKey<'a>>) -> Self {
        Self::new(key, WriteKind::Put)
    }

    /// Makes the row exactly what is named: all other columns go.
    ///
    /// ```
    /// stonecrop::Write::replace(("acme", 7)).set("name", "Ann");
    /// ```
    pub fn replace(key: impl Into<RowKey<'a>>) -> Self {
        Self::new(key, WriteKind::Replace)
    }

    /// Deletes the row, if it is there.
    ///
    /// ```
    /// stonecrop::Write::delete(("acme", 7));
    /// ```
    pub fn delete(key: impl Into<RowKey<'a>>) -> Self {
        Self::new(key, WriteKind::Delete)
    }

    /// Changes nothing but when the row is gone, as [`Write::gone_at`] does. A row that is not there
    /// is not made.
    ///
    /// ```
    /// use stonecrop::{Clock, Database, ManualClock, Options, TableSchema, Timestamp, Write};
    /// let clock = std::sync::Arc::new(ManualClock::new(Timestamp::from_micros(0)));
    /// let database = Database::open_with("memory:", Options::default().clock(clock.clone()))?;
    /// let sessions = database.create_table(TableSchema::new("sessions", "id u64", "")?)?;
    /// sessions.write(Write::put(1).set("user", "Ann"))?;
    /// sessions.write(Write::expire(1, Timestamp::from_micros(5)))?;
    /// clock.set(Timestamp::from_micros(5));
    /// assert!(sessions.get(1)?.is_none());
    /// # Ok::<(), stonecrop::Error>(())
    /// ```
    pub fn expire(key: impl Into<RowKey<'a>>, at: Timestamp) -> Self {
        Self::new(key, WriteKind::Expire).gone_at(at)
    }

    /// Does what a function makes of the row as it is, and no other write comes between: the write
    /// that it gives, to any row of the table, or nothing.
    ///
    /// The function may be asked more than once, and its last answer counts. All writes of the
    /// database wait for it, so it is to be quick, and must not use the database. If it returns an
    /// error, such as [`crate::Error::Refused`], nothing of the batch is written.
    ///
    /// ```
    /// use stonecrop::{Database, TableSchema, Value, Write};
    /// let stock = Database::memory().create_table(TableSchema::new("stock", "item string", "")?)?;
    /// stock.write(Write::put("apple").set("count", 10))?;
    /// stock.write(Write::decide("apple", |row| {
    ///     let count = row.and_then(|row| row.value("count")).cloned();
    ///     Ok(Some(Write::put("apple").set("before", count.unwrap_or(Value::Null)).set("count", 3)))
    /// }))?;
    /// assert_eq!(stock.get("apple")?.unwrap().value("before"), Some(&10.into()));
    /// # Ok::<(), stonecrop::Error>(())
    /// ```
    pub fn decide(
        key: impl Into<RowKey<'a>>,
        decide: impl Fn(Option<&Row>) -> Result<Option<Write<'static>>> + Send + Sync + 'static,
    ) -> Self {
        let ask = move |row: Option<&Row>| decide(row).map(Decision::from);
        let decide = Some(Decide { ask: Arc::new(ask), is_all: true });
        Write { decide, ..Self::new(key, WriteKind::Put) }
    }

    /// Unless a function decides otherwise, which is asked as that of [`Write::decide`] is. A write
    /// that is most often done as it is had better be given like this: it is made ready beforehand,
    /// while nobody waits for it.
    ///
    /// ```
    /// use stonecrop::{Database, Decision, TableSchema, Write};
    /// let stock = Database::memory().create_table(TableSchema::new("stock", "item string", "")?)?;
    /// let first = |count| {
    ///     Write::put("apple").set("count", count).unless(|row| match row {
    ///         None => Ok(Decision::AsIs),
    ///         Some(_) => Ok(Decision::Nothing),
    ///     })
    /// };
    /// stock.write_all([first(1), first(2)])?;
    /// assert_eq!(stock.get("apple")?.unwrap().value("count"), Some(&1.into()));
    /// # Ok::<(), stonecrop::Error>(())
    /// ```
    pub fn unless(
        mut self,
        decide: impl Fn(Option<&Row>) -> Result<Decision> + Send + Sync + 'static,
    ) -> Self {
        self.decide = Some(Decide { ask: Arc::new(decide), is_all: false });
        self
    }

    /// The same write with copies of all that it borrows.
    ///
    /// ```
    /// # use stonecrop::Write;
    /// let name = "name".to_owned();
    /// let write: Write<'static> = Write::put(1).set(&name, "Ann").into_owned();
    /// ```
    pub fn into_owned(self) -> Write<'static> {
        let owned = |(column, change): (Cow<'a, str>, Change<'a>)| {
            (Cow::Owned(column.into_owned()), change.into_owned())
        };
        Write {
            key: self.key.into_owned(),
            kind: self.kind,
            changes: self.changes.into_iter().map(owned).collect(),
            condition: self.condition,
            written_at: self.written_at,
            ttl: self.ttl,
            keep: self.keep,
            gone_at: self.gone_at,
            decide: self.decide,
        }
    }

    fn change(mut self, column: impl Into<Cow<'a, str>>, change: Change<'a>) -> Self {
        self.changes.push((column.into(), change));
        self
    }

    /// Sets a column to a value.
    ///
    /// ```
    /// stonecrop::Write::put(1).set("name", "Ann").set("age", 41);
    /// ```
    pub fn set(self, column: impl Into<Cow<'a, str>>, value: impl Into<Value>) -> Self {
        self.change(column, Change::Set(Cow::Owned(value.into())))
    }

    /// The same without a copy of the value.
    ///
    /// ```
    /// # use stonecrop::{Value, Write};
    /// let name = Value::from("Ann");
    /// Write::put(1).set_borrowed("name", &name);
    /// ```
    pub fn set_borrowed(self, column: impl Into<Cow<'a, str>>, value: &'a Value) -> Self {
        self.change(column, Change::Set(Cow::Borrowed(value)))
    }

    /// Removes a column, if it is there.
    ///
    /// ```
    /// stonecrop::Write::put(1).remove("phone");
    /// ```
    pub fn remove(self, column: impl Into<Cow<'a, str>>) -> Self {
        self.change(column, Change::Remove)
    }

    /// Adds to a number, or subtracts; a column that is not there counts as zero.
    ///
    /// ```
    /// stonecrop::Write::put(1).add("visits", 1);
    /// ```
    pub fn add(self, column: impl Into<Cow<'a, str>>, number: impl Into<Value>) -> Self {
        self.change(column, Change::Add(number.into()))
    }

    /// Adds values to the end of a list; a column that is not there counts as empty.
    ///
    /// ```
    /// stonecrop::Write::put(1).append("tags", ["new", "hot"]);
    /// ```
    pub fn append<V: Into<Value>>(
        self,
        column: impl Into<Cow<'a, str>>,
        values: impl IntoIterator<Item = V>,
    ) -> Self {
        self.change(column, Change::Append(values.into_iter().map(Into::into).collect()))
    }

    /// Sets fields of a map and keeps its others; a column that is not there counts as empty.
    ///
    /// ```
    /// stonecrop::Write::put(1).merge("settings", [("theme", "dark")]);
    /// ```
    pub fn merge<N: Into<String>, V: Into<Value>>(
        self,
        column: impl Into<Cow<'a, str>>,
        fields: impl IntoIterator<Item = (N, V)>,
    ) -> Self {
        let fields = fields.into_iter().map(|(name, value)| (name.into(), value.into()));
        self.change(column, Change::Merge(fields.collect()))
    }

    /// Only if this is true of the row as it is.
    ///
    /// ```
    /// use stonecrop::{Condition, Write};
    /// Write::put(1).set("name", "Ann").when(Condition::NotExists);
    /// ```
    pub fn when(mut self, condition: Condition) -> Self {
        self.condition = Some(condition);
        self
    }

    /// As of this time rather than of now. What is stored with a later time stays as it is.
    ///
    /// ```
    /// use stonecrop::{Timestamp, Write};
    /// Write::put(1).set("name", "Ann").written_at(Timestamp::from_micros(1_800_000_000_000_000));
    /// ```
    pub fn written_at(mut self, time: Timestamp) -> Self {
        self.written_at = Some(time);
        self
    }

    /// Fresh for so long, whatever the family says.
    ///
    /// ```
    /// # use std::time::Duration;
    /// stonecrop::Write::put(1).set("name", "Ann").ttl(Duration::from_secs(60));
    /// ```
    pub fn ttl(mut self, ttl: Duration) -> Self {
        self.ttl = Some(ttl);
        self
    }

    /// The whole row is gone at this time, what is not written included, or earlier where a family
    /// says so; [`Timestamp::NEVER`] takes such a time away. No other clock changes, and later
    /// writes have to say it again.
    ///
    /// ```
    /// use stonecrop::{Timestamp, Write};
    /// Write::put(1).set("user", "Ann").gone_at(Timestamp::from_micros(1_800_000_000_000_000));
    /// ```
    pub fn gone_at(mut self, time: Timestamp) -> Self {
        self.gone_at = Some(time);
        self
    }

    /// Kept for so long after it was fresh, whatever the family says.
    ///
    /// ```
    /// # use std::time::Duration;
    /// stonecrop::Write::put(1).set("name", "Ann").keep(Duration::from_secs(60));
    /// ```
    pub fn keep(mut self, keep: Duration) -> Self {
        self.keep = Some(keep);
        self
    }
}
