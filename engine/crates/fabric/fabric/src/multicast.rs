//! Multicast of a port of a switch (PCI Express 5.0, 6.14 and 7.9.11): writes to the addresses of a group leave through all
//! ports that receive it.

use crate::packet::{Header, Kind};
use serde::{Deserialize, Serialize};

/// Number of the extended capability, in its first version, and of its groups less one.
const CAPABILITY: u32 = 0x0001_0012;
const GROUPS: u32 = 63;
const ENABLED: u32 = 1 << 15;
/// The smallest overlay window, as a logarithm: smaller numbers mean none.
const OVERLAY: u64 = 6;
/// Pages of base addresses.
const PAGE: u64 = 4096;

/// The registers of the capability, from its second word on.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Multicast {
    control: u32,
    /// Base and the place of the group's number in an address; groups to receive; groups to block, and untranslated ones;
    /// the overlay window with its size.
    registers: [u64; 5],
}

impl Multicast {
    /// Words of the capability.
    pub(crate) const WORDS: u64 = 12;

    /// A word of the capability.
    pub(crate) fn read(&self, word: u64) -> u32 {
        match word {
            0 => CAPABILITY,
            1 => self.control << 16 | GROUPS,
            _ => (self.registers[(word / 2 - 1) as usize] >> (32 * (word % 2))) as u32,
        }
    }

    /// Writes the bits of a word that `chosen` has.
    pub(crate) fn write(&mut self, word: u64, chosen: u32, data: u32) {
        match word {
            0 => {}
            1 => {
                let (chosen, data) = (chosen >> 16, data >> 16);
                self.control = (data & chosen | self.control & !chosen) & (ENABLED | GROUPS);
            }
            _ => {
                let shift = 32 * (word % 2);
                let (chosen, data) = (u64::from(chosen) << shift, u64::from(data) << shift);
                let register = &mut self.registers[(word / 2 - 1) as usize];
                *register = data & chosen | *register & !chosen;
            }
        }
    }

    /// The group of a packet; none for another one than a write to an address of groups.
    pub(crate) fn group(&self, header: &Header) -> Option<u64> {
        if header.kind != Kind::MemoryWrite || self.control & ENABLED == 0 {
            return None;
        }
        let (base, place) = (self.registers[0] & !(PAGE - 1), self.registers[0] % 64);
        let group = header.request.address.checked_sub(base)? >> place;
        (group <= u64::from(self.control & GROUPS)).then_some(group)
    }

    /// Whether a group leaves through this port.
    pub(crate) fn receives(&self, group: u64) -> bool {
        self.control & ENABLED != 0 && self.registers[1] >> group & 1 != 0
    }

    /// Whether a group must not arrive through this port.
    pub(crate) fn blocks(&self, group: u64) -> bool {
        self.registers[2] >> group & 1 != 0
    }

    /// The address with which a packet leaves through this port.
    pub(crate) fn overlaid(&self, address: u64) -> u64 {
        let size = self.registers[4] % 64;
        if size < OVERLAY {
            return address;
        }
        let low = (1 << size) - 1;
        self.registers[4] & !low | address & low
    }
}
