//! docs/format.md is checked against the code: its worked examples, and its table of tags.

use stonecrop_keys::Schema;

const PAGE: &str = include_str!("../../../../docs/format.md");

/// The worked examples of the page: schema, values, hex.
fn examples() -> Vec<(&'static str, &'static str, String)> {
    let blocks = PAGE.split("```key\n").skip(1);
    let lines = blocks.flat_map(|block| block.split("```").next().unwrap().lines());
    lines
        .map(|line| {
            let mut parts = line.splitn(3, " | ");
            let mut part = || parts.next().unwrap_or_else(|| panic!("not an example: {line}"));
            (part(), part(), part().replace(' ', ""))
        })
        .collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn every_worked_example_on_the_page_is_what_the_code_gives() {
    let examples = examples();
    assert!(examples.len() > 60, "only {} examples found", examples.len());
    let mut wrong = Vec::new();
    for (schema, json, expected) in examples {
        let parsed: Schema = schema.parse().unwrap_or_else(|error| panic!("{schema}: {error}"));
        let values = parsed.values_from_json(json).unwrap_or_else(|e| panic!("{json}: {e}"));
        let key = parsed.encode(&values).unwrap();
        if hex(&key) != expected {
            wrong.push(format!("{schema} | {json}: page {expected}, code {}", hex(&key)));
        }
        let decoded = parsed.decode(&key).unwrap();
        assert_eq!(parsed.encode(&decoded).unwrap(), key, "{schema} | {json} decodes differently");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
