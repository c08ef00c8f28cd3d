//! CSV: a line of names, then a line a row. An empty field is no value.

use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use csv::{ByteRecord, ErrorKind, ReaderBuilder, Terminator, WriterBuilder};

use super::record::{Field, Read as ReadRow, Record, Reject};
use crate::error::{Error, Result};

pub(crate) struct Reader {
    input: csv::Reader<Box<dyn Read>>,
    names: Vec<Arc<str>>,
    record: ByteRecord,
}

impl Reader {
    pub(super) fn new(input: Box<dyn Read>, delimiter: u8, path: &Path) -> Result<Self> {
        // We count the fields ourselves, so that a line with others is a bad line and no end.
        let mut input = ReaderBuilder::new().delimiter(delimiter).flexible(true).from_reader(input);
        let headers = input.headers().map_err(|error| failed(path, error))?;
        let mut names: Vec<Arc<str>> = Vec::new();
        for name in headers {
            let name = name.strip_prefix('\u{FEFF}').unwrap_or(name).trim();
            let problem = match name {
                "" => "a column has no name in the first line".to_owned(),
                name if names.iter().any(|known| &**known == name) => {
                    format!("there are two columns {name:?}")
                }
                name => {
                    names.push(name.into());
                    continue;
                }
            };
            return Err(Error::Data(format!("{}: {problem}", path.display())));
        }
        Ok(Reader { input, names, record: ByteRecord::new() })
    }

    pub(super) fn position(&self) -> u64 {
        self.input.position().byte()
    }

    pub(super) fn next(&mut self) -> Result<Option<ReadRow>> {
        let line = self.input.position().line();
        match self.input.read_byte_record(&mut self.record) {
            Ok(true) => {}
            Ok(false) => return Ok(None),
            Err(error) => return Err(failed(Path::new("the file"), error)),
        }
        let line = self.record.position().map_or(line, |position| position.line());
        Ok(Some(match self.fields() {
            Ok(fields) => ReadRow::Row(Record { line, key: None, fields, source: None }),
            Err(reason) => {
                let text = self::line(&self.record);
                ReadRow::Bad(Reject { line, reason, text })
            }
        }))
    }

    fn fields(&self) -> Result<Vec<(Arc<str>, Field)>, String> {
        let (found, expected) = (self.record.len(), self.names.len());
        if found != expected {
            return Err(format!("{found} fields, and the first line has {expected}"));
        }
        let fields = self.names.iter().zip(&self.record).map(|(name, field)| {
            let text = str::from_utf8(field).map_err(|_| format!("{name}: not UTF-8"))?;
            Ok((name.clone(), Field::Text(text.to_owned())))
        });
        fields.collect()
    }
}

fn failed(path: &Path, error: csv::Error) -> Error {
    let text = error.to_string();
    match error.into_kind() {
        ErrorKind::Io(cause) => Error::File { path: path.to_owned(), cause },
        _ => Error::Data(format!("{}: {text}", path.display())),
    }
}

/// Fields as a line of CSV, without its end.
pub(super) fn line(fields: impl IntoIterator<Item = impl AsRef<[u8]>>) -> String {
    let mut writer =
        WriterBuilder::new().terminator(Terminator::Any(b'\n')).from_writer(Vec::new());
    // Nothing fails that is written to memory.
    let _ = writer.write_record(fields);
    let bytes = writer.into_inner().unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    text.strip_suffix('\n').unwrap_or(&text).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &'static str) -> Vec<ReadRow> {
        let mut reader = Reader::new(Box::new(text.as_bytes()), b',', Path::new("t")).unwrap();
        std::iter::from_fn(|| reader.next().unwrap()).collect()
    }

    #[test]
    fn lines_are_counted_over_line_ends_in_quotes() {
        let rows = read("a,b\n1,\"x\ny\"\n2,z\n3\n");
        let lines: Vec<_> = rows
            .iter()
            .map(|row| match row {
                ReadRow::Row(record) => (record.line, true),
                ReadRow::Bad(reject) => (reject.line, false),
            })
            .collect();
        assert_eq!(lines, [(2, true), (4, true), (5, false)]);
    }

    #[test]
    fn a_line_with_other_fields_than_the_first_is_bad() {
        let rows = read("a,b\n1,2,3\n");
        let Some(ReadRow::Bad(reject)) = rows.first() else { panic!("it is taken") };
        assert_eq!(reject.reason, "3 fields, and the first line has 2");
        assert_eq!(reject.text, "1,2,3");
    }

    #[test]
    fn columns_need_names_and_each_its_own() {
        for text in ["a,,b\n", "a,a\n"] {
            assert!(Reader::new(Box::new(text.as_bytes()), b',', Path::new("t")).is_err());
        }
    }
}
