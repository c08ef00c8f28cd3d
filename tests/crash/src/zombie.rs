//! A writer that is stopped for a while, and goes on when another has taken its database over.

use serde::Serialize;

use crate::child::{self, Kill, Moment, Running};
use crate::expected::Expected;
use crate::place::Place;
use crate::rounds::{check, command, complaints};
use crate::{Report, Result};

/// Between the numbers of the batches of one writer and those of the next, a multiple of 4.
const GAP: u64 = 400;

/// Pause a writer with SIGSTOP, let another take over and write, and resume the first: it must end
/// with an error, and nothing that either acknowledged is lost.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[arg(long, default_value_t = 3)]
    count: u64,
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Where databases are made, on object storage; file:///dev/shm?engine=slatedb without.
    #[arg(long)]
    location: Option<String>,
    /// The summary as JSON on stdout.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Default, Serialize)]
struct Summary {
    rounds: u64,
    acknowledged_by_the_first: u64,
    acknowledged_by_the_second: u64,
    /// How long the first went on for after it was resumed.
    milliseconds_until_stopped_max: u64,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Report> {
    let folder = format!("file://{}?engine=slatedb", crate::scratch().display());
    let place = Place::new(Some(arguments.location.as_deref().unwrap_or(&folder)))?;
    let mut random = fastrand::Rng::with_seed(arguments.seed);
    let (mut expected, mut summary) = (Expected::default(), Summary::default());
    let mut broken = Vec::new();
    while summary.rounds < arguments.count && broken.is_empty() {
        summary.rounds += 1;
        broken = round(&place, &mut expected, &mut random, &mut summary)?;
    }
    if !broken.is_empty() {
        let kept = place.keep(&broken.join("\n"))?;
        broken.push(format!("kept: {}", kept.display()));
    }
    let text = format!(
        "{} rounds; {} batches acknowledged by those who were stopped, {} by those who took over. \
         Resumed, they ended within {} ms.",
        summary.rounds,
        summary.acknowledged_by_the_first,
        summary.acknowledged_by_the_second,
        summary.milliseconds_until_stopped_max,
    );
    Report::new(text, broken, &summary)
}

fn round(
    place: &Place,
    expected: &mut Expected,
    random: &mut fastrand::Rng,
    summary: &mut Summary,
) -> Result<Vec<String>> {
    let mut writer = |first: u64, first_step: u64, batches: &str| -> Result<_> {
        let mut writer = command("write", &place.path)?;
        writer.args(["--seed", &random.u32(..).to_string()]);
        writer.args(["--first", &first.to_string(), "--first-step", &first_step.to_string()]);
        writer.args(["--threads", if random.bool() { "4" } else { "1" }, "--batches", batches]);
        Ok(writer)
    };
    let mut first = Running::start(writer(expected.next_batch(), expected.next_step(), "100000")?)?;
    first.hear_until(Moment::Acknowledged(20))?;
    let heard = first.pause()?;
    let tried = heard.tried.clone();
    // Whoever looks has taken over already.
    let mut broken = check(&place.path, expected, heard)?;

    let second = writer(expected.next_batch() + GAP, expected.next_step(), "60")?;
    let never = Kill { moment: Moment::Never, delay: std::time::Duration::ZERO };
    let second = child::run(second, never)?;
    broken.extend(complaints(&second));

    let start = child::now();
    let (said, remarks, status) = first.resume()?;
    let lasted = start.elapsed().as_millis() as u64;
    summary.milliseconds_until_stopped_max = summary.milliseconds_until_stopped_max.max(lasted);
    if status.success() || !remarks.iter().any(|remark| remark.starts_with("error Fenced")) {
        broken.push(format!("it went on after another took over: {status}, {remarks:?}"));
    }
    // What it was told when it was resumed may have been done before.
    let late = said.acknowledged.difference(&tried);
    broken.extend(late.map(|batch| format!("batch {batch} was acknowledged by who had lost it")));
    let mut heard = second.heard;
    summary.acknowledged_by_the_first += said.acknowledged.len() as u64;
    summary.acknowledged_by_the_second += heard.acknowledged.len() as u64;
    heard.acknowledged.extend(&said.acknowledged);
    broken.extend(check(&place.path, expected, &heard)?);
    Ok(broken)
}
