use crate::prefetch::prefetch;
use crate::words::Words;
use rackwright_state::{Pass, State, StateError};

/// The size and shape of a cache.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shape {
    /// Bytes of data it holds.
    pub bytes: u64,
    /// Lines that share an index.
    pub ways: u32,
}

/// Bytes in a line, at every level.
pub const LINE_BYTES: u64 = 64;

/// The result of a lookup.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lookup {
    /// The line was there; its index for [`Cache::flags`].
    Hit(usize),
    /// It was not.
    Miss,
}

/// The line that a new line has evicted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Victim {
    /// Address of its first byte.
    pub address: u64,
    /// The flags it had.
    pub flags: u8,
}

/// The tags of a set-associative cache with least-recently-used replacement; it stores no data.
///
/// The lines of a set are ordered by their use, the most recent first and empty ways last, so that a hit on the first
/// (most of them) costs one comparison, and replacement needs no counters.
pub struct Cache {
    lines: Words,
    set_mask: u64,
    ways: usize,
}

/// A line packs its line number (address / 64), its flags in the low byte, and this bit for "valid".
const VALID: u64 = 1 << 63;
const FLAG_BITS: u32 = 4;
const FLAGS: u64 = (1 << FLAG_BITS) - 1;

impl Cache {
    /// An empty cache.
    ///
    /// # Panics
    /// If the number of sets is not a power of two (parameters are checked when they are created).
    pub fn new(shape: Shape) -> Cache {
        let sets = shape.bytes / LINE_BYTES / u64::from(shape.ways);
        assert!(sets.is_power_of_two(), "{sets} sets is not a power of two");
        Cache {
            lines: Words::new((sets * u64::from(shape.ways)) as usize),
            set_mask: sets - 1,
            ways: shape.ways as usize,
        }
    }

    #[inline]
    fn set_start(&self, line: u64) -> usize {
        (line & self.set_mask) as usize * self.ways
    }

    #[inline]
    fn key(line: u64) -> u64 {
        VALID | line << FLAG_BITS
    }

    /// Takes the host's memory for all tags now.
    pub(crate) fn populate(&mut self) {
        self.lines.populate();
    }

    /// Makes the host prefetch the tags for a lookup of `address`.
    #[inline]
    pub fn prefetch(&self, address: u64) {
        let start = self.set_start(address / LINE_BYTES);
        for part in self.lines[start..start + self.ways].chunks(LINE_BYTES as usize / size_of::<u64>()) {
            prefetch(part.as_ptr());
        }
    }

    /// Searches for the line that contains `address`, and makes it the most recently used one if it is present.
    #[inline]
    pub fn touch(&mut self, address: u64) -> Lookup {
        let line = address / LINE_BYTES;
        let start = self.set_start(line);
        let key = Self::key(line);
        let set = &mut self.lines[start..start + self.ways];
        if set[0] >> FLAG_BITS == key >> FLAG_BITS {
            return Lookup::Hit(start);
        }
        for way in 1..set.len() {
            let found = set[way];
            if found >> FLAG_BITS == key >> FLAG_BITS {
                set.copy_within(..way, 1);
                set[0] = found;
                return Lookup::Hit(start);
            }
        }
        Lookup::Miss
    }

    /// Whether the line of `address` is present and the most recently used one of its set, so that a [`Cache::touch`]
    /// would change nothing, has the flags `with` and none of the flags `without`.
    #[inline(always)]
    pub fn is_latest(&self, address: u64, with: u8, without: u8) -> bool {
        let line = address / LINE_BYTES;
        // SAFETY: the lines are as many as sets times ways, and the mask leaves no set that is not there.
        let latest = unsafe { *self.lines.get_unchecked(self.set_start(line)) };
        let any = FLAGS & !u64::from(with | without);
        latest | any == Self::key(line) | any | u64::from(with)
    }

    /// Whether the line of `address` is present, without counting as a use.
    pub fn contains(&self, address: u64) -> bool {
        let line = address / LINE_BYTES;
        let start = self.set_start(line);
        let key = Self::key(line) >> FLAG_BITS;
        self.lines[start..start + self.ways]
            .iter()
            .any(|&entry| entry >> FLAG_BITS == key)
    }

    /// Flags (four bits, free for the user) of the line at an index that [`Cache::touch`] just returned.
    #[inline]
    pub fn flags(&self, index: usize) -> u8 {
        (self.lines[index] & FLAGS) as u8
    }

    /// Replaces the flags of the line at an index that [`Cache::touch`] just returned.
    #[inline]
    pub fn set_flags(&mut self, index: usize, flags: u8) {
        debug_assert!(flags < 1 << FLAG_BITS);
        self.lines[index] = self.lines[index] & !FLAGS | u64::from(flags);
    }

    /// Inserts the line of `address`, which must not be present, as the most recently used one. Returns the line that
    /// left, if the set was full.
    #[inline]
    pub fn insert(&mut self, address: u64, flags: u8) -> Option<Victim> {
        debug_assert!(!self.contains(address));
        let line = address / LINE_BYTES;
        let start = self.set_start(line);
        let set = &mut self.lines[start..start + self.ways];
        // Empty ways are last.
        let last = set.len() - 1;
        let left = set[last];
        set.copy_within(..last, 1);
        set[0] = Self::key(line) | u64::from(flags);
        (left & VALID != 0).then(|| Victim {
            address: (left & !VALID) >> FLAG_BITS << LINE_BYTES.trailing_zeros(),
            flags: (left & FLAGS) as u8,
        })
    }

    /// Takes the line of `address` out; returns its flags if it was there.
    pub fn remove(&mut self, address: u64) -> Option<u8> {
        let Lookup::Hit(start) = self.touch(address) else {
            return None;
        };
        let flags = self.flags(start);
        let set = &mut self.lines[start..start + self.ways];
        set.copy_within(1.., 0);
        set[set.len() - 1] = 0;
        Some(flags)
    }
}

/// A cache that is hardly used has few entries.
impl State for Cache {
    fn pass(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        let used = |entry: &(usize, &u64)| *entry.1 != 0;
        let entries = self.lines.iter().enumerate().filter(used);
        let mut entries: Vec<(usize, u64)> = entries.map(|(index, entry)| (index, *entry)).collect();
        if by.restores() {
            entries.iter().for_each(|(index, _)| self.lines[*index] = 0);
        }
        entries.pass(by)?;
        if by.restores() {
            for (index, entry) in entries {
                *self.lines.get_mut(index).ok_or(StateError::Damaged)? = entry;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn small() -> Cache {
        Cache::new(Shape {
            bytes: 4 * 64 * 2,
            ways: 2,
        })
    }

    #[test]
    fn the_least_recently_used_line_leaves() {
        let mut cache = small();
        let stride = 4 * 64;
        assert_eq!(cache.insert(0, 1), None);
        assert_eq!(cache.insert(stride, 2), None);
        assert!(matches!(cache.touch(63), Lookup::Hit(_)));
        let victim = cache.insert(2 * stride, 0);
        assert_eq!(
            victim,
            Some(Victim {
                address: stride,
                flags: 2
            })
        );
        assert!(cache.contains(0) && !cache.contains(stride));
    }

    #[test]
    fn the_latest_line_of_a_set_is_known_with_its_flags() {
        let mut cache = small();
        cache.insert(0, 0);
        cache.insert(256, 1);
        assert!(cache.is_latest(300, 1, 2) && cache.is_latest(300, 0, 0));
        assert!(!cache.is_latest(300, 2, 0) && !cache.is_latest(300, 0, 1));
        assert!(!cache.is_latest(0, 0, 0) && !cache.is_latest(64, 0, 0));
        cache.touch(0);
        assert!(cache.is_latest(0, 0, 3) && !cache.is_latest(0, 1, 0));
    }

    #[test]
    fn flags_follow_their_line() {
        let mut cache = small();
        cache.insert(64, 0);
        let Lookup::Hit(index) = cache.touch(64) else {
            panic!("just inserted")
        };
        cache.set_flags(index, 5);
        cache.insert(64 + 256, 0);
        assert_eq!(cache.remove(64), Some(5));
        assert_eq!(cache.remove(64), None);
        assert!(cache.contains(64 + 256));
    }

    #[test]
    fn a_high_address_keeps_its_bits() {
        let mut cache = small();
        let high = 0xffff_ffff_ffff_ff00;
        cache.insert(high, 3);
        cache.insert(high - 256, 0);
        let victim = cache.insert(high - 512, 0).unwrap();
        assert_eq!(victim.address, high);
    }
}
