use crate::names::Function;

/// A call on the time line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Slice {
    /// The thread, by its number in the profile.
    pub thread: u32,
    /// How many calls are around it.
    pub depth: u32,
    /// What was called.
    pub function: Function,
    /// The cycle of the call.
    pub begin: u64,
    /// The cycle of the return.
    pub end: u64,
}

/// The longest calls of a run: when there are too many, those that are shorter than a limit go, which then doubles.
#[derive(Debug)]
pub(crate) struct Slices {
    kept: Vec<Slice>,
    shortest: u64,
    dropped: u64,
}

/// How many are kept.
const CAPACITY: usize = 1 << 17;

impl Slices {
    pub(crate) fn new() -> Slices {
        Slices {
            kept: Vec::new(),
            shortest: 1,
            dropped: 0,
        }
    }

    #[inline]
    pub(crate) fn add(&mut self, slice: Slice) {
        if slice.end - slice.begin < self.shortest {
            self.dropped += 1;
            return;
        }
        self.kept.push(slice);
        if self.kept.len() >= CAPACITY {
            self.thin();
        }
    }

    fn thin(&mut self) {
        while self.kept.len() > CAPACITY / 2 {
            self.shortest *= 2;
            let before = self.kept.len();
            self.kept.retain(|slice| slice.end - slice.begin >= self.shortest);
            self.dropped += (before - self.kept.len()) as u64;
        }
    }

    pub(crate) fn kept(&self) -> &[Slice] {
        &self.kept
    }

    pub(crate) fn dropped(&self) -> u64 {
        self.dropped
    }
}
