//! Values with stable addresses, which are dropped together.

/// Values in pieces of memory of one size.
///
/// Pieces do not grow with the number of values, unlike those of the usual arenas, in which each of a thousand idle
/// servers would waste as much memory again.
pub(crate) struct Chunks<T> {
    chunks: Vec<Vec<T>>,
    kept: usize,
}

/// Values in a piece, unless more belong together.
const CHUNK: usize = 1024;

impl<T> Chunks<T> {
    pub(crate) fn new() -> Chunks<T> {
        Chunks {
            chunks: Vec::new(),
            kept: 0,
        }
    }

    /// Stores values, one after the other. The pointer is valid until this value is dropped, and no other pointers to
    /// them exist.
    pub(crate) fn keep(&mut self, things: impl ExactSizeIterator<Item = T>) -> *mut [T] {
        let count = things.len();
        self.kept += count;
        let has_room = |chunk: &Vec<T>| chunk.capacity() - chunk.len() >= count;
        if !self.chunks.last().is_some_and(has_room) {
            self.chunks.push(Vec::with_capacity(count.max(CHUNK)));
        }
        let chunk = self.chunks.last_mut().expect("one was put there");
        let begin = chunk.len();
        chunk.extend(things);
        // SAFETY: there is room for all of them, so that none before has moved. The pointer is derived from the piece's
        // own pointer instead of a slice, which would claim the memory of earlier pointers.
        let first = unsafe { chunk.as_mut_ptr().add(begin) };
        std::ptr::slice_from_raw_parts_mut(first, count)
    }

    /// Number of values.
    pub(crate) fn len(&self) -> usize {
        self.kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn things_stay_where_they_are() {
        let mut chunks = Chunks::new();
        let mut kept = Vec::new();
        for count in (0..100).chain([CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK, 1]) {
            let first = chunks.len();
            kept.push((chunks.keep(first..first + count), first..first + count));
        }
        for (things, numbers) in kept {
            // SAFETY: `chunks` is still there, and nobody else uses what it keeps.
            assert!(unsafe { &*things }.iter().copied().eq(numbers));
        }
    }
}
