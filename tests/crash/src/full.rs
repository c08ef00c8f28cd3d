//! A full disk, then room again.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Serialize;
use stonecrop::Database;

use crate::batch::{FIRST, Tables, open};
use crate::child;
use crate::expected::{Expected, Heard};
use crate::{Report, Result, kind};

/// Fill the disk under a database, see what it says, make room, and see it go on.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The size of the disk, a tmpfs.
    #[arg(long, default_value_t = 64)]
    disk_mib: u64,
    /// How much of it another file takes, until it is deleted.
    #[arg(long, default_value_t = 24)]
    filler_mib: u64,
    /// The summary as JSON on stdout.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Default, Serialize)]
struct Summary {
    batches_before_full: u64,
    refused_batches: u64,
    batches_after_room: u64,
    error_kind: String,
    error: String,
    seconds: f64,
    broken: Vec<String>,
}

/// A file system that is unmounted at the end.
pub(crate) struct Mounted(pub(crate) PathBuf);

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).output();
    }
}

/// Why it could not be mounted is on stderr.
pub(crate) fn mount(arguments: &[&str], at: &Path) -> Result<Option<Mounted>> {
    let mounted = Command::new("mount").args(arguments).arg(at).status();
    Ok(mounted.is_ok_and(|status| status.success()).then(|| Mounted(at.to_owned())))
}

pub(crate) fn run(arguments: &Arguments) -> Result<Report> {
    let start = child::now();
    let place = tempfile::tempdir()?;
    let size = format!("size={}m", arguments.disk_mib);
    let Some(disk) = mount(&["-t", "tmpfs", "-o", &size, "tmpfs"], place.path())? else {
        let skipped = Some("a tmpfs can't be mounted; run it as root".to_owned());
        return Ok(Report { text: String::new(), json: String::new(), broken: vec![], skipped });
    };
    let mut summary = Summary::default();
    let mut heard = Heard::default();
    let filler = disk.0.join("filler");
    File::create(&filler)?.write_all(&vec![1; (arguments.filler_mib << 20) as usize])?;
    let folder = disk.0.join("db");
    let db = open(&folder)?;
    let tables = Tables::create(&db)?;

    let error = fill(&db, &tables, &mut heard)?;
    summary.batches_before_full = heard.acknowledged.len() as u64;
    (summary.error_kind, summary.error) = (kind(&error), error.to_string());
    if summary.error_kind != "Full" {
        summary.broken.push(format!("the disk is full, and the error is {error:?}"));
    }
    // Batches that may still fit do no harm; those that are refused must leave no trace.
    for _ in 0..5 {
        summary.refused_batches += u64::from(try_batch(&db, &tables, &mut heard).is_err());
    }
    compare("on the full disk", &db, &heard, &mut summary)?;

    fs::remove_file(&filler)?;
    for _ in 0..200 {
        match try_batch(&db, &tables, &mut heard) {
            Ok(()) => summary.batches_after_room += 1,
            Err(error) => {
                summary.broken.push(format!("there is room again, and a write fails: {error}"));
                break;
            }
        }
    }
    compare("with room again", &db, &heard, &mut summary)?;
    drop((tables, db));
    compare("opened again", &open(&folder)?, &heard, &mut summary)?;
    summary.seconds = start.elapsed().as_secs_f64();
    let text = format!(
        "{} batches were written before the disk of {} MiB was full; then {} were refused:\n  {} \
         ({})\nAfter {} MiB were freed, {} more were written without opening anew.",
        summary.batches_before_full,
        arguments.disk_mib,
        summary.refused_batches + 1,
        summary.error.replace(&folder.display().to_string(), "FOLDER"),
        summary.error_kind,
        arguments.filler_mib,
        summary.batches_after_room
    );
    Report::new(text, summary.broken.clone(), &summary)
}

fn fill(db: &Database, tables: &Tables, heard: &mut Heard) -> Result<stonecrop::Error> {
    for _ in 0..1_000_000 {
        if let Err(error) = try_batch(db, tables, heard) {
            return Ok(error);
        }
    }
    Err("the disk does not get full".into())
}

fn try_batch(db: &Database, tables: &Tables, heard: &mut Heard) -> stonecrop::Result<()> {
    let batch = heard.tried.last().map_or(FIRST, |last| last + 1);
    heard.tried.insert(batch);
    tables.write(db, batch)?;
    heard.acknowledged.insert(batch);
    Ok(())
}

fn compare(when: &str, db: &Database, heard: &Heard, summary: &mut Summary) -> Result<()> {
    let broken = Expected::default().check(db, heard)?;
    summary.broken.extend(broken.iter().map(|broken| format!("{when}: {broken}")));
    Ok(())
}
