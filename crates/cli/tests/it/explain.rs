//! What every byte of a key is for, for people and for programs.

use serde_json::{Value, json};

use crate::{HEX, SCHEMA, VALUES, run, run_with};

/// Drawings begin after their first line end, so that the first row stands in its column.
fn drawing(text: &str) -> &str {
    text.strip_prefix('\n').unwrap()
}

const EXPLAINED: &str = r#"
 0  38 61 63 6d 65 00 01│b7 7f ff fe 72 f3 6f b2 ff
    T  p────────── z────│T  p──────────────────────
16 │fd
   │T

field   type       order  nulls  bytes  parts     value
tenant  string     asc    no     0-6    T1 p4 z2  "acme"
at      timestamp  desc   no     7-15   T1 p8     "2024-01-15T10:00:00Z"
score   f64        asc    last   16     T1        null

T tag   p payload   z terminator
"#;

#[test]
fn the_bytes_the_roles_and_the_fields_are_shown() {
    assert_eq!(run(&["key", "explain", "--schema", SCHEMA, HEX]).good(), drawing(EXPLAINED));
}

#[test]
fn values_can_stand_in_for_the_key() {
    let explained = run(&["key", "explain", "--schema", SCHEMA, "--values", VALUES]).good();
    assert_eq!(explained, drawing(EXPLAINED));
}

#[test]
fn bad_values_are_an_error() {
    let errors = run(&["key", "explain", "--schema", SCHEMA, "--values", "[1]"]).bad(1);
    assert!(errors.starts_with("error: ") && errors.contains("3 fields"), "{errors}");
}

#[test]
fn fields_within_fields_have_rows_of_their_own() {
    let schema = "tags list(string nulls first), at tuple(x u8, \"y z\" u8 desc)";
    let values = r#"[["a\u0000b",null],[7,9]]"#;
    let explained = run(&["key", "explain", "--schema", schema, "--values", values]).good();
    let expected = r#"
 0  61 38 61 00 ff 62 00 01 02 01│60 10 07 ef f6 01
    T  T  p  x──── p  z──── T  z │T  T  p  T  p  z

field  type                      order  nulls  bytes  parts        value
tags   list(string nulls first)  asc    no     0-9    T1 z1        ["a\u0000b",null]
  0    string                    asc    first  1-7    T1 p2 x2 z2  "a\u0000b"
  1    string                    asc    first  8      T1           null
at     tuple(x u8, "y z" u8 de…  asc    no     10-15  T1 z1        [7,9]
  x    u8                        asc    no     11-12  T1 p1        7
  y z  u8                        desc   no     13-14  T1 p1        9

T tag   p payload   x escape   z terminator
"#;
    assert_eq!(explained, drawing(expected));
}

#[test]
fn of_a_bad_key_what_was_read_is_shown_and_the_rest_is_marked() {
    let schema = "tenant string, seq u32, on bool";
    let bad = run(&["key", "explain", "--schema", schema, "38610001 12000007 08"]);
    assert_eq!(bad.code, 1);
    assert!(bad.errors.starts_with("error: field on, byte 9: "), "{bad:?}");
    let expected = r#"
 0  38 61 00 01│12 00 00 07 08
    T  p  z────│T  p────────── ^

field   type    order  nulls  bytes  parts     value
tenant  string  asc    no     0-3    T1 p1 z2  "a"
seq     u32     asc    no     4-8    T1 p4     1800
on      bool    asc    no     -      -         can't be read

T tag   p payload   z terminator   ^ error
"#;
    assert_eq!(bad.out, drawing(expected));
}

#[test]
fn the_byte_at_fault_is_marked() {
    let schema = "tenant string, on bool, seq u32";
    let bad = run(&["key", "explain", "--schema", schema, "38610001 ff12000007"]);
    assert_eq!(bad.code, 1);
    let expected = r#"
 0  38 61 00 01│ff 12 00 00 07
    T  p  z────│^─────────────

field   type    order  nulls  bytes  parts     value
tenant  string  asc    no     0-3    T1 p1 z2  "a"
on      bool    asc    no     4-8    ?5        can't be read
seq     u32     asc    no     -      -         not reached

T tag   p payload   z terminator   ? unread   ^ error
"#;
    assert_eq!(bad.out, drawing(expected));
}

#[test]
fn bytes_after_the_last_field_are_marked() {
    let bad = run(&["key", "explain", "--schema", "on bool", "09 01 02"]);
    assert_eq!(bad.code, 1);
    assert!(bad.out.contains("09│01 02\n    T │^────\n"), "{}", bad.out);
    assert!(bad.out.contains("?2     after the last field\n"), "{}", bad.out);
}

#[test]
fn an_empty_key_has_nothing_to_show_but_its_fields() {
    let bad = run(&["key", "explain", "--schema", "on bool", ""]);
    assert_eq!(bad.code, 1);
    assert!(bad.out.starts_with("field  type"), "{}", bad.out);
}

#[test]
fn keys_from_standard_input_have_a_blank_line_between_them() {
    let run = run_with(&["key", "explain", "--schema", SCHEMA], format!("{HEX}\n?\n{HEX}\n"));
    let one = drawing(EXPLAINED);
    assert_eq!((run.code, run.out), (1, format!("{one}\n{one}")));
    assert_eq!(run.errors, "error: line 2: character 1: '?' is not a hex digit\n");
}

fn explained(schema: &str, values: &str) -> Value {
    let arguments = ["key", "explain", "--json", "--schema", schema, "--values", values];
    serde_json::from_str(&run(&arguments).good()).unwrap()
}

#[test]
fn json_has_the_fields_the_parts_and_no_error() {
    let expected = json!({
        "hex": "38610001fd",
        "fields": [
            {"name": "name", "type": "string", "direction": "asc", "nulls": "not_allowed",
             "value": "a"},
            {"name": "at", "type": "date", "direction": "desc", "nulls": "last", "value": null},
        ],
        "parts": [
            {"path": "name", "field": 0, "role": "tag", "start": 0, "end": 1, "hex": "38"},
            {"path": "name", "field": 0, "role": "payload", "start": 1, "end": 2, "hex": "61"},
            {"path": "name", "field": 0, "role": "terminator", "start": 2, "end": 4, "hex": "0001"},
            {"path": "at", "field": 1, "role": "tag", "start": 4, "end": 5, "hex": "fd"},
        ],
        "error": null,
    });
    assert_eq!(explained("name string, at date desc nulls last", r#"["a", null]"#), expected);
}

#[test]
fn json_of_a_bad_key_has_the_error_and_no_value_where_there_is_none() {
    let bad = run(&["key", "explain", "--json", "--schema", "on bool, seq u16", "091100"]);
    assert_eq!(bad.code, 1);
    assert!(bad.errors.starts_with("error: field seq, byte 3: "), "{}", bad.errors);
    let object: Value = serde_json::from_str(&bad.out).unwrap();
    assert_eq!(object["fields"][0]["value"], true);
    assert_eq!(object["fields"][1].get("value"), None);
    assert_eq!(object["parts"][1]["role"], "unread");
    assert_eq!(object["error"]["kind"], "key");
    assert_eq!(object["error"]["field"], "seq");
    assert_eq!(object["error"]["offset"], 3);
    assert!(object["error"]["message"].is_string());
}

#[test]
fn every_byte_is_in_one_part() {
    let keys = [
        ("a string, b bytes desc, c decimal", r#"["a\u0000\u0000b", "AAAB", "-12.345"]"#),
        ("a list(tuple(x varint, y varuint desc)), b raw", r#"[[[-5000, 7], [0, 70000]], "AP8="]"#),
        ("a uuid_v1, b geo3(hilbert) desc", r#"["c232ab00-9414-11ec-b3c8-9f6bdeced846", [1,2,3]]"#),
        ("a collated(de) desc, b f32_exact, c bytes(3)", r#"["Äpfel", "NaN", "AQID"]"#),
    ];
    for (schema, values) in keys {
        let object = explained(schema, values);
        let mut end = 0;
        let mut hex = String::new();
        for part in object["parts"].as_array().unwrap() {
            assert_eq!(part["start"], end, "{schema}");
            end = part["end"].as_u64().unwrap();
            hex.push_str(part["hex"].as_str().unwrap());
        }
        assert_eq!(object["hex"], hex, "{schema}");
        assert_eq!(hex.len() as u64, end * 2, "{schema}");

        let drawn = run(&["key", "explain", "--schema", schema, &hex]).good();
        let rows = drawn.split("\n\n").next().unwrap().lines().step_by(2);
        let bytes = rows.flat_map(|row| row[2..].split([' ', '│'])).collect::<String>();
        assert_eq!(bytes, hex, "{schema}");
    }
}
