use crate::packet::{Header, Kind};
use rackwright_rtl::BusRegisters;
use serde::{Deserialize, Serialize};

/// Bytes of the window of registers of our units.
const PAGE: u64 = 0x1000;

/// How packets access the registers of a function.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Registers {
    /// Bytes of one, 4 or 8.
    bytes: u64,
    /// Bytes of all of them.
    size: u64,
    /// The fewest bytes of one that a packet may read, and write.
    least: [u64; 2],
}

/// An access to a register, or to a part of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct RegisterRequest {
    /// Of the first byte; a read is one of the whole register.
    pub(super) offset: u64,
    /// Bytes that are written.
    pub(super) bytes: u32,
    /// What is written, in the low bytes.
    pub(super) written: Option<u64>,
}

impl Registers {
    /// Those of our contract: eight bytes each, of which halves can be read.
    pub(super) const OURS: Registers = Registers {
        bytes: 8,
        size: PAGE,
        least: [4, 8],
    };

    /// Those behind a bus.
    pub(super) fn of(bus: &BusRegisters) -> Registers {
        let bytes = u64::from(bus.bytes);
        Registers {
            bytes,
            size: bus.size,
            least: [1, if bus.has_parts { 1 } else { bytes }],
        }
    }

    /// The logarithm of the size of their window: at least a page.
    pub(super) fn window(self) -> u32 {
        self.size.max(PAGE).next_power_of_two().ilog2()
    }

    /// The access of a request with up to eight bytes of data; none if it does not mean a register or an aligned part of
    /// one.
    pub(super) fn access(self, header: &Header, data: u64) -> Option<RegisterRequest> {
        let address = header.request.address;
        let is_write = header.kind == Kind::MemoryWrite;
        let words = u64::from(header.words);
        let enables = match words {
            1 => header.request.enables & 0xf,
            2 => header.request.enables,
            _ => return None,
        };
        let (first, count) = (
            u64::from(enables.trailing_zeros()),
            u64::from(enables.count_ones()),
        );
        let is_part = count.is_power_of_two()
            && u64::from(enables) == ((1 << count) - 1) << first
            && (address + first) % count == 0;
        let least = self.least[usize::from(is_write)];
        if !is_part || !(least..=self.bytes).contains(&count) || words == 2 && address % 8 != 0 {
            return None;
        }
        let within = address & ((1 << self.window()) - 1);
        let offset = if is_write {
            within + first
        } else {
            within & !(self.bytes - 1)
        };
        (within < self.size).then_some(RegisterRequest {
            offset,
            bytes: count as u32,
            written: is_write.then_some(data >> (8 * first)),
        })
    }

    /// Bits of a register before the word at an address.
    pub(super) fn shift(self, address: u64) -> u64 {
        8 * (address & (self.bytes - 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Id;

    const BUS: BusRegisters = BusRegisters {
        bytes: 4,
        size: 64,
        has_parts: true,
    };

    fn request(kind: Kind, address: u64, words: u16, enables: u8) -> Header {
        let mut header = Header::memory(kind, Id(0), 0, address, words);
        header.request.enables = enables;
        header
    }

    fn write(registers: Registers, address: u64, words: u16, enables: u8) -> Option<(u64, u32, u64)> {
        let header = request(Kind::MemoryWrite, address, words, enables);
        let access = registers.access(&header, 0x8877_6655_4433_2211)?;
        Some((access.offset, access.bytes, access.written? & 0xff))
    }

    fn read(registers: Registers, address: u64, words: u16, enables: u8) -> Option<u64> {
        let header = request(Kind::MemoryRead, address, words, enables);
        registers.access(&header, 0).map(|access| access.offset)
    }

    #[test]
    fn our_registers_are_written_as_wholes_and_read_by_halves() {
        let ours = Registers::OURS;
        assert_eq!(write(ours, 0x4_0018, 2, 0xff), Some((0x18, 8, 0x11)));
        assert_eq!(write(ours, 0x18, 1, 0x0f), None);
        assert_eq!(write(ours, 0x1c, 2, 0xff), None);
        assert_eq!((read(ours, 0x1c, 1, 0x0f), ours.shift(0x1c)), (Some(0x18), 32));
        assert_eq!(read(ours, 0x18, 1, 0x01), None);
        assert_eq!(ours.window(), 12);
    }

    #[test]
    fn registers_of_a_bus_have_parts_if_it_has_strobes() {
        let bus = Registers::of(&BUS);
        assert_eq!(write(bus, 0x1010, 1, 0x0f), Some((0x10, 4, 0x11)));
        assert_eq!(write(bus, 0x1010, 1, 0x0c), Some((0x12, 2, 0x33)));
        assert_eq!(write(bus, 0x1010, 1, 0x08), Some((0x13, 1, 0x44)));
        for enables in [0x00, 0x05, 0x06, 0x07] {
            assert_eq!(write(bus, 0x1010, 1, enables), None, "{enables:#x}");
        }
        assert_eq!(write(bus, 0x1010, 2, 0xff), None);
        assert_eq!(write(bus, 0x1040, 1, 0x0f), None, "behind the last one");
        assert_eq!((read(bus, 0x1014, 1, 0x04), bus.shift(0x1014)), (Some(0x14), 0));
        let whole = Registers::of(&BusRegisters {
            has_parts: false,
            ..BUS
        });
        assert_eq!(write(whole, 0x10, 1, 0x03), None);
        let large = Registers::of(&BusRegisters {
            bytes: 8,
            size: 1 << 20,
            ..BUS
        });
        assert_eq!(write(large, 0x8_0004, 1, 0x0f), Some((0x8_0004, 4, 0x11)));
        assert_eq!(write(large, 0x8_0008, 2, 0xff), Some((0x8_0008, 8, 0x11)));
        assert_eq!(large.window(), 20);
    }
}
