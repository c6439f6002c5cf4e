use crate::region::Region;
use std::ops::{Deref, DerefMut};

/// Words that are zero at the start. A large array takes the host's memory at the first write, even if such arrays have
/// been created and dropped before: the tags of a large cache that is hardly used cost almost nothing.
pub(crate) struct Words {
    start: *mut u64,
    count: usize,
    memory: Memory,
}

/// The storage of the words. Small arrays do not get pages of their own: arrays that all start at a page compete for
/// the same few sets of the host's caches.
enum Memory {
    Small(#[allow(dead_code, reason = "owned, and reached through `start`")] Vec<u64>),
    Large(Region),
}

/// Minimum number of words of a large array.
const LARGE: usize = 1 << 13;

// SAFETY: the pointer is to memory that the value owns.
unsafe impl Send for Words {}
// SAFETY: through `&self` the words can only be read.
unsafe impl Sync for Words {}

impl Words {
    /// So many words.
    ///
    /// # Panics
    /// When the host cannot reserve the address space.
    pub(crate) fn new(count: usize) -> Words {
        if count < LARGE {
            let mut words = vec![0; count];
            return Words {
                start: words.as_mut_ptr(),
                count,
                memory: Memory::Small(words),
            };
        }
        let bytes = (count * size_of::<u64>()).next_multiple_of(crate::PAGE_BYTES as usize);
        let region = Region::reserve(bytes, 0).expect("address space for the tags of a cache");
        Words {
            start: region.start().cast(),
            count,
            memory: Memory::Large(region),
        }
    }

    /// Allocates the host's memory for all of it now.
    pub(crate) fn populate(&mut self) {
        if let Memory::Large(region) = &mut self.memory {
            region.populate();
        }
    }
}

impl Deref for Words {
    type Target = [u64];

    #[inline]
    fn deref(&self) -> &[u64] {
        // SAFETY: there are so many words, aligned and initialised, and they are borrowed as `self` is.
        unsafe { std::slice::from_raw_parts(self.start, self.count) }
    }
}

impl DerefMut for Words {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u64] {
        // SAFETY: as above, and nobody else borrows them.
        unsafe { std::slice::from_raw_parts_mut(self.start, self.count) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_zero_and_keep_what_is_written() {
        for count in [1000, LARGE] {
            let mut words = Words::new(count);
            assert!(words.iter().all(|word| *word == 0));
            words[999] = 7;
            assert_eq!((words.len(), words[999], words[998]), (count, 7, 0));
        }
        assert!(Words::new(0).is_empty());
    }
}
