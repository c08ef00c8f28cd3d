//! A power cut: an ext4 file system that is shut down under the writer, then mounted again. After
//! that every sync fails, so all that was acknowledged was synced before.

use std::path::Path;
use std::process::{Command, ExitStatus};
use std::time::Duration;

use serde::Serialize;

use crate::child::{self, Kill, Moment};
use crate::expected::Expected;
use crate::full::{Mounted, mount};
use crate::rounds::{check, command};
use crate::{Report, Result};

/// EXT4_IOC_SHUTDOWN without a flush of the log: what was not synced is gone.
const SHUT_DOWN: &str = "import fcntl,os,struct,sys
fd=os.open(sys.argv[1],os.O_RDONLY)
fcntl.ioctl(fd,0x8004587d,struct.pack('I',2))";

/// Cut the power of a file system at random moments, and check what is left.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// How many cuts.
    #[arg(long, default_value_t = 20)]
    count: u64,
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The summary as JSON on stdout.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Default, Serialize)]
struct Summary {
    cuts: u64,
    acknowledged_batches: u64,
    acknowledged_catalog_changes: u64,
    seconds: f64,
    broken: Vec<String>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Report> {
    let start = child::now();
    let place = tempfile::tempdir()?;
    let image = place.path().join("image").display().to_string();
    let point = place.path().join("disk");
    std::fs::create_dir(&point)?;
    let mut random = fastrand::Rng::with_seed(arguments.seed);
    let mut summary = Summary::default();
    let mut expected = Expected::default();
    for cut in 0..arguments.count {
        if cut % 10 == 0 && !make_disk(&image)? {
            return Ok(skipped("there is no mkfs.ext4 or python3"));
        }
        if cut % 10 == 0 {
            expected = Expected::default();
        }
        let Some(disk) = mount(&["-o", "loop", &image], &point)? else {
            return Ok(skipped("a file can't be mounted as a disk; run it as root"));
        };
        cut_once(disk, &image, &mut expected, &mut random, &mut summary)?;
        if !summary.broken.is_empty() {
            break;
        }
    }
    summary.seconds = start.elapsed().as_secs_f64();
    let text = format!(
        "{} power cuts in {:.0} s; {} batches and {} changes of the catalog were acknowledged \
         before.",
        summary.cuts,
        summary.seconds,
        summary.acknowledged_batches,
        summary.acknowledged_catalog_changes
    );
    Report::new(text, summary.broken.clone(), &summary)
}

fn skipped(reason: &str) -> Report {
    let skipped = Some(reason.to_owned());
    Report { text: String::new(), json: String::new(), broken: vec![], skipped }
}

fn make_disk(image: &str) -> Result<bool> {
    std::fs::File::create(image)?.set_len(160 << 20)?;
    let done = |status: std::io::Result<ExitStatus>| status.is_ok_and(|status| status.success());
    Ok(done(Command::new("mkfs.ext4").args(["-q", "-F", image]).status())
        && done(Command::new("python3").args(["-c", "import fcntl"]).status()))
}

fn cut_once(
    disk: Mounted,
    image: &str,
    expected: &mut Expected,
    random: &mut fastrand::Rng,
    summary: &mut Summary,
) -> Result<()> {
    let folder = disk.0.join("db");
    let mut writer = command("write", &folder)?;
    writer.args(["--seed", &random.u32(..).to_string()]);
    writer.args(["--first", &expected.next_batch().to_string()]);
    writer.args(["--first-step", &expected.next_step().to_string()]);
    writer.args(["--threads", if random.bool() { "4" } else { "1" }]);
    let delay = Duration::from_micros(random.u64(0..20_000));
    let kill = Kill { moment: Moment::Acknowledged(random.usize(1..150)), delay };
    let ended = child::run_until(writer, kill, || shut_down(&disk.0))?;
    summary.cuts += 1;
    summary.acknowledged_batches += ended.heard.acknowledged.len() as u64;
    summary.acknowledged_catalog_changes += ended.heard.steps.len() as u64;
    let point = disk.0.clone();
    // Only a real unmount forgets what the memory holds of the disk.
    Command::new("umount").arg(&point).status()?;
    std::mem::forget(disk);
    let disk = mount(&["-o", "loop", image], &point)?.ok_or("the disk can't be mounted again")?;
    let broken = match check(&folder, expected, &ended.heard) {
        Ok(broken) => broken,
        Err(error) => vec![format!("it can't be read after a power cut: {error}")],
    };
    summary.broken.extend(broken);
    Command::new("umount").arg(&disk.0).status()?;
    std::mem::forget(disk);
    Ok(())
}

fn shut_down(disk: &Path) -> Result<()> {
    let status = Command::new("python3").args(["-c", SHUT_DOWN]).arg(disk).status()?;
    if status.success() { Ok(()) } else { Err("the file system can't be shut down".into()) }
}
