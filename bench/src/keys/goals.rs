//! What the codec was meant to reach, and whether it does.

use anyhow::{Context, Result};
use stonecrop_bench::{
    Case, DECIMAL_28, LONG_BYTES, MEMCOMPARABLE, MEMCPY, Operation, PEERS, STONECROP, TENANT_KEY,
};

use crate::goal::Goal;
use crate::keys::samples::Samples;
use crate::number::{nanoseconds, times};

pub(crate) fn goals(samples: &Samples) -> Result<[Goal; 5]> {
    use Operation::{Decode, Encode};
    Ok([
        at_most(samples, TENANT_KEY, 3.0)?,
        faster(samples, Encode, TENANT_KEY, 3.0, &PEERS)?,
        at_most(samples, LONG_BYTES, 1.5)?,
        faster(samples, Decode, TENANT_KEY, 1.0, &PEERS)?,
        faster(samples, Encode, DECIMAL_28, 2.0, &[MEMCOMPARABLE])?,
    ])
}

/// Encoding takes at most `limit` times as long as copying the same bytes.
fn at_most(samples: &Samples, case: Case, limit: f64) -> Result<Goal> {
    let ours = samples.get(Operation::Encode, case, STONECROP)?;
    let copy = samples.get(Operation::Encode, case, MEMCPY)?;
    Ok(Goal {
        text: format!("encode {} in at most {} of memcpy", case.title, plain(limit)),
        figures: format!("{} to {}: {}", nanoseconds(ours), nanoseconds(copy), times(ours / copy)),
        met: ours / copy <= limit,
    })
}

/// Faster than the fastest of the peers, by `factor` or more.
fn faster(
    samples: &Samples,
    operation: Operation,
    case: Case,
    factor: f64,
    peers: &[&str],
) -> Result<Goal> {
    let ours = samples.get(operation, case, STONECROP)?;
    let measured =
        peers.iter().filter_map(|peer| Some((peer, samples.find(operation, case, peer)?)));
    let (peer, theirs) = measured
        .min_by(|(_, first), (_, second)| first.total_cmp(second))
        .with_context(|| format!("no peer was measured for {}", operation.group(case)))?;
    let (name, title) = (operation.name(), case.title);
    let rival = if let [only] = peers { only } else { "the fastest peer" };
    let text = if factor > 1.0 {
        format!("{name} {title} at least {} as fast as {rival}", plain(factor))
    } else {
        format!("{name} {title} faster than {rival}")
    };
    let figures = format!(
        "{} to {peer}'s {}: {}",
        nanoseconds(ours),
        nanoseconds(theirs),
        times(theirs / ours)
    );
    let met = if factor > 1.0 { theirs / ours >= factor } else { ours < theirs };
    Ok(Goal { text, figures, met })
}

fn plain(number: f64) -> String {
    format!("{number}×")
}
