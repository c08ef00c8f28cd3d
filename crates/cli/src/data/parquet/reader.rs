//! Rows of a Parquet file.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::data_type::Decimal;
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::record::reader::RowIter;
use parquet::record::{Field as Stored, Row};
use stonecrop::{Timestamp, Value, keys};

use crate::data::record::{Field, Read as ReadRow, Record};
use crate::error::{Error, Result};

pub(crate) struct Reader {
    path: PathBuf,
    rows: RowIter<'static>,
    total: u64,
    position: u64,
}

impl Reader {
    pub(crate) fn open(path: &Path) -> Result<Self> {
        if path == Path::new("-") {
            let problem = "Parquet can't be read from standard input: its beginning is at its end";
            return Err(Error::Usage(problem.to_owned()));
        }
        let file = File::open(path);
        let file = file.map_err(|cause| Error::File { path: path.to_owned(), cause })?;
        let file = SerializedFileReader::new(file).map_err(|error| failed(path, &error))?;
        let total = u64::try_from(file.metadata().file_metadata().num_rows()).unwrap_or_default();
        Ok(Reader { path: path.to_owned(), rows: file.into_iter(), total, position: 0 })
    }

    pub(crate) fn position(&self) -> u64 {
        self.position
    }

    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    pub(crate) fn next(&mut self) -> Result<Option<ReadRow>> {
        let Some(row) = self.rows.next() else { return Ok(None) };
        let row = row.map_err(|error| failed(&self.path, &error))?;
        self.position += 1;
        let line = self.position;
        let mut fields = Vec::with_capacity(row.len());
        let mut bad = None;
        for (name, stored) in row.get_column_iter() {
            match value(stored) {
                Ok(Value::Null) => {}
                Ok(value) => fields.push((Arc::from(name.as_str()), Field::Typed(value))),
                Err(reason) => bad = Some(format!("{name}: {reason}")),
            }
        }
        let record = Record { line, key: None, fields, source: None };
        Ok(Some(match bad {
            None => ReadRow::Row(record),
            Some(reason) => ReadRow::Bad(record.reject(reason)),
        }))
    }
}

fn failed(path: &Path, error: &parquet::errors::ParquetError) -> Error {
    Error::Data(format!("{}: {error}", path.display()))
}

fn value(stored: &Stored) -> Result<Value, String> {
    Ok(match stored {
        Stored::Null => Value::Null,
        Stored::Bool(value) => Value::Bool(*value),
        Stored::Byte(value) => Value::Int((*value).into()),
        Stored::Short(value) => Value::Int((*value).into()),
        Stored::Int(value) => Value::Int((*value).into()),
        Stored::Long(value) => Value::Int(*value),
        Stored::UByte(value) => Value::Int((*value).into()),
        Stored::UShort(value) => Value::Int((*value).into()),
        Stored::UInt(value) => Value::Int((*value).into()),
        Stored::ULong(value) => match i64::try_from(*value) {
            Ok(value) => Value::Int(value),
            Err(_) => decimal(&value.to_string())?,
        },
        Stored::Float16(value) => Value::Float(value.to_f64()),
        Stored::Float(value) => Value::Float((*value).into()),
        Stored::Double(value) => Value::Float(*value),
        Stored::Decimal(value) => decimal(&decimal_text(value)?)?,
        Stored::Str(text) => Value::String(text.clone()),
        Stored::Bytes(bytes) => Value::Bytes(bytes.data().to_vec()),
        Stored::Date(days) => Value::Date(keys::Date(*days)),
        Stored::TimestampMillis(millis) => {
            let micros = millis.checked_mul(1_000).ok_or("a time that is too far away")?;
            Value::Timestamp(Timestamp::from_micros(micros))
        }
        Stored::TimestampMicros(micros) => Value::Timestamp(Timestamp::from_micros(*micros)),
        // There is no type for a time of day.
        Stored::TimeMillis(_) | Stored::TimeMicros(_) => Value::String(stored.to_string()),
        Stored::Group(row) => group(row)?,
        Stored::ListInternal(list) => {
            Value::List(list.elements().iter().map(value).collect::<Result<_, _>>()?)
        }
        Stored::MapInternal(map) => {
            let members = map.entries().iter().map(|(name, content)| match name {
                Stored::Str(name) => Ok((name.clone(), value(content)?)),
                _ => Err("a map whose names are no text".to_owned()),
            });
            Value::Map(members.collect::<Result<_, _>>()?)
        }
    })
}

fn group(row: &Row) -> Result<Value, String> {
    let members = row.get_column_iter().map(|(name, stored)| Ok((name.clone(), value(stored)?)));
    Ok(Value::Map(members.collect::<Result<_, String>>()?))
}

fn decimal(text: &str) -> Result<Value, String> {
    text.parse().map(Value::Decimal).map_err(|error| format!("{text}: {error}"))
}

/// The digits as a whole number, and where the point is as an exponent.
fn decimal_text(value: &Decimal) -> Result<String, String> {
    let data = value.data();
    let negative = data.first().is_some_and(|first| *first >= 0x80);
    let mut bytes = [if negative { 0xFF } else { 0 }; 16];
    let place = bytes.len().checked_sub(data.len()).and_then(|start| bytes.get_mut(start..));
    place.ok_or("a decimal of more than 38 digits")?.copy_from_slice(data);
    let exponent = i64::from(value.scale()).saturating_neg();
    Ok(format!("{}e{exponent}", i128::from_be_bytes(bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_keep_their_digits_and_their_sign() {
        let text = |value: Decimal| match decimal(&decimal_text(&value).unwrap()).unwrap() {
            Value::Decimal(value) => value.to_string(),
            other => panic!("{other:?}"),
        };
        assert_eq!(text(Decimal::from_i32(-999, 9, 2)), "-9.99");
        assert_eq!(text(Decimal::from_i64(5, 18, 3)), "0.005");
        assert_eq!(text(Decimal::from_bytes(vec![0x01, 0x00].into(), 38, 0)), "256");
        assert!(decimal_text(&Decimal::from_bytes(vec![1; 17].into(), 38, 0)).is_err());
    }
}
