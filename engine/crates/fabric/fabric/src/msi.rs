//! Message-signalled interrupts of a port (7.7.1): one vector, with an address of 64 bits.

use serde::{Deserialize, Serialize};

/// Number of the capability; addresses have 64 bits.
const CAPABILITY: u32 = 0x0080_0005;
/// Message control: messages are sent; how many vectors software uses, of which there is one.
const ENABLED: u32 = 1 << 16;
const CONTROL_BITS: u32 = ENABLED | 7 << 20;

/// The registers of the capability.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Msi {
    control: u32,
    address: [u32; 2],
    data: u32,
}

impl Msi {
    /// Words of the capability.
    pub(crate) const WORDS: u64 = 4;

    /// A word of the capability.
    pub(crate) fn read(&self, word: u64) -> u32 {
        match word {
            0 => CAPABILITY | self.control,
            1 | 2 => self.address[word as usize - 1],
            _ => self.data,
        }
    }

    /// Writes the bits of a word that `chosen` has.
    pub(crate) fn write(&mut self, word: u64, chosen: u32, data: u32) {
        let (register, bits) = match word {
            0 => (&mut self.control, CONTROL_BITS),
            1 => (&mut self.address[0], !3),
            2 => (&mut self.address[1], u32::MAX),
            _ => (&mut self.data, 0xffff),
        };
        *register = (data & chosen | *register & !chosen) & bits;
    }

    /// The write that is the interrupt, if software has enabled it: address and data.
    pub(crate) fn message(&self) -> Option<(u64, u32)> {
        let address = u64::from(self.address[1]) << 32 | u64::from(self.address[0]);
        (self.control & ENABLED != 0).then_some((address, self.data))
    }
}
