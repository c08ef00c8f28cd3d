//! Random tables, rows, and queries, all from one seed.

use std::collections::BTreeMap;

use stonecrop::{
    Clock, Comparison, Condition, Family, Index, Path, Placement, Query, Sort, Table, TableSchema,
    Timestamp, Value, Write,
};

use super::model::{ModelFamily, ModelRow, Seen, key_values};
use crate::harness::{Engine, Fixture, START, at, seconds};

/// Numbers that look random (splitmix64).
#[derive(Clone, Debug)]
pub(super) struct Random(pub(super) u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    pub(super) fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    /// True once in so many times.
    pub(super) fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    pub(super) fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())].clone()
    }

    fn some<T: Clone>(&mut self, from: &[T], most: usize) -> Vec<T> {
        (0..self.below(most + 1)).map(|_| self.pick(from)).collect()
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Int,
    Float,
    Decimal,
    String,
    Bytes,
    Bool,
    Time,
    Tree,
    Any,
}

/// The columns of all tables, with the families that they are declared in.
const COLUMNS: [(&str, Kind, &str); 13] = [
    ("ai", Kind::Int, "a"),
    ("af", Kind::Float, "a"),
    ("as", Kind::String, "a"),
    ("am", Kind::Tree, "a"),
    ("bi", Kind::Int, "b"),
    ("bs", Kind::String, "b"),
    ("bt", Kind::Time, "b"),
    ("li", Kind::Int, "li"),
    ("ld", Kind::Decimal, "ld"),
    ("ls", Kind::String, "ls"),
    ("lb", Kind::Bytes, "lb"),
    ("lo", Kind::Bool, "lo"),
    ("lx", Kind::Any, "lx"),
];
const B_TTL: u64 = 10;
const B_KEEP: u64 = 10;
const PATHS: [&str; 6] = ["am.x", "am.y.z", "am[0]", "am[1]", "am.x[0]", "lx.x"];

fn index_type(kind: Kind) -> Option<&'static str> {
    Some(match kind {
        Kind::Int => "i64",
        Kind::Float => "f64",
        Kind::Decimal => "decimal",
        Kind::String => "string",
        Kind::Bytes => "bytes",
        Kind::Bool => "bool",
        Kind::Time => "timestamp(us)",
        Kind::Tree | Kind::Any => return None,
    })
}

fn value(random: &mut Random, kind: Kind) -> Value {
    if random.once_in(8) {
        return Value::Null;
    }
    match kind {
        Kind::Int if random.once_in(40) => Value::Int(random.pick(&[i64::MIN, i64::MAX])),
        Kind::Int => Value::Int(random.below(6) as i64 - 1),
        Kind::Float => Value::Float(random.pick(&[-1.5, -0.0, 0.0, 0.5, 1.0, 2.0, f64::INFINITY])),
        Kind::Decimal if random.once_in(3) => Value::Int(random.below(4) as i64 - 1),
        Kind::Decimal => {
            let text = random.pick(&["-3", "-0.25", "0", "0.5", "1.0", "1", "2.5"]);
            Value::Decimal(text.parse().unwrap())
        }
        Kind::String => {
            random.pick(&["", "a", "ab", "abc", "b", "ba", "\0", "é", "\u{10FFFF}"]).into()
        }
        Kind::Bytes => {
            let bytes: &[&[u8]] = &[b"", &[0], &[0, 1], &[1], &[255], &[255, 255], &[255, 0]];
            random.pick(bytes).into()
        }
        Kind::Bool => random.once_in(2).into(),
        Kind::Time => Value::Timestamp(at(random.below(4) as i64)),
        Kind::Tree if random.once_in(3) => {
            Value::List((0..random.below(3)).map(|_| value(random, Kind::Any)).collect())
        }
        Kind::Tree => {
            let mut map = BTreeMap::new();
            if !random.once_in(3) {
                map.insert("x".to_owned(), value(random, Kind::Any));
            }
            if random.once_in(2) {
                let inner = BTreeMap::from([("z".to_owned(), value(random, Kind::Int))]);
                map.insert("y".to_owned(), Value::Map(inner));
            }
            Value::Map(map)
        }
        Kind::Any => {
            let kind = random.pick(&[
                Kind::Int,
                Kind::Int,
                Kind::Float,
                Kind::Decimal,
                Kind::String,
                Kind::Bytes,
                Kind::Bool,
                Kind::Time,
                Kind::Tree,
            ]);
            value(random, kind)
        }
    }
}

/// A table with rows in it, and the same rows in a list.
pub(super) struct World {
    pub(super) fixture: Fixture,
    pub(super) table: Table,
    pub(super) indexes: Vec<Index>,
    /// The fields of the key, with their kinds.
    key: Vec<(&'static str, Kind)>,
    nullable_key: bool,
    rows: BTreeMap<String, ModelRow>,
    seed: u64,
}

/// Says which table it was, if a test fails.
impl Drop for World {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let indexes: Vec<_> = self.indexes.iter().map(|i| (i.name(), i.columns())).collect();
            let rows = self.seen();
            eprintln!("seed {}: {:?}", self.seed, self.table.schema());
            eprintln!("indexes {indexes:?}, {} rows", rows.len());
            for row in rows.iter().take(300) {
                eprintln!("  {} {:?}", row.key_text(), row.cells);
            }
        }
    }
}

impl World {
    pub(super) fn new(seed: u64) -> Self {
        let mut random = Random(seed);
        let random = &mut random;
        let shards = 1 + random.below(3) as u16;
        let engine = if random.once_in(20) { Engine::Fjall } else { Engine::Memory };
        let fixture = Fixture::with_shards(engine, shards);
        let (p, s) = (("p", Kind::String), ("s", Kind::Int));
        let nullable_key = random.once_in(5);
        let (partition, sort, key) = random.pick(&[
            ("s i64", "", vec![s]),
            ("p string", "s i64", vec![p, s]),
            ("p string", "s i64 desc", vec![p, s]),
            ("p string desc, s i64", "", vec![p, s]),
            ("s i64", "p string", vec![s, p]),
        ]);
        let sort = match nullable_key && !sort.is_empty() {
            true => format!("{sort} nulls {}", random.pick(&["first", "last"])),
            false => sort.to_owned(),
        };
        let nullable_key = sort.contains("nulls");
        let family = |name: &'static str| {
            let columns = COLUMNS.iter().filter(move |(_, _, of)| *of == name);
            columns.fold(Family::new(name), |family, (column, _, _)| family.column(*column))
        };
        let placement = random.pick(&[Placement::Hash, Placement::Range]);
        let schema = TableSchema::new("table", partition, &sort)
            .unwrap()
            .placement(placement)
            .family(family("a"))
            .family(family("b").ttl(seconds(B_TTL)).keep(seconds(B_KEEP)));
        let indexes: Vec<Index> = (0..random.below(5)).map(|i| index(random, i, &key)).collect();
        let (early, late) = indexes.split_at(random.below(indexes.len() + 1));
        let schema = early.iter().fold(schema, |schema, index| schema.index(index.clone()));
        let table = fixture.db.create_table(schema).unwrap();
        let mut world = World {
            fixture,
            table,
            indexes: indexes.clone(),
            key,
            nullable_key,
            rows: BTreeMap::new(),
            seed,
        };
        world.fill(random);
        for index in late {
            world.table.create_index(index.clone()).unwrap();
            world.table.wait_for_index(index.name()).unwrap();
        }
        if random.once_in(4) {
            world.fixture.db.compact().unwrap();
        }
        world
    }

    /// Rows of different ages, some of them changed, some deleted, some gone.
    fn fill(&mut self, random: &mut Random) {
        let most = if random.once_in(25) { 1_400 } else { random.pick(&[3, 40, 120, 200]) };
        let count = random.below(most + 1);
        for phase in 0..4 {
            for _ in 0..count.div_ceil(4) {
                self.write(random, most);
            }
            if phase < 3 {
                self.fixture.pass(random.below(9) as u64);
            }
        }
    }

    pub(super) fn now(&self) -> Timestamp {
        self.fixture.clock.now()
    }

    /// Puts, replaces or deletes a random row; returns its key.
    pub(super) fn write(&mut self, random: &mut Random, most: usize) -> String {
        let mut key = Vec::new();
        for (name, kind) in &self.key {
            let is_sort = self.key.len() > 1 && *name == self.key[1].0;
            key.push((
                *name,
                match kind {
                    _ if self.nullable_key && is_sort && random.once_in(6) => Value::Null,
                    Kind::String => random.pick(&["a", "ab", "b", "", "c\0"]).into(),
                    _ => Value::Int(random.below(most) as i64 - 3),
                },
            ));
        }
        let values: Vec<&Value> = key.iter().map(|(_, value)| value).collect();
        let text = format!("{values:?}");
        let id = key_values(&key);
        if random.once_in(8) {
            self.table.write(Write::delete(id)).unwrap();
            self.rows.remove(&text);
            return text;
        }
        let is_replace = random.once_in(4);
        let mut write = if is_replace { Write::replace(id) } else { Write::put(id) };
        let mut columns: BTreeMap<&'static str, Value> = BTreeMap::new();
        let families = random.pick(&[vec!["a"], vec!["b"], vec!["a", "b"], vec!["a", "b", "l"]]);
        for (name, kind, family) in COLUMNS {
            let wanted = families.iter().any(|wanted| family.starts_with(wanted));
            if wanted && !random.once_in(4) {
                columns.insert(name, value(random, kind));
            }
        }
        if columns.is_empty() {
            columns.insert("li", Value::Int(1));
        }
        for (name, value) in &columns {
            write = write.set(*name, value.clone());
        }
        self.table.write(write).unwrap();
        let now = self.now();
        let row = self
            .rows
            .entry(text.clone())
            .or_insert_with(|| ModelRow { key: key.clone(), families: BTreeMap::new() });
        if is_replace {
            row.families.clear();
        }
        let mut touched: BTreeMap<&'static str, Vec<(&'static str, Value)>> = BTreeMap::new();
        for (name, value) in columns {
            let (_, _, family) = COLUMNS.iter().find(|(column, _, _)| *column == name).unwrap();
            touched.entry(family).or_default().push((name, value));
        }
        for (name, columns) in touched {
            let family = row.families.entry(name).or_default();
            if family.gone_at.is_some_and(|at| at <= now) {
                *family = ModelFamily::default();
            }
            family.columns.extend(columns);
            family.written_at = Some(now);
            if name == "b" {
                family.fresh_until = Some(now + seconds(B_TTL));
                family.gone_at = Some(now + seconds(B_TTL + B_KEEP));
            }
        }
        text
    }

    /// All rows as they are now.
    pub(super) fn seen(&self) -> Vec<Seen> {
        let now = self.now();
        self.rows.values().filter_map(|row| row.see(now)).collect()
    }

    fn path(&self, random: &mut Random) -> (&'static str, Kind) {
        match random.below(8) {
            0 => random.pick(&self.key),
            1 => (random.pick(&PATHS), Kind::Any),
            2 if random.once_in(4) => ("zz", Kind::Int),
            _ => {
                let (name, kind, _) = random.pick(&COLUMNS);
                (name, kind)
            }
        }
    }

    /// Something that values of a kind can be compared with: mostly of that kind.
    fn operand(&self, random: &mut Random, kind: Kind) -> Value {
        let is_number = matches!(kind, Kind::Int | Kind::Float | Kind::Decimal);
        let kind = match random.below(12) {
            0 => Kind::Any,
            1 | 2 if is_number => random.pick(&[Kind::Int, Kind::Float, Kind::Decimal]),
            _ => kind,
        };
        value(random, kind)
    }

    fn leaf(&self, random: &mut Random) -> Condition {
        let (path, kind) = self.path(random);
        self.leaf_on(random, path, kind)
    }

    fn leaf_on(&self, random: &mut Random, path: &'static str, kind: Kind) -> Condition {
        let mut operand = || self.operand(random, kind);
        let (a, b, c) = (operand(), operand(), operand());
        let how = random.pick(&[
            Comparison::Eq,
            Comparison::Ne,
            Comparison::Lt,
            Comparison::Le,
            Comparison::Gt,
            Comparison::Ge,
        ]);
        let path: Path = path.into();
        let column = path.column().to_owned();
        match random.below(20) {
            0..5 => Condition::Compare(path, how, a),
            5..8 => Condition::Compare(path, Comparison::Eq, a),
            8 => Condition::In(path, [a, b, c].into_iter().take(random.below(4)).collect()),
            9 => Condition::In(path, vec![a, b, c]),
            10 | 11 => Condition::Between(path, a, b),
            12 | 13 => Condition::BeginsWith(path, a),
            14 => Condition::Contains(path, a),
            15 if random.once_in(2) => Condition::HasValue(path),
            15 => Condition::Has(path),
            16 => Condition::IsNull(path),
            17 => Condition::IsFresh(column),
            18 => Condition::IsStale(column),
            _ if random.once_in(6) => Condition::Exists,
            _ => {
                let time =
                    Timestamp::from_micros(START.as_micros() + random.below(20) as i64 * 1_000_000);
                Condition::WrittenAt(column, how, time)
            }
        }
    }

    fn condition(&self, random: &mut Random, depth: usize) -> Condition {
        if depth == 0 {
            return self.leaf(random);
        }
        let some = |random: &mut Random, most: usize| -> Vec<Condition> {
            (0..random.below(most + 1)).map(|_| self.condition(random, depth - 1)).collect()
        };
        match random.below(7) {
            0 | 1 => Condition::All(some(random, 3)),
            2 | 3 => {
                let mut any = some(random, 2);
                any.push(self.leaf(random));
                Condition::Any(any)
            }
            4 => self.condition(random, depth - 1).not(),
            _ => self.leaf(random),
        }
    }

    /// What an index, or the key, can be used for: something about its first columns.
    fn useful(&self, random: &mut Random) -> Vec<Condition> {
        let columns: Vec<(&'static str, Kind)> = match random.below(self.indexes.len() + 1) {
            0 => self.key.clone(),
            at => {
                let fields = self.indexes[at - 1].columns().fields();
                let all = || COLUMNS.iter().map(|(name, kind, _)| (*name, *kind));
                let all = || all().chain(self.key.iter().copied());
                let column = |name: &str| all().find(|column| column.0 == name).unwrap();
                fields.iter().map(|field| column(field.name())).collect()
            }
        };
        let depth = random.below(columns.len() + 1);
        let mut all = Vec::new();
        for (at, (name, kind)) in columns.into_iter().enumerate() {
            let value = self.operand(random, kind);
            all.push(match at < depth {
                true if random.once_in(2) => Condition::eq(name, value),
                true => Condition::is_in(name, [value, self.operand(random, kind)]),
                false => self.leaf_on(random, name, kind),
            });
        }
        all
    }

    fn sort(&self, random: &mut Random) -> Vec<Sort> {
        let direct = |random: &mut Random, name: &str, descending: bool| {
            let sort = if descending { Sort::desc(name) } else { Sort::asc(name) };
            if random.once_in(3) { sort.nulls_first() } else { sort }
        };
        if !self.indexes.is_empty() && random.once_in(2) {
            // As the index has it, or the other way round.
            let index = random.pick(&self.indexes);
            let fields = index.columns().fields();
            let backward = random.once_in(2);
            let (skip, take) = (random.below(fields.len()), 1 + random.below(3));
            let fields = fields.iter().skip(skip).take(take);
            return fields
                .map(|field| {
                    let descending = field.direction() == stonecrop::keys::Direction::Desc;
                    direct(random, field.name(), descending != backward)
                })
                .collect();
        }
        let count = random.below(4);
        (0..count)
            .map(|_| {
                let (name, descending) = (self.path(random).0, random.once_in(2));
                direct(random, name, descending)
            })
            .collect()
    }

    pub(super) fn query(&self, random: &mut Random) -> RandomQuery {
        let filter = match random.below(6) {
            0 => None,
            1 | 2 => Some(self.condition(random, 3)),
            _ => {
                let mut all = self.useful(random);
                if random.once_in(3) {
                    all.push(self.condition(random, 1));
                }
                Some(Condition::All(all))
            }
        };
        let names: Vec<&str> = COLUMNS.iter().map(|(name, _, _)| *name).chain(["s"]).collect();
        let columns = (!random.once_in(3)).then(|| random.some(&names, 3));
        let index =
            (!self.indexes.is_empty() && random.once_in(12)).then(|| random.pick(&self.indexes));
        RandomQuery { filter, sort: self.sort(random), columns, index }
    }

    /// A column or a path to be counted or added up.
    pub(super) fn column(&self, random: &mut Random) -> &'static str {
        self.path(random).0
    }
}

/// A query, with its parts at hand.
#[derive(Clone, Debug)]
pub(super) struct RandomQuery {
    pub(super) filter: Option<Condition>,
    pub(super) sort: Vec<Sort>,
    pub(super) columns: Option<Vec<&'static str>>,
    pub(super) index: Option<Index>,
}

impl RandomQuery {
    pub(super) fn query(&self) -> Query {
        let mut query = Query::new().sort(self.sort.clone());
        if let Some(filter) = &self.filter {
            query = query.filter(filter.clone());
        }
        if let Some(columns) = &self.columns {
            query = query.columns(columns.iter().copied());
        }
        if let Some(index) = &self.index {
            query = query.index(index.name());
        }
        query
    }

    /// The rows that satisfy it, of all.
    pub(super) fn select<'r>(&self, rows: &'r [Seen]) -> Vec<&'r Seen> {
        let rows = rows.iter().filter(|row| {
            self.filter.as_ref().is_none_or(|filter| row.satisfies(filter))
                && self.index.as_ref().is_none_or(|index| row.is_in(index))
        });
        rows.collect()
    }
}

/// Over columns, fields of the key, or both.
fn index(random: &mut Random, number: usize, key: &[(&'static str, Kind)]) -> Index {
    let mut columns: Vec<(&str, Kind)> = Vec::new();
    let of_key = if random.once_in(2) { 4 } else { random.pick(&[1, 2]) };
    while columns.is_empty() || (columns.len() < 3 && random.once_in(2)) {
        let (name, kind) = match random.once_in(of_key) {
            true => random.pick(key),
            false => {
                let (name, kind, _) = random.pick(&COLUMNS);
                (name, kind)
            }
        };
        if index_type(kind).is_some() && !columns.contains(&(name, kind)) {
            columns.push((name, kind));
        }
    }
    let fields: Vec<String> = columns
        .into_iter()
        .map(|(name, kind)| {
            let direction = random.pick(&["", " desc"]);
            let nulls = random.pick(&["", " nulls first", " nulls last"]);
            format!("{name} {}{direction}{nulls}", index_type(kind).unwrap())
        })
        .collect();
    let names: Vec<&str> = COLUMNS.iter().map(|(name, _, _)| *name).collect();
    let covering = if random.once_in(2) { random.some(&names, 5) } else { Vec::new() };
    Index::new(format!("i{number}"), &fields.join(", ")).unwrap().covering(covering)
}
