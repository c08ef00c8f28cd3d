//! Tables as this door sees them, kept from request to request.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use stonecrop::keys::{Nulls, Type};
use stonecrop::{ColumnType, Database, Error, Table, TableSchema};
use stonecrop_dynamodb::value::AttributeType;

use super::about::{self, About, IndexAbout, Projected};
use super::refusal::{Refusal, Result};
use super::tokens;
use crate::app::App;

/// The family that has the attributes of items.
pub(super) const FAMILY: &str = "item";
/// So many attributes of a table are declared, and kept together; others are by themselves.
const MOST_DECLARED: usize = 500;
/// What the names of columns begin with that hold a copy of a key attribute, for an index over it:
/// the database's indexes are over columns alone.
const COPY: char = '\u{1}';

/// What this door keeps for all requests.
#[derive(Default)]
pub(crate) struct Shared {
    tables: Mutex<HashMap<String, Arc<Known>>>,
    /// Held by whoever changes what is told of tables.
    pub(super) altering: Mutex<()>,
}

/// An attribute of the key of a table.
#[derive(Clone, Debug)]
pub(super) struct KeyPart {
    pub(super) name: String,
    pub(super) of: AttributeType,
    /// Its type in the database.
    pub(super) field: Type,
}

/// A table with all that requests ask of it.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) table: Table,
    pub(super) about: About,
    /// One or two.
    pub(super) key: Vec<KeyPart>,
    /// Whether it was made through this door.
    pub(super) is_own: bool,
    /// The version of the table's definition that this is of.
    version: u32,
    declared: HashMap<String, ColumnType>,
    /// Key attributes that have a copy in a column.
    pub(super) copied: Vec<String>,
}

/// The column that holds an attribute as an index needs it.
pub(super) fn copy_of(attribute: &str) -> String {
    format!("{COPY}{attribute}")
}

/// Whether a column is only for an index.
pub(super) fn is_copy(column: &str) -> bool {
    column.starts_with(COPY)
}

/// Whether a table is one that only this door looks into.
pub(super) fn is_own_name(table: &str) -> bool {
    [about::TABLE, tokens::TABLE].contains(&table)
}

impl Known {
    fn new(table: Table, about: Option<About>) -> Result<Self> {
        let (version, schema) = (table.version()?, table.schema()?);
        let key = key_parts(&schema).ok_or_else(Refusal::no_table)?;
        let is_own = about.is_some();
        let about = about.unwrap_or_else(|| native(&schema, &key));
        let declared: HashMap<String, ColumnType> = schema
            .families()
            .iter()
            .flat_map(|family| family.columns().zip(family.column_types()))
            .map(|(name, of)| (name.to_owned(), of))
            .collect();
        let names = key.iter().map(|part| part.name.clone());
        let copied = names.filter(|name| declared.contains_key(&copy_of(name))).collect();
        Ok(Known { table, about, key, is_own, version, declared, copied })
    }

    pub(super) fn is_key(&self, attribute: &str) -> bool {
        self.key.iter().any(|part| part.name == attribute)
    }

    pub(super) fn index(&self, name: &str) -> Result<&IndexAbout> {
        self.about.index(name).ok_or_else(|| {
            Refusal::validation(format!("The table does not have the specified index: {name}"))
        })
    }

    /// The type that a column of a native table was declared with.
    pub(super) fn declared_type(&self, column: &str) -> ColumnType {
        self.declared.get(column).copied().unwrap_or_default()
    }

    /// The attributes that are to be declared before they are written.
    pub(super) fn undeclared<'n>(&self, names: impl IntoIterator<Item = &'n str>) -> Vec<String> {
        if !self.is_own {
            return Vec::new();
        }
        let room = MOST_DECLARED.saturating_sub(self.declared.len());
        let is_new = |name: &&str| !self.declared.contains_key(*name) && !self.is_key(name);
        let new: HashSet<&str> = names.into_iter().filter(is_new).collect();
        new.into_iter().take(room).map(str::to_owned).collect()
    }
}

impl App {
    /// A table by its name.
    pub(super) async fn known(&self, name: &str) -> Result<Arc<Known>> {
        if let Some(known) = self.dynamodb.cached(name) {
            return Ok(known);
        }
        let (app, name) = (self.clone(), name.to_owned());
        self.apart(move |database| app.dynamodb.load(database, &name)).await
    }

    /// The same with these attributes declared, as far as there is room.
    pub(super) async fn known_with(
        &self,
        known: Arc<Known>,
        new: Vec<String>,
    ) -> Result<Arc<Known>> {
        if new.is_empty() {
            return Ok(known);
        }
        let app = self.clone();
        let declare = move |database: &Database| {
            let _altering = app.dynamodb.lock();
            let name = known.table.name().to_owned();
            // Another request may have declared some of them meanwhile.
            let known = app.dynamodb.load(database, &name)?;
            let new = known.undeclared(new.iter().map(String::as_str));
            match known.table.add_columns(FAMILY, new) {
                // It was written as an undeclared one, and stays it.
                Ok(()) | Err(Error::Column { .. }) => {}
                Err(error) => return Err(error.into()),
            }
            app.dynamodb.load(database, &name)
        };
        self.apart(declare).await
    }

    /// Does something that waits for files, where that holds up nobody.
    pub(super) async fn apart<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Database) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.in_time(move |database| Ok(work(database))).await?
    }
}

impl Shared {
    fn cached(&self, name: &str) -> Option<Arc<Known>> {
        let tables = self.tables.lock().unwrap_or_else(PoisonError::into_inner);
        let known = tables.get(name)?;
        // A table that was dropped has no version any more.
        let version = known.table.version().ok();
        (version == Some(known.version)).then(|| known.clone())
    }

    /// Reads a table's definition, and keeps it.
    pub(super) fn load(&self, database: &Database, name: &str) -> Result<Arc<Known>> {
        if is_own_name(name) {
            return Err(Refusal::no_table());
        }
        let table = database.table(name)?;
        let known = Arc::new(Known::new(table, About::read(database, name)?)?);
        let mut tables = self.tables.lock().unwrap_or_else(PoisonError::into_inner);
        tables.insert(name.to_owned(), known.clone());
        Ok(known)
    }

    /// Stores what is told of a table, and keeps it.
    pub(super) fn store(
        &self,
        database: &Database,
        name: &str,
        about: &About,
    ) -> Result<Arc<Known>> {
        about.write(database, name)?;
        self.load(database, name)
    }

    pub(super) fn forget(&self, name: &str) {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner).remove(name);
    }

    pub(super) fn lock(&self) -> std::sync::MutexGuard<'_, ()> {
        self.altering.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The key as the service has them; none where it is another.
fn key_parts(schema: &TableSchema) -> Option<Vec<KeyPart>> {
    let fields = |schema: Option<&stonecrop::keys::Schema>| -> Vec<stonecrop::keys::Field> {
        schema.map(|schema| schema.fields().to_vec()).unwrap_or_default()
    };
    let (partition, sort) = (fields(schema.partition_key()), fields(schema.sort_key()));
    if partition.len() != 1 || sort.len() > 1 {
        return None;
    }
    let part = |field: &stonecrop::keys::Field| {
        let of = key_type(field.field_type()).filter(|_| field.nulls() == Nulls::NotAllowed)?;
        let (name, field) = (field.name().to_owned(), field.field_type().clone());
        Some(KeyPart { name, of, field })
    };
    partition.iter().chain(&sort).map(part).collect()
}

fn key_type(of: &Type) -> Option<AttributeType> {
    Some(match of {
        Type::String => AttributeType::String,
        Type::Bytes => AttributeType::Binary,
        Type::Decimal
        | Type::U8
        | Type::U16
        | Type::U32
        | Type::U64
        | Type::I8
        | Type::I16
        | Type::I32
        | Type::I64
        | Type::Varint
        | Type::Varuint
        | Type::F64 => AttributeType::Number,
        _ => return None,
    })
}

/// What is told of a table that was not made through this door: its indexes over strings, decimals
/// and bytes are global ones, with all attributes.
fn native(schema: &TableSchema, key: &[KeyPart]) -> About {
    let mut about = About {
        id: uuid::Uuid::nil().to_string(),
        on_demand: true,
        tells_billing: true,
        attributes: key.iter().map(|part| (part.name.clone(), part.of.to_string())).collect(),
        ..About::default()
    };
    for index in schema.indexes() {
        let code = |field: &stonecrop::keys::Field| match field.field_type() {
            Type::String => Some("S"),
            Type::Decimal => Some("N"),
            Type::Bytes => Some("B"),
            _ => None,
        };
        let fields = index.columns().fields();
        let Some(types) = fields.iter().map(code).collect::<Option<Vec<_>>>() else { continue };
        let names: Vec<String> = fields.iter().map(|field| field.name().to_owned()).collect();
        for (name, of) in names.iter().zip(types) {
            if about.type_of(name).is_none() {
                about.attributes.push((name.clone(), of.to_owned()));
            }
        }
        let (partition, sort) = names.split_at(1.min(names.len()));
        about.indexes.push(IndexAbout {
            name: index.name().to_owned(),
            partition: partition.to_vec(),
            sort: sort.to_vec(),
            projection: Projected::All,
            ..IndexAbout::default()
        });
    }
    about
}
