//! The one-line notation of schemas.

use proptest::prelude::*;
use stonecrop_keys::{ErrorKind, Field, Schema, Type};

use crate::model::{any_schema, run};

fn error(text: &str) -> String {
    let error = text.parse::<Schema>().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Schema);
    error.to_string()
}

#[test]
fn a_schema_is_parsed_from_what_it_displays() {
    run(&any_schema(3), |schema| {
        prop_assert_eq!(schema.to_string().parse::<Schema>().unwrap(), schema);
        Ok(())
    });
}

#[test]
fn any_text_is_a_schema_or_an_error_with_an_offset() {
    run(&"[a-z0-9(), \"\\\\é\u{0}]{0,40}", |text| {
        if let Err(error) = text.parse::<Schema>() {
            let inside = error.offset().is_none_or(|at| at <= text.len());
            prop_assert!(inside, "{:?}: {}", text, error);
        }
        Ok(())
    });
}

#[test]
fn words_are_in_any_case_and_white_space_is_free() {
    let schema: Schema =
        "\n A STRING , b  TimeStamp( US )DESC NULLS\tLAST,c i8 NOT NULL".parse().unwrap();
    assert_eq!(schema.to_string(), "A string, b timestamp(us) desc nulls last, c i8");
}

#[test]
fn names_with_other_letters_stand_in_quotes() {
    let field = Field::new("a \"b\" \\ c", Type::U8);
    let schema = Schema::new(vec![field]).unwrap();
    assert_eq!(schema.to_string(), r#""a \"b\" \\ c" u8"#);
    assert_eq!(schema.to_string().parse::<Schema>().unwrap(), schema);
}

#[test]
fn mistakes_are_named_with_their_offset() {
    assert_eq!(error(""), "byte 0: expected the name of a field, found the end");
    assert_eq!(error("a u8,"), "byte 5: expected the name of a field, found the end");
    assert!(error("a int").starts_with("byte 2: \"int\" is not a type; the types are bool, u8"));
    assert!(error("a").starts_with("byte 1: a type is missing; the types are"));
    assert_eq!(
        error("a u8 nulls"),
        "byte 10: expected \"first\" or \"last\" after \"nulls\", found the end"
    );
    assert!(error("a u8 descending").starts_with("byte 5: expected asc, desc"));
    assert_eq!(
        error("a bytes(0)"),
        "byte 8: expected a number of bytes from 1 to 65534, found \"0\""
    );
    assert_eq!(error("a u8, a u8"), "field a: another field has this name already");
    assert_eq!(error("a tuple(x u8, x i8)"), "field a.x: another field has this name already");
    assert_eq!(error("a tuple(x u8"), "byte 12: expected \")\", found the end");
    assert!(error("a raw desc").contains("can't be descending"));
    assert!(error("a raw, b u8").contains("only be the last field"));
    assert!(error("a tuple(x raw)").contains("only be the last field"));
    assert!(error("a list(raw)").contains("only be the last field"));
    assert!(error("\"b").contains("no closing quote"));
    assert!(error("\"\" u8").contains("needs a name"));
}

#[test]
fn nesting_is_bounded() {
    let nested = |depth| format!("a {}u8{}", "list(".repeat(depth), ")".repeat(depth));
    nested(16).parse::<Schema>().unwrap();
    assert!(error(&nested(17)).contains("nested 16 deep"));
    assert!(error(&nested(100_000)).contains("nested 16 deep"));

    let mut ty = Type::U8;
    for _ in 0..17 {
        ty = Type::List(Box::new(Field::new("element", ty)));
    }
    assert!(Schema::new(vec![Field::new("a", ty)]).is_err());
}
