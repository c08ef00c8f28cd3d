//! What the key benchmarks measure: the names that `benches/keys.rs` gives to its rows and that
//! the report finds them by.

/// One key that every codec writes and reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Case {
    /// Its name in criterion's groups.
    pub id: &'static str,
    /// Its name in the report.
    pub title: &'static str,
}

/// Two integers: the shortest key that is still composite.
pub const TWO_INTEGERS: Case = Case { id: "two_integers", title: "(u64, u64)" };
/// The key that the goals are about.
pub const TENANT_KEY: Case = Case { id: "tenant_key", title: "(i64, str 16, u64)" };
/// A longer key, with two texts and a float.
pub const WIDE_KEY: Case = Case { id: "wide_key", title: "(str 12, str 24, i64, f64)" };
/// Bytes that have to be escaped.
pub const BYTES_WITH_ZEROS: Case =
    Case { id: "bytes_with_zeros", title: "64 bytes, 6 of them zero" };
/// Bytes that only have to be looked at.
pub const LONG_BYTES: Case = Case { id: "long_bytes", title: "1 KiB of bytes, no zeros" };
/// The longest decimal that memcomparable has.
pub const DECIMAL_28: Case = Case { id: "decimal_28", title: "decimal, 28 digits" };
/// The longest decimal that Stonecrop has.
pub const DECIMAL_38: Case = Case { id: "decimal_38", title: "decimal, 38 digits" };

/// All cases, in the order of the report.
pub const CASES: [Case; 7] =
    [TWO_INTEGERS, TENANT_KEY, WIDE_KEY, BYTES_WITH_ZEROS, LONG_BYTES, DECIMAL_28, DECIMAL_38];

/// Copying the encoded bytes into a reused buffer: what no codec can beat by much.
pub const MEMCPY: &str = "memcpy";
/// Our codec with types known at compile time.
pub const STONECROP: &str = "stonecrop";
/// Our codec with a schema known at run time.
pub const STONECROP_SCHEMA: &str = "stonecrop (schema)";
/// SurrealDB's codec.
pub const STOREKEY: &str = "storekey";
/// RisingWave's codec.
pub const MEMCOMPARABLE: &str = "memcomparable";
/// FoundationDB's tuple layer.
pub const FOUNDATIONDB: &str = "foundationdb-tuple";

/// All codecs, in the order of the report.
pub const CODECS: [&str; 5] = [STONECROP, STONECROP_SCHEMA, STOREKEY, MEMCOMPARABLE, FOUNDATIONDB];
/// The codecs of others.
pub const PEERS: [&str; 3] = [STOREKEY, MEMCOMPARABLE, FOUNDATIONDB];

/// What is done with a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Values to bytes.
    Encode,
    /// Bytes to values.
    Decode,
}

impl Operation {
    /// Both, in the order of the report.
    pub const ALL: [Operation; 2] = [Operation::Encode, Operation::Decode];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Operation::Encode => "encode",
            Operation::Decode => "decode",
        }
    }

    /// The criterion group that holds all codecs' rows for one case.
    pub fn group(self, case: Case) -> String {
        format!("{} {}", self.name(), case.id)
    }
}
