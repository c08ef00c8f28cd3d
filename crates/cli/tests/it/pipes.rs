//! Many lines through standard input and output.

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::Stdio;
use std::thread;

use serde_json::Value;

use crate::{SCHEMA, run_with, stonecrop};

#[test]
fn a_thousand_lines_come_back_through_a_pipe() {
    let mut lines = String::new();
    for n in 0..1000 {
        let score = if n % 3 == 0 { "null".to_owned() } else { format!("{n}.5") };
        let (minute, second) = (n / 60, n % 60);
        let at = format!("2024-01-15T10:{minute:02}:{second:02}Z");
        writeln!(lines, r#"["tenant\u0000 {n} é","{at}",{score}]"#).unwrap();
    }
    let keys = run_with(&["key", "encode", "--schema", SCHEMA], lines.as_str()).good();
    assert_eq!(keys.lines().count(), 1000);
    assert_eq!(run_with(&["key", "decode", "--schema", SCHEMA], keys).good(), lines);
}

#[test]
fn a_bad_line_is_named_and_the_good_ones_are_printed() {
    let input = "[1]\n[256]\n[3]\nnonsense\n[5]";
    let run = run_with(&["key", "encode", "--schema", "seq u8"], input);
    assert_eq!((run.code, run.out.as_str()), (1, "1001\n1003\n1005\n"));
    let errors: Vec<_> = run.errors.lines().collect();
    assert_eq!(errors.len(), 2, "{errors:?}");
    assert!(errors[0].starts_with("error: line 2: field seq: "), "{errors:?}");
    assert!(errors[1].starts_with("error: line 4: "), "{errors:?}");
}

#[test]
fn bad_hex_on_a_line_says_which_line_and_where() {
    let run = run_with(&["key", "decode", "--schema", "seq u8"], "1001\n10 0z\n");
    assert_eq!((run.code, run.out.as_str()), (1, "[1]\n"));
    assert_eq!(run.errors, "error: line 2: character 5: 'z' is not a hex digit\n");
}

#[test]
fn a_blank_line_is_an_error_but_for_the_last() {
    let run = run_with(&["key", "decode", "--schema", "seq u8"], "1001\n \n1002\n\n");
    assert_eq!((run.code, run.out.as_str()), (1, "[1]\n[2]\n"));
    assert_eq!(run.errors, "error: line 2: the line is blank\n");
    let run = run_with(&["key", "decode", "--schema", "seq u8"], "1001\n\n");
    assert_eq!(run.good(), "[1]\n");
}

#[test]
fn no_lines_give_no_lines() {
    assert_eq!(run_with(&["key", "encode", "--schema", "seq u8"], "").good(), "");
}

#[test]
fn lines_can_end_as_on_windows() {
    let keys = run_with(&["key", "encode", "--schema", "seq u8"], "[1]\r\n[2]\r\n").good();
    assert_eq!(keys, "1001\n1002\n");
    let values = run_with(&["key", "decode", "--schema", "seq u8"], "1001\r\n1002\r\n").good();
    assert_eq!(values, "[1]\n[2]\n");
}

#[test]
fn a_line_that_is_not_utf8_is_named() {
    let run = run_with(&["key", "encode", "--schema", "name string"], b"[\"a\"]\n[\"\xFF\"]\n");
    assert_eq!((run.code, run.out.as_str()), (1, "38610001\n"));
    assert_eq!(run.errors, "error: line 2: not UTF-8 from byte 3 of the line on\n");
}

#[test]
fn a_line_without_end_is_named_and_skipped() {
    let long = "0".repeat(5 << 20);
    let run = run_with(&["key", "decode", "--schema", "seq u8"], format!("1001\n{long}\n1002\n"));
    assert_eq!((run.code, run.out.as_str()), (1, "[1]\n[2]\n"));
    assert!(run.errors.starts_with("error: line 2: the line is longer than 1048576 bytes"));
}

#[test]
fn the_longest_key_fits_in_a_line() {
    let values = format!("[\"{}\"]\n", r"\u0001".repeat(65_532));
    let key = run_with(&["key", "encode", "--schema", "name string"], values.as_str()).good();
    assert_eq!(key.len(), 2 * 65_535 + 1);
    let decoded = run_with(&["key", "decode", "--schema", "name string"], key).good();
    assert_eq!(decoded, values);
}

#[test]
fn every_json_line_is_an_object() {
    let arguments = ["key", "decode", "--json", "--schema", "seq u8"];
    let objects = run_with(&arguments, "1001\n1002\n").good();
    let objects: Vec<Value> = objects.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    assert_eq!(objects, [serde_json::json!({"values": [1]}), serde_json::json!({"values": [2]})]);
}

#[test]
fn an_answer_does_not_wait_for_the_next_line() {
    let mut command = stonecrop(&["key", "encode", "--schema", "seq u8"]);
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut answers = BufReader::new(child.stdout.take().unwrap()).lines();
    for (line, answer) in [("[1]\n", "1001"), ("[2]\n[3", "1002"), ("]\n", "1003")] {
        stdin.write_all(line.as_bytes()).unwrap();
        assert_eq!(answers.next().unwrap().unwrap(), answer);
    }
    drop(stdin);
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_closed_pipe_ends_quietly() {
    for command in ["encode", "decode", "explain"] {
        let mut child = stonecrop(&["key", command, "--schema", "seq u8"])
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let line = if command == "encode" { "[1]\n" } else { "1001\n" };
        // Without end: only the closed pipe can stop the command, and with it this thread.
        let writer = thread::spawn(move || while stdin.write_all(line.as_bytes()).is_ok() {});
        let mut first = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
        assert!(!first.is_empty());
        assert_eq!(child.wait().unwrap().code(), Some(0), "{command}");
        writer.join().unwrap();
        let mut errors = String::new();
        child.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
        assert_eq!(errors, "", "{command}");
    }
}

#[test]
fn closed_standard_error_is_no_reason_to_stop() {
    let mut command = stonecrop(&["key", "encode", "--schema", "seq u8"]);
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    drop(child.stderr.take());
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"[256]\n[2]\n").unwrap();
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), &output.stdout[..]), (Some(1), &b"1002\n"[..]));
}
