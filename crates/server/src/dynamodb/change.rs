//! One change of one item: decided by the database's writer, with the item as it is.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, PoisonError};

use stonecrop::{Decision, Durability, Error, Row, RowKey, Timestamp, Write};
use stonecrop_dynamodb::expression::{Condition, Update};
use stonecrop_dynamodb::value::{Item, check_update_size, encode_item};

use super::known::Known;
use super::refusal::{Refusal, Result};
use crate::app::{App, Writes};
use crate::problem::Problem;

/// How often a write is tried again that met a change of the table.
const TRIES: usize = 20;

#[derive(Clone)]
pub(super) enum Action {
    Put(Item),
    /// A put of an item that must not be there.
    Insert(Item),
    Update(Option<Update>),
    Delete,
    /// Only the condition.
    Check,
}

#[derive(Clone)]
pub(super) struct Change {
    pub(super) known: Arc<Known>,
    pub(super) row_key: RowKey<'static>,
    /// The attributes of the key; empty where the action has them.
    pub(super) key: Item,
    pub(super) action: Action,
    pub(super) condition: Option<Condition>,
    /// Whether a failed condition tells the item.
    pub(super) tells_item: bool,
    /// Whether the outcome is to have the items.
    pub(super) keeps_items: bool,
    pub(super) now: Timestamp,
}

/// What became of a change; the items are there only if they were asked for.
#[derive(Clone, Debug, Default)]
pub(super) struct Outcome {
    pub(super) old: Option<Item>,
    pub(super) new: Option<Item>,
    pub(super) refusal: Option<Refusal>,
}

/// Filled by the writer, read by the request.
pub(super) type Cell = Arc<Mutex<Outcome>>;

impl Change {
    /// The attributes that it may write.
    pub(super) fn names(&self) -> Vec<&str> {
        match &self.action {
            Action::Put(item) | Action::Insert(item) => item.keys().map(String::as_str).collect(),
            Action::Update(Some(update)) => update.attributes().into_iter().collect(),
            _ => Vec::new(),
        }
    }

    pub(super) fn update(&self) -> Option<&Update> {
        match &self.action {
            Action::Update(update) => update.as_ref(),
            _ => None,
        }
    }

    /// The attributes of the key.
    pub(super) fn key_item(&self) -> Item {
        match &self.action {
            Action::Put(item) | Action::Insert(item) => self.known.key_item(item),
            _ => self.key.clone(),
        }
    }

    /// Whether it must know the item that is there, and not only that there is one.
    fn looks_at_old(&self) -> bool {
        self.keeps_items
            || self.condition.is_some()
            || matches!(self.action, Action::Update(_) | Action::Check)
    }

    /// The item after the change, or why there is none.
    fn decide(&self, is_there: bool, old: Option<&Item>) -> Result<Option<Cow<'_, Item>>> {
        let empty = Item::new();
        if let Some(condition) = &self.condition
            && !condition.matches(old.unwrap_or(&empty))
        {
            let refusal = Refusal::condition_failed();
            return Err(match old.filter(|_| self.tells_item) {
                Some(old) => refusal.with("Item", encode_item(old)),
                None => refusal,
            });
        }
        match &self.action {
            Action::Insert(_) if is_there => {
                Err(Refusal::new("DuplicateItemException", "Duplicate primary key exists in table"))
            }
            Action::Put(item) | Action::Insert(item) => Ok(Some(Cow::Borrowed(item))),
            Action::Delete => Ok(None),
            Action::Check => Ok(old.cloned().map(Cow::Owned)),
            Action::Update(update) => {
                let base = old.unwrap_or(&self.key);
                let Some(update) = update else { return Ok(Some(Cow::Owned(base.clone()))) };
                let new = update.apply(base)?;
                check_update_size(&new)?;
                self.known.check_updated(update, &new)?;
                Ok(Some(Cow::Owned(new)))
            }
        }
    }

    /// Refuses to decide by what was told of the table before its definition was changed: the items
    /// of a table may have a time to live since.
    fn check_current(&self) -> Result<(), Error> {
        match self.known.is_current() {
            true => Ok(()),
            false => Err(Error::Altered),
        }
    }

    /// The same for the table as it is told of now.
    pub(super) async fn renewed(&self, app: &App) -> Result<Change> {
        let known = app.known(self.known.table.name()).await?;
        Ok(Change { known, ..self.clone() })
    }

    fn write(&self, row: Option<&Row>, cell: &Cell) -> Result<Option<Write<'static>>> {
        let visible = row.filter(|row| !self.known.is_over(row, self.now));
        let old = visible.filter(|_| self.looks_at_old()).map(|row| self.known.whole_item(row));
        let decided = self.decide(visible.is_some(), old.as_ref());
        let mut outcome = cell.lock().unwrap_or_else(PoisonError::into_inner);
        *outcome = Outcome::default();
        let new = decided.inspect_err(|refusal| outcome.refusal = Some(refusal.clone()))?;
        let write = match &new {
            _ if matches!(self.action, Action::Check) => None,
            None => row.map(|_| Write::delete(self.row_key.clone())),
            Some(new) => {
                let named = self.known.keeps_clocks().then(|| self.names());
                let named = named.as_deref();
                let write = self.known.write(&self.row_key, row, visible, new, named, self.now);
                write.map(Write::into_owned)
            }
        };
        if self.keeps_items {
            (outcome.old, outcome.new) = (old, new.map(Cow::into_owned));
        }
        Ok(write)
    }

    /// What it writes where there is no row, if that needs no further look.
    fn first(&self) -> Option<Write<'_>> {
        match &self.action {
            Action::Put(item) | Action::Insert(item) if !self.looks_at_old() => {
                self.known.write(&self.row_key, None, None, item, None, self.now)
            }
            _ => None,
        }
    }

    /// The write for the database, which refuses by itself.
    pub(super) fn deciding(self: &Arc<Self>, cell: &Cell) -> Write<'_> {
        let refused = |refusal: Refusal| Error::Refused { reason: refusal.message };
        self.decided_by(cell, move |decided| decided.map_err(refused))
    }

    /// The same, which leaves its refusal in the cell, so that those after it are decided as well.
    pub(super) fn deciding_with_others(self: &Arc<Self>, cell: &Cell) -> Write<'_> {
        self.decided_by(cell, |decided| Ok(decided.unwrap_or_default()))
    }

    fn decided_by(
        self: &Arc<Self>,
        cell: &Cell,
        end: impl Fn(Result<Option<Write<'static>>>) -> Result<Option<Write<'static>>, Error>
        + Send
        + Sync
        + 'static,
    ) -> Write<'_> {
        let (change, cell) = (self.clone(), cell.clone());
        let first = self.first();
        let has_first = first.is_some();
        let write = first.unwrap_or_else(|| Write::put(self.row_key.clone()));
        write.unless(move |row| {
            change.check_current()?;
            if has_first && row.is_none() {
                return Ok(Decision::AsIs);
            }
            end(change.write(row, &cell)).map(Decision::from)
        })
    }

    /// Checks the item that a put brings, all but its size, which needs no table.
    pub(super) fn check_put(known: &Known, item: &Item) -> Result<()> {
        if item.contains_key("") {
            return Err(Refusal::invalid("Attribute name must not be empty"));
        }
        known.check_indexes(item)
    }
}

/// Changes of one table, each with the cell that is told what became of it.
struct Deciding(Vec<(Arc<Change>, Cell)>);

impl Writes for Deciding {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn writes(&self) -> Cow<'_, [Write<'_>]> {
        self.0.iter().map(|(change, cell)| change.deciding(cell)).collect()
    }
}

pub(super) fn take_outcome(cell: &Cell) -> Outcome {
    std::mem::take(&mut *cell.lock().unwrap_or_else(PoisonError::into_inner))
}

pub(super) fn is_refused(cell: &Cell) -> bool {
    cell.lock().unwrap_or_else(PoisonError::into_inner).refusal.is_some()
}

impl App {
    /// Does one change, and gives it back.
    pub(super) async fn change(&self, mut change: Change) -> Result<(Arc<Change>, Outcome)> {
        let new = change.known.undeclared(change.names());
        change.known = self.known_with(change.known, new).await?;
        let mut change = Arc::new(change);
        let cell = Cell::default();
        for _ in 0..TRIES {
            let writes = Deciding(vec![(change.clone(), cell.clone())]);
            match self.write(change.known.table.clone(), writes, Durability::Sync).await {
                Err(problem) if problem.kind.code == "altered" => {
                    change = Arc::new(change.renewed(self).await?);
                }
                Err(problem) => return Err(take_outcome(&cell).refusal.unwrap_or(problem.into())),
                Ok(_) => return Ok((change, take_outcome(&cell))),
            }
        }
        Err(Problem::from(Error::Altered).into())
    }

    /// Does the changes of one table together.
    pub(super) async fn change_all(&self, changes: Vec<Change>) -> Result<Vec<Outcome>> {
        let Some(first) = changes.first() else { return Ok(Vec::new()) };
        let new = first.known.undeclared(changes.iter().flat_map(Change::names));
        let mut known = self.known_with(first.known.clone(), new).await?;
        let with_cell =
            |change: Change| (Arc::new(Change { known: known.clone(), ..change }), Cell::default());
        let mut changes: Vec<_> = changes.into_iter().map(with_cell).collect();
        for _ in 0..TRIES {
            let writes = Deciding(changes.clone());
            match self.write(known.table.clone(), writes, Durability::Sync).await {
                Err(problem) if problem.kind.code == "altered" => {
                    known = self.known(known.table.name()).await?;
                    for (change, _) in &mut changes {
                        let old = Change::clone(change);
                        *change = Arc::new(Change { known: known.clone(), ..old });
                    }
                }
                Err(problem) => return Err(problem.into()),
                Ok(_) => return Ok(changes.iter().map(|(_, cell)| take_outcome(cell)).collect()),
            }
        }
        Err(Problem::from(Error::Altered).into())
    }
}

#[cfg(test)]
mod tests;
