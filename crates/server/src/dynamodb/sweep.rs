//! Gives the rows of a table their times, in the background: when time to live is switched on, those
//! of the attribute, and when it is switched off, none.
//!
//! Until it is done it is stored that it is not, and the next start of the server does it again; a row
//! that has its time already is let be.

use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::Duration;

use stonecrop::{Error, Lead, Row, Scan, Timestamp, Value, Write};
use stonecrop_dynamodb::value::Item;

use super::about::About;
use super::known::{Known, Shared};
use super::refusal::Refusal;
use crate::app::App;

/// So many rows are given their times at once.
const CHUNK: usize = 500;
/// How long it waits after something went wrong.
const PAUSE: Duration = Duration::from_secs(1);

/// Goes on with the tables that were not done when the server stopped.
pub(crate) fn resume(app: &App) {
    // What can't be read now is read, and told of, when it is asked for.
    for name in About::unswept(&app.database).unwrap_or_default() {
        start(app, &name);
    }
}

/// Starts with a table, unless somebody is at it.
pub(super) fn start(app: &App, name: &str) {
    if !app.dynamodb.sweeps().insert(name.to_owned()) {
        return;
    }
    let (of_thread, table) = (app.clone(), name.to_owned());
    let thread = std::thread::Builder::new().name("time to live".to_owned());
    if thread.spawn(move || run(&of_thread, &table)).is_err() {
        // The next start of the server will try again.
        app.dynamodb.sweeps().remove(name);
    }
}

/// Goes on until the table is done or dropped, or the database is closed.
fn run(app: &App, name: &str) {
    loop {
        // Who leads next goes on with it.
        if app.database.lead() == Lead::Elsewhere {
            app.dynamodb.sweeps().remove(name);
            return;
        }
        match pass(app, name) {
            Ok(true) => {}
            Ok(false) => return,
            Err(Error::Closed | Error::NoTable { .. }) => {
                app.dynamodb.sweeps().remove(name);
                return;
            }
            // A full disk, for one: it may go better in a while.
            Err(_) => std::thread::park_timeout(PAUSE),
        }
    }
}

/// Goes over the table once, and tells whether there is more to do.
fn pass(app: &App, name: &str) -> Result<bool, Error> {
    let load = || app.dynamodb.load(&app.database, name).map_err(|_: Refusal| no_table(name));
    let known = load()?;
    let reached = known.about.ttl_changes;
    if reached != known.about.ttl_swept {
        sweep(&known, app.database.now())?;
    }
    // Whoever changes it holds this lock, and starts us afterwards.
    let _altering = app.dynamodb.lock();
    let mut about = load()?.about.clone();
    if about.ttl_changes == about.ttl_swept {
        app.dynamodb.sweeps().remove(name);
        return Ok(false);
    }
    about.ttl_swept = reached;
    about.write(&app.database, name)?;
    load()?;
    Ok(true)
}

fn no_table(name: &str) -> Error {
    Error::NoTable { table: name.to_owned() }
}

fn sweep(known: &Arc<Known>, now: Timestamp) -> Result<(), Error> {
    let mut writes: Vec<Write<'static>> = Vec::with_capacity(CHUNK);
    for row in known.table.scan(Scan::all())? {
        let row = row?;
        if known.has_its_time(&row, now) {
            continue;
        }
        let (of_write, key) = (known.clone(), row.key().clone());
        // By what the row is then.
        writes.push(Write::decide(row.key().clone(), move |row| {
            Ok(row.map(|row| Write::expire(key.clone(), of_write.time_of(row, now))))
        }));
        if writes.len() == CHUNK {
            known.table.write_all(std::mem::take(&mut writes))?;
        }
    }
    known.table.write_all(writes)?;
    Ok(())
}

impl Known {
    /// When a row is to be gone, by its attribute.
    fn time_of(&self, row: &Row, now: Timestamp) -> Timestamp {
        let Some(name) = &self.about.ttl else { return Timestamp::NEVER };
        let of_key = self.key.iter().position(|part| part.name == *name);
        let value = match of_key.and_then(|at| row.key().values().get(at)) {
            Some(value) => Some(Value::from_key(value)),
            None => row.value(name).cloned(),
        };
        let item: Item = value.map(|value| (name.clone(), value)).into_iter().collect();
        self.gone_at(&item, now).unwrap_or(Timestamp::NEVER)
    }

    fn has_its_time(&self, row: &Row, now: Timestamp) -> bool {
        let time = self.time_of(row, now);
        let mut cells = row.columns().peekable();
        cells.peek().is_some() && cells.all(|(_, cell)| cell.gone_at == time)
    }
}

impl Shared {
    fn sweeps(&self) -> MutexGuard<'_, std::collections::HashSet<String>> {
        self.sweeping.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
