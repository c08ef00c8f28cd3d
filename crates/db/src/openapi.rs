//! The shapes of values and conditions as OpenAPI schemas: what their own code reads and writes.

use std::borrow::Cow;

use utoipa::openapi::schema::{AdditionalProperties, ArrayBuilder, ObjectBuilder, OneOfBuilder};
use utoipa::openapi::{KnownFormat, Ref, RefOr, Schema, SchemaFormat, Type};
use utoipa::{PartialSchema, ToSchema};

use crate::condition::Condition;
use crate::value::Value;

fn text() -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::String)
}

fn number() -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::Number)
}

fn format(schema: ObjectBuilder, format: KnownFormat) -> ObjectBuilder {
    schema.format(Some(SchemaFormat::KnownFormat(format)))
}

fn value() -> RefOr<Schema> {
    Ref::from_schema_name(Value::name()).into()
}

/// An object with one property.
fn tagged(tag: &str, content: impl Into<RefOr<Schema>>) -> ObjectBuilder {
    ObjectBuilder::new()
        .property(tag, content)
        .required(tag)
        .additional_properties(Some(AdditionalProperties::FreeForm(false)))
}

fn texts() -> ArrayBuilder {
    ArrayBuilder::new().items(text())
}

impl ToSchema for Value {
    fn name() -> Cow<'static, str> {
        "Value".into()
    }
}

impl PartialSchema for Value {
    fn schema() -> RefOr<Schema> {
        let int = ObjectBuilder::new()
            .schema_type(Type::Integer)
            .minimum(Some(i64::MIN))
            .maximum(Some(i64::MAX));
        let float = OneOfBuilder::new().item(number()).item(text().enum_values(Some([
            "NaN",
            "Infinity",
            "-Infinity",
        ])));
        let map =
            ObjectBuilder::new().additional_properties(Some(AdditionalProperties::RefOr(value())));
        OneOfBuilder::new()
            .description(Some("A value that says its type: {\"Int\": 42}; null is \"Null\"."))
            .item(text().enum_values(Some(["Null"])))
            .item(tagged("Bool", ObjectBuilder::new().schema_type(Type::Boolean)))
            .item(tagged("Int", format(int, KnownFormat::Int64)))
            .item(tagged("Float", float))
            .item(tagged("Decimal", text().description(Some("A number of up to 38 digits."))))
            .item(tagged("String", text()))
            .item(tagged("Bytes", format(text(), KnownFormat::Byte)))
            .item(tagged("Timestamp", text().description(Some("RFC 3339."))))
            .item(tagged("Date", text().description(Some("2024-01-15"))))
            .item(tagged("Uuid", text()))
            .item(tagged("List", ArrayBuilder::new().items(value())))
            .item(tagged("Map", map))
            .item(tagged("StringSet", texts()))
            .item(tagged("NumberSet", texts()))
            .item(tagged("BytesSet", texts()))
            .into()
    }
}

impl ToSchema for Condition {
    fn name() -> Cow<'static, str> {
        "Filter".into()
    }

    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        schemas.push((Value::name().into_owned(), Value::schema()));
    }
}

impl PartialSchema for Condition {
    fn schema() -> RefOr<Schema> {
        let filter: RefOr<Schema> = Ref::from_schema_name(Self::name()).into();
        let operators = crate::condition::OPERATORS.split(", ").map(str::trim);
        let leaf = ObjectBuilder::new()
            .property("field", text().description(Some("A path: address.city, tags[0].")))
            .property("operator", text().enum_values(Some(operators)))
            .required("operator")
            .property("value", value());
        let group = ObjectBuilder::new()
            .property("logical", text().enum_values(Some(["And", "Or", "Not"])))
            .required("logical")
            .property("children", ArrayBuilder::new().items(filter))
            .required("children");
        OneOfBuilder::new()
            .description(Some("A condition on a field, or several with And, Or or Not."))
            .item(tagged("Condition", leaf))
            .item(group)
            .into()
    }
}
