//! What the figures were measured on.

use std::process::Command;

use anyhow::{Context, Result};

/// One line for the report.
pub(crate) fn markdown() -> Result<String> {
    let cores = std::thread::available_parallelism()?;
    let rustc = Command::new("rustc").arg("--version").output().context("rustc --version")?;
    let rustc = String::from_utf8(rustc.stdout)?;
    Ok(format!("Machine: {}, {cores} cores, {}.\n", processor(), rustc.trim()))
}

/// The model's name, which Linux tells in a file.
fn processor() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let value = |name: &str| {
        let line = text.lines().find(|line| line.starts_with(name))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    };
    // Virtual machines shorten the name, and then family and model say more.
    match (value("model name"), value("cpu family"), value("model\t")) {
        (Some(name), Some(family), Some(model)) => {
            format!("{name} (family {family}, model {model})")
        }
        (Some(name), ..) => name,
        _ => std::env::consts::ARCH.to_owned(),
    }
}
