use crate::region::Region;
use std::ops::{Deref, DerefMut};

/// Words that are zero at the start and take the host's memory when they are first written, however often such an
/// array was made and dropped before: the tags of a large cache that is hardly used cost next to nothing.
pub(crate) struct Words {
    region: Region,
    count: usize,
}

impl Words {
    /// So many words.
    ///
    /// # Panics
    /// When the host cannot reserve the address space.
    pub(crate) fn new(count: usize) -> Words {
        let bytes = (count * size_of::<u64>()).next_multiple_of(crate::PAGE_BYTES as usize);
        Words {
            region: Region::reserve(bytes).expect("address space for the tags of a cache"),
            count,
        }
    }
}

impl Deref for Words {
    type Target = [u64];

    #[inline]
    fn deref(&self) -> &[u64] {
        // SAFETY: the region holds so many words, is aligned to a page, and is borrowed as `self` is.
        unsafe { std::slice::from_raw_parts(self.region.start().cast(), self.count) }
    }
}

impl DerefMut for Words {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u64] {
        // SAFETY: as above, and nobody else borrows it.
        unsafe { std::slice::from_raw_parts_mut(self.region.start().cast(), self.count) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_zero_and_keep_what_is_written() {
        let mut words = Words::new(1000);
        assert!(words.iter().all(|word| *word == 0));
        words[999] = 7;
        assert_eq!((words.len(), words[999], words[998]), (1000, 7, 0));
        assert!(Words::new(0).is_empty());
    }
}
