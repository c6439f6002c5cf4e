use crate::lanes::{Lanes, BLOCK, STRIPE};
use crate::ContentSum;
use rackwright_state::{Pass, State, StateError};
use rackwright_time::{Cycle, Domain};
use std::fmt;
use xxhash_rust::xxh3::xxh3_128;

/// A hash of all events of a run, in order: equal digests mean equal runs.
///
/// It covers link traffic, memory traffic of units, commands, commit counts, device events, and the contents of
/// registers and memories. It is not meant to withstand an adversary.
///
/// The hash is XXH3 with 128 bits. Checkpoints hold its state, which implementations in libraries keep to themselves.
#[derive(Clone)]
pub struct Digest {
    lanes: Lanes,
    /// Number of blocks that are in the sums.
    blocks: u64,
    /// The end of the last of them.
    before: [u8; STRIPE],
    /// Data still to be hashed: at least one byte of it, unless there has been none, as the end is hashed otherwise.
    pending: Box<[u8; BLOCK]>,
    used: usize,
}

/// Shorter inputs are hashed in other ways.
const LONGEST_SHORT: usize = 240;

impl Default for Digest {
    fn default() -> Digest {
        Digest {
            lanes: Lanes::default(),
            blocks: 0,
            before: [0; STRIPE],
            pending: Box::new([0; BLOCK]),
            used: 0,
        }
    }
}

impl State for Digest {
    fn pass(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        self.lanes.0.pass(by)?;
        self.blocks.pass(by)?;
        self.used.pass(by)?;
        by.bytes(&mut self.before)?;
        by.bytes(self.pending.get_mut(..self.used).ok_or(StateError::Damaged)?)
    }
}

impl Digest {
    /// There have been no events yet.
    pub fn new() -> Digest {
        Digest::default()
    }

    /// Adds bytes unchanged.
    pub fn bytes(&mut self, mut bytes: &[u8]) {
        while self.used + bytes.len() > BLOCK {
            let (own, rest) = bytes.split_at(BLOCK - self.used);
            self.pending[self.used..].copy_from_slice(own);
            self.lanes.block(&self.pending);
            self.before.copy_from_slice(&self.pending[BLOCK - STRIPE..]);
            self.blocks += 1;
            self.used = 0;
            bytes = rest;
        }
        self.pending[self.used..self.used + bytes.len()].copy_from_slice(bytes);
        self.used += bytes.len();
    }

    /// The same for a few bytes whose number is known when this is compiled.
    #[inline]
    pub fn record<const BYTES: usize>(&mut self, record: &[u8; BYTES]) {
        const { assert!(BYTES <= BLOCK) };
        match self.pending.get_mut(self.used..self.used + BYTES) {
            Some(place) => {
                place.copy_from_slice(record);
                self.used += BYTES;
            }
            None => self.add_across(record),
        }
    }

    #[cold]
    fn add_across(&mut self, record: &[u8]) {
        self.bytes(record);
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
        let pending = &self.pending[..self.used];
        if self.blocks == 0 && self.used <= LONGEST_SHORT {
            return xxh3_128(pending);
        }
        let mut lanes = self.lanes;
        lanes.stripes(&pending[..(self.used - 1) / STRIPE * STRIPE]);
        let last = match pending.last_chunk() {
            Some(last) => *last,
            None => {
                let mut last = [0; STRIPE];
                let (older, newer) = last.split_at_mut(STRIPE - self.used);
                older.copy_from_slice(&self.before[self.used..]);
                newer.copy_from_slice(pending);
                last
            }
        };
        lanes.finish(&last, self.blocks * BLOCK as u64 + self.used as u64)
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

    fn text(length: usize) -> Vec<u8> {
        (0..length).map(|each| (each * 7 % 251) as u8).collect()
    }

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
    fn it_is_xxh3_for_every_length() {
        let whole = text(4200);
        let lengths = (0..300).chain([
            959, 960, 961, 1023, 1024, 1025, 1087, 1088, 1089, 2048, 2049, 3000, 4200,
        ]);
        for length in lengths {
            let mut digest = Digest::new();
            digest.bytes(&whole[..length]);
            assert_eq!(digest.value(), xxh3_128(&whole[..length]), "{length} bytes");
        }
    }

    #[test]
    fn pieces_do_not_matter_and_the_state_is_all() {
        let text = text(5000);
        for before in [0, 100, 1000, 1024] {
            let mut pieces = Digest::new();
            pieces.bytes(&text[..before]);
            for piece in text[before..].chunks(8) {
                match piece.try_into() {
                    Ok(number) => pieces.number(u64::from_le_bytes(number)),
                    Err(_) => pieces.bytes(piece),
                }
                let mut saved = Vec::new();
                pieces.pass(&mut Pass::Save(&mut saved)).unwrap();
                pieces = Digest::new();
                pieces.pass(&mut Pass::Restore(&saved)).unwrap();
            }
            assert_eq!(pieces.value(), xxh3_128(&text));
        }
    }
}
