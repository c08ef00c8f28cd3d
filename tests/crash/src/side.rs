//! Changes of the catalog, on tables beside those that the batches write to.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use stonecrop::{ColumnType, Database, Error, Family, TableSchema, Value, Write};

use crate::Result;
use crate::batch::{Rows, key_text, read_rows};

/// One change, as the writer announces it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Step {
    pub(crate) number: u64,
    table: String,
    act: Act,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Act {
    Create,
    Drop,
    Truncate,
    AddFamily,
    AddColumn {
        family: String,
    },
    /// Three rows, with these columns among others.
    Write {
        columns: Vec<String>,
    },
}

/// The side tables by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Sides(BTreeMap<String, Side>);

#[derive(Clone, Debug, Default, PartialEq)]
struct Side {
    /// Families with their columns.
    families: Vec<(String, Vec<String>)>,
    rows: Rows,
}

impl Step {
    /// A change that is possible now.
    pub(crate) fn choose(number: u64, sides: &Sides, random: &mut fastrand::Rng) -> Self {
        let table = format!("side {}", random.u32(0..3));
        let act = match sides.0.get(&table) {
            None => Act::Create,
            Some(side) => match random.u32(0..10) {
                0 => Act::Drop,
                1 => Act::Truncate,
                2..=3 if side.families.len() < 8 => Act::AddFamily,
                4..=5 => match side.families.get(random.usize(0..side.families.len().max(1))) {
                    Some((family, _)) => Act::AddColumn { family: family.clone() },
                    None => Act::AddFamily,
                },
                _ => {
                    let columns = side.families.iter().filter_map(|(_, columns)| columns.last());
                    Act::Write { columns: columns.cloned().collect() }
                }
            },
        };
        Step { number, table, act }
    }

    /// The changes that a database for damage is made with.
    pub(crate) fn fixed() -> Vec<Step> {
        let side = |number, act| Step { number, table: "side 0".to_owned(), act };
        vec![
            side(1, Act::Create),
            side(2, Act::AddFamily),
            side(3, Act::AddColumn { family: "family 2".to_owned() }),
            side(4, Act::Write { columns: vec!["column 3".to_owned()] }),
        ]
    }

    pub(crate) fn perform(&self, db: &Database) -> Result<(), Error> {
        let Step { number, table, act } = self;
        match act {
            Act::Create => {
                let columns = Family::new("first").column("declared");
                db.create_table(TableSchema::new(table.clone(), "id u64", "")?.family(columns))?;
            }
            Act::Drop => db.drop_table(table)?,
            Act::Truncate => db.table(table)?.truncate()?,
            Act::AddFamily => {
                let family = Family::new(format!("family {number}"));
                db.table(table)?.add_family(family.column(format!("column {number}")))?;
            }
            Act::AddColumn { family } => {
                let column = format!("column {number}");
                db.table(table)?.add_column(family, &column, ColumnType::Any)?;
            }
            Act::Write { columns } => {
                let writes = (0..3_u64).map(|index| {
                    let write = Write::put(number * 4 + index).set("step", *number as i64);
                    columns.iter().fold(write, |write, column| write.set(column, *number as i64))
                });
                db.table(table)?.write_all(writes)?;
            }
        }
        Ok(())
    }

    pub(crate) fn apply(&self, sides: &mut Sides) {
        let Step { number, table, act } = self;
        if matches!(act, Act::Drop) {
            sides.0.remove(table);
            return;
        }
        let side = sides.0.entry(table.clone()).or_default();
        let column = format!("column {number}");
        match act {
            Act::Create => side.families = vec![("first".to_owned(), vec!["declared".to_owned()])],
            Act::Truncate => side.rows.clear(),
            Act::AddFamily => side.families.push((format!("family {number}"), vec![column])),
            Act::AddColumn { family } => {
                let found = side.families.iter_mut().find(|(name, _)| name == family);
                found.into_iter().for_each(|(_, columns)| columns.push(column.clone()));
            }
            Act::Write { columns } => {
                let names = columns.iter().cloned().chain(["step".to_owned()]);
                let row: BTreeMap<_, _> =
                    names.map(|name| (name, Value::Int(*number as i64))).collect();
                for index in 0..3_u64 {
                    side.rows.insert(key_text(&[(number * 4 + index).into()]), row.clone());
                }
            }
            Act::Drop => {}
        }
    }
}

impl Sides {
    /// The side tables of a database.
    pub(crate) fn read(db: &Database) -> Result<Self, Error> {
        let mut sides = BTreeMap::new();
        for name in db.tables().into_iter().filter(|name| name.starts_with("side ")) {
            let schema = db.table(&name)?.schema()?;
            let families = schema.families().iter().map(|family| {
                (family.name().to_owned(), family.columns().map(str::to_owned).collect())
            });
            let side = Side { families: families.collect(), rows: read_rows(db, &name)? };
            sides.insert(name, side);
        }
        Ok(Sides(sides))
    }
}
