//! Completions and manual pages.

use crate::run;
use crate::world::World;

#[test]
fn every_shell_gets_completions() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = run(&["completions", shell]).good();
        assert!(script.contains("stonecrop") && script.contains("import"), "{shell}");
    }
}

#[test]
fn every_command_has_a_manual_page() {
    let world = World::folder();
    world.good(&["man", "man1"]);
    for page in ["stonecrop", "stonecrop-query", "stonecrop-table-create", "stonecrop-import"] {
        assert!(world.read(&format!("man1/{page}.1")).contains(".TH"), "{page}");
    }
}
