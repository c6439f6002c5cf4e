//! Addresses and fields of the registers of units, generated from the maps in `hardware/src/main/resources/rackwright`.

include!(concat!(env!("OUT_DIR"), "/registers.rs"));

/// A register of 64 bits, or several of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Register {
    /// Position of the register, or of the first one, in bytes within the unit's page.
    pub offset: u32,
    /// Maximum number of such registers.
    pub count: u32,
    /// Bytes from one to the next.
    pub stride: u32,
}

impl Register {
    /// Its address if the unit's page is at `page`.
    pub const fn within(self, page: u64) -> u64 {
        page + self.offset as u64
    }

    /// Position of register number `index`.
    ///
    /// # Panics
    /// If there are fewer registers.
    pub const fn at(self, index: u32) -> u32 {
        assert!(
            index < self.count,
            "a map says how many registers there are of a kind"
        );
        self.offset + self.stride * index
    }
}

/// Bits of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// The lowest of them.
    pub bit: u32,
    /// How many.
    pub bits: u32,
}

impl Field {
    /// The largest value that it holds.
    pub const fn most(self) -> u64 {
        u64::MAX >> (64 - self.bits)
    }

    /// A word with this value in the field, and 0 elsewhere.
    ///
    /// # Panics
    /// If the field does not hold the value.
    pub const fn put(self, value: u64) -> u64 {
        assert!(value <= self.most(), "a field holds the value that it is given");
        value << self.bit
    }

    /// The value of the field in a word.
    pub const fn of(self, word: u64) -> u64 {
        word >> self.bit & self.most()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_put_and_found() {
        let word = nic::rate::FLITS.put(3) | nic::rate::PERIOD.put(0xffff) | nic::rate::BURST.put(7);
        assert_eq!(word, 0x0007_ffff_0003);
        assert_eq!(nic::rate::PERIOD.of(word), nic::rate::PERIOD.most());
        assert_eq!(virtio::virtio_moderation::ALWAYS.put(1), 1 << 63);
    }

    #[test]
    fn registers_are_found_by_their_offsets() {
        assert_eq!(traffic::at(traffic::SEED.offset), Some(traffic::SEED));
        assert_eq!(traffic::at(traffic::SEED.offset + 1), None);
    }

    #[test]
    fn registers_of_a_kind_follow_each_other() {
        assert_eq!(daronpon::REPLICAS.at(2), 0x420);
        assert_eq!(daronpon::REPLICA_PLACES.at(2), 0x428);
        assert!(std::panic::catch_unwind(|| nic::RATE.at(1)).is_err());
    }
}
