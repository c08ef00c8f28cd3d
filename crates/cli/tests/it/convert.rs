//! Values to keys and keys to values, one at a time.

use serde_json::{Value, json};

use crate::{HEX, SCHEMA, VALUES, run};

#[test]
fn encode_prints_the_key_in_hex() {
    let spaced = r#"["acme", "2024-01-15T10:00:00Z", null]"#;
    assert_eq!(run(&["key", "encode", "--schema", SCHEMA, spaced]).good(), format!("{HEX}\n"));
}

#[test]
fn decode_prints_the_values_as_a_compact_array() {
    assert_eq!(run(&["key", "decode", "--schema", SCHEMA, HEX]).good(), format!("{VALUES}\n"));
}

#[test]
fn decimals_and_large_integers_are_strings_and_bytes_are_base64() {
    let schema = "price decimal, id u128, data bytes";
    let hex = run(&["key", "encode", "--schema", schema, r#"[1.50, 7, "AP8="]"#]).good();
    let values = run(&["key", "decode", "--schema", schema, hex.trim()]).good();
    assert_eq!(values, "[\"1.5\",\"7\",\"AP8=\"]\n");
}

#[test]
fn hex_is_taken_in_every_usual_form() {
    let schema = "on bool, seq u16";
    let forms = [
        "0911abcd",
        "0911ABCD",
        "0x0911abcd",
        "0X0911aBcD",
        "09 11 ab cd",
        "09:11:AB:CD",
        "09_11_ab_cd",
        " 0x09 11:ab_cd ",
    ];
    for form in forms {
        let values = run(&["key", "decode", "--schema", schema, form]).good();
        assert_eq!(values, "[true,43981]\n", "{form}");
    }
}

#[test]
fn bad_hex_says_where() {
    let bad = |hex| run(&["key", "decode", "--schema", "on bool", hex]).bad(1);
    assert_eq!(bad("0x0g"), "error: character 4: 'g' is not a hex digit\n");
    assert_eq!(
        bad("09 1"),
        "error: character 4: the last byte has one digit and needs two (3 digits in all)\n"
    );
    assert_eq!(bad("0 9"), "error: character 2: the byte before it has one digit and needs two\n");
}

#[test]
fn a_bad_value_names_its_field() {
    let errors = run(&["key", "encode", "--schema", SCHEMA, r#"["acme", "soon", 1]"#]).bad(1);
    assert!(errors.starts_with("error: field at: "), "{errors}");
}

#[test]
fn a_key_of_another_schema_is_an_error_with_field_and_offset() {
    let errors = run(&["key", "decode", "--schema", "tenant string, seq u8", HEX]).bad(1);
    assert!(errors.starts_with("error: field seq, byte 7: "), "{errors}");
}

#[test]
fn json_output_is_an_object() {
    let encoded = run(&["key", "encode", "--json", "--schema", SCHEMA, VALUES]).good();
    assert_eq!(serde_json::from_str::<Value>(&encoded).unwrap(), json!({ "hex": HEX }));
    let decoded = run(&["key", "decode", "--json", "--schema", SCHEMA, HEX]).good();
    let values = json!({ "values": ["acme", "2024-01-15T10:00:00Z", null] });
    assert_eq!(serde_json::from_str::<Value>(&decoded).unwrap(), values);
}

#[test]
fn text_that_could_steer_a_terminal_is_escaped_and_stays_the_same_json() {
    let values = r#"["\u001b[2J\u009b\u007f\u202e grün 東京 🍏"]"#;
    let hex = run(&["key", "encode", "--schema", "text string", values]).good();
    for format in [&[][..], &["--json"]] {
        let arguments = ["key", "decode", "--schema", "text string", hex.trim()];
        let printed = run(&[&arguments[..], format].concat()).good();
        assert!(!printed.trim_end().contains(char::is_control), "{printed:?}");
        let printed: Value = serde_json::from_str(&printed).unwrap();
        let printed = printed.get("values").unwrap_or(&printed);
        assert_eq!(printed, &serde_json::from_str::<Value>(values).unwrap());
    }
}
