//! Rows into a Parquet file, a group of rows at a time.

use std::io::Write;
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, TimeUnit, Type as Physical, ZstdLevel};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;
use serde_json::Value as Json;
use stonecrop::{ColumnType, Value, keys};

use crate::data::Columns;
use crate::data::writer::key_text;
use crate::error::{Error, Result};
use crate::value::to_text;

/// So many rows are in memory, and then in a group of the file.
const GROUP_ROWS: usize = 20_000;

pub(crate) struct Writer {
    file: SerializedFileWriter<Box<dyn Write + Send>>,
    /// The fields of the key, then the columns.
    columns: Vec<Column>,
    keys: usize,
    rows: usize,
}

struct Column {
    name: String,
    values: Values,
    /// 1 for a value, 0 for none, a row each.
    levels: Vec<i16>,
}

/// The values of a group, without those that are not there.
enum Values {
    Bools(Vec<bool>),
    Ints(Vec<i64>),
    Unsigned(Vec<i64>),
    Floats(Vec<f64>),
    Timestamps(Vec<i64>),
    Dates(Vec<i32>),
    Texts(Vec<ByteArray>),
    Bytes(Vec<ByteArray>),
}

impl Writer {
    pub(crate) fn new(columns: &Columns, output: Box<dyn Write + Send>) -> Result<Self> {
        let keys = columns.key.iter().map(|(name, of)| (name, Values::of_key(of)));
        let others = columns.columns.iter().map(|(name, of)| (name, Values::of_column(*of)));
        let columns: Vec<Column> = keys
            .clone()
            .chain(others)
            .map(|(name, values)| Column { name: name.clone(), values, levels: Vec::new() })
            .collect();
        let fields = columns.iter().map(Column::schema).collect::<Result<Vec<_>, _>>();
        let schema =
            fields.and_then(|fields| Type::group_type_builder("rows").with_fields(fields).build());
        let zstd = Compression::ZSTD(ZstdLevel::default());
        let properties = WriterProperties::builder().set_compression(zstd).build();
        let schema = Arc::new(schema.map_err(failed)?);
        let file = SerializedFileWriter::new(output, schema, Arc::new(properties));
        Ok(Writer { file: file.map_err(failed)?, keys: keys.count(), columns, rows: 0 })
    }

    pub(crate) fn write<'r>(
        &mut self,
        keys: &[&Json],
        value: impl Fn(&str) -> Option<&'r Value>,
    ) -> Result<()> {
        let count = self.keys.min(self.columns.len());
        let (fields, columns) = self.columns.split_at_mut(count);
        for (column, key) in fields.iter_mut().zip(keys) {
            let there = !key.is_null() && column.values.push_key(key)?;
            column.levels.push(there.into());
        }
        for column in columns {
            let there = match value(&column.name) {
                None | Some(Value::Null) => false,
                Some(value) => column.values.push(value)?,
            };
            column.levels.push(there.into());
        }
        self.rows += 1;
        if self.rows == GROUP_ROWS { self.write_group() } else { Ok(()) }
    }

    fn write_group(&mut self) -> Result<()> {
        let mut group = self.file.next_row_group().map_err(failed)?;
        for column in &mut self.columns {
            let Some(mut writer) = group.next_column().map_err(failed)? else { break };
            column.values.write(writer.untyped(), &column.levels).map_err(failed)?;
            writer.close().map_err(failed)?;
            column.levels.clear();
        }
        group.close().map_err(failed)?;
        self.rows = 0;
        Ok(())
    }

    pub(crate) fn finish(mut self) -> Result<()> {
        if self.rows > 0 {
            self.write_group()?;
        }
        self.file.finish().map_err(failed)?;
        self.file.inner_mut().flush().map_err(Error::Output)
    }
}

fn failed(error: parquet::errors::ParquetError) -> Error {
    Error::Output(std::io::Error::other(error))
}

impl Column {
    fn schema(&self) -> Result<Arc<Type>, parquet::errors::ParquetError> {
        let micros = || LogicalType::timestamp(true, TimeUnit::MICROS);
        let (physical, logical) = match &self.values {
            Values::Bools(_) => (Physical::BOOLEAN, None),
            Values::Ints(_) => (Physical::INT64, None),
            Values::Unsigned(_) => (Physical::INT64, Some(LogicalType::integer(64, false))),
            Values::Floats(_) => (Physical::DOUBLE, None),
            Values::Timestamps(_) => (Physical::INT64, Some(micros())),
            Values::Dates(_) => (Physical::INT32, Some(LogicalType::Date)),
            Values::Texts(_) => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
            Values::Bytes(_) => (Physical::BYTE_ARRAY, None),
        };
        Type::primitive_type_builder(&self.name, physical)
            .with_repetition(Repetition::OPTIONAL)
            .with_logical_type(logical)
            .build()
            .map(Arc::new)
    }
}

impl Values {
    fn of_key(name: &str) -> Self {
        match name {
            "bool" => Values::Bools(Vec::new()),
            "u64" | "varuint" => Values::Unsigned(Vec::new()),
            "u8" | "u16" | "u32" | "i8" | "i16" | "i32" | "i64" | "varint" => {
                Values::Ints(Vec::new())
            }
            "f32" | "f64" => Values::Floats(Vec::new()),
            "date" => Values::Dates(Vec::new()),
            "timestamp" | "timestamp(us)" => Values::Timestamps(Vec::new()),
            _ => Values::Texts(Vec::new()),
        }
    }

    fn of_column(column_type: ColumnType) -> Self {
        match column_type {
            ColumnType::Bool => Values::Bools(Vec::new()),
            ColumnType::Int => Values::Ints(Vec::new()),
            ColumnType::Float => Values::Floats(Vec::new()),
            ColumnType::Timestamp => Values::Timestamps(Vec::new()),
            ColumnType::Date => Values::Dates(Vec::new()),
            ColumnType::Bytes => Values::Bytes(Vec::new()),
            _ => Values::Texts(Vec::new()),
        }
    }

    /// The value of a field of the key; whether there is one.
    fn push_key(&mut self, key: &Json) -> Result<bool> {
        let text = key_text(key);
        let wrong = || Error::Unreachable(format!("the key {text} is not of its type"));
        match self {
            Values::Bools(values) => values.push(key.as_bool().ok_or_else(wrong)?),
            Values::Ints(values) => values.push(text.parse().map_err(|_| wrong())?),
            // The same 64 bits: the schema says that they have no sign.
            Values::Unsigned(values) => {
                values.push(text.parse::<u64>().map_err(|_| wrong())?.cast_signed());
            }
            Values::Floats(values) => values.push(text.parse().map_err(|_| wrong())?),
            Values::Texts(values) | Values::Bytes(values) => values.push(text.as_str().into()),
            Values::Timestamps(values) => {
                match crate::value::read_as(ColumnType::Timestamp, &text) {
                    Ok(Value::Timestamp(time)) => values.push(time.as_micros()),
                    _ => return Err(wrong()),
                }
            }
            Values::Dates(values) => match crate::value::read_as(ColumnType::Date, &text) {
                Ok(Value::Date(keys::Date(days))) => values.push(days),
                _ => return Err(wrong()),
            },
        }
        Ok(true)
    }

    /// The value of a column; whether there is one. The table sees to it that it has the type.
    fn push(&mut self, value: &Value) -> Result<bool> {
        match (self, value) {
            (Values::Bools(values), Value::Bool(value)) => values.push(*value),
            (Values::Ints(values), Value::Int(value)) => values.push(*value),
            (Values::Floats(values), Value::Float(value)) => values.push(*value),
            (Values::Timestamps(values), Value::Timestamp(time)) => values.push(time.as_micros()),
            (Values::Dates(values), Value::Date(keys::Date(days))) => values.push(*days),
            (Values::Bytes(values), Value::Bytes(bytes)) => values.push(bytes.clone().into()),
            (Values::Texts(values), value) => values.push(to_text(value).as_ref().into()),
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Writes the values of a group, and forgets them.
    fn write(
        &mut self,
        writer: &mut ColumnWriter<'_>,
        levels: &[i16],
    ) -> Result<(), parquet::errors::ParquetError> {
        macro_rules! write {
            ($writer:ident, $values:ident) => {{
                $writer.write_batch($values, Some(levels), None)?;
                $values.clear();
            }};
        }
        match (self, writer) {
            (Values::Bools(values), ColumnWriter::BoolColumnWriter(writer)) => {
                write!(writer, values);
            }
            (
                Values::Ints(values) | Values::Unsigned(values) | Values::Timestamps(values),
                ColumnWriter::Int64ColumnWriter(writer),
            ) => write!(writer, values),
            (Values::Floats(values), ColumnWriter::DoubleColumnWriter(writer)) => {
                write!(writer, values);
            }
            (Values::Dates(values), ColumnWriter::Int32ColumnWriter(writer)) => {
                write!(writer, values);
            }
            (
                Values::Texts(values) | Values::Bytes(values),
                ColumnWriter::ByteArrayColumnWriter(writer),
            ) => write!(writer, values),
            _ => {
                let problem = "a column is not of the type that the schema says";
                return Err(parquet::errors::ParquetError::General(problem.to_owned()));
            }
        }
        Ok(())
    }
}
