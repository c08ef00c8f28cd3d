//! Wrong usage, bad schemas, and help.

use crate::run;

#[test]
fn a_bad_schema_is_shown_with_a_caret_under_the_fault() {
    for command in ["encode", "decode", "explain"] {
        let errors = run(&["key", command, "--schema", "name string, age u31 desc"]).bad(2);
        let mut lines = errors.lines();
        let message = lines.next().unwrap();
        assert!(message.starts_with("error: in the schema, "), "{message}");
        assert!(message.contains("u31"), "{message}");
        assert_eq!(lines.next(), Some("  name string, age u31 desc"));
        assert_eq!(lines.next(), Some("                   ^"));
        assert_eq!(lines.next(), None);
    }
}

#[test]
fn the_caret_is_right_after_wide_letters_tabs_and_line_ends() {
    let caret = |schema: &str| {
        let errors = run(&["key", "encode", "--schema", schema, "[]"]).bad(2);
        let lines: Vec<_> = errors.lines().map(str::to_owned).collect();
        (lines[1].clone(), lines[2].clone())
    };
    assert_eq!(caret("東京 u31"), ("  東京 u31".to_owned(), "       ^".to_owned()));
    assert_eq!(caret("é\tu31"), ("  é u31".to_owned(), "    ^".to_owned()));
    assert_eq!(caret("a u8,\nb u31,\nc u8"), ("  b u31,".to_owned(), "    ^".to_owned()));
    assert_eq!(caret("a u8,"), ("  a u8,".to_owned(), "       ^".to_owned()));
}

#[test]
fn a_schema_whose_fields_do_not_go_together_is_refused() {
    let errors = run(&["key", "encode", "--schema", "a u8, a u8", "[1,2]"]).bad(2);
    assert!(errors.starts_with("error: in the schema, field a"), "{errors}");
}

#[test]
fn wrong_usage_ends_with_code_2() {
    let wrong: [&[&str]; 6] = [
        &["key", "encode", "[1]"],
        &["key", "melt"],
        &["key", "decode", "--schema", "a u8", "1001", "1002"],
        &["key", "decode", "--schema", "a u8", "--loud", "1001"],
        &["key", "explain", "--schema", "a u8", "--values", "[1]", "1001"],
        &["key", "demo", "--color", "purple"],
    ];
    for arguments in wrong {
        let errors = run(arguments).bad(2);
        assert!(errors.starts_with("error: "), "{errors}");
    }
}

#[test]
fn every_level_has_help_with_examples() {
    let levels = "; key; key encode; key decode; key explain; table; table list; table show; \
                  table create; table alter; table drop; table truncate; get; put; delete; query; \
                  import; export; index; index list; index create; index wait; index drop; check; \
                  compact; stats; bench; serve; token; access-key; completions; man";
    for level in levels.split(';') {
        let level: Vec<&str> = level.split_whitespace().collect();
        for flag in ["-h", "--help"] {
            let help = run(&[&level[..], &[flag]].concat()).good();
            assert!(help.contains("Examples:\n  "), "{level:?} {flag}: {help}");
            assert!(!help.contains('\x1b'), "{help:?}");
        }
    }
    let help = run(&["--help"]).good();
    for code in ["1  bad data", "2  wrong usage", "3  not found", "4  a condition", "5  the server"]
    {
        assert!(help.contains(code), "{help}");
    }
}

#[test]
fn the_examples_in_the_help_work() {
    let examples: [(&[&str], &str); 3] = [
        (
            &["encode", "--schema", "tenant string, seq u32 desc", r#"["acme", 7]"#],
            "3861636d650001edfffffff8\n",
        ),
        (
            &["decode", "--schema", "tenant string, seq u32", "3861636d6500011200000007"],
            "[\"acme\",7]\n",
        ),
        (&["decode", "--schema", "on bool, seq u16", "0x09 11:00:07"], "[true,7]\n"),
    ];
    for (arguments, expected) in examples {
        assert_eq!(run(&[&["key"], arguments].concat()).good(), expected);
    }
}

#[test]
fn the_version_is_printed() {
    let version = format!("stonecrop {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(run(&["--version"]).good(), version);
}
