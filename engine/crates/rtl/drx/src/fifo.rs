/// A queue of at most `N`.
///
/// Room and availability are determined before a cycle changes them, as in hardware: a full queue accepts nothing in
/// the cycle in which an entry leaves. With two entries it is the hardware's `SkidBuffer`.
#[derive(Debug, Clone)]
pub struct Fifo<T, const N: usize> {
    entries: [T; N],
    head: usize,
    len: usize,
}

impl<T: Copy + Default, const N: usize> Fifo<T, N> {
    /// An empty one.
    pub fn new() -> Self {
        Fifo {
            entries: [T::default(); N],
            head: 0,
            len: 0,
        }
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it holds none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether one more may enter.
    pub fn has_room(&self) -> bool {
        self.len < N
    }

    /// The one that leaves next.
    pub fn front(&self) -> Option<&T> {
        (self.len != 0).then(|| &self.entries[self.head])
    }

    /// Takes it out.
    pub fn pop(&mut self) -> Option<T> {
        let front = *self.front()?;
        self.head = (self.head + 1) % N;
        self.len -= 1;
        Some(front)
    }

    /// Adds an entry, for which there was room.
    pub fn push(&mut self, entry: T) {
        debug_assert!(self.len < N, "a queue of {N} has no room");
        self.entries[(self.head + self.len) % N] = entry;
        self.len += 1;
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.len = 0;
    }
}
