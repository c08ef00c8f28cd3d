//! An import from its first look at a file to its last row.

use std::collections::VecDeque;
use std::io::{IsTerminal as _, Write as _};
use std::path::Path;
use std::time::Duration;

use indicatif::{HumanCount, HumanDuration};
use serde_json::json;
use stonecrop_server::api::Table;

use super::Arguments;
use super::batch::{Batch, Done, Sender};
use super::plan::Plan;
use super::rejects::Rejects;
use super::state::Saved;
use crate::client::{Access, Client, Location, table_path};
use crate::data::{ReadRow, Reader, Record, infer};
use crate::error::{Error, Result};
use crate::progress;
use crate::session::Session;

/// The columns are inferred from so many rows.
const SAMPLE_ROWS: usize = 1_000;

/// What an import came to.
#[derive(Default)]
struct Totals {
    imported: u64,
    rejected: u64,
    seconds: f64,
    reject_files: Vec<String>,
}

pub(super) fn run(arguments: &Arguments, session: &mut Session) -> Result<()> {
    let mut sources = Vec::new();
    for file in &arguments.files {
        sources.push(Source::open(arguments, file, session.target().text())?);
    }
    let Some(first) = sources.first_mut() else { return Ok(()) };
    let sample = first.sample()?;
    let client = open(arguments, session)?;
    let plan = plan(arguments, &sample, client.as_ref())?;
    if !arguments.json {
        plan.show(&arguments.table, session.out()).map_err(Error::Output)?;
    }
    if arguments.dry_run {
        if arguments.json {
            session.print_json(&summary_of_plan(&plan))?;
        }
        return client.map_or(Ok(()), Client::close);
    }
    if !session.confirm(arguments.yes, "Import these rows?", true)? {
        return session.say("nothing was done");
    }
    let client = match client {
        Some(client) => client,
        None => session.open_or_create()?,
    };
    if let Some(schema) = &plan.create {
        let _: Table = client.post("/v1/tables", schema)?;
    }
    let mut totals = Totals::default();
    for source in sources {
        source.import(&plan, &arguments.table, &client, &mut totals)?;
    }
    client.close()?;
    report(&totals, arguments.json, session)
}

/// The database, unless it is a folder that is still to be made.
fn open(arguments: &Arguments, session: &Session) -> Result<Option<Client>> {
    let target = session.target();
    match (Client::open(target, Access::Write), target.location()?) {
        (Ok(client), _) => Ok(Some(client)),
        (Err(Error::NoDatabase(_)), Location::Folder(folder)) => {
            // It must be one that we can make, before anybody is asked.
            let is_free = match std::fs::read_dir(&folder) {
                Ok(mut entries) => entries.next().is_none(),
                Err(error) => error.kind() == std::io::ErrorKind::NotFound,
            };
            match is_free || arguments.dry_run {
                true => Ok(None),
                false => Client::open(target, Access::Create).map(Some),
            }
        }
        (Err(error), Location::Objects(_)) if error.is_missing_database() => Ok(None),
        (Err(error), _) => Err(error),
    }
}

fn plan(arguments: &Arguments, sample: &[Record], client: Option<&Client>) -> Result<Plan> {
    let mut columns = infer::infer(sample);
    for (name, column_type) in &arguments.types {
        let column = columns.iter_mut().find(|column| *column.name == **name);
        let missing = || Error::Usage(format!("--type names {name:?}, which is no column"));
        column.ok_or_else(missing)?.column_type = *column_type;
    }
    let table = match client.map(|client| client.get(&table_path(&arguments.table, ""))) {
        Some(Ok(table)) => Some(table),
        Some(Err(Error::Problem(problem))) if problem.code == "no-table" => None,
        Some(Err(error)) => return Err(error),
        None => None,
    };
    let has_keys = sample.iter().all(|record| record.key.is_some());
    match table {
        Some(table) => Plan::into_table(&table, columns, has_keys),
        None if sample.is_empty() => Err(Error::Data("there are no rows to import".to_owned())),
        None if has_keys => Err(Error::Usage(format!(
            "rows whose keys stand apart need a table that is there: stonecrop table create {}",
            arguments.table
        ))),
        None => {
            let family = arguments.family.clone().unwrap_or_else(|| {
                let file = arguments.files.first().map(|file| file.as_path());
                let stem = file.filter(|file| *file != Path::new("-")).and_then(Path::file_stem);
                stem.map_or("main".to_owned(), |stem| stem.to_string_lossy().into_owned())
            });
            Plan::new_table(arguments, columns, family)
        }
    }
}

/// A file, and what was read of it already.
struct Source {
    name: String,
    reader: Reader,
    read: VecDeque<ReadRow>,
    saved: Saved,
    rejects: Rejects,
}

impl Source {
    fn open(arguments: &Arguments, file: &Path, database: &str) -> Result<Self> {
        let reader = Reader::open(file, arguments.format(file)?, arguments.delimiter()?)?;
        let mut saved = Saved::new(file, database, &arguments.table)?;
        let resumed = arguments.resume && saved.resume()?;
        let rejects = Rejects::beside(file, resumed);
        let name = file.display().to_string();
        Ok(Source { name, reader, read: VecDeque::new(), saved, rejects })
    }

    /// The first rows, which are kept to be imported.
    fn sample(&mut self) -> Result<Vec<Record>> {
        let mut records = Vec::new();
        while records.len() < SAMPLE_ROWS {
            let Some(read) = self.reader.next()? else { break };
            if let ReadRow::Row(record) = &read {
                records.push(record.clone());
            }
            self.read.push_back(read);
        }
        Ok(records)
    }

    fn next(&mut self) -> Result<Option<ReadRow>> {
        match self.read.pop_front() {
            Some(read) => Ok(Some(read)),
            None => self.reader.next(),
        }
    }

    fn import(
        mut self,
        plan: &Plan,
        table: &str,
        client: &Client,
        totals: &mut Totals,
    ) -> Result<()> {
        let bar = progress::rows_of(self.reader.total(self.saved.size()));
        for _ in 0..self.saved.state.rows_done {
            if self.next()?.is_none() {
                break;
            }
        }
        let imported_before = self.saved.state.imported;
        let outcome = self.import_rows(plan, &mut Sender::new(client, table), &bar);
        bar.finish_and_clear();
        totals.imported += self.saved.state.imported - imported_before;
        totals.seconds += bar.elapsed().as_secs_f64();
        if self.rejects.count() > 0 {
            totals.rejected += self.rejects.count();
            totals.reject_files.push(self.rejects.path().display().to_string());
        }
        match outcome {
            Ok(()) => self.saved.remove(),
            Err(error) => Err(self.cut_short(error)),
        }
    }

    fn import_rows(
        &mut self,
        plan: &Plan,
        sender: &mut Sender<'_>,
        bar: &indicatif::ProgressBar,
    ) -> Result<()> {
        let mut batch = Batch::default();
        let mut rows_done = self.saved.state.rows_done;
        while let Some(read) = self.next()? {
            rows_done += 1;
            match read {
                ReadRow::Bad(reject) => batch.rejects.push(reject),
                ReadRow::Row(record) => match plan.write(&record) {
                    Ok(write) => batch.push(record, write),
                    Err(reason) => batch.rejects.push(record.reject(reason)),
                },
            }
            batch.rows_done = rows_done;
            if batch.is_full() {
                let done = sender.send(std::mem::take(&mut batch))?;
                self.note(done)?;
                bar.set_position(self.reader.position());
                progress::show_rows(bar, self.saved.state.imported);
            }
        }
        if !batch.is_empty() {
            let done = sender.send(batch)?;
            self.note(done)?;
        }
        let done = sender.finish()?;
        self.note(done)
    }

    /// Writes down what is on disk now.
    fn note(&mut self, done: Option<Done>) -> Result<()> {
        let Some(done) = done else { return Ok(()) };
        for reject in &done.rejects {
            self.rejects.add(reject)?;
        }
        self.rejects.flush()?;
        let state = &mut self.saved.state;
        state.rows_done = done.rows_done;
        state.imported += done.imported;
        state.rejected += done.rejects.len() as u64;
        self.saved.save()
    }

    /// The error, and how to go on after it.
    fn cut_short(&self, error: Error) -> Error {
        let so_far = format!(
            "{} rows of {} were imported before; --resume goes on after them",
            self.saved.state.imported, self.name
        );
        match error {
            Error::Problem(problem) => Error::Problem(Box::new(problem.with_note(&so_far))),
            Error::Unreachable(text) => Error::Unreachable(format!("{text}; {so_far}")),
            other => other,
        }
    }
}

fn summary_of_plan(plan: &Plan) -> serde_json::Value {
    let columns = plan.columns.iter().map(|column| {
        json!({ "name": &*column.name, "type": column.column_type, "example": column.example })
    });
    json!({ "columns": columns.collect::<Vec<_>>(), "create": plan.create })
}

fn report(totals: &Totals, json: bool, session: &mut Session) -> Result<()> {
    if totals.rejected > 0 {
        session.mark_bad();
    }
    if json {
        return session.print_json(&json!({
            "imported": totals.imported,
            "rejected": totals.rejected,
            "rejects": totals.reject_files,
        }));
    }
    session.say(&format!("{} imported", rows(totals.imported)))?;
    if std::io::stderr().is_terminal() && totals.seconds > 1.0 {
        let took = HumanDuration(Duration::from_secs_f64(totals.seconds));
        let rate = HumanCount((totals.imported as f64 / totals.seconds) as u64);
        session.out().flush().map_err(Error::Output)?;
        session.note(&format!("in {took:#}, {rate} rows/s"));
    }
    if totals.rejected > 0 {
        let files = totals.reject_files.join(", ");
        let count = rows(totals.rejected);
        session.say(&format!("{count} left out: {files} says which and why"))?;
    }
    Ok(())
}

fn rows(count: u64) -> String {
    format!("{} {}", HumanCount(count), if count == 1 { "row" } else { "rows" })
}
