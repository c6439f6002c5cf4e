use xxhash_rust::xxh3::xxh3_128;

/// A hash that distinguishes a page of memory from others: zero if all of the page is zero.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct ContentHash(u128);

impl ContentHash {
    /// Of these bytes.
    pub fn of(bytes: &[u8]) -> ContentHash {
        if bytes.iter().all(|byte| *byte == 0) {
            return ContentHash::default();
        }
        ContentHash(xxh3_128(bytes))
    }

    /// Whether all bytes are zero.
    pub fn is_zero(self) -> bool {
        self == ContentHash::default()
    }
}

/// A hash that distinguishes memories: the sum of a hash of each page and its position. Pages may be added in any
/// order, and zero pages may be omitted.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct ContentSum(u128);

impl ContentSum {
    /// Adds the page at `place`.
    pub fn add(&mut self, place: u128, page: ContentHash) {
        if !page.is_zero() {
            let mut both = [0; 32];
            both[..16].copy_from_slice(&place.to_le_bytes());
            both[16..].copy_from_slice(&page.0.to_le_bytes());
            self.0 = self.0.wrapping_add(xxh3_128(&both));
        }
    }

    pub(crate) fn value(self) -> u128 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(pages: &[(u128, &[u8])]) -> ContentSum {
        let mut sum = ContentSum::default();
        pages
            .iter()
            .for_each(|(place, bytes)| sum.add(*place, ContentHash::of(bytes)));
        sum
    }

    #[test]
    fn places_and_contents_matter_and_order_does_not() {
        let both = sum(&[(0, b"one"), (1, b"two")]);
        assert_eq!(both, sum(&[(1, b"two"), (0, b"one")]));
        assert_ne!(both, sum(&[(0, b"two"), (1, b"one")]));
        assert_ne!(both, sum(&[(0, b"one")]));
        assert_ne!(both, sum(&[(0, b"one"), (2, b"two")]));
    }

    #[test]
    fn zeros_are_nothing() {
        assert!(ContentHash::of(&[0; 4096]).is_zero());
        assert_eq!(sum(&[(0, &[0; 64]), (1, b"one")]), sum(&[(1, b"one")]));
        let mut last = [0; 4096];
        last[4095] = 1;
        assert!(!ContentHash::of(&last).is_zero());
    }
}
