//! A long answer, line by line, of which one piece is in memory at a time.

use bytes::{Buf as _, Bytes, BytesMut};
use http_body_util::BodyExt as _;
use tokio::runtime::Handle;

use super::transport::Body;
use crate::error::{Error, Result};

pub(crate) struct BodyLines<'c> {
    runtime: &'c Handle,
    body: Body,
    buffer: BytesMut,
    /// How much of the buffer is known to have no end of a line.
    searched: usize,
    ended: bool,
}

impl<'c> BodyLines<'c> {
    pub(super) fn new(runtime: &'c Handle, body: Body) -> Self {
        BodyLines { runtime, body, buffer: BytesMut::new(), searched: 0, ended: false }
    }

    /// The next line that is not empty, without its end.
    pub(crate) fn next(&mut self) -> Result<Option<Bytes>> {
        loop {
            let unsearched = self.buffer.get(self.searched..).unwrap_or_default();
            if let Some(length) = unsearched.iter().position(|byte| *byte == b'\n') {
                let line = self.buffer.split_to(self.searched + length).freeze();
                self.buffer.advance(1);
                self.searched = 0;
                if line.is_empty() {
                    continue;
                }
                return Ok(Some(line));
            }
            self.searched = self.buffer.len();
            if self.ended {
                let rest = self.buffer.split().freeze();
                self.searched = 0;
                return Ok(Some(rest).filter(|rest| !rest.is_empty()));
            }
            self.fill()?;
        }
    }

    fn fill(&mut self) -> Result<()> {
        match self.runtime.block_on(self.body.frame()) {
            None => self.ended = true,
            Some(Ok(frame)) => {
                if let Some(data) = frame.data_ref() {
                    self.buffer.extend_from_slice(data);
                }
            }
            Some(Err(error)) => {
                return Err(Error::Unreachable(format!("the answer broke off: {error}")));
            }
        }
        Ok(())
    }
}
