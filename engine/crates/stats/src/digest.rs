use rackwright_time::Cycle;
use std::fmt;
use xxhash_rust::xxh3::Xxh3Default;

/// A hash over everything that happened in a run, in order: equal digests mean equal runs.
///
/// It covers link traffic, memory traffic of units, commands, commit counts and device events. It
/// is not meant to withstand an adversary.
#[derive(Clone, Default)]
pub struct Digest {
    // In a box: its alignment of 64 bytes is more than that of the memory of a Python object.
    hash: Box<Xxh3Default>,
}

impl Digest {
    /// Nothing has happened yet.
    pub fn new() -> Digest {
        Digest::default()
    }

    /// Adds bytes as they are.
    #[inline]
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.hash.update(bytes);
    }

    /// Adds a number.
    #[inline]
    pub fn number(&mut self, number: u64) {
        self.hash.update(&number.to_le_bytes());
    }

    /// Adds an instant.
    #[inline]
    pub fn cycle(&mut self, cycle: Cycle) {
        self.number(cycle.0);
    }

    /// Adds the value of another.
    pub fn digest(&mut self, other: &Digest) {
        self.bytes(&other.value().to_le_bytes());
    }

    /// The value so far; more may be added after.
    pub fn value(&self) -> u128 {
        self.hash.digest128()
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.value())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_matters() {
        let (mut one, mut other) = (Digest::new(), Digest::new());
        one.number(1);
        one.number(2);
        other.number(2);
        other.number(1);
        assert_ne!(one.to_string(), other.to_string());
        assert_eq!(one.to_string().len(), 32);
    }
}
