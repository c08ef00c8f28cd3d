//! The same questions to SQLite.

use std::collections::BTreeMap;

use rusqlite::Connection;
use rusqlite::types::Value as Sql;
use stonecrop::{
    Condition, Family, Index, Placement, Query, Sort, Table, TableSchema, Value, Write,
};

use super::random::Random;
use crate::harness::{Engine, Fixture};

const TABLES: u64 = 40;
const QUERIES: usize = 80;
const COLUMNS: [&str; 4] = ["i", "f", "t", "b"];

/// A table here and one there, with the same rows.
struct Both {
    ours: Table,
    theirs: Connection,
    random: Random,
    /// Whether what SQLite calls null is null here; otherwise it is not there.
    is_null: bool,
    _fixture: Fixture,
}

fn literal(value: &Value) -> String {
    match value {
        Value::Int(int) => int.to_string(),
        Value::Float(float) => format!("{float:?}"),
        Value::String(text) => format!("'{text}'"),
        Value::Bytes(bytes) => {
            let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            format!("x'{digits}'")
        }
        Value::Null => "NULL".to_owned(),
        other => panic!("{other:?}"),
    }
}

fn from_sql(value: Sql) -> Value {
    match value {
        Sql::Null => Value::Null,
        Sql::Integer(int) => Value::Int(int),
        Sql::Real(float) => Value::Float(float),
        Sql::Text(text) => Value::String(text),
        Sql::Blob(bytes) => Value::Bytes(bytes),
    }
}

impl Both {
    fn new(seed: u64) -> Self {
        let mut random = Random(seed ^ 0x5071);
        let fixture = Fixture::with_shards(Engine::Memory, 1 + random.below(3) as u16);
        let placement = random.pick(&[Placement::Hash, Placement::Range]);
        let schema = TableSchema::new("table", "p string, id i64", "").unwrap();
        let schema = schema.placement(placement).family(Family::new("f").column("i").column("t"));
        let indexes = [
            "i i64, t string",
            "t string desc, f f64 nulls first",
            "b bytes",
            "f f64 desc nulls last",
            "i i64 nulls first",
        ];
        let chosen = indexes.iter().enumerate().filter(|_| random.once_in(2));
        let schema = chosen.fold(schema, |schema, (at, columns)| {
            schema.index(Index::new(format!("index{at}"), columns).unwrap().covering(["i"]))
        });
        let ours = fixture.db.create_table(schema).unwrap();
        let theirs = Connection::open_in_memory().unwrap();
        theirs
            .execute_batch("CREATE TABLE t (p TEXT, id INTEGER, i INTEGER, f REAL, t TEXT, b BLOB)")
            .unwrap();
        let is_null = random.once_in(2);
        let mut both = Both { ours, theirs, random, is_null, _fixture: fixture };
        for id in 0..both.random.below(150) as i64 {
            both.write(id);
        }
        both
    }

    fn write(&mut self, id: i64) {
        let p = self.random.pick(&["a", "b", "ab"]);
        let mut write = Write::put((p, id));
        // So that every row is there.
        write = write.set("x", 1);
        let mut literals = vec![format!("'{p}'"), id.to_string()];
        for column in COLUMNS {
            let value = match self.random.once_in(5) {
                true => Value::Null,
                false => self.value(column),
            };
            literals.push(literal(&value));
            if value != Value::Null || self.is_null {
                write = write.set(column, value);
            }
        }
        self.ours.write(write).unwrap();
        let values = literals.join(", ");
        self.theirs.execute_batch(&format!("INSERT INTO t VALUES ({values})")).unwrap();
    }

    fn value(&mut self, column: &str) -> Value {
        let random = &mut self.random;
        match column {
            "i" | "id" => Value::Int(random.below(8) as i64 - 1),
            "f" => Value::Float(random.below(8) as f64 / 2.0 - 1.0),
            "b" => random.pick(&[&b""[..], b"\0", b"\0\x01", b"\xFF", b"\xFF\xFF"]).into(),
            _ => random.pick(&["", "a", "ab", "abc", "b", "ba", "é"]).into(),
        }
    }

    fn column(&mut self) -> &'static str {
        self.random.pick(&["p", "id", "i", "f", "t", "b", "i", "t"])
    }

    /// A condition, and the same in SQL; there a comparison with null is neither true nor false.
    fn condition(&mut self, depth: usize) -> (Condition, String) {
        if depth > 0 && self.random.once_in(2) {
            let count = 1 + self.random.below(3);
            let parts: Vec<_> = (0..count).map(|_| self.condition(depth - 1)).collect();
            let (ours, theirs): (Vec<Condition>, Vec<String>) = parts.into_iter().unzip();
            return match self.random.below(3) {
                0 => (Condition::all(ours), format!("({})", theirs.join(" AND "))),
                1 => (Condition::any(ours), format!("({})", theirs.join(" OR "))),
                _ => (ours[0].clone().not(), format!("(NOT {})", theirs[0])),
            };
        }
        let x = self.column();
        let (a, b) = (self.value(x), self.value(x));
        let (la, lb) = (literal(&a), literal(&b));
        let (ours, theirs) = match self.random.below(10) {
            0 | 1 => (Condition::eq(x, a), format!("{x} = {la}")),
            2 => (Condition::lt(x, a), format!("{x} < {la}")),
            3 => (Condition::le(x, a), format!("{x} <= {la}")),
            4 => (Condition::gt(x, a), format!("{x} > {la}")),
            5 => (Condition::ge(x, a), format!("{x} >= {la}")),
            6 => (Condition::is_in(x, [a, b]), format!("{x} IN ({la}, {lb})")),
            7 => (Condition::between(x, a, b), format!("{x} BETWEEN {la} AND {lb}")),
            8 => {
                let nothing = Condition::any([Condition::has(x).not(), Condition::is_null(x)]);
                (nothing, format!("{x} IS NULL"))
            }
            _ => {
                let start = self.random.pick(&["a", "ab", "b", ""]);
                let length = start.len();
                let theirs = format!("substr(t, 1, {length}) = '{start}'");
                (Condition::begins_with("t", start), theirs)
            }
        };
        (ours, format!("coalesce({theirs}, 0)"))
    }

    fn rows(&self, sql: &str) -> Vec<Vec<Value>> {
        let mut statement = self.theirs.prepare(sql).unwrap();
        let columns = statement.column_count();
        let mut rows = statement.query([]).unwrap();
        let mut found = Vec::new();
        while let Some(row) = rows.next().unwrap() {
            found.push((0..columns).map(|at| from_sql(row.get(at).unwrap())).collect());
        }
        found
    }

    fn ask(&mut self) -> usize {
        let (filter, sql) = self.condition(3);
        let (mut sort, mut order) = (Vec::new(), Vec::new());
        for _ in 0..self.random.below(3) {
            let column = self.column();
            let (descending, first) = (self.random.once_in(2), self.random.once_in(2));
            let by = if descending { Sort::desc(column) } else { Sort::asc(column) };
            sort.push(if first { by.nulls_first() } else { by });
            let direction = if descending { "DESC" } else { "ASC" };
            let nulls = if first { "FIRST" } else { "LAST" };
            order.push((column, format!("{column} {direction} NULLS {nulls}")));
        }
        let take = self.random.below(200);
        let query = Query::new().filter(filter.clone()).sort(sort.clone());
        let wanted: Vec<&str> =
            order.iter().map(|(column, _)| *column).chain(["p", "id"]).collect();
        let mut text = format!("SELECT {} FROM t WHERE {sql}", wanted.join(", "));
        if !order.is_empty() {
            let order: Vec<&str> = order.iter().map(|(_, order)| order.as_str()).collect();
            text = format!("{text} ORDER BY {}", order.join(", "));
        }
        let all = self.rows(&text);
        let limited = self.rows(&format!("{text} LIMIT {take}"));
        let plans = self.ours.explain(&query).unwrap().plans;
        let queries = plans.iter().map(|plan| query.clone().plan(plan.as_str()));
        let queries: Vec<Query> = [query.clone()].into_iter().chain(queries).collect();
        let sorted_by = order.len();
        for query in &queries {
            let ours = self.ours(query, &wanted);
            let keys = |rows: &[Vec<Value>]| {
                rows.iter().map(|row| row[..sorted_by].to_vec()).collect::<Vec<_>>()
            };
            assert_eq!(keys(&ours), keys(&all), "{text}: {query:?}");
            let whole = |rows: &[Vec<Value>]| {
                let mut whole: Vec<String> = rows.iter().map(|row| format!("{row:?}")).collect();
                whole.sort();
                whole
            };
            assert_eq!(whole(&ours), whole(&all), "{text}: {query:?}");
            let ours = self.ours(&query.clone().take(take), &wanted);
            assert_eq!(keys(&ours), keys(&limited), "{text} LIMIT {take}: {query:?}");
        }
        self.aggregates(&Query::new().filter(filter), &sql);
        queries.len()
    }

    /// The rows with the wanted columns; what is not there is null.
    fn ours(&self, query: &Query, wanted: &[&str]) -> Vec<Vec<Value>> {
        let page = self.ours.query(query).unwrap();
        let row = |row: &stonecrop::Row| {
            let key: Vec<Value> = row.key().values().iter().map(Value::from_key).collect();
            let value = |name: &&str| match *name {
                "p" => key[0].clone(),
                "id" => key[1].clone(),
                name => row.value(name).cloned().unwrap_or(Value::Null),
            };
            wanted.iter().map(value).collect()
        };
        page.rows.iter().map(row).collect()
    }

    fn aggregates(&mut self, query: &Query, sql: &str) {
        let column = self.column();
        let text = format!(
            "SELECT count(*), count({column}), min({column}), max({column}), sum({column}) \
             FROM t WHERE {sql}"
        );
        let theirs = self.rows(&text).remove(0);
        let plans = self.ours.explain(query).unwrap().plans;
        let groups = self.rows(&format!("SELECT {column}, count(*) FROM t WHERE {sql} GROUP BY 1"));
        let mut groups: BTreeMap<String, Value> =
            groups.into_iter().map(|group| (format!("{:?}", group[0]), group[1].clone())).collect();
        groups.remove("Null");
        for query in plans.iter().map(|plan| query.clone().plan(plan.as_str())) {
            let summary = self.ours.summarize(&query, column).unwrap();
            let count = |count: u64| Value::Int(count as i64);
            let value = |value: &Option<Value>| value.clone().unwrap_or(Value::Null);
            assert_eq!(count(self.ours.count(&query).unwrap()), theirs[0], "{text}: {query:?}");
            assert_eq!(count(summary.rows), theirs[0], "{text}: {query:?}");
            assert_eq!(count(summary.values), theirs[1], "{text}: {query:?}");
            assert_eq!(value(&summary.min), theirs[2], "{text}: {query:?}");
            assert_eq!(value(&summary.max), theirs[3], "{text}: {query:?}");
            if matches!(column, "i" | "f" | "id") {
                assert_eq!(value(&summary.sum), theirs[4], "{text}: {query:?}");
            }
            let facets = self.ours.facets(&query, column).unwrap();
            let ours: BTreeMap<String, Value> = facets
                .values
                .iter()
                .map(|(value, rows)| (format!("{value:?}"), count(*rows)))
                .collect();
            assert_eq!(ours, groups, "{text}: {query:?}");
        }
    }
}

#[test]
fn sqlite_gives_the_same_answers() {
    let mut executions = 0;
    for seed in 0..TABLES {
        let mut both = Both::new(seed);
        for _ in 0..QUERIES {
            executions += both.ask();
        }
    }
    println!("{executions} executions beside SQLite");
}
