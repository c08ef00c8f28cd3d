//! The raw samples that criterion leaves behind.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use stonecrop_bench::{Case, Operation};

/// The best time of every row. On a machine with other work to do the mean says how much of that
/// there was; the best of many samples is the code's own.
#[derive(Debug, Default)]
pub(crate) struct Samples {
    best_ns: BTreeMap<(String, String), f64>,
}

#[derive(Deserialize)]
struct Row {
    group_id: String,
    function_id: String,
}

#[derive(Deserialize)]
struct Sample {
    iters: Vec<f64>,
    times: Vec<f64>,
}

impl Samples {
    /// Takes the best of all samples anywhere under `directory`.
    pub(crate) fn read(directory: &Path) -> Result<Self> {
        let mut samples = Samples::default();
        for file in files_named("sample.json", directory)? {
            // Criterion keeps the samples before the newest as `base`.
            if file.parent().is_some_and(|parent| parent.ends_with("new")) {
                let row: Row = parse(&file.with_file_name("benchmark.json"))?;
                let sample: Sample = parse(&file)?;
                samples.add(row, &sample);
            }
        }
        Ok(samples)
    }

    fn add(&mut self, row: Row, sample: &Sample) {
        let times = sample.times.iter().zip(&sample.iters).map(|(time, count)| time / count);
        let best = times.fold(f64::INFINITY, f64::min);
        let seen = self.best_ns.entry((row.group_id, row.function_id)).or_insert(best);
        *seen = seen.min(best);
    }

    /// The nanoseconds that a codec takes, if it was measured: not every codec has every type.
    pub(crate) fn find(&self, operation: Operation, case: Case, codec: &str) -> Option<f64> {
        self.best_ns.get(&(operation.group(case), codec.to_owned())).copied()
    }

    /// The same where there is nothing to report without it.
    pub(crate) fn get(&self, operation: Operation, case: Case, codec: &str) -> Result<f64> {
        self.find(operation, case, codec).with_context(|| {
            let group = operation.group(case);
            format!("{group} was not measured with {codec}; the run command measures everything")
        })
    }
}

fn files_named(name: &str, directory: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let entries = fs::read_dir(directory)
        .with_context(|| format!("there are no samples in {}", directory.display()))?;
    for entry in entries {
        let path = entry?.path();
        if path.is_dir() {
            files.extend(files_named(name, &path)?);
        } else if path.ends_with(name) {
            files.push(path);
        }
    }
    Ok(files)
}

fn parse<T: DeserializeOwned>(file: &Path) -> Result<T> {
    let text = fs::read(file).with_context(|| file.display().to_string())?;
    serde_json::from_slice(&text).with_context(|| file.display().to_string())
}

#[cfg(test)]
mod tests {
    use stonecrop_bench::{MEMCPY, TENANT_KEY};

    use super::*;

    #[test]
    fn the_best_sample_of_all_passes_counts() {
        let mut samples = Samples::default();
        for times in [[30.0, 50.0], [24.0, 80.0]] {
            let group_id = Operation::Encode.group(TENANT_KEY);
            let sample = Sample { iters: vec![10.0, 20.0], times: times.to_vec() };
            samples.add(Row { group_id, function_id: MEMCPY.to_owned() }, &sample);
        }
        assert_eq!(samples.find(Operation::Encode, TENANT_KEY, MEMCPY), Some(2.4));
        assert_eq!(samples.find(Operation::Decode, TENANT_KEY, MEMCPY), None);
    }
}
