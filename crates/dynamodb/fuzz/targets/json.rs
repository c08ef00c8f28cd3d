//! Bytes are a value in JSON or an error, and what is a value comes back from its own JSON. What is
//! read without JSON in between is the same.
#![no_main]

use std::collections::BTreeMap;

use serde_json::Value;
use stonecrop_dynamodb::ErrorKind;
use stonecrop_dynamodb::legacy::{Filter, attribute_updates, expected, filter, key_conditions};
use stonecrop_dynamodb::value::{
    ItemAction, ItemWrite, check_shape, decode, decode_item, encode, read_actions, read_item,
    read_json, read_writes, value_size,
};

/// The writes of a batch, by way of JSON.
fn written(mut tables: Value) -> BTreeMap<String, Vec<ItemWrite>> {
    let write = |write: &mut Value| match write.as_object().unwrap().keys().next().unwrap().as_str()
    {
        "PutRequest" => ItemWrite::Put(decode_item(write["PutRequest"]["Item"].take()).unwrap()),
        _ => ItemWrite::Delete(decode_item(write["DeleteRequest"]["Key"].take()).unwrap()),
    };
    let tables = tables.as_object_mut().unwrap().iter_mut();
    let of_table = |(name, writes): (&String, &mut Value)| {
        (name.clone(), writes.as_array_mut().unwrap().iter_mut().map(write).collect())
    };
    tables.map(of_table).collect()
}

/// The actions of a transaction, by way of JSON.
fn acted(actions: &Value) -> Vec<ItemAction> {
    let action = |action: &Value| {
        let has = |kind: &&str| action.get(kind).is_some();
        let kind = ItemAction::KINDS.into_iter().find(has).unwrap();
        let mut parameters = action[kind].as_object().unwrap().clone();
        let item = parameters.remove(ItemAction::item_of(kind)).unwrap();
        ItemAction { kind, parameters, item: decode_item(item).unwrap() }
    };
    actions.as_array().unwrap().iter().map(action).collect()
}

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    let request = [&b"{\"Item\":{\"a\":"[..], input, &b"}}"[..]].concat();
    for request in [input, &request] {
        if let Some((rest, item)) = read_item(request, "Item") {
            let mut json = read_json(request).unwrap();
            let read = json.as_object_mut().unwrap().remove("Item").unwrap();
            assert!(read.as_object().unwrap().values().all(|value| check_shape(value).is_ok()));
            assert_eq!(decode_item(read).unwrap(), item);
            assert_eq!(json.as_object(), Some(&rest));
        }
    }
    let writes = [&b"{\"RequestItems\":{\"a\":["[..], input, &b"]}}"[..]].concat();
    for request in [input, &writes] {
        if let Some((rest, tables)) = read_writes(request) {
            let mut json = read_json(request).unwrap();
            let read = json.as_object_mut().unwrap().remove("RequestItems").unwrap();
            assert_eq!(written(read), tables);
            assert_eq!(json.as_object(), Some(&rest));
        }
    }
    let actions = [&b"{\"TransactItems\":["[..], input, &b"]}"[..]].concat();
    for request in [input, &actions] {
        if let Some((rest, actions)) = read_actions(request) {
            let mut json = read_json(request).unwrap();
            let read = json.as_object_mut().unwrap().remove("TransactItems").unwrap();
            assert_eq!(acted(&read), actions);
            assert_eq!(json.as_object(), Some(&rest));
        }
    }
    let Ok(json) = read_json(input) else { return };
    let shape = check_shape(&json);
    match decode(json.clone()) {
        Ok(value) => {
            assert_eq!(shape, Ok(()));
            value_size(&value);
            assert_eq!(decode(encode(&value)).unwrap(), value);
        }
        Err(error) => assert!(shape.is_err() || error.kind() == ErrorKind::Validation),
    }
    let _ = expected(json.clone(), Some("OR"));
    let _ = filter(Filter::Query, json.clone(), None);
    let _ = key_conditions(json.clone());
    let _ = attribute_updates(json);
});
