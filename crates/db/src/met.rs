//! Which rows a table can't have yet, told without reading.

use std::hash::BuildHasher;

use foldhash::fast::RandomState;

/// The rows that the first layer has room for; each of the next has room for four times as many.
const FIRST_ROWS: usize = 1 << 10;
/// From so many rows in a layer on it is not worth its memory, which is 4 MiB then.
const MOST_ROWS: usize = 1 << 20;
const BITS_A_ROW: usize = 32;
/// How many bits a row sets. One in some hundred new rows is taken for known: with half the bits it
/// was one in fifty, and to look for those took a twelfth of a load's time.
const BITS_SET: u32 = 5;

/// All rows that were ever written to a table which this process has made: one that is not among
/// them is new, and nothing is stored of it. A Bloom filter, so a few that are new are taken for
/// known, and none the other way round.
#[derive(Debug)]
pub(crate) struct Met {
    layers: Vec<Layer>,
    /// Nobody can choose keys that all look alike.
    hasher: RandomState,
}

#[derive(Debug)]
struct Layer {
    words: Box<[u64]>,
    /// How many rows may still come in.
    room: usize,
}

impl Met {
    pub(crate) fn new() -> Self {
        Met { layers: vec![Layer::new(FIRST_ROWS)], hasher: RandomState::default() }
    }

    /// Whether the row at a place may have been written.
    pub(crate) fn has(&self, place: &[u8]) -> bool {
        let hash = self.hasher.hash_one(place);
        self.layers.iter().any(|layer| layer.has(hash))
    }

    /// Remembers the row at a place, unless there is no room left.
    #[must_use]
    pub(crate) fn add(&mut self, place: &[u8]) -> bool {
        let hash = self.hasher.hash_one(place);
        if self.layers.iter().any(|layer| layer.has(hash)) {
            return true;
        }
        let rows = self.layers.last().map_or(0, |layer| layer.words.len() * 64 / BITS_A_ROW);
        match self.layers.last_mut() {
            Some(layer) if layer.room > 0 => layer.add(hash),
            _ if rows >= MOST_ROWS => return false,
            _ => {
                let mut layer = Layer::new(rows * 4);
                layer.add(hash);
                self.layers.push(layer);
            }
        }
        true
    }
}

impl Layer {
    fn new(rows: usize) -> Self {
        Layer { words: vec![0; rows * BITS_A_ROW / 64].into(), room: rows }
    }

    /// The word of a row, and its bits in there.
    fn place(&self, hash: u64) -> (usize, u64) {
        let bits = (0..BITS_SET).fold(0, |bits, at| bits | 1 << (hash >> (6 * at) & 63));
        ((hash >> 32) as usize % self.words.len().max(1), bits)
    }

    fn has(&self, hash: u64) -> bool {
        let (at, bits) = self.place(hash);
        self.words.get(at).is_some_and(|word| word & bits == bits)
    }

    fn add(&mut self, hash: u64) {
        let (at, bits) = self.place(hash);
        if let Some(word) = self.words.get_mut(at) {
            *word |= bits;
        }
        self.room = self.room.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_that_was_met_is_never_taken_for_a_new_one() {
        let mut met = Met::new();
        for row in 0..20_000_u64 {
            assert!(met.add(&row.to_be_bytes()));
        }
        assert!((0..20_000_u64).all(|row| met.has(&row.to_be_bytes())));
    }

    #[test]
    fn nearly_all_new_rows_are_known_to_be_new() {
        let mut met = Met::new();
        for row in 0..20_000_u64 {
            assert!(met.add(&row.to_be_bytes()));
        }
        let mistaken = (20_000..120_000_u64).filter(|row| met.has(&row.to_be_bytes())).count();
        assert!(mistaken < 500, "{mistaken} of 100,000 new rows are taken for known ones");
    }

    #[test]
    fn there_is_no_room_for_ever_more_rows() {
        let mut met = Met::new();
        let room = (0..4 * MOST_ROWS as u64).take_while(|row| met.add(&row.to_be_bytes())).count();
        assert!((MOST_ROWS..2 * MOST_ROWS).contains(&room), "{room} rows");
    }
}
