use crate::cache::LINE_BYTES;
use rackwright_state::{Pass, State, StateError};
use rackwright_time::Cycle;

/// Most harts that share a hierarchy: one bit for each in an [`Entry`].
pub const MAXIMUM_SHARERS: usize = u64::BITS as usize;

/// In which state the holders have a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Sharing {
    /// Several L1 caches have it to read, or one that had to share it.
    Shared,
    /// One cache has it exclusively, and may modify it without a request.
    Exclusive,
    /// One cache has it exclusively, and has modified it.
    Modified,
}

/// A line that L1 data caches hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Entry {
    line: u64,
    /// A bit for each hart.
    pub(crate) holders: u64,
    pub(crate) sharing: Sharing,
    /// Time at which the last recipient of the line from another L1 acknowledges it; until then, further requests wait.
    pub(crate) acknowledged: Cycle,
}

impl Entry {
    /// The holders other than `hart`.
    pub(crate) fn others(&self, hart: usize) -> u64 {
        self.holders & !(1 << hart)
    }
}

/// The lines in each L1 data cache: a duplicate of their tags, so that it has room for all of them.
pub(crate) struct Directory {
    sets: Box<[Vec<Entry>]>,
}

/// Lists that entries are spread over; two or three lines of a large L1 share one.
const SETS: usize = 256;

impl Directory {
    pub(crate) fn new() -> Directory {
        Directory {
            sets: std::iter::repeat_with(Vec::new).take(SETS).collect(),
        }
    }

    #[inline]
    fn place(address: u64) -> (usize, u64) {
        let line = address / LINE_BYTES;
        (line as usize % SETS, line)
    }

    /// The entry of the line that holds `address`, when an L1 holds it.
    #[inline]
    pub(crate) fn find(&mut self, address: u64) -> Option<&mut Entry> {
        let (set, line) = Self::place(address);
        self.sets[set].iter_mut().find(|entry| entry.line == line)
    }

    /// Records that `hart` has received a line that no other cache has.
    #[inline]
    pub(crate) fn insert(&mut self, address: u64, hart: usize, sharing: Sharing) {
        debug_assert!(self.find(address).is_none());
        let (set, line) = Self::place(address);
        self.sets[set].push(Entry {
            line,
            holders: 1 << hart,
            sharing,
            acknowledged: Cycle::ZERO,
        });
    }

    /// Removes a line; returns its entry.
    #[inline]
    pub(crate) fn remove(&mut self, address: u64) -> Option<Entry> {
        let (set, line) = Self::place(address);
        let index = self.sets[set].iter().position(|entry| entry.line == line)?;
        Some(self.sets[set].swap_remove(index))
    }

    /// Notes that `hart` holds the line no longer.
    #[inline]
    pub(crate) fn leave(&mut self, address: u64, hart: usize) {
        let (set, line) = Self::place(address);
        let Some(index) = self.sets[set].iter().position(|entry| entry.line == line) else {
            return;
        };
        let entry = &mut self.sets[set][index];
        entry.holders = entry.others(hart);
        if entry.holders == 0 {
            self.sets[set].swap_remove(index);
        }
    }
}

impl State for Entry {
    fn pass(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        self.line.pass(by)?;
        self.holders.pass(by)?;
        by.one_of(
            &mut self.sharing,
            &[Sharing::Shared, Sharing::Exclusive, Sharing::Modified],
        )?;
        self.acknowledged.pass(by)
    }
}

impl State for Directory {
    fn pass(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        let blank = || Entry {
            line: 0,
            holders: 0,
            sharing: Sharing::Shared,
            acknowledged: Cycle::ZERO,
        };
        self.sets.iter_mut().try_for_each(|set| by.list(set, blank))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_known_as_long_as_somebody_holds_it() {
        let mut directory = Directory::new();
        directory.insert(0x1000, 3, Sharing::Exclusive);
        directory.insert(0x1000 + 256 * LINE_BYTES, 1, Sharing::Modified);
        let entry = directory.find(0x103f).unwrap();
        assert_eq!((entry.holders, entry.others(3)), (8, 0));
        entry.holders |= 1;
        directory.leave(0x1000, 3);
        assert_eq!(directory.find(0x1000).unwrap().holders, 1);
        directory.leave(0x1000, 3);
        directory.leave(0x1000, 0);
        assert!(directory.find(0x1000).is_none());
        let other = directory.remove(0x1000 + 256 * LINE_BYTES).unwrap();
        assert_eq!(other.sharing, Sharing::Modified);
        assert!(directory.remove(0x1000).is_none());
    }
}
