//! Encoding and decoding keys: ours, the peers', and a plain copy of the same bytes.
//!
//! One group for each case and operation, so that rivals are measured within seconds of each
//! other. Every codec gets the best path that it offers: a reused output buffer, and text and
//! bytes borrowed from the key where it can lend them.

#![expect(clippy::expect_used, reason = "a codec that fails here has nothing to be measured")]

use std::borrow::Cow;
use std::fmt::Debug;
use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion};
use foundationdb_tuple::{Bytes, TuplePack, TupleUnpack};
use serde::{Deserialize, Serialize, Serializer};
use serde_bytes::ByteBuf;
use stonecrop_bench::{
    BYTES_WITH_ZEROS, Case, DECIMAL_28, DECIMAL_38, FOUNDATIONDB, LONG_BYTES, MEMCOMPARABLE,
    MEMCPY, Operation, STONECROP, STONECROP_SCHEMA, STOREKEY, TENANT_KEY, TWO_INTEGERS, WIDE_KEY,
};
use stonecrop_keys::{Decimal, DecodeKey, Key, KeyBuilder, Schema, Value};

const ENCODES: &str = "the codec encodes its case";
const DECODES: &str = "the codec decodes what it encoded";

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    two_integers(&mut criterion);
    tenant_key(&mut criterion);
    wide_key(&mut criterion);
    bytes(&mut criterion, BYTES_WITH_ZEROS, &bytes_with_zeros());
    bytes(&mut criterion, LONG_BYTES, &long_bytes());
    decimal(&mut criterion, DECIMAL_28, "-12345678901234.56789012345678");
    decimal(&mut criterion, DECIMAL_38, "-12345678901234567890.123456789012345678");
    criterion.final_summary();
}

fn two_integers(criterion: &mut Criterion) {
    type Fields = (u64, u64);
    let fields: Fields = (0x0123_4567_89AB_CDEF, 1_705_312_800_000);
    let values = [fields.0.into(), fields.1.into()];
    let keys = encode_tuple(
        criterion,
        TWO_INTEGERS,
        &fields,
        |key, (first, second)| {
            key.push(*first).push(*second);
        },
        &Fields::schema(),
        &values,
    );
    decode_tuple(criterion, TWO_INTEGERS, &keys, &fields, &Fields::schema());
}

fn tenant_key(criterion: &mut Criterion) {
    type Decoded<'k> = (i64, Cow<'k, str>, u64);
    let fields = (-9_876_543_210_i64, "order-2024-01-15", 1_705_312_800_000_u64);
    let values = [fields.0.into(), fields.1.into(), fields.2.into()];
    let keys = encode_tuple(
        criterion,
        TENANT_KEY,
        &fields,
        |key, (tenant, name, at)| {
            key.push(*tenant).push(*name).push(*at);
        },
        &Decoded::schema(),
        &values,
    );
    let decoded: Decoded<'_> = (fields.0, fields.1.into(), fields.2);
    decode_tuple(criterion, TENANT_KEY, &keys, &decoded, &Decoded::schema());
}

fn wide_key(criterion: &mut Criterion) {
    type Decoded<'k> = (Cow<'k, str>, Cow<'k, str>, i64, f64);
    let fields = ("acme-eu-west", "sensor/temperature/floor", -1_705_312_800_000_i64, 21.375);
    let values = [fields.0.into(), fields.1.into(), fields.2.into(), fields.3.into()];
    let keys = encode_tuple(
        criterion,
        WIDE_KEY,
        &fields,
        |key, (tenant, sensor, at, reading)| {
            key.push(*tenant).push(*sensor).push(*at).push(*reading);
        },
        &Decoded::schema(),
        &values,
    );
    let decoded: Decoded<'_> = (fields.0.into(), fields.1.into(), fields.2, fields.3);
    decode_tuple(criterion, WIDE_KEY, &keys, &decoded, &Decoded::schema());
}

/// Never 0 or 1, because storekey escapes ones as well.
fn long_bytes() -> Vec<u8> {
    let bytes: Vec<u8> = (0..1024_u32).map(|index| (index * 7 % 254 + 2) as u8).collect();
    aligned(&bytes)
}

fn bytes_with_zeros() -> Vec<u8> {
    (0..64_u8).map(|index| if index % 11 == 5 { 0 } else { index + 2 }).collect()
}

/// The same fields as each codec encodes them.
struct Keys {
    stonecrop: Copies,
    storekey: Copies,
    memcomparable: Copies,
    foundationdb: Copies,
}

fn encode_tuple<F>(
    criterion: &mut Criterion,
    case: Case,
    fields: &F,
    push: impl Fn(&mut KeyBuilder<'_>, &F),
    schema: &Schema,
    values: &[Value<'_>],
) -> Keys
where
    F: storekey::Encode + Serialize + TuplePack,
{
    let mut rows = Encode::start(criterion, case);
    let stonecrop = rows.measure(STONECROP, |buffer| {
        let mut key = KeyBuilder::new(buffer);
        push(&mut key, black_box(fields));
        key.finish().expect(ENCODES);
    });
    rows.measure_schema(schema, values);
    let storekey = rows.measure(STOREKEY, |buffer| {
        storekey::encode(buffer, black_box(fields)).expect(ENCODES);
    });
    let memcomparable = rows.measure(MEMCOMPARABLE, |buffer| {
        let mut serializer = memcomparable::Serializer::new(buffer);
        black_box(fields).serialize(&mut serializer).expect(ENCODES);
    });
    let foundationdb = rows.measure(FOUNDATIONDB, |buffer| {
        black_box(fields).pack_into_vec(buffer);
    });
    rows.measure_copy(&stonecrop);
    Keys { stonecrop, storekey, memcomparable, foundationdb }
}

fn decode_tuple<'k, D>(
    criterion: &mut Criterion,
    case: Case,
    keys: &'k Keys,
    expected: &D,
    schema: &Schema,
) where
    D: DecodeKey<'k>
        + storekey::BorrowDecode<'k>
        + Deserialize<'k>
        + TupleUnpack<'k>
        + PartialEq
        + Debug,
{
    let mut rows = Decode::start(criterion, case);
    rows.measure(STONECROP, &keys.stonecrop, expected, D::decode);
    rows.measure_schema(schema, &keys.stonecrop);
    rows.measure(STOREKEY, &keys.storekey, expected, storekey::decode_borrow);
    rows.measure(MEMCOMPARABLE, &keys.memcomparable, expected, memcomparable::from_slice);
    rows.measure(FOUNDATIONDB, &keys.foundationdb, expected, foundationdb_tuple::unpack);
    rows.measure_copy(&keys.stonecrop);
}

fn bytes(criterion: &mut Criterion, case: Case, payload: &[u8]) {
    let schema = <(Vec<u8>,)>::schema();
    let mut rows = Encode::start(criterion, case);
    let stonecrop = rows.measure(STONECROP, |buffer| {
        let mut key = KeyBuilder::new(buffer);
        key.push(black_box(payload));
        key.finish().expect(ENCODES);
    });
    rows.measure_schema(&schema, &[payload.into()]);
    let storekey = rows.measure(STOREKEY, |buffer| {
        // Its impl for slices goes element by element; this is its path for bytes.
        storekey::Writer::new(buffer).write_slice(black_box(payload)).expect(ENCODES);
    });
    let memcomparable = rows.measure(MEMCOMPARABLE, |buffer| {
        let mut serializer = memcomparable::Serializer::new(buffer);
        serializer.serialize_bytes(black_box(payload)).expect(ENCODES);
    });
    let foundationdb = rows.measure(FOUNDATIONDB, |buffer| {
        black_box(payload).pack_into_vec(buffer);
    });
    rows.measure_copy(&stonecrop);
    drop(rows);

    let expected = Cow::Borrowed(payload);
    let mut rows = Decode::start(criterion, case);
    rows.measure(STONECROP, &stonecrop, &(expected.clone(),), DecodeKey::decode);
    rows.measure_schema(&schema, &stonecrop);
    rows.measure(STOREKEY, &storekey, &expected, storekey::decode_borrow);
    let owned = ByteBuf::from(payload);
    rows.measure(MEMCOMPARABLE, &memcomparable, &owned, memcomparable::from_slice);
    rows.measure(FOUNDATIONDB, &foundationdb, &Bytes(expected), foundationdb_tuple::unpack);
    rows.measure_copy(&stonecrop);
}

/// Of the peers only memcomparable has decimals, of at most 28 digits.
fn decimal(criterion: &mut Criterion, case: Case, text: &str) {
    let schema = <(Decimal,)>::schema();
    let ours: Decimal = text.parse().expect("a decimal");
    let theirs: Option<memcomparable::Decimal> =
        (case == DECIMAL_28).then(|| text.parse().expect("a decimal"));

    let mut rows = Encode::start(criterion, case);
    let stonecrop = rows.measure(STONECROP, |buffer| {
        let mut key = KeyBuilder::new(buffer);
        key.push(black_box(&ours));
        key.finish().expect(ENCODES);
    });
    rows.measure_schema(&schema, &[ours.into()]);
    let memcomparable = theirs.map(|theirs| {
        rows.measure(MEMCOMPARABLE, |buffer| {
            let mut serializer = memcomparable::Serializer::new(buffer);
            serializer.serialize_decimal(*black_box(&theirs)).expect(ENCODES);
        })
    });
    rows.measure_copy(&stonecrop);
    drop(rows);

    let mut rows = Decode::start(criterion, case);
    rows.measure(STONECROP, &stonecrop, &(ours,), DecodeKey::decode);
    rows.measure_schema(&schema, &stonecrop);
    if let (Some(theirs), Some(key)) = (theirs, memcomparable) {
        rows.measure(MEMCOMPARABLE, &key, &theirs, memcomparable::Decimal::from_slice);
    }
    rows.measure_copy(&stonecrop);
}

/// A copy that begins a cache line. Where an allocation happens to begin decides about half of
/// the time of a copy of 1 KiB, so no codec shall have the better half.
fn aligned(bytes: &[u8]) -> Vec<u8> {
    let mut misses = Vec::new();
    loop {
        // Of another size each time, so that the places differ.
        let mut copy = Vec::<u8>::with_capacity(bytes.len() + 6144 + 16 * misses.len());
        if copy.as_ptr().addr().is_multiple_of(64) {
            copy.extend_from_slice(bytes);
            return copy;
        }
        misses.push(copy);
    }
}

/// The encode rows of one case, all with the same buffer.
struct Encode<'c> {
    group: BenchmarkGroup<'c, WallTime>,
    buffer: Vec<u8>,
}

impl<'c> Encode<'c> {
    fn start(criterion: &'c mut Criterion, case: Case) -> Self {
        let group = criterion.benchmark_group(Operation::Encode.group(case));
        Encode { group, buffer: aligned(&[]) }
    }

    /// Measures one codec, and gives what it encodes to.
    fn measure(&mut self, codec: &str, encode: impl Fn(&mut Vec<u8>)) -> Copies {
        let buffer = &mut self.buffer;
        repeat(1, buffer, &encode);
        let key = Copies::new(buffer);
        self.group.bench_function(codec, |bencher| {
            bencher.iter_custom(|times| repeat(times, buffer, &encode));
        });
        key
    }

    fn measure_schema(&mut self, schema: &Schema, values: &[Value<'_>]) {
        self.measure(STONECROP_SCHEMA, |buffer| {
            schema.encode_into(black_box(values), buffer).expect(ENCODES);
        });
    }

    fn measure_copy(&mut self, key: &Copies) {
        self.measure(MEMCPY, |buffer| buffer.extend_from_slice(black_box(key.first())));
    }
}

/// How long it takes to encode so many times. This is the only place that calls `encode`, so the
/// compiler can inline all codecs alike.
#[inline(never)]
#[expect(clippy::disallowed_methods, reason = "a benchmark has to look at the clock")]
fn repeat(times: u64, buffer: &mut Vec<u8>, encode: &impl Fn(&mut Vec<u8>)) -> Duration {
    let start = Instant::now();
    for _ in 0..times {
        buffer.clear();
        encode(buffer);
        // Not the slice: to load its two halves at once, right after one of them was stored,
        // stalls the processor for longer than a short key takes.
        black_box(&mut *buffer);
    }
    start.elapsed()
}

/// The decode rows of one case.
struct Decode<'c> {
    group: BenchmarkGroup<'c, WallTime>,
}

impl<'c> Decode<'c> {
    fn start(criterion: &'c mut Criterion, case: Case) -> Self {
        Decode { group: criterion.benchmark_group(Operation::Decode.group(case)) }
    }

    fn measure<'k, D: PartialEq + Debug, E: Debug>(
        &mut self,
        codec: &str,
        keys: &'k Copies,
        expected: &D,
        decode: impl Fn(&'k [u8]) -> Result<D, E>,
    ) {
        assert_eq!(&decode(keys.first()).expect(DECODES), expected, "{codec}");
        self.group.bench_function(codec, |bencher| {
            bencher.iter_custom(|times| {
                keys.each(times, |key| {
                    // Looked at where it is, and dropped: an owned value has to be freed.
                    black_box(&decode(key));
                })
            });
        });
    }

    fn measure_schema(&mut self, schema: &Schema, keys: &Copies) {
        let expected = schema.decode(keys.first()).expect(DECODES);
        self.measure(STONECROP_SCHEMA, keys, &expected, |key| schema.decode(key));
    }

    fn measure_copy(&mut self, keys: &Copies) {
        let mut buffer = aligned(&[]);
        self.group.bench_function(MEMCPY, |bencher| {
            bencher.iter_custom(|times| {
                keys.each(times, |key| {
                    buffer.clear();
                    buffer.extend_from_slice(key);
                    black_box(&mut buffer);
                })
            });
        });
    }
}

/// A key at each of the places that it can have within a word of eight bytes, since keys lie
/// anywhere in a block of a store. Checking UTF-8, which most codecs leave to the standard library,
/// is up to three times as fast where the text happens to begin a word.
struct Copies {
    bytes: Vec<u8>,
    length: usize,
}

impl Copies {
    const COUNT: u64 = 8;

    fn new(key: &[u8]) -> Self {
        let mut padded = key.to_vec();
        padded.resize(key.len().next_multiple_of(8) + 1, 0);
        Copies { bytes: aligned(&padded.repeat(Self::COUNT as usize)), length: key.len() }
    }

    fn first(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }

    /// How long it takes to do so many times something with one key.
    #[inline(never)]
    #[expect(clippy::disallowed_methods, reason = "a benchmark has to look at the clock")]
    fn each<'k>(&'k self, times: u64, mut routine: impl FnMut(&'k [u8])) -> Duration {
        let stride = self.bytes.len() / Self::COUNT as usize;
        let keys: Vec<_> =
            self.bytes.chunks(stride).map(|chunk| chunk.split_at(self.length).0).collect();
        let rounds = times.div_ceil(Self::COUNT);
        let start = Instant::now();
        for key in &keys {
            for _ in 0..rounds {
                routine(black_box(key));
            }
        }
        start.elapsed().mul_f64(times as f64 / (rounds * Self::COUNT) as f64)
    }
}
