use crate::timing::random::ShiftRegister;
use rackwright_state::state;

const LINE_SHIFT: u32 = 6;
const SETS: usize = 64;
const WAYS: usize = 4;

/// An entry is a line number with two flags below it; line numbers of 58 bits leave room for them.
const VALID: u64 = 1;
const MODIFIED: u64 = 2;
const FLAGS: u32 = 2;

/// A line that had to leave.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Left {
    /// Address of its first byte.
    pub address: u64,
    /// Whether it must be written back.
    pub modified: bool,
}

/// The tags of one of Rocket's L1 caches: 64 sets of 4 ways of 64 bytes, with pseudo-random replacement that does
/// not prefer empty ways.
#[derive(Clone)]
pub(super) struct L1 {
    entries: Box<[[u64; WAYS]; SETS]>,
    victims: ShiftRegister,
}

impl L1 {
    /// An empty cache that has replaced `replaced` lines before.
    pub(super) fn new(replaced: u32) -> L1 {
        let mut victims = ShiftRegister::new();
        for _ in 0..replaced {
            victims.advance();
        }
        L1 {
            entries: Box::new([[0; WAYS]; SETS]),
            victims,
        }
    }

    #[inline]
    fn place(address: u64) -> (usize, u64) {
        let line = address >> LINE_SHIFT;
        (line as usize % SETS, line << FLAGS | VALID)
    }

    /// Whether the line of `address` is present.
    #[inline]
    pub(super) fn contains(&self, address: u64) -> bool {
        let (set, key) = Self::place(address);
        self.entries[set].iter().any(|entry| entry & !MODIFIED == key)
    }

    /// Marks the line as modified; returns whether it was clean before. Absent lines stay absent.
    #[inline]
    pub(super) fn modify(&mut self, address: u64) -> Option<bool> {
        let (set, key) = Self::place(address);
        let entry = self.entries[set]
            .iter_mut()
            .find(|entry| **entry & !MODIFIED == key)?;
        let was_clean = *entry & MODIFIED == 0;
        *entry |= MODIFIED;
        Some(was_clean)
    }

    /// Inserts an absent line, replacing the way that the generator currently selects.
    pub(super) fn replace(&mut self, address: u64) -> Option<Left> {
        let (set, key) = Self::place(address);
        let entry = &mut self.entries[set][self.victims.way()];
        let left = *entry;
        *entry = key;
        (left & VALID != 0).then_some(Left {
            address: left >> FLAGS << LINE_SHIFT,
            modified: left & MODIFIED != 0,
        })
    }

    /// Advances the generator, once for every answer: a line, or the permission to write to one.
    pub(super) fn choose_next(&mut self) {
        self.victims.advance();
    }

    /// Forgets a line.
    pub(super) fn remove(&mut self, address: u64) {
        self.update(address, |_| 0);
    }

    /// Keeps a line, no longer modified.
    pub(super) fn clean(&mut self, address: u64) {
        self.update(address, |entry| entry & !MODIFIED);
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.entries.fill([0; WAYS]);
    }

    fn update(&mut self, address: u64, change: impl Fn(u64) -> u64) {
        let (set, key) = Self::place(address);
        for entry in &mut self.entries[set] {
            if *entry & !MODIFIED == key {
                *entry = change(*entry);
            }
        }
    }
}

state!(L1 { entries, victims });

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_stays_until_its_way_is_chosen() {
        let mut cache = L1::new(0);
        assert_eq!(cache.replace(0x8000_0000), None);
        assert!(cache.contains(0x8000_003f) && !cache.contains(0x8000_0040));
        assert_eq!(cache.modify(0x8000_0000), Some(true));
        assert_eq!(cache.modify(0x8000_0008), Some(false));
        let left = cache.replace(0x8000_1000).unwrap();
        assert_eq!((left.address, left.modified), (0x8000_0000, true));
    }

    #[test]
    fn snoops_clean_and_remove() {
        let mut cache = L1::new(3);
        cache.replace(64);
        cache.modify(64);
        cache.clean(64);
        assert_eq!(cache.modify(64), Some(true));
        cache.remove(64);
        assert_eq!(cache.modify(64), None);
    }
}
