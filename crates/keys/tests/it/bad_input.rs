//! Bytes that are no key: an error with a field and an offset, or the one key they are.

use proptest::prelude::*;
use stonecrop_keys::{
    ErrorKind, MAX_KEY_BYTES, RecordPrefix, Schema, TimestampMs, TimestampUs, Value,
};

use crate::model::{any_row, any_schema, run};

/// Whatever decodes must be the very bytes that its values encode to.
fn check(schema: &Schema, key: &[u8]) -> Result<(), TestCaseError> {
    let explanation = schema.explain(key);
    let end = explanation.parts.last().map_or(0, |part| part.end);
    prop_assert_eq!(end, key.len(), "explain assigns every byte");
    match schema.decode(key) {
        Ok(values) => {
            prop_assert_eq!(schema.encode(&values).unwrap(), key, "{}: {:?}", schema, values);
            prop_assert_eq!(explanation.error, None);
        }
        Err(error) => {
            prop_assert_eq!(error.kind(), ErrorKind::Key);
            prop_assert!(error.field().is_some(), "{}: {}", schema, error);
            prop_assert!(error.offset().is_some_and(|at| at <= key.len()), "{}", error);
            prop_assert_eq!(explanation.error, Some(error));
        }
    }
    Ok(())
}

#[test]
fn random_bytes_are_refused_with_a_field_and_an_offset_or_are_a_key() {
    let input = (any_schema(3), prop::collection::vec(any::<u8>(), 0..40));
    run(&input, |(schema, bytes)| check(&schema, &bytes));
}

#[test]
fn damaged_keys_are_refused_with_a_field_and_an_offset_or_are_a_key() {
    let row = any_schema(3).prop_flat_map(|schema| (Just(schema.clone()), any_row(&schema)));
    let damage = (any::<prop::sample::Index>(), any::<u8>(), 0..5_u8);
    run(&(row, damage), |((schema, row), (at, byte, how))| {
        let mut key = schema.encode(&row).unwrap();
        let at = at.index(key.len());
        match how {
            0 => key[at] = byte,
            1 => key.insert(at, byte),
            2 => key.truncate(at),
            3 => drop(key.remove(at)),
            _ => key[at] ^= 1 << (byte % 8),
        }
        check(&schema, &key)
    });
}

#[test]
fn a_key_of_65535_bytes_is_written_and_a_longer_one_is_not() {
    let schema: Schema = "a string".parse().unwrap();
    let longest = "x".repeat(MAX_KEY_BYTES - 3);
    let key = schema.encode(&[longest.as_str().into()]).unwrap();
    assert_eq!(key.len(), MAX_KEY_BYTES);
    assert_eq!(schema.decode(&key).unwrap(), [longest.as_str().into()]);

    let longer = Value::from(longest + "x");
    let mut out = b"before".to_vec();
    let error = schema.encode_into(&[longer], &mut out).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TooLong);
    assert_eq!(out, b"before", "nothing is left behind");
    let error = schema.decode(&[0x38; 65_536]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TooLong);
    assert_eq!((error.field(), error.offset()), (Some("a"), Some(65_535)));
}

#[test]
fn values_that_do_not_fit_are_refused_with_their_field() {
    let schema: Schema = "id u8, name string, fixed bytes(2), at uuid_v1".parse().unwrap();
    let good = || -> [Value<'static>; 4] {
        [1.into(), "x".into(), vec![0, 1].into(), Value::Uuid([0x11; 16])]
    };
    schema.encode(&good()).unwrap();
    let refused = |at: usize, value: Value<'static>| {
        let mut values = good();
        values[at] = value;
        let error = schema.encode(&values).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Value);
        error.to_string()
    };
    assert_eq!(refused(0, 256.into()), "field id: 256 is out of the range of u8");
    assert_eq!(refused(0, (-1).into()), "field id: -1 is out of the range of u8");
    assert_eq!(refused(0, "1".into()), "field id: the field is u8, and the value is a string");
    assert!(refused(1, Value::Null).starts_with("field name: null, and the field is not null"));
    assert_eq!(
        refused(2, vec![0].into()),
        "field fixed: the field is bytes(2), and the value has 1 byte"
    );
    assert!(refused(3, Value::Uuid([0x44; 16])).starts_with("field at: the UUID has version 4"));
    assert_eq!(schema.encode(&good()[..3]).unwrap_err().to_string(), "3 values for 4 fields");
}

#[test]
fn a_record_prefix_of_another_version_or_a_reserved_type_is_refused() {
    let kind = |key: &[u8]| RecordPrefix::read(key).unwrap_err().kind();
    assert_eq!(kind(&[]), ErrorKind::Key);
    assert_eq!(kind(&[0x01]), ErrorKind::Key);
    assert_eq!(kind(&[0x00, 0x10]), ErrorKind::Key);
    assert_eq!(kind(&[0x01, 0x0F]), ErrorKind::Key);
    for version in 0x02..=0xFF {
        assert_eq!(kind(&[version, 0x10]), ErrorKind::Version);
    }
    for tag in 0x10..=0xFF {
        let key = [0x01, tag, 0xAB];
        let (prefix, rest) = RecordPrefix::read(&key).unwrap();
        assert_eq!((prefix.to_bytes(), rest), ([0x01, tag], &[0xAB][..]));
        assert_eq!((prefix.record_type(), prefix.low_bits()), (tag >> 4, tag & 0x0F));
    }
    assert!(RecordPrefix::new(16, 0).is_err() && RecordPrefix::new(1, 16).is_err());
}

#[test]
fn a_timestamp_in_another_unit_than_the_field_is_refused() {
    let schema: Schema = "at timestamp(us)".parse().unwrap();
    schema.encode(&[TimestampUs(5).into()]).unwrap();
    let error = schema.encode(&[TimestampMs(5).into()]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "field at: the field is timestamp(us), and the value is a timestamp in ms"
    );
}
