//! The tour in the README does what it shows.

use std::process::Command;

#[test]
fn every_command_of_the_readme_prints_what_the_readme_says() {
    let folder = std::path::Path::new(env!("CARGO_BIN_EXE_stonecrop")).parent().unwrap();
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
    let readme = include_str!("../../../../README.md");
    let blocks = readme.split("```console\n").skip(1);
    let blocks = blocks.map(|block| block.split("```").next().unwrap());
    let place = tempfile::tempdir().unwrap();
    let mut commands = 0;
    for step in blocks.flat_map(|block| block.split("$ ").skip(1)) {
        let (command, expected) = step.split_once('\n').unwrap();
        // As on a terminal, both streams in the order they are written.
        let run = Command::new("sh")
            .args(["-c", &format!("{{ {command}\n}} 2>&1")])
            .env("PATH", &path)
            .current_dir(&place)
            .output()
            .unwrap();
        assert_eq!(String::from_utf8_lossy(&run.stdout), expected, "$ {command}");
        commands += 1;
    }
    assert!(commands >= 4, "the README has only {commands} commands");
}
