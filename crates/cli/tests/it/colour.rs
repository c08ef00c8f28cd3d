//! Colours: where they are wanted, and nowhere else.

use anstream::adapter::strip_str;

use crate::{HEX, SCHEMA, finish, run, stonecrop};

const EXPLAIN: [&str; 5] = ["key", "explain", "--schema", SCHEMA, HEX];

fn with_environment(variables: &[(&str, &str)], arguments: &[&str]) -> String {
    let mut command = stonecrop(arguments);
    command.envs(variables.iter().copied());
    finish(command).good()
}

#[test]
fn colours_add_nothing_but_colours() {
    let plain = run(&EXPLAIN).good();
    let coloured = run(&[&["--color", "always"], &EXPLAIN[..]].concat()).good();
    assert!(!plain.contains('\x1b'));
    assert!(coloured.contains("\x1b["));
    assert_eq!(strip_str(&coloured).to_string(), plain);
}

#[test]
fn fields_that_follow_one_another_have_different_colours() {
    let coloured = run(&[&["--color", "always"], &EXPLAIN[..]].concat()).good();
    let first = coloured.lines().next().unwrap();
    assert!(first.contains("\x1b[30m\x1b[46m38 61 63 6d 65 00 01\x1b[0m│"), "{first:?}");
    assert!(first.contains("│\x1b[30m\x1b[43mb7 7f ff fe 72 f3 6f b2 ff\x1b[0m"), "{first:?}");
}

#[test]
fn colours_can_be_forced_and_forbidden_by_the_environment() {
    let forced = [("CLICOLOR_FORCE", "1")];
    assert!(with_environment(&forced, &EXPLAIN).contains('\x1b'));
    let forbidden = [("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")];
    assert!(!with_environment(&forbidden, &EXPLAIN).contains('\x1b'));
}

#[test]
fn the_option_is_stronger_than_the_environment() {
    let always = [&EXPLAIN[..], &["--color", "always"]].concat();
    assert!(with_environment(&[("NO_COLOR", "1")], &always).contains('\x1b'));
    let never = [&EXPLAIN[..], &["--color=never"]].concat();
    assert!(!with_environment(&[("CLICOLOR_FORCE", "1")], &never).contains('\x1b'));
}

#[test]
fn errors_are_coloured_as_output_is() {
    let arguments = ["key", "decode", "--schema", "on bool", "0g"];
    assert!(!run(&arguments).bad(1).contains('\x1b'));
    let coloured = run(&[&["--color", "always"], &arguments[..]].concat()).bad(1);
    assert!(coloured.starts_with("\x1b["), "{coloured:?}");
    assert!(strip_str(&coloured).to_string().starts_with("error: character 2"));
}
