//! Text in the order of a language.

use stonecrop_keys::{Schema, Value};

#[cfg(not(feature = "collation"))]
#[test]
fn without_the_feature_collated_text_is_refused_and_sort_keys_are_not() {
    let schema: Schema = "name collated(de)".parse().unwrap();
    let error = schema.encode(&["ä".into()]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "field name: this build can't collate; build stonecrop-keys with feature collation"
    );
    let key = schema.encode(&[Value::SortKey(vec![1, 0].into())]).unwrap();
    assert_eq!(schema.decode(&key).unwrap(), [Value::SortKey(vec![1, 0].into())]);
}

#[cfg(feature = "collation")]
fn sorted(schema: &str, words: &[&'static str]) -> Vec<&'static str> {
    let schema: Schema = schema.parse().unwrap();
    let mut words = words.to_vec();
    words.sort_by_cached_key(|word| schema.encode(&[(*word).into()]).unwrap());
    words
}

#[cfg(feature = "collation")]
#[test]
fn text_sorts_by_the_rules_of_its_language() {
    let words = ["zebra", "Öl", "Apfel", "apfel", "ostern", "Ähre"];
    assert_eq!(
        sorted("w collated(de)", &words),
        ["Ähre", "apfel", "Apfel", "Öl", "ostern", "zebra"]
    );
    assert_eq!(
        sorted("w collated(sv)", &words),
        ["apfel", "Apfel", "ostern", "zebra", "Ähre", "Öl"]
    );
    let mut reversed = sorted("w collated(de)", &words);
    reversed.reverse();
    assert_eq!(sorted("w collated(de) desc", &words), reversed);
}

#[cfg(feature = "collation")]
#[test]
fn the_strength_says_which_differences_count() {
    let same = |schema: &str, a: &'static str, b: &'static str| {
        let schema: Schema = schema.parse().unwrap();
        schema.encode(&[a.into()]).unwrap() == schema.encode(&[b.into()]).unwrap()
    };
    assert!(same("w collated(en, primary)", "resume", "Résumé"));
    assert!(!same("w collated(en, secondary)", "resume", "Résumé"));
    assert!(same("w collated(en, secondary)", "resume", "Resume"));
    assert!(!same("w collated(en)", "resume", "Resume"));
}

#[test]
fn a_collated_field_gives_its_sort_key_back_and_the_fields_behind_it() {
    let schema: Schema = "w collated(en) desc, id u8".parse().unwrap();
    assert!(!schema.is_decodable());
    let values = [Value::SortKey(vec![0x2A, 0x00, 0x01].into()), 7_u8.into()];
    let key = schema.encode(&values).unwrap();
    assert_eq!(schema.decode(&key).unwrap(), values);
    assert_eq!(schema.values_to_json(&values), r#"[{"sort_key":"KgAB"},7]"#);
}
