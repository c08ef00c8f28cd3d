//! Filters of prefixes: which files have nothing that begins like this, so that nothing of them has
//! to be read.

use std::sync::Arc;

use bytes::{BufMut, Bytes};
use slatedb::{
    BloomFilterPolicy, Filter, FilterBuilder, FilterPolicy, FilterQuery, FilterTarget, RowEntry,
};

use crate::options::{Prefix, Prefixes};
use crate::scan::KeyRange;

const BITS_A_KEY: u32 = 10;
/// What is in a filter of prefixes, by its first byte. Of any other byte nothing is known.
const NOTHING: u8 = 0;
const SOME: u8 = 1;
const UNKNOWN: u8 = 2;

/// The filters of a file: one of its keys, and one of their prefixes.
pub(super) fn policies(prefixes: &Arc<dyn Prefixes>) -> Vec<Arc<dyn FilterPolicy>> {
    let of_prefixes = Policy { prefixes: prefixes.clone(), bloom: Arc::new(bloom()) };
    vec![Arc::new(bloom()), Arc::new(of_prefixes)]
}

fn bloom() -> BloomFilterPolicy {
    BloomFilterPolicy::new(BITS_A_KEY)
}

/// The prefix that all keys of a range have, if there are filters that know of it. Filters are read
/// for it, so it has to be worth that.
pub(super) fn filtered(prefixes: &dyn Prefixes, range: &KeyRange) -> Option<Bytes> {
    let is_prefix = KeyRange::prefix(&range.start).end == range.end;
    let known = || matches!(prefixes.of(&range.start), Prefix::First(_));
    (is_prefix && known()).then(|| range.start.clone())
}

struct Policy {
    prefixes: Arc<dyn Prefixes>,
    /// A filter of whole keys, which here are prefixes.
    bloom: Arc<BloomFilterPolicy>,
}

impl FilterPolicy for Policy {
    fn name(&self) -> &str {
        "stonecrop.prefixes"
    }

    fn builder(&self) -> Box<dyn FilterBuilder> {
        Box::new(Builder {
            prefixes: self.prefixes.clone(),
            bloom: self.bloom.builder(),
            last: None,
            is_unknown: false,
        })
    }

    fn decode(&self, data: &[u8]) -> Arc<dyn Filter> {
        let held = match data.split_first() {
            Some((&NOTHING, _)) => Held::Nothing,
            Some((&SOME, bloom)) => Held::Some(self.bloom.decode(bloom)),
            _ => Held::Unknown,
        };
        Arc::new(Held::with(held, &self.prefixes))
    }

    fn estimate_size(&self, keys: usize) -> usize {
        1 + self.bloom.estimate_size(keys)
    }
}

struct Builder {
    prefixes: Arc<dyn Prefixes>,
    bloom: Box<dyn FilterBuilder>,
    /// Keys come in order, so those with the same prefix are side by side.
    last: Option<Bytes>,
    is_unknown: bool,
}

impl FilterBuilder for Builder {
    fn add_entry(&mut self, entry: &RowEntry) {
        let length = match self.prefixes.of(&entry.key) {
            Prefix::None => return,
            Prefix::First(length) => length.min(entry.key.len()),
            Prefix::Unknown => {
                self.is_unknown = true;
                return;
            }
        };
        let prefix = entry.key.slice(..length);
        if self.last.as_ref() != Some(&prefix) {
            self.bloom.add_entry(&RowEntry { key: prefix.clone(), ..entry.clone() });
            self.last = Some(prefix);
        }
    }

    fn build(&mut self) -> Arc<dyn Filter> {
        let held = match self.last {
            _ if self.is_unknown => Held::Unknown,
            None => Held::Nothing,
            Some(_) => Held::Some(self.bloom.build()),
        };
        Arc::new(Held::with(held, &self.prefixes))
    }
}

/// The prefixes that are in a file.
enum Held {
    Nothing,
    Some(Arc<dyn Filter>),
    /// Of some keys it was not known what their prefix is.
    Unknown,
}

struct OfPrefixes {
    held: Held,
    prefixes: Arc<dyn Prefixes>,
}

impl Held {
    fn with(self, prefixes: &Arc<dyn Prefixes>) -> OfPrefixes {
        OfPrefixes { held: self, prefixes: prefixes.clone() }
    }
}

impl Filter for OfPrefixes {
    fn might_match(&self, query: &FilterQuery) -> bool {
        // Of single keys the other filter knows more.
        let FilterTarget::Prefix(asked) = &query.target else { return true };
        let Prefix::First(length) = self.prefixes.of(asked) else { return true };
        match &self.held {
            Held::Unknown => true,
            Held::Nothing => false,
            Held::Some(bloom) => {
                bloom.might_match(&FilterQuery::point(asked.slice(..length.min(asked.len()))))
            }
        }
    }

    fn encode(&self, writer: &mut dyn BufMut) {
        match &self.held {
            Held::Nothing => writer.put_u8(NOTHING),
            Held::Unknown => writer.put_u8(UNKNOWN),
            Held::Some(bloom) => {
                writer.put_u8(SOME);
                bloom.encode(writer);
            }
        }
    }

    fn size(&self) -> usize {
        match &self.held {
            Held::Nothing | Held::Unknown => 1,
            Held::Some(bloom) => 1 + bloom.size(),
        }
    }

    fn clamp_allocated_size(&self) -> Arc<dyn Filter> {
        let held = match &self.held {
            Held::Nothing => Held::Nothing,
            Held::Unknown => Held::Unknown,
            Held::Some(bloom) => Held::Some(bloom.clamp_allocated_size()),
        };
        Arc::new(held.with(&self.prefixes))
    }
}
