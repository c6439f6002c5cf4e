use crate::device::{decode, encode, RestoreError};
use crate::ram::Ram;
use crate::virtio::chain::Chain;
use crate::virtio::fault::Fault;
use crate::virtio::transport::Model;
use rackwright_time::{Cycle, Cycles};
use rand_chacha::rand_core::{RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;
use virtio_bindings::virtio_ids::VIRTIO_ID_RNG;

/// Places of the one ring.
const PLACES: u16 = 64;
/// Maximum number of bytes of a response: a device may return fewer than requested (virtio 1.2, section 5.4.6.1).
const MOST: u64 = 4096;
/// Time for generating them.
const TIME: Cycles = Cycles::new(2000);

/// The entropy device (virtio 1.2, section 5.4). Its bytes are generated from a seed: the same for every run, as
/// everything here.
pub struct Entropy {
    seed: u64,
    /// Number of bytes returned so far.
    given: u64,
}

impl Entropy {
    /// With bytes that follow from `seed`.
    pub fn new(seed: u64) -> Entropy {
        Entropy { seed, given: 0 }
    }

    fn bytes(&mut self, count: usize) -> Vec<u8> {
        let mut generator = ChaCha8Rng::seed_from_u64(self.seed);
        // Each answer begins with a word of its own.
        generator.set_word_pos(u128::from(self.given.div_ceil(4)));
        let mut bytes = vec![0; count];
        generator.fill_bytes(&mut bytes);
        self.given = self.given.next_multiple_of(4) + count as u64;
        bytes
    }
}

impl Model for Entropy {
    fn kind(&self) -> u32 {
        VIRTIO_ID_RNG
    }

    fn class(&self) -> u32 {
        // A device that fits no class.
        0xff_00_00
    }

    fn features(&self) -> u64 {
        0
    }

    fn rings(&self) -> &[u16] {
        &[PLACES]
    }

    fn configuration(&self) -> &[u8] {
        &[]
    }

    fn begin(&mut self, chain: &Chain, _: &Ram<'_>, now: Cycle) -> Result<Cycle, Fault> {
        if chain.writable.is_empty() || !chain.readable.is_empty() {
            return Err(Fault::Request);
        }
        Ok(now + TIME)
    }

    fn perform(&mut self, chain: &Chain, ram: &mut Ram<'_>) -> Result<u32, Fault> {
        let bytes = self.bytes(chain.writable_bytes().min(MOST) as usize);
        chain.write(ram, 0, &bytes).map(|written| written as u32)
    }

    fn reseed(&mut self, seed: u64) {
        *self = Entropy::new(seed);
    }

    fn save(&self) -> Vec<u8> {
        encode(&(self.seed, self.given))
    }

    fn restore(&mut self, state: &[u8]) -> Result<(), RestoreError> {
        (self.seed, self.given) = decode(state, "entropy")?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_follow_from_the_seed_and_go_on_when_restored() {
        let mut entropy = Entropy::new(7);
        let first = entropy.bytes(10);
        let mut other = Entropy::new(8);
        assert_ne!(other.bytes(10), first);
        other.restore(&entropy.save()).unwrap();
        let second = entropy.bytes(16);
        assert_eq!(other.bytes(16), second);
        assert_ne!(first[..], second[..10]);
        assert_eq!(Entropy::new(7).bytes(10), first);
        assert!(other.restore(&[]).is_err());
        other.reseed(7);
        assert_eq!(other.bytes(10), first);
    }
}
