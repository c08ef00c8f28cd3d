//! One run of the command: where its output and errors go, and how it ends.

use std::io::{self, BufWriter, IsTerminal as _, Write};
use std::process::ExitCode;

use anstream::AutoStream;
use serde::Serialize;

use crate::client::{Access, Client, Target};
use crate::error::{Error, Result};
use crate::input::Lines;
use crate::output::{ERROR, When, visible};

/// Where commands write what they were asked for.
pub(crate) type Out = BufWriter<AutoStream<io::Stdout>>;

const END_OF_INPUT: &str = if cfg!(windows) { "Ctrl-Z and Enter" } else { "Ctrl-D" };

pub(crate) struct Session {
    out: Out,
    errors: AutoStream<io::Stderr>,
    /// The database that the command is about, if it is about one.
    target: Target,
    /// Some lines were bad; the others were worked on all the same.
    bad_lines: bool,
}

impl Session {
    pub(crate) fn new(color: When, target: Target) -> Self {
        Session {
            out: BufWriter::new(AutoStream::new(io::stdout(), color.into())),
            errors: AutoStream::new(io::stderr(), color.into()),
            target,
            bad_lines: false,
        }
    }

    pub(crate) fn out(&mut self) -> &mut Out {
        &mut self.out
    }

    pub(crate) fn target(&self) -> &Target {
        &self.target
    }

    /// The database, which has to be there, to look at it.
    pub(crate) fn open_to_read(&self) -> Result<Client> {
        Client::open(&self.target, Access::Read)
    }

    /// The database, which has to be there.
    pub(crate) fn open(&self) -> Result<Client> {
        Client::open(&self.target, Access::Write)
    }

    /// The database, which is made if it is a folder that is not there.
    pub(crate) fn open_or_create(&self) -> Result<Client> {
        Client::open(&self.target, Access::Create)
    }

    /// Something was bad, and the rest was worked on all the same: the exit code says so.
    pub(crate) fn mark_bad(&mut self) {
        self.bad_lines = true;
    }

    /// One JSON document on a line of its own.
    pub(crate) fn print_json(&mut self, document: &impl Serialize) -> Result<()> {
        let json = serde_json::to_string(document).map_err(|error| Error::Output(error.into()))?;
        writeln!(self.out, "{}", visible(&json)).map_err(Error::Output)
    }

    /// A line for people; not with `--json`.
    pub(crate) fn say(&mut self, text: &str) -> Result<()> {
        writeln!(self.out, "{text}").map_err(Error::Output)
    }

    /// Whether the person at the terminal agrees. Without a terminal only `--yes` will do.
    pub(crate) fn confirm(&mut self, yes: bool, question: &str, default: bool) -> Result<bool> {
        if yes {
            return Ok(true);
        }
        if !io::stdin().is_terminal() {
            let problem = format!("{question} There is no terminal to ask; say so with --yes");
            return Err(Error::Usage(problem));
        }
        self.out.flush().map_err(Error::Output)?;
        let choice = if default { "[Y/n]" } else { "[y/N]" };
        let _ = write!(self.errors, "{question} {choice} ");
        let _ = self.errors.flush();
        let mut answer = String::new();
        io::stdin().read_line(&mut answer).map_err(Error::Input)?;
        Ok(match answer.trim().to_lowercase().as_str() {
            "" => default,
            "y" | "yes" => true,
            _ => false,
        })
    }

    /// Works on the argument or, where there is none, on every line of standard input. A bad line
    /// is reported by its number, and the next one is taken.
    pub(crate) fn each(
        &mut self,
        argument: Option<&str>,
        lines_are: &str,
        mut work: impl FnMut(&str, &mut Out) -> Result<()>,
    ) -> Result<()> {
        if let Some(argument) = argument {
            return work(argument, &mut self.out);
        }
        let stdin = io::stdin().lock();
        if stdin.is_terminal() {
            self.note(&format!("reading {lines_are}, one a line; {END_OF_INPUT} ends the input"));
        }
        let mut lines = Lines::new(stdin);
        loop {
            if lines.may_wait() {
                self.out.flush().map_err(Error::Output)?;
            }
            let Some(line) = lines.next() else {
                return Ok(());
            };
            match line.and_then(|line| work(line, &mut self.out)) {
                Ok(()) => {}
                Err(error) if error.is_bad_data() => {
                    self.bad_lines = true;
                    self.report(Some(lines.number()), &error);
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Sends off what is left of the output, reports what went wrong, and says how to exit.
    pub(crate) fn finish(mut self, ended: Result<()>) -> ExitCode {
        let ended = ended.and_then(|()| self.out.flush().map_err(Error::Output));
        match ended {
            Err(error) if !error.is_closed_pipe() => {
                self.report(None, &error);
                error.exit_code().into()
            }
            _ => u8::from(self.bad_lines).into(),
        }
    }

    fn report(&mut self, line: Option<u64>, error: &Error) {
        // So that on a terminal the error stands after the output that came before it. If either
        // stream is gone there is nobody left to tell.
        let _ = self.out.flush();
        let line = line.map_or(String::new(), |number| format!("line {number}: "));
        let _ = writeln!(self.errors, "{ERROR}error:{ERROR:#} {line}{error}");
    }

    /// A line on standard error that is no error.
    pub(crate) fn note(&mut self, text: &str) {
        let _ = writeln!(self.errors, "{text}");
    }
}
