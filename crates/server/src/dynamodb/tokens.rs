//! Tokens with which clients send a transaction again without doing it again.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use stonecrop::Timestamp;

/// For so long a token stands for the transaction that it was first sent with.
const KEPT_MICROS: i64 = 10 * 60 * 1_000_000;

/// The tokens of transactions that were done, each with a print of the request.
#[derive(Default)]
pub(super) struct Tokens(Mutex<HashMap<String, (u64, Timestamp)>>);

/// What a token stands for.
#[derive(PartialEq)]
pub(super) enum Told {
    New,
    /// The same transaction was done.
    Done,
    /// Another transaction was done.
    Other,
}

impl Tokens {
    pub(super) fn look_up(&self, token: &str, print: u64, now: Timestamp) -> Told {
        let mut tokens = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        tokens.retain(|_, (_, at)| now.as_micros() - at.as_micros() < KEPT_MICROS);
        match tokens.get(token) {
            None => Told::New,
            Some((known, _)) if *known == print => Told::Done,
            Some(_) => Told::Other,
        }
    }

    pub(super) fn keep(&self, token: String, print: u64, now: Timestamp) {
        let mut tokens = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        tokens.insert(token, (print, now));
    }
}
