//! Tables as this door sees them, kept from request to request.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use foldhash::fast::RandomState;
use stonecrop::keys::{Nulls, Type};
use stonecrop::{ColumnType, Database, Error, Family, Index, Lead, Table, TableSchema};
use stonecrop_dynamodb::value::AttributeType;

use super::about::{self, About, IndexAbout, Projected};
use super::keys::field_type;
use super::refusal::{Refusal, Result};
use super::{streams, tokens};
use crate::app::App;

/// The family that has the attributes of items.
pub(super) const FAMILY: &str = "item";
/// So many attributes of a table are declared, and kept together; others are by themselves.
const MOST_DECLARED: usize = 500;

/// What this door keeps for all requests.
#[derive(Default)]
pub(crate) struct Shared {
    tables: Mutex<HashMap<String, (Lead, Arc<Known>)>>,
    /// How long items stay after their time.
    ttl_delay: Duration,
    /// The tables whose rows are given their times.
    pub(super) sweeping: Mutex<HashSet<String>>,
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
    /// Whether new attributes are declared, in the family that this door makes for them.
    is_own: bool,
    /// The version of the table's definition that this is of.
    version: u32,
    declared: HashMap<String, ColumnType, RandomState>,
    /// The types in the database of what its indexes are over, by their names.
    indexed: HashMap<String, Vec<Type>>,
    /// How long items stay after their time.
    pub(super) ttl_delay: Duration,
}

/// Whether a table is one that only this door looks into.
pub(super) fn is_own_name(table: &str) -> bool {
    [about::TABLE, tokens::TABLE].contains(&table)
}

impl Known {
    fn new(table: Table, version: u32, about: Option<About>, ttl_delay: Duration) -> Result<Self> {
        let schema = table.schema()?;
        let key = key_parts(&schema).ok_or_else(Refusal::no_table)?;
        let about = match about {
            Some(about) => mended(about, native(&schema, &key)),
            None => native(&schema, &key),
        };
        let is_free = |family: &Family| {
            family.name() == FAMILY && family.column_types().all(|of| of == ColumnType::Any)
        };
        let is_own = schema.families().first().is_some_and(is_free);
        let types = |index: &Index| -> Vec<Type> {
            index.columns().fields().iter().map(|field| field.field_type().clone()).collect()
        };
        let indexed = schema.indexes().iter();
        let indexed = indexed.map(|index| (index.name().to_owned(), types(index))).collect();
        let declared = schema
            .families()
            .iter()
            .flat_map(|family| family.columns().zip(family.column_types()))
            .map(|(name, of)| (name.to_owned(), of))
            .collect();
        Ok(Known { table, about, key, is_own, version, declared, indexed, ttl_delay })
    }

    /// Whether the table's definition is still the one that this is of.
    pub(super) fn is_current(&self) -> bool {
        self.table.version().is_ok_and(|version| version == self.version)
    }

    pub(super) fn is_key(&self, attribute: &str) -> bool {
        self.key.iter().any(|part| part.name == attribute)
    }

    pub(super) fn index(&self, name: &str) -> Result<&IndexAbout> {
        self.about.index(name).ok_or_else(|| {
            Refusal::validation(format!("The table does not have the specified index: {name}"))
        })
    }

    /// Whether the table may have families with clocks of their own, which a write refreshes.
    pub(super) fn keeps_clocks(&self) -> bool {
        !self.is_own
    }

    /// The types in the database of an index's key attributes.
    pub(super) fn indexed(&self, index: &str) -> &[Type] {
        self.indexed.get(index).map_or(&[], Vec::as_slice)
    }

    /// The type in the database that an attribute is indexed with, if its own is this.
    pub(super) fn type_in_index(&self, attribute: &str, code: &str) -> Type {
        let part = self.key.iter().find(|part| part.name == attribute);
        match (part, self.declared_type(attribute)) {
            (Some(part), _) => part.field.clone(),
            (None, ColumnType::Int) => Type::I64,
            (None, ColumnType::Float) => Type::F64,
            _ => field_type(code),
        }
    }

    /// The type that a column was declared with.
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
        if let Some(known) = self.dynamodb.cached(&self.database, name) {
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
    pub(crate) fn new(ttl_delay: Duration) -> Self {
        Shared { ttl_delay, ..Shared::default() }
    }

    fn cached(&self, database: &Database, name: &str) -> Option<Arc<Known>> {
        let tables = self.tables.lock().unwrap_or_else(PoisonError::into_inner);
        let (lead, known) = tables.get(name)?;
        // Another node may have told something else of it since.
        if *lead == Lead::Elsewhere || *lead != database.lead() {
            return None;
        }
        known.is_current().then(|| known.clone())
    }

    /// Reads a table's definition, and keeps it.
    pub(super) fn load(&self, database: &Database, name: &str) -> Result<Arc<Known>> {
        if is_own_name(name) {
            return Err(Refusal::no_table());
        }
        let lead = database.lead();
        let table = database.table(name)?;
        // First: what is told of the table is of this version, or newer.
        let version = table.version()?;
        let now = database.now().as_micros() as f64 / 1e6;
        let about = About::read(database, name)?;
        let about = about.map(|about| streams::settled(about, &table, now)).transpose()?;
        let known = Known::new(table, version, about, self.ttl_delay)?;
        let known = Arc::new(known);
        let mut tables = self.tables.lock().unwrap_or_else(PoisonError::into_inner);
        tables.insert(name.to_owned(), (lead, known.clone()));
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

/// What was stored of a table, with the indexes that it has: an index is made and dropped apart from
/// what is told of it, and by other doors as well.
fn mended(mut about: About, of_schema: About) -> About {
    about.indexes.retain(|index| {
        let same = of_schema.index(&index.name);
        same.is_some_and(|same| same.key().eq(index.key()))
    });
    let (of_table, attributes) = (of_schema.indexes, of_schema.attributes);
    for index in of_table {
        if about.index(&index.name).is_none() {
            about.indexes.push(index);
        }
    }
    about.attributes.retain(|(name, _)| attributes.iter().any(|(known, _)| known == name));
    for (name, of) in attributes {
        match about.attributes.iter_mut().find(|(known, _)| *known == name) {
            Some(known) => known.1 = of,
            None => about.attributes.push((name, of)),
        }
    }
    about
}

/// What is told of a table that was not made through this door: its indexes over strings, numbers
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
        let code =
            |field: &stonecrop::keys::Field| key_type(field.field_type()).map(|of| of.code());
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
