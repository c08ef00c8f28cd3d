//! Starting a writer, hearing what it says, and killing it.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use crate::Result;
use crate::expected::Heard;

/// A writer that says nothing for so long hangs.
const PATIENCE: Duration = Duration::from_secs(60);

/// When a writer is killed: a while after something was heard so many times.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kill {
    pub(crate) moment: Moment,
    pub(crate) delay: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Moment {
    Started,
    Acknowledged(usize),
    Maintenance(usize),
    Catalog(usize),
    Never,
}

/// What became of a writer.
pub(crate) struct Ended {
    pub(crate) heard: Heard,
    pub(crate) status: ExitStatus,
    pub(crate) killed: bool,
    pub(crate) hung: bool,
    /// Lines about something else than a batch, as they came.
    pub(crate) remarks: Vec<String>,
    pub(crate) stderr: String,
    /// What was under way at the end.
    pub(crate) maintaining: bool,
}

#[derive(Default)]
struct Ears {
    heard: Heard,
    remarks: Vec<String>,
    maintenances: usize,
    catalog_changes: usize,
    maintaining: bool,
    pid: Option<String>,
}

impl Ears {
    fn hear(&mut self, line: &str) -> Result<()> {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        // In a writer of one thread, the next word says that the maintenance is over.
        self.maintaining = word == "maintain";
        match word {
            "try" => drop(self.heard.tried.insert(rest.parse()?)),
            "ack" => drop(self.heard.acknowledged.insert(rest.parse()?)),
            "begin" => {
                self.heard.begun = Some(serde_json::from_str(rest)?);
                self.catalog_changes += 1;
            }
            "done" => self.heard.steps.extend(self.heard.begun.take()),
            "maintain" => self.maintenances += 1,
            "pid" => self.pid = Some(rest.to_owned()),
            "error" | "accepted" | "unread" | "reopened" | "right" | "wrong" => {
                self.remarks.push(line.to_owned());
            }
            _ => {}
        }
        Ok(())
    }

    fn reached(&self, moment: Moment) -> bool {
        match moment {
            Moment::Started => true,
            Moment::Acknowledged(count) => self.heard.acknowledged.len() >= count,
            Moment::Maintenance(count) => self.maintenances >= count,
            Moment::Catalog(count) => self.catalog_changes >= count,
            Moment::Never => false,
        }
    }
}

#[allow(clippy::disallowed_methods, reason = "real processes are killed in real time")]
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// Runs a writer until it is killed or ends.
pub(crate) fn run(command: Command, kill: Kill) -> Result<Ended> {
    run_until(command, kill, || Ok(()))
}

/// Does something just before the writer is killed.
pub(crate) fn run_until(
    mut command: Command,
    kill: Kill,
    before: impl FnOnce() -> Result<()>,
) -> Result<Ended> {
    let mut before = Some(before);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let lines = read_lines(&mut child)?;
    let mut stderr = child.stderr.take().ok_or("no stderr")?;
    let complaints = std::thread::spawn(move || {
        let mut text = String::new();
        stderr.read_to_string(&mut text).map(|_| text)
    });
    let mut ears = Ears::default();
    let (mut killed, mut hung) = (false, false);
    let mut deadline = None;
    loop {
        if deadline.is_none() && ears.reached(kill.moment) {
            deadline = Some(now() + kill.delay);
        }
        let wait = deadline.map_or(PATIENCE, |deadline| deadline.duration_since(now()));
        match lines.recv_timeout(if killed { PATIENCE } else { wait }) {
            Ok(line) => ears.hear(&line)?,
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) if killed || hung => break,
            Err(RecvTimeoutError::Timeout) => {
                killed = deadline.is_some();
                hung = !killed;
                before.take().map_or(Ok(()), |before| before())?;
                kill_all(&mut child, ears.pid.as_deref())?;
            }
        }
    }
    let status = child.wait()?;
    let stderr = complaints.join().map_err(|_| "stderr can't be read")??;
    let Ears { heard, remarks, maintaining, .. } = ears;
    Ok(Ended { heard, status, killed, hung, remarks, stderr, maintaining })
}

/// The writer may be a child of the child, which does not end with it.
fn kill_all(child: &mut Child, writer: Option<&str>) -> Result<()> {
    match writer {
        Some(pid) if pid != child.id().to_string() => {
            Command::new("kill").args(["-9", pid]).status()?;
        }
        _ => child.kill()?,
    }
    Ok(())
}

/// A writer that is left running, while other things are done to it and to its database.
pub(crate) struct Running {
    child: Child,
    lines: Receiver<String>,
    ears: Ears,
}

impl Running {
    pub(crate) fn start(mut command: Command) -> Result<Self> {
        let mut child = command.stdout(Stdio::piped()).spawn()?;
        let lines = read_lines(&mut child)?;
        Ok(Running { child, lines, ears: Ears::default() })
    }

    /// Listens until something was heard.
    pub(crate) fn hear_until(&mut self, moment: Moment) -> Result<()> {
        while !self.ears.reached(moment) {
            self.ears.hear(&self.lines.recv_timeout(PATIENCE)?)?;
        }
        Ok(())
    }

    /// Stops the process where it is, and gives back all that it has said.
    pub(crate) fn pause(&mut self) -> Result<&Heard> {
        self.signal("-STOP")?;
        // What it said just before is on its way.
        while let Ok(line) = self.lines.recv_timeout(Duration::from_millis(200)) {
            self.ears.hear(&line)?;
        }
        Ok(&self.ears.heard)
    }

    /// Lets it go on to its end; what it said all in all, its other remarks, and how it ended.
    pub(crate) fn resume(mut self) -> Result<(Heard, Vec<String>, ExitStatus)> {
        self.signal("-CONT")?;
        loop {
            match self.lines.recv_timeout(PATIENCE) {
                Ok(line) => self.ears.hear(&line)?,
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => return Err("the writer hangs".into()),
            }
        }
        let status = self.child.wait()?;
        let ears = std::mem::take(&mut self.ears);
        Ok((ears.heard, ears.remarks, status))
    }

    fn signal(&self, signal: &str) -> Result<()> {
        let sent = Command::new("kill").args([signal, &self.child.id().to_string()]).status()?;
        if sent.success() { Ok(()) } else { Err(format!("kill {signal}: {sent}").into()) }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // One that was stopped would stay for ever.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn read_lines(child: &mut Child) -> Result<Receiver<String>> {
    let stdout = child.stdout.take().ok_or("no stdout")?;
    let (to, lines) = channel();
    std::thread::spawn(move || {
        let mut stdout = BufReader::new(stdout);
        let mut line = String::new();
        // A line that the end of the writer cut short says nothing.
        while stdout.read_line(&mut line).is_ok() && line.ends_with('\n') {
            if to.send(line.trim_end().to_owned()).is_err() {
                break;
            }
            line.clear();
        }
    });
    Ok(lines)
}
