use crate::device::RestoreError;
use std::ops::Range;

/// Bytes of the configuration space of a function without extended capabilities.
pub(crate) const BYTES: usize = 256;
/// Base address registers of a function, each of 64 bits.
pub const BARS: usize = 3;

/// Places in configuration space (PCI Local Bus Specification 3.0, section 6.1).
const VENDOR: usize = 0x00;
const DEVICE: usize = 0x02;
const COMMAND: usize = 0x04;
const STATUS: usize = 0x06;
const REVISION: usize = 0x08;
const CLASS: usize = 0x09;
const BAR: usize = 0x10;
const SUBSYSTEM_VENDOR: usize = 0x2c;
const SUBSYSTEM: usize = 0x2e;
const CAPABILITIES: usize = 0x34;
const INTERRUPT_LINE: usize = 0x3c;
const INTERRUPT_PIN: usize = 0x3d;
const FIRST_CAPABILITY: usize = 0x40;

/// Bits of the command register.
const MEMORY: u16 = 1 << 1;
const MASTER: u16 = 1 << 2;
const NO_INTERRUPT: u16 = 1 << 10;
/// Bits of the status register.
const INTERRUPT: u16 = 1 << 3;
const HAS_CAPABILITIES: u16 = 1 << 4;
/// Kind of a base address register: memory with 64-bit addresses, prefetchable.
const BAR_KIND: u64 = 0b1100;

/// The identity of a function.
#[derive(Clone, Debug)]
pub struct Header {
    /// Who made it.
    pub vendor: u16,
    /// The device number of this vendor.
    pub device: u16,
    /// The version of the device.
    pub revision: u8,
    /// Class, subclass and programming interface, in this order from the highest byte of 24 bits.
    pub class: u32,
    /// Vendor and number of the board.
    pub subsystem: (u16, u16),
    /// Bytes of the range of each base address register, a power of two from 16 on; 0 for none.
    pub bars: [u64; BARS],
    /// Its capabilities.
    pub capabilities: Vec<Capability>,
}

/// An entry in the list of capabilities.
#[derive(Clone, Debug)]
pub struct Capability {
    /// Its number.
    pub id: u8,
    /// The bytes after the number and the pointer to the next one.
    pub bytes: Vec<u8>,
    /// Which of these bytes software may write.
    pub writable: Range<usize>,
}

/// The configuration space of a function.
pub(crate) struct Configuration {
    bytes: [u8; BYTES],
    writable: [u8; BYTES],
    bars: [u64; BARS],
    /// The position of each capability.
    capabilities: Vec<usize>,
}

impl Configuration {
    /// That of a function that has just left reset; one with an interrupt line has a pin for it.
    pub(crate) fn new(header: &Header, has_line: bool) -> Configuration {
        let mut space = Configuration {
            bytes: [0; BYTES],
            writable: [0; BYTES],
            bars: header.bars,
            capabilities: Vec::new(),
        };
        for (place, word) in [
            (VENDOR, header.vendor),
            (DEVICE, header.device),
            (SUBSYSTEM_VENDOR, header.subsystem.0),
            (SUBSYSTEM, header.subsystem.1),
        ] {
            space.put(place, &word.to_le_bytes());
        }
        space.put(REVISION, &[header.revision]);
        space.put(CLASS, &header.class.to_le_bytes()[..3]);
        space.put(INTERRUPT_PIN, &[has_line.into()]);
        space.allow(COMMAND, &(MEMORY | MASTER | NO_INTERRUPT).to_le_bytes());
        space.allow(INTERRUPT_LINE, &[0xff]);
        for (index, bytes) in header
            .bars
            .into_iter()
            .enumerate()
            .filter(|(_, bytes)| *bytes != 0)
        {
            assert!(bytes.is_power_of_two() && bytes >= 16, "a range of {bytes} bytes");
            space.put(BAR + 8 * index, &BAR_KIND.to_le_bytes());
            space.allow(BAR + 8 * index, &(!(bytes - 1)).to_le_bytes());
        }
        space.chain(&header.capabilities);
        space
    }

    /// Lays out the list of capabilities.
    fn chain(&mut self, capabilities: &[Capability]) {
        let mut pointer = CAPABILITIES;
        let mut place = FIRST_CAPABILITY;
        for capability in capabilities {
            self.put(pointer, &[place as u8]);
            self.put(STATUS, &HAS_CAPABILITIES.to_le_bytes());
            self.put(place, &[capability.id]);
            self.put(place + 2, &capability.bytes);
            let writable = capability.writable.clone();
            self.writable[place + 2..][writable].fill(0xff);
            self.capabilities.push(place);
            pointer = place + 1;
            place = (place + 2 + capability.bytes.len()).next_multiple_of(4);
        }
    }

    fn put(&mut self, place: usize, bytes: &[u8]) {
        self.bytes[place..place + bytes.len()].copy_from_slice(bytes);
    }

    pub(crate) fn allow(&mut self, place: usize, mask: &[u8]) {
        self.writable[place..place + mask.len()].copy_from_slice(mask);
    }

    /// The value at `place`, little-endian; `interrupt` is the level of the interrupt line. `None` beyond the space.
    pub(crate) fn read(&self, place: usize, bytes: u8, interrupt: bool) -> Option<u64> {
        let mut bytes_read = [0; 8];
        let range = place..place + usize::from(bytes);
        bytes_read[..usize::from(bytes)].copy_from_slice(self.bytes.get(range.clone())?);
        if interrupt && range.contains(&STATUS) {
            bytes_read[STATUS - place] |= INTERRUPT as u8;
        }
        Some(u64::from_le_bytes(bytes_read))
    }

    /// Writes the writable bits.
    pub(crate) fn write(&mut self, place: usize, bytes: u8, value: u64) {
        let values = value.to_le_bytes();
        let places = self.bytes.iter_mut().zip(&self.writable).skip(place);
        for ((byte, mask), value) in places.zip(&values[..usize::from(bytes)]) {
            *byte = *byte & !mask | value & mask;
        }
    }

    /// The position of the capability with this index in [`Header::capabilities`].
    pub(crate) fn capability(&self, index: usize) -> usize {
        self.capabilities[index]
    }

    pub(crate) fn word(&self, place: usize) -> u32 {
        u32::from_le_bytes(self.bytes[place..place + 4].try_into().expect("four bytes"))
    }

    fn command(&self, bit: u16) -> bool {
        self.word(COMMAND) & u32::from(bit) != 0
    }

    /// Whether the function may access memory.
    pub(crate) fn is_master(&self) -> bool {
        self.command(MASTER)
    }

    /// Whether the function may interrupt.
    pub(crate) fn may_interrupt(&self) -> bool {
        !self.command(NO_INTERRUPT)
    }

    /// The base address register that `address` belongs to, and the offset from it.
    pub(crate) fn decode(&self, address: u64, bytes: u8) -> Option<(usize, u64)> {
        if !self.command(MEMORY) {
            return None;
        }
        (0..BARS).find_map(|index| {
            let place = BAR + 8 * index;
            let base = u64::from(self.word(place + 4)) << 32 | u64::from(self.word(place)) & !0xf;
            let offset = address.checked_sub(base)?;
            let last = offset.checked_add(u64::from(bytes) - 1)?;
            (last < self.bars[index]).then_some((index, offset))
        })
    }

    pub(crate) fn save(&self) -> Vec<u8> {
        self.bytes.to_vec()
    }

    /// Restores the saved state of another function of the same kind.
    pub(crate) fn restore(&mut self, saved: &[u8]) -> Result<(), RestoreError> {
        let damaged = RestoreError {
            device: "PCI function",
        };
        let saved: [u8; BYTES] = saved.try_into().map_err(|_| damaged)?;
        let fixed = |bytes: &[u8; BYTES]| -> Vec<u8> {
            bytes
                .iter()
                .zip(&self.writable)
                .map(|(byte, mask)| byte & !mask)
                .collect()
        };
        if fixed(&saved) != fixed(&self.bytes) {
            return Err(damaged);
        }
        self.bytes = saved;
        Ok(())
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn header() -> Header {
        Header {
            vendor: 0x1234,
            device: 0x5678,
            revision: 1,
            class: 0x0c_03_30,
            subsystem: (0x9abc, 0xdef0),
            bars: [0x1000, 0, 0],
            capabilities: vec![Capability {
                id: 9,
                bytes: vec![16, 5, 0, 0, 0, 0],
                writable: 2..4,
            }],
        }
    }

    #[test]
    fn a_range_tells_its_size_and_takes_a_place() {
        let mut space = Configuration::new(&header(), true);
        space.write(BAR, 4, 0xffff_ffff);
        space.write(BAR + 4, 4, 0xffff_ffff);
        assert_eq!(space.read(BAR, 4, false), Some(0xffff_f00c));
        assert_eq!(space.read(BAR + 4, 4, false), Some(0xffff_ffff));
        space.write(BAR, 4, 0x4000_0000);
        space.write(BAR + 4, 4, 2);
        assert_eq!(space.decode(0x2_4000_0010, 4), None);
        space.write(COMMAND, 2, MEMORY.into());
        assert_eq!(space.decode(0x2_4000_0010, 4), Some((0, 0x10)));
        assert_eq!(space.decode(0x2_4000_0ffd, 4), None);
        assert_eq!(space.decode(0x2_3fff_ffff, 4), None);
        assert_eq!(space.decode(u64::MAX, 8), None);
    }

    #[test]
    fn only_what_may_be_written_changes() {
        let mut space = Configuration::new(&header(), true);
        for place in (0..BYTES).step_by(4) {
            space.write(place, 4, 0xffff_ffff);
        }
        assert_eq!(space.read(VENDOR, 4, false), Some(0x5678_1234));
        assert_eq!(
            space.read(COMMAND, 2, false),
            Some(u64::from(MEMORY | MASTER | NO_INTERRUPT))
        );
        assert_eq!(
            space.read(STATUS, 2, true),
            Some(u64::from(HAS_CAPABILITIES | INTERRUPT))
        );
        let capability = space.capability(0);
        assert_eq!(space.read(CAPABILITIES, 1, false), Some(capability as u64));
        assert_eq!(space.read(capability, 8, false), Some(0xffff_0510_0009));
        assert_eq!(space.read(BYTES - 2, 4, false), None);
    }

    #[test]
    fn a_function_of_another_kind_is_not_restored() {
        let mut space = Configuration::new(&header(), true);
        space.write(COMMAND, 2, 0xffff);
        let saved = space.save();
        let mut other = Configuration::new(&header(), true);
        other.restore(&saved).unwrap();
        assert!(other.is_master() && !other.may_interrupt());
        let different = Header {
            device: 1,
            ..header()
        };
        assert!(Configuration::new(&different, true).restore(&saved).is_err());
        assert!(other.restore(&saved[1..]).is_err());
    }
}
