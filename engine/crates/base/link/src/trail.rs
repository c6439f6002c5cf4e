use rackwright_state::{Pass, State, StateError};

/// A running hash of the items that a port has sent, in order: two multiplications per 32 bytes.
///
/// There is a trail for each port because the order within a port depends neither on the windows of simulated time nor
/// on the thread that visits a model. The digest of a run is computed from the trails.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Trail(u64);

/// The odd constants of wyhash: about half of their bits are set, in every byte.
const SALT: [u64; 2] = [0xa076_1d64_78bd_642f, 0xe703_7ed1_a0b4_28db];

impl Trail {
    /// Nothing has been sent yet.
    pub fn new() -> Trail {
        Trail::default()
    }

    /// Adds two words.
    #[inline]
    pub fn add(&mut self, one: u64, other: u64) {
        let product = u128::from(one ^ SALT[0] ^ self.0) * u128::from(other ^ SALT[1]);
        self.0 = (product as u64 ^ (product >> 64) as u64).wrapping_add(self.0.rotate_left(23));
    }

    /// Adds bytes and their number.
    pub fn bytes(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(16) {
            let mut words = [0; 16];
            words[..chunk.len()].copy_from_slice(chunk);
            let word = |at: usize| u64::from_le_bytes(words[at..at + 8].try_into().expect("eight bytes"));
            self.add(word(0), word(8));
        }
        self.add(bytes.len() as u64, 0);
    }

    /// The value so far; more may be added after.
    pub fn value(self) -> u64 {
        self.0
    }
}

impl State for Trail {
    fn pass(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        self.0.pass(by)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trail(words: &[u64]) -> u64 {
        let mut trail = Trail::new();
        words.iter().for_each(|word| trail.add(*word, 7));
        trail.value()
    }

    #[test]
    fn order_and_number_matter() {
        assert_ne!(trail(&[1, 2]), trail(&[2, 1]));
        assert_ne!(trail(&[0]), trail(&[0, 0]));
        assert_eq!(trail(&[3, 4]), trail(&[3, 4]));
    }

    #[test]
    fn trailing_zeros_count() {
        let of = |bytes: &[u8]| {
            let mut trail = Trail::new();
            trail.bytes(bytes);
            trail.value()
        };
        assert_ne!(of(&[1]), of(&[1, 0]));
    }
}
