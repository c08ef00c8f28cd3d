//! How long things take.

use std::time::Instant;

use anyhow::Result;

/// How many seconds something takes, and what comes of it.
pub(crate) fn timed<T>(act: impl FnOnce() -> Result<T>) -> Result<(f64, T)> {
    let start = now();
    let result = act()?;
    Ok((start.elapsed().as_secs_f64(), result))
}

#[expect(clippy::disallowed_methods, reason = "a benchmark has to look at the clock")]
pub(crate) fn now() -> Instant {
    Instant::now()
}
