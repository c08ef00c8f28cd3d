//! Which rows a table can't have yet, told without reading.

use std::hash::BuildHasher;

use foldhash::fast::RandomState;

/// The rows that the first layer has room for; each of the next has room for eight times as many.
const FIRST_ROWS: usize = 1 << 12;
/// From so many rows in a layer on it is not worth its memory, which is 48 MiB then. A load into
/// object storage takes three times as long without.
const MOST_ROWS: usize = 1 << 24;
const BITS_A_ROW: usize = 24;
/// How many bits a row sets, all in one block. Of 10,000 new rows a few are taken for known: when it
/// was one in fifty, to look for those took a twelfth of a load's time.
const BITS_SET: u32 = 7;
/// A block is a line of the processor's cache.
const BLOCK_BITS: usize = 512;

/// All rows that were ever written to a table which this process has made: one that is not among
/// them is new, and nothing is stored of it. A Bloom filter, so a few that are new are taken for
/// known, and none the other way round.
#[derive(Debug)]
pub(crate) struct Met {
    layers: Vec<Layer>,
    /// Nobody can choose keys that all look alike.
    hasher: RandomState,
}

type Block = [u64; BLOCK_BITS / 64];

#[derive(Debug)]
struct Layer {
    blocks: Box<[Block]>,
    /// How many rows it is made for, and how many may still come in.
    most: usize,
    room: usize,
}

impl Met {
    pub(crate) fn new() -> Self {
        Met { layers: vec![Layer::new(FIRST_ROWS)], hasher: RandomState::default() }
    }

    /// Whether the row at a place may have been written.
    pub(crate) fn has(&self, place: &[u8]) -> bool {
        let hash = self.hasher.hash_one(place);
        let bits = bits(hash);
        self.layers.iter().any(|layer| layer.has(hash, &bits))
    }

    /// Remembers the row at a place, and tells whether it is new. Not to be called once it is full.
    pub(crate) fn add(&mut self, place: &[u8]) -> bool {
        let hash = self.hasher.hash_one(place);
        let bits = bits(hash);
        if self.layers.iter().any(|layer| layer.has(hash, &bits)) {
            return false;
        }
        let rows = self.rows();
        match self.layers.last_mut() {
            Some(layer) if layer.room > 0 => layer.add(hash, &bits),
            _ => {
                let mut layer = Layer::new(rows * 8);
                layer.add(hash, &bits);
                self.layers.push(layer);
            }
        }
        true
    }

    /// Whether there is no room left for more rows.
    pub(crate) fn is_full(&self) -> bool {
        self.layers.last().is_none_or(|layer| layer.room == 0) && self.rows() >= MOST_ROWS
    }

    /// How many rows the last layer has room for.
    fn rows(&self) -> usize {
        self.layers.last().map_or(0, |layer| layer.most)
    }
}

impl Layer {
    fn new(rows: usize) -> Self {
        let blocks = vec![Block::default(); rows * BITS_A_ROW / BLOCK_BITS];
        Layer { blocks: blocks.into(), most: rows, room: rows }
    }

    /// The block of a row.
    fn place(&self, hash: u64) -> usize {
        // As a fraction of all of them, which takes no division.
        (((hash >> 32) * self.blocks.len() as u64) >> 32) as usize
    }

    /// Looks at all words, so that the processor takes several at once.
    fn has(&self, hash: u64, bits: &Block) -> bool {
        let block = self.blocks.get(self.place(hash));
        block.is_some_and(|block| {
            block.iter().zip(bits).fold(0, |missing, (word, bits)| missing | (bits & !word)) == 0
        })
    }

    fn add(&mut self, hash: u64, bits: &Block) {
        if let Some(block) = self.blocks.get_mut(self.place(hash)) {
            block.iter_mut().zip(bits).for_each(|(word, bits)| *word |= bits);
        }
        self.room = self.room.saturating_sub(1);
    }
}

/// The bits of a row in its block.
fn bits(hash: u64) -> Block {
    // So that they are not those which the block was found by.
    let mixed = hash.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut bits = Block::default();
    for at in 0..BITS_SET {
        let bit = (mixed >> (9 * at)) & (BLOCK_BITS as u64 - 1);
        if let Some(word) = bits.get_mut((bit / 64) as usize) {
            *word |= 1 << (bit % 64);
        }
    }
    bits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_that_was_met_is_never_taken_for_a_new_one() {
        let mut met = Met::new();
        for row in 0..20_000_u64 {
            met.add(&row.to_be_bytes());
        }
        assert!((0..20_000_u64).all(|row| met.has(&row.to_be_bytes())));
        assert!(!(0..20_000_u64).any(|row| met.add(&row.to_be_bytes())));
    }

    #[test]
    fn nearly_all_new_rows_are_known_to_be_new() {
        let mut met = Met::new();
        for row in 0..20_000_u64 {
            met.add(&row.to_be_bytes());
        }
        let mistaken = (20_000..120_000_u64).filter(|row| met.has(&row.to_be_bytes())).count();
        assert!(mistaken < 500, "{mistaken} of 100,000 new rows are taken for known ones");
    }

    #[test]
    fn there_is_no_room_for_ever_more_rows() {
        let mut met = Met::new();
        met.layers.push(Layer { room: 2, ..Layer::new(MOST_ROWS) });
        let is_full = [1_u64, 2].map(|row| {
            assert!(met.add(&row.to_be_bytes()));
            met.is_full()
        });
        assert_eq!(is_full, [false, true]);
    }
}
