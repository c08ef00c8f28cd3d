//! Why the peers are not used instead: one known fault of each, beside what Stonecrop makes of the
//! same values. A test that fails here means that a peer was repaired, and that the page about the
//! benchmarks has to say so.

use std::panic::catch_unwind;

use stonecrop_keys::{DecodeKey, Key, KeyBuilder, List};

#[test]
fn storekey_takes_the_first_byte_after_an_empty_list_for_an_escape() {
    let fields = (Vec::<u32>::new(), 0x0102_0304_u32, "AB".to_owned());
    let garbled = (Vec::<u32>::new(), 0x0203_0441_u32, "B".to_owned());

    let theirs = storekey::encode_vec(&fields).unwrap();
    let borrowed: (Vec<u32>, u32, String) = storekey::decode_borrow(&theirs).unwrap();
    let owned: (Vec<u32>, u32, String) = storekey::decode(theirs.as_slice()).unwrap();
    assert_eq!(borrowed, garbled);
    assert_eq!(owned, garbled);

    let fields = (List(fields.0), fields.1, fields.2);
    let ours = fields.encode().unwrap();
    assert_eq!(<(List<u32>, u32, String)>::decode(&ours).unwrap(), fields);
}

#[test]
fn memcomparable_panics_where_a_key_breaks_off() {
    type Fields = (u64, String);
    let fields: Fields = (7, "acme".to_owned());

    let theirs = memcomparable::to_vec(&fields).unwrap();
    for length in 0..theirs.len() {
        let cut = theirs[..length].to_vec();
        assert!(catch_unwind(move || memcomparable::from_slice::<Fields>(&cut).is_err()).is_err());
    }

    let ours = fields.encode().unwrap();
    for length in 0..ours.len() {
        assert!(Fields::decode(&ours[..length]).is_err());
    }
}

/// The tuple layer has no descending fields. The usual way to make one, the complement of its
/// bytes, needs fields that begin no other.
#[test]
fn foundationdb_tuple_misorders_an_inverted_field_with_another_behind_it() {
    type Fields = (&'static str, Option<&'static str>);
    let shorter: Fields = ("a", None);
    let longer: Fields = ("a\0", Some("x"));

    let theirs = |(name, note): Fields| {
        let mut key = foundationdb_tuple::pack(&name);
        key.iter_mut().for_each(|byte| *byte = !*byte);
        foundationdb_tuple::pack_into(&note, &mut key);
        key
    };
    let ours = |(name, note): Fields| {
        let mut key = Vec::new();
        KeyBuilder::new(&mut key).push_desc(name).push(note);
        key
    };

    // With the name descending, the longer one comes first.
    assert!(theirs(longer) > theirs(shorter));
    assert!(ours(longer) < ours(shorter));
}

#[test]
fn bytekey2_misorders_text_with_a_zero_before_another_field() {
    let shorter = ("a".to_owned(), "c".to_owned());
    let longer = ("a\0b".to_owned(), "x".to_owned());
    assert!(shorter < longer);

    let theirs = |fields: &(String, String)| bytekey2::serialize(fields).unwrap();
    assert!(theirs(&shorter) > theirs(&longer));
    assert!(shorter.encode().unwrap() < longer.encode().unwrap());
}
