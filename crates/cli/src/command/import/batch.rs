//! Writes on their way to the table: one batch is sent while the next is filled.

use bytes::Bytes;
use hyper::Method;

use crate::client::{Client, Pending, table_path};
use crate::data::{Record, Reject};
use crate::error::{Error, Result};

/// A batch is sent when it has so many rows, or so many bytes.
const MAX_ROWS: usize = 2_000;
const MAX_BYTES: usize = 4 << 20;

/// Records and the writes that they became.
#[derive(Default)]
pub(super) struct Batch {
    rows: Vec<(Record, Vec<u8>)>,
    bytes: usize,
    /// So many rows of the file are done when the batch is.
    pub(super) rows_done: u64,
    /// Rows that were left out before it was sent.
    pub(super) rejects: Vec<Reject>,
}

/// What became of a batch.
pub(super) struct Done {
    pub(super) rows_done: u64,
    pub(super) imported: u64,
    pub(super) rejects: Vec<Reject>,
}

impl Batch {
    pub(super) fn push(&mut self, record: Record, write: Vec<u8>) {
        self.bytes += write.len() + 1;
        self.rows.push((record, write));
    }

    pub(super) fn is_full(&self) -> bool {
        self.rows.len() >= MAX_ROWS || self.bytes >= MAX_BYTES || self.rejects.len() >= MAX_ROWS
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.rejects.is_empty()
    }

    fn body(rows: &[(Record, Vec<u8>)]) -> Bytes {
        let writes = rows.iter().map(|(_, write)| write.as_slice());
        let mut body = br#"{"writes":["#.to_vec();
        for (index, write) in writes.enumerate() {
            if index > 0 {
                body.push(b',');
            }
            body.extend_from_slice(write);
        }
        body.extend_from_slice(b"]}");
        body.into()
    }
}

/// A batch that is on its way, if one is.
pub(super) struct Sender<'c> {
    client: &'c Client,
    path: String,
    under_way: Option<(Batch, Option<Pending>)>,
}

impl<'c> Sender<'c> {
    pub(super) fn new(client: &'c Client, table: &str) -> Self {
        Sender { client, path: table_path(table, "/rows"), under_way: None }
    }

    /// Sends a batch; what became of the one before is known then.
    pub(super) fn send(&mut self, batch: Batch) -> Result<Option<Done>> {
        let done = self.finish()?;
        let pending = (!batch.rows.is_empty())
            .then(|| self.client.start(Method::POST, &self.path, Batch::body(&batch.rows)));
        self.under_way = Some((batch, pending));
        Ok(done)
    }

    /// Waits for the batch that is on its way.
    pub(super) fn finish(&mut self) -> Result<Option<Done>> {
        let Some((mut batch, pending)) = self.under_way.take() else { return Ok(None) };
        let answer = pending.map(|pending| self.client.wait(pending)).transpose();
        let mut rejects = std::mem::take(&mut batch.rejects);
        let imported = match answer {
            Ok(_) => batch.rows.len() as u64,
            Err(error) => self.without_bad(batch.rows, error, &mut rejects)?,
        };
        rejects.sort_by_key(|reject| reject.line);
        Ok(Some(Done { rows_done: batch.rows_done, imported, rejects }))
    }

    /// Leaves out what is at fault and sends the rest, until there is nothing at fault; how many
    /// rows that were.
    fn without_bad(
        &self,
        mut rows: Vec<(Record, Vec<u8>)>,
        mut error: Error,
        rejects: &mut Vec<Reject>,
    ) -> Result<u64> {
        loop {
            let Error::Problem(problem) = error else { return Err(error) };
            match problem.write_index().filter(|index| *index < rows.len()) {
                Some(index) if problem.status < 500 => {
                    let (record, _) = rows.remove(index);
                    rejects.push(record.reject(reason(problem.text(), index)));
                }
                _ if problem.status == 413 && rows.len() > 1 => {
                    let half = rows.split_off(rows.len() / 2);
                    let first = self.send_all(rows, rejects)?;
                    return Ok(first + self.send_all(half, rejects)?);
                }
                _ if problem.status == 413 => {
                    let record = rows.pop().map(|(record, _)| record);
                    rejects.extend(record.map(|record| record.reject(problem.text())));
                }
                _ => return Err(Error::Problem(problem)),
            }
            if rows.is_empty() {
                return Ok(0);
            }
            match self.client.call(Method::POST, &self.path, Some(Batch::body(&rows))) {
                Ok(_) => return Ok(rows.len() as u64),
                Err(next) => error = next,
            }
        }
    }

    fn send_all(&self, rows: Vec<(Record, Vec<u8>)>, rejects: &mut Vec<Reject>) -> Result<u64> {
        match self.client.call(Method::POST, &self.path, Some(Batch::body(&rows))) {
            Ok(_) => Ok(rows.len() as u64),
            Err(error) => self.without_bad(rows, error, rejects),
        }
    }
}

/// Why a row is left out. The server says it of a batch of which nothing was written; here the rest
/// is, and the place of the row in the batch says nothing.
fn reason(text: &str, index: usize) -> &str {
    let text = text.strip_suffix("; nothing was written").unwrap_or(text);
    text.strip_prefix(&format!("write {index}: ")).unwrap_or(text)
}
