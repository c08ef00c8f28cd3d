//! Random schemas and values, and the plain comparison of values that key order must agree with.
//! Nothing here uses the codec, except for the digits of a decimal's text.

use std::cmp::Ordering;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use stonecrop_keys::{
    Curve, Decimal, Direction, Field, Nulls, Point2, Point3, Schema, TimeUnit, Type, Value,
};

pub(crate) type Row = Vec<Value<'static>>;

/// How many cases each property is tried with; the long form sets PROPTEST_CASES.
pub(crate) fn cases() -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(10_000)
}

pub(crate) fn run<S: Strategy>(strategy: &S, test: impl Fn(S::Value) -> Result<(), TestCaseError>) {
    let config = ProptestConfig {
        cases: cases(),
        failure_persistence: None,
        max_shrink_iters: 20_000,
        ..ProptestConfig::default()
    };
    let mut runner = proptest::test_runner::TestRunner::new(config);
    if let Err(error) = runner.run(strategy, test) {
        panic!("{error}");
    }
}

/// Every type that a field can have, those with parts in a few forms.
pub(crate) fn all_types() -> Vec<Type> {
    let notations = "bool;u8;u16;u32;u64;u128;i8;i16;i32;i64;i128;varuint;varint;f32;f64;\
        f32_exact;f64_exact;decimal;string;bytes;bytes(1);bytes(7);uuid;uuid_v1;timestamp;\
        timestamp(us);timestamp(ns);date;geo2;geo2(hilbert);geo3;geo3(hilbert);\
        tuple(x i16, y string desc nulls last);\
        tuple(t tuple(d decimal nulls first, s string) desc, ok bool);\
        list(u8);list(string desc nulls last);list(tuple(k bytes, v varint desc) nulls first)";
    notations.split(';').map(type_of).collect()
}

pub(crate) fn type_of(notation: &str) -> Type {
    let schema: Schema = format!("a {notation}").parse().unwrap();
    schema.fields()[0].field_type().clone()
}

pub(crate) fn orders() -> Vec<(Direction, Nulls)> {
    let directions = [Direction::Asc, Direction::Desc];
    let nulls = [Nulls::NotAllowed, Nulls::First, Nulls::Last];
    directions.iter().flat_map(|d| nulls.iter().map(move |n| (*d, *n))).collect()
}

/// A schema of one to four fields, tuples and lists nested to `depth`.
pub(crate) fn any_schema(depth: u32) -> BoxedStrategy<Schema> {
    let plain = select(all_types()).boxed();
    let tail = (any::<bool>(), select(vec![Nulls::NotAllowed, Nulls::First, Nulls::Last]));
    (vec(any_field(any_type(plain, depth)), 1..=4), tail)
        .prop_map(|(fields, (raw, nulls))| {
            let mut fields = named(fields);
            if raw && fields.len() > 1 {
                fields.pop();
                fields.push(Field::new("tail", Type::Raw).ordered(Direction::Asc, nulls));
            }
            Schema::new(fields).unwrap()
        })
        .boxed()
}

fn any_type(plain: BoxedStrategy<Type>, depth: u32) -> BoxedStrategy<Type> {
    if depth == 0 {
        return plain;
    }
    let inner = any_type(plain.clone(), depth - 1);
    let tuple = vec(any_field(inner.clone()), 1..=3)
        .prop_map(|fields| Type::Tuple(Schema::new(named(fields)).unwrap()));
    let list = any_field(inner).prop_map(|element| Type::List(Box::new(element)));
    prop_oneof![3 => plain, 1 => tuple, 1 => list].boxed()
}

fn any_field(ty: BoxedStrategy<Type>) -> BoxedStrategy<Field> {
    let field = |(ty, (direction, nulls))| Field::new("element", ty).ordered(direction, nulls);
    (ty, select(orders())).prop_map(field).boxed()
}

fn named(fields: Vec<Field>) -> Vec<Field> {
    let name = |(index, field): (usize, Field)| {
        Field::new(format!("f{index}"), field.field_type().clone())
            .ordered(field.direction(), field.nulls())
    };
    fields.into_iter().enumerate().map(name).collect()
}

/// Two rows of a schema that often agree in their first fields.
pub(crate) fn row_pair(schema: &Schema) -> BoxedStrategy<(Row, Row)> {
    let (a, b) = (any_row(schema), any_row(schema));
    let same = vec(proptest::bool::weighted(0.6), schema.fields().len());
    (a, b, same)
        .prop_map(|(a, mut b, same)| {
            for (index, _) in same.iter().enumerate().filter(|(_, same)| **same) {
                b[index] = a[index].clone();
            }
            (a, b)
        })
        .boxed()
}

pub(crate) fn any_row(schema: &Schema) -> BoxedStrategy<Row> {
    schema.fields().iter().map(any_value).collect::<Vec<_>>().boxed()
}

pub(crate) fn any_value(field: &Field) -> BoxedStrategy<Value<'static>> {
    let value = not_null(field.field_type());
    match field.nulls() {
        Nulls::NotAllowed => value,
        _ => prop_oneof![4 => value, 1 => Just(Value::Null)].boxed(),
    }
}

/// Values near the edges more often than chance has it.
fn not_null(ty: &Type) -> BoxedStrategy<Value<'static>> {
    match ty {
        Type::Bool => any::<bool>().prop_map(Value::Bool).boxed(),
        Type::U8 => unsigned(8),
        Type::U16 => unsigned(16),
        Type::U32 => unsigned(32),
        Type::U64 | Type::Varuint => unsigned(64),
        Type::U128 => unsigned(128),
        Type::I8 => signed(8),
        Type::I16 => signed(16),
        Type::I32 => signed(32),
        Type::I64 | Type::Varint => signed(64),
        Type::I128 => signed(128),
        Type::F32 | Type::F32Exact => floats(&[f32::MIN_POSITIVE, 1.5, f32::MAX])
            .prop_map(|bits| Value::F32(f32::from_bits((bits >> 32) as u32)))
            .boxed(),
        Type::F64 | Type::F64Exact => floats(&[f32::MIN_POSITIVE, 1.5, f32::MAX])
            .prop_map(|bits| Value::F64(f64::from_bits(bits)))
            .boxed(),
        Type::Decimal => decimal().prop_map(Value::Decimal).boxed(),
        Type::String => text().prop_map(|text| Value::String(text.into())).boxed(),
        Type::Bytes | Type::Raw => bytes().prop_map(|bytes| Value::Bytes(bytes.into())).boxed(),
        Type::FixedBytes(n) => {
            vec(byte(), usize::from(*n)).prop_map(|b| Value::Bytes(b.into())).boxed()
        }
        Type::Uuid => any::<[u8; 16]>().prop_map(Value::Uuid).boxed(),
        Type::UuidV1 => proptest::array::uniform16(byte())
            .prop_map(|mut bytes| {
                bytes[6] = 0x10 | bytes[6] & 0x0F;
                Value::Uuid(bytes)
            })
            .boxed(),
        Type::Timestamp(unit) => {
            let unit = *unit;
            near(i64::MIN, i64::MAX).prop_map(move |n| Value::Timestamp(n, unit)).boxed()
        }
        Type::Date => near(i64::from(i32::MIN), i64::from(i32::MAX))
            .prop_map(|days| Value::Date(days as i32))
            .boxed(),
        Type::Geo2(_) => [step(), step()].prop_map(|c| Value::Point2(Point2::from(c))).boxed(),
        Type::Geo3(_) => {
            [step(), step(), step()].prop_map(|c| Value::Point3(Point3::from(c))).boxed()
        }
        Type::Tuple(schema) => any_row(schema).prop_map(Value::Tuple).boxed(),
        Type::List(element) => vec(any_value(element), 0..=3).prop_map(Value::Tuple).boxed(),
        other => panic!("no values for {other}"),
    }
}

fn unsigned(bits: u32) -> BoxedStrategy<Value<'static>> {
    let most = u128::MAX >> (128 - bits);
    let shift = 0..bits;
    prop_oneof![
        (any::<u128>(), shift).prop_map(move |(n, shift)| (n & most) >> shift),
        (0..3_u128, 0..bits).prop_map(move |(n, bit)| ((1 << bit) - 1 + n).min(most)),
        (0..300_u128).prop_map(move |n| n.min(most)),
        (0..3_u128).prop_map(move |n| most - n),
    ]
    .prop_map(Value::from)
    .boxed()
}

fn signed(bits: u32) -> BoxedStrategy<Value<'static>> {
    let (least, most) = (i128::MIN >> (128 - bits), i128::MAX >> (128 - bits));
    prop_oneof![
        (any::<i128>(), 128 - bits..128).prop_map(|(n, shift)| n >> shift),
        (-1..2_i128, 0..bits - 1, any::<bool>()).prop_map(move |(n, bit, negative)| {
            let edge = (1_i128 << bit).saturating_add(n).min(most);
            if negative { -edge } else { edge }
        }),
        (-130..130_i128).prop_map(move |n| n.clamp(least, most)),
        select(vec![least, least + 1, most - 1, most]),
    ]
    .prop_map(Value::Int)
    .boxed()
}

/// The bits of an f64; the upper half of each makes an f32 of the same sort.
fn floats(edges: &[f32]) -> BoxedStrategy<u64> {
    let mut special: Vec<f64> = vec![0.0, 1.0, f64::INFINITY, f64::NAN, f64::MAX, 5e-324];
    special.extend(edges.iter().map(|edge| f64::from(*edge)));
    let special = special.iter().flat_map(|n| {
        let (wide, narrow) = (n.to_bits(), u64::from((*n as f32).to_bits()) << 32);
        [wide, narrow, wide | 1 << 63, narrow | 1 << 63, wide ^ 1, narrow ^ 1 << 32]
    });
    prop_oneof![any::<u64>(), select(special.collect::<Vec<_>>())].boxed()
}

fn decimal() -> BoxedStrategy<Decimal> {
    let digits = prop_oneof!["[0-9]{1,4}", "[0-9]{1,38}", "[09]{30,38}", "[1-9]0{0,6}[0-9]"];
    let exponent = prop_oneof![-4..4_i32, -130..=88_i32];
    (any::<bool>(), digits, exponent)
        .prop_map(|(negative, digits, exponent)| {
            let sign = if negative { "-" } else { "" };
            let text = format!("{sign}{digits}e{exponent}");
            text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
        })
        .boxed()
}

fn text() -> BoxedStrategy<String> {
    let letter = select(vec!['\0', '\u{1}', 'a', 'b', 'é', '\u{ff}', '\u{ffff}', '😀']);
    prop_oneof![
        4 => vec(letter, 0..6).prop_map(|letters| letters.into_iter().collect()),
        1 => "\\PC{0,40}",
        1 => "[a-z]{120,300}",
    ]
    .boxed()
}

fn byte() -> BoxedStrategy<u8> {
    prop_oneof![select(vec![0x00, 0x01, 0x02, 0x61, 0xFD, 0xFE, 0xFF]), any::<u8>()].boxed()
}

fn bytes() -> BoxedStrategy<Vec<u8>> {
    let long = (vec(1..=255_u8, 120..300), any::<prop::sample::Index>(), any::<bool>());
    prop_oneof![
        5 => vec(byte(), 0..8),
        1 => vec(byte(), 0..80),
        1 => long.prop_map(|(mut bytes, index, zero)| {
            if zero {
                let at = index.index(bytes.len());
                bytes[at] = 0;
            }
            bytes
        }),
    ]
    .boxed()
}

fn near(least: i64, most: i64) -> BoxedStrategy<i64> {
    prop_oneof![least..=most, -3..4_i64, select(vec![least, least + 1, most - 1, most])].boxed()
}

fn step() -> BoxedStrategy<u32> {
    prop_oneof![any::<u32>(), 0..8_u32, select(vec![u32::MAX, 1 << 31, (1 << 31) - 1])].boxed()
}

/// The order of rows, field by field.
pub(crate) fn compare_rows(fields: &[Field], a: &[Value<'_>], b: &[Value<'_>]) -> Ordering {
    let mut pairs = fields.iter().zip(a.iter().zip(b));
    pairs
        .find_map(|(field, (a, b))| Some(compare(field, a, b)).filter(|o| o.is_ne()))
        .unwrap_or(Ordering::Equal)
}

/// The order of a field's values: nulls where the field says, the others by its direction.
pub(crate) fn compare(field: &Field, a: &Value<'_>, b: &Value<'_>) -> Ordering {
    let null_order = match field.nulls() {
        Nulls::Last => Ordering::Greater,
        _ => Ordering::Less,
    };
    match (a.is_null(), b.is_null()) {
        (true, true) => Ordering::Equal,
        (true, false) => null_order,
        (false, true) => null_order.reverse(),
        (false, false) => match field.direction() {
            Direction::Asc => compare_ascending(field.field_type(), a, b),
            Direction::Desc => compare_ascending(field.field_type(), a, b).reverse(),
        },
    }
}

pub(crate) fn compare_ascending(ty: &Type, a: &Value<'_>, b: &Value<'_>) -> Ordering {
    match (ty, a, b) {
        (_, Value::Bool(a), Value::Bool(b)) => a.cmp(b),
        (_, Value::Int(a), Value::Int(b)) => a.cmp(b),
        (_, Value::Uint(a), Value::Uint(b)) => a.cmp(b),
        (_, Value::Int(_), Value::Uint(_)) => Ordering::Less,
        (_, Value::Uint(_), Value::Int(_)) => Ordering::Greater,
        (Type::F32Exact, Value::F32(a), Value::F32(b)) => a.total_cmp(b),
        (Type::F64Exact, Value::F64(a), Value::F64(b)) => a.total_cmp(b),
        (_, Value::F32(a), Value::F32(b)) => compare_floats((*a).into(), (*b).into()),
        (_, Value::F64(a), Value::F64(b)) => compare_floats(*a, *b),
        (_, Value::Decimal(a), Value::Decimal(b)) => compare_decimals(a, b),
        (_, Value::String(a), Value::String(b)) => a.chars().cmp(b.chars()),
        (_, Value::Bytes(a), Value::Bytes(b)) => a.cmp(b),
        (Type::UuidV1, Value::Uuid(a), Value::Uuid(b)) => {
            (time_of(*a), &a[8..]).cmp(&(time_of(*b), &b[8..]))
        }
        (_, Value::Uuid(a), Value::Uuid(b)) => a.cmp(b),
        (_, Value::Timestamp(a, _), Value::Timestamp(b, _)) => a.cmp(b),
        (_, Value::Date(a), Value::Date(b)) => a.cmp(b),
        (Type::Geo2(curve), Value::Point2(a), Value::Point2(b)) => {
            compare_cells(*curve, <[u32; 2]>::from(*a), (*b).into())
        }
        (Type::Geo3(curve), Value::Point3(a), Value::Point3(b)) => {
            compare_cells(*curve, <[u32; 3]>::from(*a), (*b).into())
        }
        (Type::Tuple(schema), Value::Tuple(a), Value::Tuple(b)) => {
            compare_rows(schema.fields(), a, b)
        }
        (Type::List(element), Value::Tuple(a), Value::Tuple(b)) => {
            let mut pairs = a.iter().zip(b);
            pairs
                .find_map(|(a, b)| Some(compare(element, a, b)).filter(|o| o.is_ne()))
                .unwrap_or(a.len().cmp(&b.len()))
        }
        _ => panic!("{ty}: {a:?} and {b:?}"),
    }
}

/// NaN is above everything and equal to itself; the zeros are equal.
fn compare_floats(a: f64, b: f64) -> Ordering {
    a.partial_cmp(&b).unwrap_or(a.is_nan().cmp(&b.is_nan()))
}

/// The 60 bits of a version 1 UUID's timestamp: low, middle, and high without the version.
fn time_of(uuid: [u8; 16]) -> u64 {
    let [l0, l1, l2, l3, m0, m1, h0, h1, ..] = uuid;
    u64::from_be_bytes([h0 & 0x0F, h1, m0, m1, l0, l1, l2, l3])
}

/// By sign, then by magnitude: the exponent of the leading digit, then the digits.
fn compare_decimals(a: &Decimal, b: &Decimal) -> Ordering {
    let parts = |decimal: &Decimal| {
        let text = decimal.to_string().to_lowercase();
        let (text, negative) = match text.strip_prefix('-') {
            Some(rest) => (rest.to_owned(), true),
            None => (text, false),
        };
        let (mantissa, exponent) = match text.split_once('e') {
            Some((mantissa, exponent)) => (mantissa.to_owned(), exponent.parse().unwrap()),
            None => (text, 0_i32),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((&mantissa, ""));
        let all = format!("{whole}{fraction}");
        let digits = all.trim_start_matches('0');
        let leading_zeros = (all.len() - digits.len()) as i32;
        let leading = exponent + whole.len() as i32 - 1 - leading_zeros;
        let digits = digits.trim_end_matches('0').to_owned();
        let sign = if digits.is_empty() {
            0
        } else if negative {
            -1
        } else {
            1
        };
        (sign, leading, digits)
    };
    let ((sign_a, exponent_a, digits_a), (sign_b, exponent_b, digits_b)) = (parts(a), parts(b));
    let magnitude = (exponent_a, digits_a).cmp(&(exponent_b, digits_b));
    sign_a.cmp(&sign_b).then(match sign_a {
        0 => Ordering::Equal,
        1 => magnitude,
        _ => magnitude.reverse(),
    })
}

/// By the place on the curve: the interleaved bits, after the Hilbert transform if it is that one.
fn compare_cells<const D: usize>(curve: Curve, mut a: [u32; D], mut b: [u32; D]) -> Ordering {
    if curve == Curve::Hilbert {
        a = hilbert(a);
        b = hilbert(b);
    }
    // The axis with the highest differing bit decides; of several with it, the first.
    let decider = (0..D).max_by_key(|axis| {
        let highest = (a[*axis] ^ b[*axis]).checked_ilog2().map_or(-1, |bit| bit as i32);
        (highest, D - axis)
    });
    decider.map_or(Ordering::Equal, |axis| a[axis].cmp(&b[axis]))
}

/// The steps of docs/format.md, with the bits as a list.
pub(crate) fn hilbert<const D: usize>(mut x: [u32; D]) -> [u32; D] {
    for b in (1..32).rev() {
        let low = (1_u32 << b) - 1;
        for i in 0..D {
            if x[i] & 1 << b != 0 {
                x[0] ^= low;
            } else {
                let t = (x[0] ^ x[i]) & low;
                x[0] ^= t;
                x[i] ^= t;
            }
        }
    }
    for i in 1..D {
        x[i] ^= x[i - 1];
    }
    let t = (1..32).filter(|b| x[D - 1] & 1 << b != 0).fold(0, |t, b| t ^ ((1_u32 << b) - 1));
    x.map(|coordinate| coordinate ^ t)
}

/// What decoding gives for this value: the same, but for the one zero and the one NaN.
pub(crate) fn normal(ty: &Type, value: &Value<'static>) -> Value<'static> {
    match (ty, value) {
        (Type::F32, Value::F32(n)) if n.is_nan() => Value::F32(f32::from_bits(0x7FC0_0000)),
        (Type::F32, Value::F32(n)) => Value::F32(n + 0.0),
        (Type::F64, Value::F64(n)) if n.is_nan() => {
            Value::F64(f64::from_bits(0x7FF8_0000_0000_0000))
        }
        (Type::F64, Value::F64(n)) => Value::F64(n + 0.0),
        (Type::Tuple(schema), Value::Tuple(values)) => {
            let fields = schema.fields().iter().zip(values);
            Value::Tuple(fields.map(|(field, value)| normal(field.field_type(), value)).collect())
        }
        (Type::List(element), Value::Tuple(values)) => {
            Value::Tuple(values.iter().map(|value| normal(element.field_type(), value)).collect())
        }
        _ => value.clone(),
    }
}

/// Equal to the last bit: NaN is itself, and the zeros differ.
pub(crate) fn identical(a: &Value<'_>, b: &Value<'_>) -> bool {
    match (a, b) {
        (Value::F32(a), Value::F32(b)) => a.to_bits() == b.to_bits(),
        (Value::F64(a), Value::F64(b)) => a.to_bits() == b.to_bits(),
        (Value::Tuple(a), Value::Tuple(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| identical(a, b))
        }
        _ => a == b,
    }
}

// Named here so that a new unit is noticed: `all_types` lists them by notation.
const _: [TimeUnit; 3] = [TimeUnit::Milliseconds, TimeUnit::Microseconds, TimeUnit::Nanoseconds];
