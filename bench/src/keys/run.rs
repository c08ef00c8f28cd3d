//! Runs criterion. A pass measures everything once; other work on the machine disturbs some rows
//! of a pass, and rarely the same ones of the next.

use std::path::Path;
use std::process::Command;

use anyhow::{Result, ensure};

use crate::keys::samples::Samples;

/// Measures everything so many times.
pub(crate) fn passes(directory: &Path, passes: u32) -> Result<Samples> {
    clear(directory)?;
    for pass in 1..=passes {
        eprintln!("pass {pass} of {passes}");
        let options = ["--warm-up-time", "0.2", "--measurement-time", "0.5"];
        bench(&directory.join(pass.to_string()), &["--package", "stonecrop-bench"], &options)?;
    }
    Samples::read(directory)
}

/// Measures everything once, for too short a time to mean anything.
pub(crate) fn quick(directory: &Path) -> Result<Samples> {
    clear(directory)?;
    let options = ["--warm-up-time", "0.01", "--measurement-time", "0.02", "--sample-size", "10"];
    // As the tests are built, so that little is built for this.
    bench(directory, &["--workspace", "--all-features", "--profile", "dev"], &options)?;
    Samples::read(directory)
}

/// Samples of an earlier run may be those of other code.
fn clear(directory: &Path) -> Result<()> {
    if directory.exists() {
        std::fs::remove_dir_all(directory)?;
    }
    Ok(())
}

fn bench(directory: &Path, build: &[&str], options: &[&str]) -> Result<()> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .args(["bench", "--bench", "keys"])
        .args(build)
        // Criterion's own statistics are not used.
        .args(["--", "--quiet", "--noplot", "--nresamples", "1001"])
        .args(options)
        .env("CRITERION_HOME", directory)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .status()?;
    ensure!(status.success(), "cargo bench ended with {status}");
    Ok(())
}
