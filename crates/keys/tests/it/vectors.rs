//! vectors.json: keys that every implementation must give and take, and keys it must refuse.

use std::collections::BTreeMap;
use std::process::Command;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value as Json, json};
use stonecrop_keys::{Direction, ErrorKind, Field, Nulls, Schema, Type};

#[derive(Deserialize)]
struct Vectors {
    valid: Vec<Valid>,
    invalid: Vec<Invalid>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Valid {
    schema: String,
    fields: Vec<Json>,
    values: Box<RawValue>,
    plain: Option<Box<RawValue>>,
    hex: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Invalid {
    schema: String,
    fields: Vec<Json>,
    hex: String,
    field: String,
    offset: usize,
}

fn vectors() -> Vectors {
    serde_json::from_str(include_str!("../../vectors.json")).unwrap()
}

fn schema(text: &str) -> Schema {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn from_hex(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex.chars().map(|c| c.to_digit(16).unwrap() as u8).collect();
    digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

#[test]
fn there_are_at_least_300_vectors_and_no_two_share_a_schema_and_a_key() {
    let vectors = vectors();
    assert!(vectors.valid.len() >= 300);
    let mut keys = BTreeMap::new();
    for Valid { schema, hex, .. } in &vectors.valid {
        assert_eq!(keys.insert((schema, hex), ()), None, "{schema} {hex} stands twice");
    }
}

/// A schema as decoders in other languages like it, that don't parse the notation.
fn fields_of(schema: &Schema) -> Vec<Json> {
    schema.fields().iter().map(field_of).collect()
}

fn field_of(field: &Field) -> Json {
    let mut json = match field.field_type() {
        Type::FixedBytes(n) => json!({"type": "bytes(n)", "n": n}),
        Type::Collated(_) => json!({"type": "collated"}),
        Type::Tuple(schema) => json!({"type": "tuple", "fields": fields_of(schema)}),
        Type::List(element) => json!({"type": "list", "element": field_of(element)}),
        ty => json!({"type": ty.to_string()}),
    };
    if field.direction() == Direction::Desc {
        json["desc"] = json!(true);
    }
    match field.nulls() {
        Nulls::NotAllowed => {}
        Nulls::First => json["nulls"] = json!("first"),
        Nulls::Last => json["nulls"] = json!("last"),
    }
    json
}

#[test]
fn every_vector_has_the_fields_of_its_schema() {
    let Vectors { valid, invalid } = vectors();
    let valid = valid.into_iter().map(|vector| (vector.schema, vector.fields));
    let invalid = invalid.into_iter().map(|vector| (vector.schema, vector.fields));
    for (text, fields) in valid.chain(invalid) {
        assert_eq!(fields, fields_of(&schema(&text)), "{text}");
    }
}

#[test]
fn plain_values_are_the_values_in_another_form() {
    for Valid { schema: text, values, plain, .. } in vectors().valid {
        let Some(plain) = plain else { continue };
        assert_ne!(plain.get(), values.get(), "{text}: the values are plain already");
        let schema = schema(&text);
        let read = schema.values_from_json(plain.get()).unwrap();
        assert_eq!(schema.values_to_json(&read), values.get(), "{text} {plain}");
    }
}

#[test]
fn every_vector_encodes_to_its_key() {
    for Valid { schema: text, values, hex, .. } in vectors().valid {
        let schema = schema(&text);
        let values = schema.values_from_json(values.get()).unwrap();
        assert_eq!(schema.encode(&values).unwrap(), from_hex(&hex), "{text} {values:?}");
    }
}

#[test]
fn every_vector_decodes_to_its_values() {
    for Valid { schema: text, values, hex, .. } in vectors().valid {
        let schema = schema(&text);
        let key = from_hex(&hex);
        let decoded = schema.decode(&key).unwrap_or_else(|error| panic!("{text} {hex}: {error}"));
        assert_eq!(schema.values_to_json(&decoded), values.get(), "{text} {hex}");
    }
}

#[test]
fn every_bad_key_is_refused_with_its_field_and_offset() {
    for Invalid { schema: text, hex, field, offset, .. } in vectors().invalid {
        let error = schema(&text).decode(&from_hex(&hex)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Key, "{text} {hex}: {error}");
        assert_eq!(error.field(), Some(field.as_str()), "{text} {hex}: {error}");
        assert_eq!(error.offset(), Some(offset), "{text} {hex}: {error}");
    }
}

#[test]
fn a_decoder_in_python_written_from_the_page_alone_agrees_on_every_vector() {
    let folder = env!("CARGO_MANIFEST_DIR");
    let run = Command::new("python3")
        .arg(format!("{folder}/vectors.py"))
        .arg(format!("{folder}/vectors.json"))
        .output()
        .expect("python3 is needed for this test");
    let (out, err) = (String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
    assert!(run.status.success(), "{out}{err}");
    let vectors = vectors();
    let expected =
        format!("{} valid, {} invalid, 0 wrong", vectors.valid.len(), vectors.invalid.len());
    assert_eq!(out.trim(), expected);
}
