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

#[cfg(feature = "collation")]
#[test]
fn keys_sort_as_the_collator_compares() {
    use icu_collator::Collator;
    use icu_collator::options::CollatorOptions;
    use proptest::prelude::*;
    use stonecrop_keys::Predicate;

    let collator =
        Collator::try_new(icu_locale_core::locale!("de").into(), CollatorOptions::default());
    let collator = collator.unwrap();
    let word = || "[aAäÄbBoOöÖsßzZ \\-éñ東0-9]{0,8}";
    let ascending: Schema = "w collated(de), n u8".parse().unwrap();
    let descending: Schema = "w collated(de) desc, n u8".parse().unwrap();
    crate::model::run(&(word(), word()), |(a, b)| {
        let expected = collator.compare(&a, &b);
        let key =
            |schema: &Schema, w: &str| schema.encode(&[w.to_owned().into(), 1.into()]).unwrap();
        prop_assert_eq!(key(&ascending, &a).cmp(&key(&ascending, &b)), expected, "{} {}", a, b);
        prop_assert_eq!(key(&descending, &b).cmp(&key(&descending, &a)), expected);
        for schema in [&ascending, &descending] {
            let below = schema.range(&[], &Predicate::Lt(b.clone().into())).unwrap();
            prop_assert_eq!(below.contains(&key(schema, &a)), expected.is_lt());
            let from = schema.range(&[], &Predicate::Ge(b.clone().into())).unwrap();
            prop_assert_eq!(from.contains(&key(schema, &a)), expected.is_ge());
        }
        Ok(())
    });
}
