//! Rust values straight into keys give the same bytes as the schema does.

use std::borrow::Cow;

use proptest::prelude::*;
use stonecrop_keys::{
    Date, Decimal, DecodeKey, Direction, Exact, Hilbert, Key, KeyBuilder, KeyReader, List, Nested,
    Nulls, Point2, Point3, TimestampMs, TimestampNs, TimestampUs, Uuid, UuidV1, Value, Var,
};

use crate::model::run;

#[derive(Key, Debug, PartialEq, Clone)]
struct Everything<'a> {
    yes: bool,
    #[key(desc)]
    small: i8,
    #[key(desc, nulls = "last")]
    name: Option<Cow<'a, str>>,
    blob: Cow<'a, [u8]>,
    #[key(nulls = "last")]
    count: Option<Var<i64>>,
    #[key(desc)]
    inner: Nested<Inner>,
    list: List<Option<u16>>,
    fixed: [u8; 3],
    r#type: u64,
}

#[derive(Key, Debug, PartialEq, Clone)]
struct Inner {
    x: f64,
    #[key(desc, nulls = "first")]
    y: Option<String>,
}

#[derive(Key, Debug, PartialEq)]
struct Unnamed(u8, #[key(desc)] Vec<u8>);

const SCHEMA: &str = "yes bool, small i8 desc, name string desc nulls last, blob bytes, \
    count varint nulls last, inner tuple(x f64, y string desc nulls first) desc, \
    list list(u16 nulls first), fixed bytes(3), type u64";

fn everything() -> impl Strategy<Value = Everything<'static>> {
    let name = proptest::option::of("[a\u{0}é]{0,4}");
    let inner = (any::<f64>(), proptest::option::of("[a\u{0}]{0,3}"));
    let list = proptest::collection::vec(proptest::option::of(any::<u16>()), 0..3);
    let rest = (any::<Vec<u8>>(), proptest::option::of(any::<i64>()), inner, list);
    (any::<bool>(), any::<i8>(), name, rest, any::<[u8; 3]>(), any::<u64>()).prop_map(
        |(yes, small, name, (blob, count, (x, y), list), fixed, number)| Everything {
            yes,
            small,
            name: name.map(Cow::Owned),
            blob: blob.into(),
            count: count.map(Var),
            // One zero, and no NaN, so that the struct equals itself.
            inner: Nested(Inner { x: if x.is_nan() { 0.0 } else { x + 0.0 }, y }),
            list: List(list),
            fixed,
            r#type: number,
        },
    )
}

fn values<'a>(key: &'a Everything<'_>) -> Vec<Value<'a>> {
    let Inner { x, y } = &key.inner.0;
    vec![
        key.yes.into(),
        key.small.into(),
        key.name.as_deref().into(),
        (&*key.blob).into(),
        key.count.map(|count| count.0).into(),
        Value::Tuple(vec![(*x).into(), y.as_deref().into()]),
        Value::Tuple(key.list.0.iter().map(|n| (*n).into()).collect()),
        key.fixed[..].into(),
        key.r#type.into(),
    ]
}

#[test]
fn a_derived_key_has_the_bytes_of_its_schema_and_comes_back() {
    let schema = Everything::schema();
    assert_eq!(schema.to_string(), SCHEMA);
    run(&everything(), |given| {
        let key = given.encode().unwrap();
        prop_assert_eq!(&key, &schema.encode(&values(&given)).unwrap());
        prop_assert_eq!(Everything::decode(&key).unwrap(), given);
        Ok(())
    });
}

#[test]
fn errors_of_a_derived_key_name_its_fields() {
    let mut key = (true, 5_i8).encode().unwrap();
    key[1] = 0x77;
    let error = Everything::decode(&key).unwrap_err();
    assert_eq!((error.field(), error.offset()), (Some("small"), Some(1)));

    let error = <(u8, Nested<(u8, bool)>)>::decode(&[0x10, 1, 0x60, 0x10, 1, 0x33]).unwrap_err();
    assert_eq!((error.field(), error.offset()), (Some("2.2"), Some(5)));
    let error = <(u8,)>::decode(&[0x10, 1, 0]).unwrap_err();
    assert_eq!((error.field(), error.offset()), (Some("1"), Some(2)));
    let error = Inner::decode(&[0x29, 0x80, 0, 0, 0, 0, 0, 0, 0, 0x02, 0xAB]).unwrap_err();
    assert_eq!((error.field(), error.offset()), (Some("y"), Some(10)));
}

#[test]
fn a_struct_with_unnamed_fields_is_a_key() {
    let given = Unnamed(7, vec![0, 255]);
    let key = given.encode().unwrap();
    assert_eq!(key, [0x10, 7, 0xC6, 0xFF, 0x00, 0x00, 0xFF, 0xFE]);
    assert_eq!(Unnamed::decode(&key).unwrap(), given);
    assert_eq!(Unnamed::schema().to_string(), "1 u8, 2 bytes desc");
}

#[test]
fn every_rust_type_has_the_bytes_of_its_schema() {
    fn check<'k, T>(value: T, dynamic: impl Into<Value<'static>>)
    where
        T: stonecrop_keys::FromKey<'k> + PartialEq + std::fmt::Debug + Clone,
    {
        let dynamic = dynamic.into();
        for direction in [Direction::Asc, Direction::Desc] {
            let field = stonecrop_keys::field_of::<T>("a", direction, Nulls::First);
            let schema = stonecrop_keys::Schema::new(vec![field]).unwrap();
            let mut key = Vec::new();
            KeyBuilder::new(&mut key).push_ordered(&value, direction, Nulls::First);
            assert_eq!(key, schema.encode(std::slice::from_ref(&dynamic)).unwrap(), "{schema}");
            // Tests may leak: the reader borrows for as long as the type asks for.
            let mut reader = KeyReader::new(key.leak());
            assert_eq!(reader.read_ordered::<T>(direction, Nulls::First).unwrap(), value);
            reader.finish().unwrap();
        }
    }
    check(true, true);
    check(200_u8, 200_u8);
    check(60_000_u16, 60_000_u16);
    check(u32::MAX, u32::MAX);
    check(u64::MAX, u64::MAX);
    check(u128::MAX, u128::MAX);
    check(-100_i8, -100_i8);
    check(-30_000_i16, -30_000_i16);
    check(i32::MIN, i32::MIN);
    check(i64::MIN, i64::MIN);
    check(i128::MIN, i128::MIN);
    check(Var(300_u64), 300_u64);
    check(Var(-300_i64), -300_i64);
    check(1.5_f32, 1.5_f32);
    check(-1.5_f64, -1.5_f64);
    check(Exact(1.5_f32), 1.5_f32);
    check(Exact(-1.5_f64), -1.5_f64);
    let decimal: Decimal = "-123.45".parse().unwrap();
    check(decimal, decimal);
    check("a\0b".to_owned(), "a\0b");
    check(Cow::Borrowed("acme"), "acme");
    check(vec![0_u8, 1], vec![0_u8, 1]);
    check(Cow::<[u8]>::Borrowed(b"\x00x"), vec![0_u8, b'x']);
    check([1_u8, 2], vec![1_u8, 2]);
    check(Uuid([7; 16]), Value::Uuid([7; 16]));
    check(UuidV1::new([0x12; 16]).unwrap(), Value::Uuid([0x12; 16]));
    check(TimestampMs(-5), TimestampMs(-5));
    check(TimestampUs(5), TimestampUs(5));
    check(TimestampNs(i64::MAX), TimestampNs(i64::MAX));
    check(Date(19_737), Value::Date(19_737));
    let (flat, space) = (Point2 { x: 1, y: 2 }, Point3 { x: 1, y: 2, z: 3 });
    check(flat, flat);
    check(Hilbert(flat), flat);
    check(space, space);
    check(Hilbert(space), space);
    check(None::<u8>, Value::Null);
    check(Some(5_u8), 5_u8);
    check(List(vec![1_u8, 2]), Value::Tuple(vec![1.into(), 2.into()]));
    check(Nested((1_u8, true)), Value::Tuple(vec![1.into(), true.into()]));
}

#[test]
fn text_and_bytes_are_borrowed_where_no_escape_occurred() {
    let mut key = Vec::new();
    KeyBuilder::new(&mut key).push("plain").push("with\0zero").push(&b"bytes"[..]).push_desc("x");
    let mut reader = KeyReader::new(&key);
    assert!(matches!(reader.read().unwrap(), Cow::<str>::Borrowed("plain")));
    assert!(matches!(reader.read::<Cow<str>>().unwrap(), Cow::Owned(text) if text == "with\0zero"));
    assert!(matches!(reader.read().unwrap(), Cow::<[u8]>::Borrowed(b"bytes")));
    assert!(matches!(reader.read_desc::<Cow<str>>().unwrap(), Cow::Owned(text) if text == "x"));
    reader.finish().unwrap();
}

#[test]
fn the_tuple_that_another_codec_gets_wrong_comes_back() {
    let given = (List::<u32>(vec![]), 0x0102_0304_u32, "AB".to_owned());
    let key = given.encode().unwrap();
    assert_eq!(<(List<u32>, u32, String)>::decode(&key).unwrap(), given);
}

#[test]
fn keys_that_borrow_can_be_written_without_a_copy() {
    assert_eq!(("acme", 7_u8).encode().unwrap(), ("acme".to_owned(), 7_u8).encode().unwrap());
    let nested = (Nested(("a", 1_u8)), &b"bytes"[..]).encode().unwrap();
    assert_eq!(nested[..4], [0x60, 0x38, b'a', 0x00]);
}

#[test]
fn null_is_refused_where_it_is_not_allowed() {
    let mut buffer = Vec::new();
    let mut key = KeyBuilder::new(&mut buffer);
    key.push_ordered(None::<u8>, Direction::Asc, Nulls::NotAllowed);
    assert!(key.finish().unwrap_err().to_string().starts_with("null, and the field is not null"));

    let mut reader = KeyReader::new(&[0x02]);
    let read = reader.read_ordered::<Option<u8>>(Direction::Asc, Nulls::NotAllowed);
    assert_eq!(read.unwrap_err().field(), Some("1"));
}

#[test]
fn a_type_of_ones_own_can_refuse_a_value_and_fields_are_counted_right_after_it() {
    #[derive(Debug)]
    struct Status(u8);
    impl stonecrop_keys::ToKey for Status {
        fn field_type() -> stonecrop_keys::Type {
            u8::field_type()
        }
        fn write_to(&self, out: &mut Vec<u8>) {
            self.0.write_to(out);
        }
    }
    impl<'k> stonecrop_keys::FromKey<'k> for Status {
        fn read_from(reader: &mut KeyReader<'k>) -> stonecrop_keys::Result<Self> {
            match reader.read()? {
                status @ 0..=3_u8 => Ok(Status(status)),
                other => Err(reader.error(format!("{other} is no status"))),
            }
        }
    }
    let error = <(bool, Status)>::decode(&[0x08, 0x10, 0x09]).unwrap_err();
    assert_eq!(error.to_string(), "field 2, byte 3: 9 is no status");
    let error = <(Status, u8)>::decode(&[0x10, 0x01, 0x77]).unwrap_err();
    assert_eq!(error.field(), Some("2"));
}

#[test]
fn a_key_that_nests_without_end_is_refused() {
    #[derive(Key, Debug)]
    struct Tree {
        label: u8,
        children: List<Nested<Tree>>,
    }
    let deep = [0x10, 0x00, 0x61, 0x60].repeat(16_000);
    let error = Tree::decode(&deep).unwrap_err();
    assert!(error.to_string().contains("nested more than 16 deep"), "{error}");
    let leaf = Tree { label: 1, children: List(vec![]) };
    let tree = Tree { label: 2, children: List(vec![Nested(leaf)]) };
    let key = tree.encode().unwrap();
    assert_eq!(Tree::decode(&key).unwrap().children.0[0].0.label, 1);
}

#[test]
fn the_derive_copes_with_awkward_names() {
    mod renamed {
        pub(super) use stonecrop_keys as keys_by_another_name;
    }
    #[derive(Key, Debug, PartialEq)]
    #[key(crate = "renamed::keys_by_another_name")]
    struct Awkward<'key, 'b: 'key> {
        key: Cow<'key, str>,
        reader: Cow<'b, [u8]>,
    }
    let given = Awkward { key: "a".into(), reader: b"b"[..].into() };
    let key = given.encode().unwrap();
    assert_eq!(Awkward::decode(&key).unwrap(), given);
}

#[test]
fn a_tail_is_written_and_read_as_the_raw_field_of_a_schema() {
    let schema: stonecrop_keys::Schema = "a u8, b raw".parse().unwrap();
    let mut key = Vec::new();
    KeyBuilder::new(&mut key).push(7_u8).push_tail(b"\x00\xFF");
    assert_eq!(schema.encode(&[7.into(), vec![0, 255].into()]).unwrap(), key);
    let mut reader = KeyReader::new(&key);
    assert_eq!(reader.read::<u8>().unwrap(), 7);
    assert_eq!(reader.read_tail().unwrap(), b"\x00\xFF");
    reader.finish().unwrap();
}
