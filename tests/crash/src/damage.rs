//! Flipped bits, cut files, zeroed and missing ones: an error, or the right data; nothing else.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::Serialize;
use stonecrop::{Database, Durability};

use crate::batch::{FIRST, Tables, open, open_as};
use crate::child::{self, Kill, Moment};
use crate::expected::{Expected, Heard};
use crate::rounds::command;
use crate::side::Step;
use crate::{Report, Result, kind};

const BATCHES: u64 = 60;

/// Damage a file of a database at random, and see whether it is noticed.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// How often.
    #[arg(long, default_value_t = 200)]
    count: u64,
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Only files of this kind: journal, table, version, current, marker, commits, other.
    #[arg(long)]
    kind: Option<String>,
    /// The summary as JSON on stdout.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Read all of a database that was made for damage, and compare.
#[derive(clap::Args)]
pub(crate) struct VerifyArguments {
    folder: PathBuf,
    /// How many batches were synced.
    #[arg(long, default_value_t = BATCHES)]
    synced: u64,
    /// How many more were written and not synced.
    #[arg(long, default_value_t = 0)]
    unsynced: u64,
}

/// The answer is on stdout: `right`, `error KIND MESSAGE`, or `wrong WHAT`.
pub(crate) fn verify(arguments: &VerifyArguments) -> Result<()> {
    let synced = FIRST..FIRST + arguments.synced;
    let heard = Heard {
        tried: (FIRST..synced.end + arguments.unsynced).collect(),
        acknowledged: synced.collect(),
        steps: Step::fixed(),
        begun: None,
    };
    let checked = open(&arguments.folder).and_then(|db| Expected::default().check(&db, &heard));
    let answer = match checked {
        Ok(broken) if broken.is_empty() => "right".to_owned(),
        Ok(broken) => format!("wrong {}", broken.join("; ").chars().take(300).collect::<String>()),
        Err(error) => format!("error {} {error}", kind(&error)),
    };
    Ok(writeln!(std::io::stdout(), "{answer}")?)
}

#[derive(Default, Serialize)]
struct Summary {
    damages: u64,
    /// By the kind of file, the damage, and what came of it.
    outcomes: BTreeMap<String, BTreeMap<String, u64>>,
    errors_that_name_the_file: u64,
    errors_that_name_the_folder: u64,
    errors: u64,
    /// The engine panicked, and the panic was made an error.
    panics_caught: u64,
    seconds: f64,
    broken: Vec<String>,
}

/// A database as a sudden end would leave it.
struct Victim {
    name: &'static str,
    folder: tempfile::TempDir,
    /// Its files by kind, with the length up to the last byte that is not zero.
    files: BTreeMap<&'static str, Vec<(PathBuf, u64)>>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Report> {
    let start = child::now();
    let mut random = fastrand::Rng::with_seed(arguments.seed);
    let victims = [
        Victim::make("journal only", |_, _| Ok(()))?,
        Victim::make("flushed", |db, batch| if batch % 20 == 0 { db.flush() } else { Ok(()) })?,
        Victim::make("compacted", |db, batch| if batch % 25 == 0 { db.compact() } else { Ok(()) })?,
    ];
    let mut summary = Summary::default();
    while summary.damages < arguments.count {
        let Some(victim) = random.choice(&victims) else { break };
        let kinds: Vec<_> = victim.files.keys().copied().collect();
        let Some(file_kind) = random.choice(kinds) else { break };
        if arguments.kind.as_ref().is_some_and(|only| only != file_kind) {
            continue;
        }
        let files = victim.files.get(file_kind).map(Vec::as_slice).unwrap_or_default();
        let Some((file, length)) = random.choice(files) else { continue };
        summary.damages += 1;
        let damage = Damage::choose(*length, &mut random);
        try_damage(victim, file_kind, file, damage, &mut summary)?;
    }
    summary.seconds = start.elapsed().as_secs_f64();
    let mut text = format!("{} damages in {:.0} s\n", summary.damages, summary.seconds);
    for (what, outcomes) in &summary.outcomes {
        text += &format!("  {what}: {outcomes:?}\n");
    }
    text += &format!(
        "{} errors: {} name the file, {} name the folder; {} were panics of the engine, caught",
        summary.errors,
        summary.errors_that_name_the_file,
        summary.errors_that_name_the_folder,
        summary.panics_caught
    );
    Report::new(text, summary.broken.clone(), &summary)
}

#[derive(Clone, Copy, Debug)]
enum Damage {
    Flip { at: u64, bit: u32 },
    Cut { at: u64 },
    Zero { at: u64 },
    Missing,
}

impl Damage {
    fn choose(length: u64, random: &mut fastrand::Rng) -> Self {
        let at = random.u64(0..length.max(1));
        match random.u32(0..20) {
            0 => Damage::Missing,
            1..=2 => Damage::Zero { at },
            3..=6 => Damage::Cut { at },
            _ => Damage::Flip { at, bit: random.u32(0..8) },
        }
    }

    fn name(self) -> &'static str {
        match self {
            Damage::Flip { .. } => "a bit flipped",
            Damage::Cut { .. } => "cut short",
            Damage::Zero { .. } => "64 bytes zeroed",
            Damage::Missing => "missing",
        }
    }

    fn inflict(self, path: &Path) -> Result<()> {
        let file = OpenOptions::new().read(true).write(true).open(path)?;
        let length = file.metadata()?.len();
        match self {
            Damage::Flip { at, bit } if at < length => {
                let mut byte = [0];
                file.read_exact_at(&mut byte, at)?;
                file.write_all_at(&byte.map(|byte| byte ^ (1 << bit)), at)?;
            }
            Damage::Flip { .. } => {}
            Damage::Cut { at } => file.set_len(at)?,
            Damage::Zero { at } => {
                let end = (at + 64).min(length);
                file.write_all_at(&vec![0; end.saturating_sub(at) as usize], at)?;
            }
            Damage::Missing => fs::remove_file(path)?,
        }
        Ok(())
    }
}

fn try_damage(
    victim: &Victim,
    file_kind: &str,
    file: &Path,
    damage: Damage,
    summary: &mut Summary,
) -> Result<()> {
    let folder = tempfile::tempdir_in(crate::scratch())?;
    let copied = folder.path().join("db");
    copy(&victim.folder.path().join("copy"), &copied)?;
    damage.inflict(&copied.join(file))?;
    let (answer, panicked) = judge(&copied, &[])?;
    let what = format!("{file_kind} ({}) {}", victim.name, damage.name());
    let place = format!("{}, {} {damage:?}", victim.name, file.display());
    let outcome = match answer.split(' ').collect::<Vec<_>>().as_slice() {
        ["right", ..] => "all data right".to_owned(),
        ["error", kind, ..] => {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            summary.errors += 1;
            summary.panics_caught += u64::from(panicked);
            let names_file = answer.contains(&format!("/{name}"));
            summary.errors_that_name_the_file += u64::from(names_file);
            let path = copied.display().to_string();
            summary.errors_that_name_the_folder += u64::from(!names_file && answer.contains(&path));
            if *kind == "Other" {
                summary.broken.push(format!("an unclear error: {place}: {answer}"));
            }
            format!("error {kind}")
        }
        _ => {
            summary.broken.push(format!("{place}: {answer}"));
            "NOT NOTICED".to_owned()
        }
    };
    *summary.outcomes.entry(what).or_default().entry(outcome).or_default() += 1;
    Ok(())
}

/// What a process of its own makes of a folder, and whether anything panicked in it.
fn judge(folder: &Path, arguments: &[&str]) -> Result<(String, bool)> {
    let mut verify = command("verify", folder)?;
    verify.args(arguments);
    let ended = child::run(verify, Kill { moment: Moment::Never, delay: Default::default() })?;
    let panicked = ended.stderr.contains("panicked");
    let answer = match ended.remarks.into_iter().next() {
        _ if ended.hung => "HANGS".to_owned(),
        Some(answer) if ended.status.success() => answer,
        _ => format!("ENDED {}: {}", ended.status, ended.stderr),
    };
    Ok((answer, panicked))
}

impl Victim {
    fn make(
        name: &'static str,
        between: impl Fn(&Database, u64) -> stonecrop::Result<()>,
    ) -> Result<Self> {
        let folder = tempfile::tempdir_in(crate::scratch())?;
        let (original, copied) = (folder.path().join("original"), folder.path().join("copy"));
        let db = open(&original)?;
        write(&db, BATCHES, between)?;
        copy(&original, &copied)?;
        drop(db);
        let mut files: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for path in list(&copied)? {
            let relative = path.strip_prefix(&copied)?.to_owned();
            files.entry(kind_of(&relative)).or_default().push((relative, used(&path)?));
        }
        Ok(Victim { name, folder, files })
    }
}

fn write(
    db: &Database,
    batches: u64,
    between: impl Fn(&Database, u64) -> stonecrop::Result<()>,
) -> Result<()> {
    let tables = Tables::create(db)?;
    Step::fixed().iter().try_for_each(|step| step.perform(db))?;
    for batch in FIRST..FIRST + batches {
        tables.write(db, batch)?;
        between(db, batch)?;
    }
    Ok(())
}

fn kind_of(path: &Path) -> &'static str {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    match &*name {
        "STONECROP" => "marker",
        "commits" => "commits",
        "current" => "current",
        name if name.ends_with(".jnl") => "journal",
        _ if path.parent().is_some_and(|parent| parent.ends_with("tables")) => "table",
        name if name.starts_with('v') && name != "version" => "version",
        _ => "other",
    }
}

/// The length up to the last byte that is not zero: journals are made longer than they need be.
fn used(path: &Path) -> Result<u64> {
    let bytes = fs::read(path)?;
    Ok(bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last as u64 + 1))
}

fn list(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() { files.extend(list(&path)?) } else { files.push(path) }
    }
    files.sort();
    Ok(files)
}

/// Journals are sparse, and stay so.
fn copy(from: &Path, to: &Path) -> Result<()> {
    let status = Command::new("cp")
        .args(["-r", "--sparse=always"])
        .args([from, to])
        .stdin(Stdio::null())
        .status()?;
    if status.success() { Ok(()) } else { Err("cp failed".into()) }
}

/// Cut or scribble into the part of a journal that no sync has reached, as a power cut does.
#[derive(clap::Args)]
pub(crate) struct TornArguments {
    #[arg(long, default_value_t = 60)]
    count: u64,
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The summary as JSON on stdout.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Default, Serialize)]
struct TornSummary {
    cuts: u64,
    zeroed: u64,
    zeroed_and_refused: u64,
    broken: Vec<String>,
}

pub(crate) fn run_torn(arguments: &TornArguments) -> Result<Report> {
    let folder = tempfile::tempdir_in(crate::scratch())?;
    let original = folder.path().join("original");
    let copied = folder.path().join("copy");
    let journal = Path::new("engine/0.jnl");
    let db = open(&original)?;
    write(&db, BATCHES, |_, _| Ok(()))?;
    db.close()?;
    drop(db);
    let db = open_as(&original, Durability::None)?;
    let tables = Tables::create(&db)?;
    let mut unsynced = FIRST + BATCHES..FIRST + BATCHES + 20;
    // The first changes of a table that are numbered after it was opened are synced.
    unsynced.by_ref().take(1).try_for_each(|batch| tables.write(&db, batch))?;
    let synced = used(&original.join(journal))?;
    unsynced.try_for_each(|batch| tables.write(&db, batch))?;
    copy(&original, &copied)?;
    drop(db);
    let end = used(&copied.join(journal))?;
    let mut random = fastrand::Rng::with_seed(arguments.seed);
    let mut summary = TornSummary::default();
    for round in 0..arguments.count {
        let at = random.u64(synced..end);
        let torn = folder.path().join("torn");
        copy(&copied, &torn)?;
        let path = torn.join(journal);
        let cut = round % 2 == 0;
        if cut {
            Damage::Cut { at }.inflict(&path)?;
        } else {
            Damage::Zero { at }.inflict(&path)?;
        }
        let (answer, _) = judge(&torn, &["--unsynced", "20"])?;
        summary.cuts += u64::from(cut);
        summary.zeroed += u64::from(!cut);
        match answer.split(' ').next() {
            Some("right") => {}
            Some("error") if !cut => summary.zeroed_and_refused += 1,
            _ => summary.broken.push(format!("torn at {at} of {synced}..{end}: {answer}")),
        }
        fs::remove_dir_all(&torn)?;
    }
    let text = format!(
        "A journal cut within its unsynced part: {} of {} recovered, all synced batches there.\n64 \
         bytes of it zeroed, with later ones there: {} of {} were refused at opening.",
        summary.cuts - summary.broken.len() as u64,
        summary.cuts,
        summary.zeroed_and_refused,
        summary.zeroed
    );
    Report::new(text, summary.broken.clone(), &summary)
}
