//! Every public item has an example. Rustdoc's own lint (see `make docs`) leaves out methods.

use std::fs;
use std::path::Path;

/// The public items of a file whose documentation has no code.
fn without_example(file: &Path) -> Vec<String> {
    let text = fs::read_to_string(file).unwrap();
    let (mut missing, mut example, mut hidden) = (Vec::new(), false, false);
    for line in text.lines().map(str::trim_start) {
        let item = ["fn ", "struct ", "enum ", "trait ", "const ", "type "];
        let public = line.strip_prefix("pub ").is_some_and(|rest| {
            item.iter().any(|item| rest.starts_with(item)) && !line.contains('$')
        });
        if public && !example && !hidden {
            missing.push(format!("{}: {line}", file.display()));
        }
        if line.starts_with("///") {
            example |= line.contains("```");
        } else if line.starts_with("#[") || line.starts_with("//") {
            hidden |= line.contains("doc(hidden)");
        } else {
            (example, hidden) = (false, false);
        }
    }
    missing
}

fn files(folder: &Path) -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

#[test]
fn every_public_item_has_an_example() {
    let files = files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
    assert!(files.len() > 20);
    let missing: Vec<_> = files.iter().flat_map(|file| without_example(file)).collect();
    assert!(missing.is_empty(), "no example:\n{}", missing.join("\n"));
}
