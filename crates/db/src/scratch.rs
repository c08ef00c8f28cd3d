//! Bytes of which is not known beforehand how many they are.

use std::cell::Cell;

/// More is not kept for the next time.
const MOST_KEPT: usize = 64 << 10;

thread_local! {
    static SCRATCH: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// What `fill` writes, in memory of just its length: entries are held until they are flushed, and
/// `Bytes` of a longer piece take another one to know of it. It is written where the last was, so
/// that no memory is asked for but that.
pub(crate) fn exactly<E>(fill: impl FnOnce(&mut Vec<u8>) -> Result<(), E>) -> Result<Vec<u8>, E> {
    SCRATCH.with(|kept| {
        let mut scratch = kept.take();
        scratch.clear();
        let filled = fill(&mut scratch).map(|()| scratch.as_slice().to_vec());
        if scratch.capacity() <= MOST_KEPT {
            kept.set(scratch);
        }
        filled
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_those_that_were_written_last_and_take_no_more_room() {
        for length in [100, 3, 0, 200_000, 7] {
            let fill = |out: &mut Vec<u8>| {
                // One within the other has memory of its own.
                let inner = exactly(|out| {
                    out.extend([1, 2, 3]);
                    Ok::<_, ()>(())
                })?;
                out.resize(length, 7);
                out.extend(inner);
                Ok::<_, ()>(())
            };
            let bytes = exactly(fill).unwrap();
            assert_eq!((bytes.len(), bytes.capacity()), (length + 3, length + 3));
            assert!(bytes.ends_with(&[1, 2, 3]) && bytes[..length].iter().all(|byte| *byte == 7));
        }
        assert!(exactly(|_| Err(())).is_err());
    }
}
