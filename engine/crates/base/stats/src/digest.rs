use crate::ContentSum;
use rackwright_time::{Cycle, Domain};
use std::fmt;
use xxhash_rust::xxh3::Xxh3Default;

/// A hash of all events of a run, in order: equal digests mean equal runs.
///
/// It covers link traffic, memory traffic of units, commands, commit counts, device events, and the contents of
/// registers and memories. It is not meant to withstand an adversary.
#[derive(Clone)]
pub struct Digest {
    // In a box: its alignment of 64 bytes is more than that of the memory of a Python object.
    hash: Box<Xxh3Default>,
    /// Data still to be hashed: hashing many small pieces together costs much less than one by one.
    pending: Box<[u8; PENDING]>,
    used: usize,
}

const PENDING: usize = 1024;

impl Default for Digest {
    fn default() -> Digest {
        Digest {
            hash: Box::default(),
            pending: Box::new([0; PENDING]),
            used: 0,
        }
    }
}

impl Digest {
    /// There have been no events yet.
    pub fn new() -> Digest {
        Digest::default()
    }

    /// Adds bytes unchanged.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.flush();
        self.hash.update(bytes);
    }

    /// The same for a few bytes whose number is known when this is compiled.
    #[inline]
    pub fn record<const BYTES: usize>(&mut self, record: &[u8; BYTES]) {
        const { assert!(BYTES <= PENDING) };
        if self.used + BYTES > PENDING {
            self.flush();
        }
        self.pending[self.used..self.used + BYTES].copy_from_slice(record);
        self.used += BYTES;
    }

    #[cold]
    fn flush(&mut self) {
        self.hash.update(&self.pending[..self.used]);
        self.used = 0;
    }

    /// Adds a number.
    #[inline]
    pub fn number(&mut self, number: u64) {
        self.record(&number.to_le_bytes());
    }

    /// Adds an instant.
    #[inline]
    pub fn cycle<C: Domain>(&mut self, cycle: Cycle<C>) {
        self.number(cycle.0);
    }

    /// Adds the value of another.
    pub fn digest(&mut self, other: &Digest) {
        self.bytes(&other.value().to_le_bytes());
    }

    /// Adds the contents of a memory.
    pub fn contents(&mut self, contents: ContentSum) {
        self.bytes(&contents.value().to_le_bytes());
    }

    /// The value so far; more may be added after.
    pub fn value(&self) -> u128 {
        let mut hash = self.hash.clone();
        hash.update(&self.pending[..self.used]);
        hash.digest128()
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

    #[test]
    fn pieces_do_not_matter() {
        let text: Vec<u8> = (0..5000).map(|each| (each * 7 % 251) as u8).collect();
        let mut whole = Digest::new();
        whole.bytes(&text);
        for before in [0, 100, 1000] {
            let mut pieces = Digest::new();
            pieces.bytes(&text[..before]);
            for piece in text[before..].chunks(8) {
                match piece.try_into() {
                    Ok(number) => pieces.number(u64::from_le_bytes(number)),
                    Err(_) => pieces.bytes(piece),
                }
            }
            assert_eq!(pieces.value(), whole.value());
        }
    }
}
