use crate::device::{decode, encode, RestoreError};
use crate::pci::all_ones;
use crate::pci::configuration::Capability;
use serde::{Deserialize, Serialize};

/// The range that holds the table, and how many bytes it has; where the pending bits are in it.
pub(crate) const BAR: usize = 1;
pub(crate) const BYTES: u64 = 0x1000;
const PENDING: u64 = 0x800;
/// Bytes of an entry.
const ENTRY: u64 = 16;
/// Most vectors of a function here.
const MOST: u32 = 64;

/// Number of the capability of MSI-X, the place of message control in it, and its bits in the upper byte.
const CAPABILITY: u8 = 0x11;
pub(crate) const CONTROL: usize = 3;
pub(crate) const CONTROL_BITS: u8 = ENABLED | HELD_BACK;
const ENABLED: u8 = 1 << 7;
const HELD_BACK: u8 = 1 << 6;

/// Message control as it is for a function: one that may not access memory holds its messages back.
pub(crate) fn when_master(control: u8, is_master: bool) -> u8 {
    if is_master {
        control
    } else {
        control | HELD_BACK
    }
}

/// A vector: the write that is its interrupt.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Vector {
    address: u64,
    data: u32,
    masked: bool,
}

/// Interrupts of a function as messages (MSI-X: PCI Express Base 5.0, sections 6.1.4 and 7.7.2).
pub(crate) struct Messages {
    vectors: Vec<Vector>,
    /// Vectors that are raised and not sent.
    pending: u64,
    sent: Vec<(u64, u32)>,
}

impl Messages {
    /// Those of a function with that many vectors.
    pub(crate) fn new(vectors: u32) -> Messages {
        assert!((1..=MOST).contains(&vectors), "{vectors} vectors");
        let reset = Vector {
            address: 0,
            data: 0,
            masked: true,
        };
        Messages {
            vectors: vec![reset; vectors as usize],
            pending: 0,
            sent: Vec::new(),
        }
    }

    /// The capability by which a driver finds them.
    pub(crate) fn capability(&self) -> Capability {
        // A range of 64 bits takes two registers, and is named by the first.
        let bar = 2 * BAR as u32;
        let mut bytes = (self.vectors.len() as u16 - 1).to_le_bytes().to_vec();
        bytes.extend(bar.to_le_bytes());
        bytes.extend((PENDING as u32 | bar).to_le_bytes());
        Capability {
            id: CAPABILITY,
            bytes,
            writable: 0..0,
        }
    }

    /// The value of a load of 4 or 8 bytes from the range.
    pub(crate) fn read(&self, offset: u64, bytes: u8) -> Option<u64> {
        if !matches!(bytes, 4 | 8) || offset % u64::from(bytes) != 0 {
            return None;
        }
        let word = if offset & !7 == PENDING {
            self.pending
        } else {
            let vector = self.vectors.get((offset / ENTRY) as usize);
            vector.map_or(0, |vector| match offset & 8 {
                0 => vector.address,
                _ => u64::from(vector.data) | u64::from(vector.masked) << 32,
            })
        };
        Some(word >> (8 * (offset & 7)) & all_ones(bytes))
    }

    /// Takes a store of 4 or 8 bytes; pending bits cannot be written.
    pub(crate) fn write(&mut self, offset: u64, bytes: u8, value: u64) {
        let Some(old) = self.read(offset & !7, 8).filter(|_| matches!(bytes, 4 | 8)) else {
            return;
        };
        let Some(vector) = self.vectors.get_mut((offset / ENTRY) as usize) else {
            return;
        };
        let (shift, mask) = (8 * (offset & 7), all_ones(bytes));
        let word = old & !(mask << shift) | (value & mask) << shift;
        if offset & 8 == 0 {
            vector.address = word & !3;
        } else {
            vector.data = word as u32;
            vector.masked = word >> 32 & 1 != 0;
        }
    }

    /// Raises vectors, and sends what is pending and not held back by the upper byte of message control; without the
    /// enable in it, nothing is pending.
    pub(crate) fn raise(&mut self, raised: u64, control: u8) {
        self.pending |= raised;
        if control & ENABLED == 0 {
            self.pending = 0;
        }
        if control & HELD_BACK != 0 || self.pending == 0 {
            return;
        }
        for (number, vector) in self.vectors.iter().enumerate() {
            if self.pending >> number & 1 != 0 && !vector.masked {
                self.pending &= !(1 << number);
                self.sent.push((vector.address, vector.data));
            }
        }
    }

    /// Whether the upper byte of message control has messages in place of the interrupt line.
    pub(crate) fn replace_line(control: u8) -> bool {
        control & ENABLED != 0
    }

    /// Messages that have been sent since the last call, in order: addresses and data.
    pub(crate) fn take(&mut self) -> Vec<(u64, u32)> {
        std::mem::take(&mut self.sent)
    }

    pub(crate) fn save(&self) -> Vec<u8> {
        encode(&(&self.vectors, self.pending))
    }

    pub(crate) fn restore(&mut self, state: &[u8]) -> Result<(), RestoreError> {
        let device = "PCI function";
        let (vectors, pending): (Vec<Vector>, u64) = decode(state, device)?;
        if vectors.len() != self.vectors.len() {
            return Err(RestoreError { device });
        }
        self.vectors = vectors;
        self.pending = pending;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Vector 1 writes 33 to an address.
    fn ready() -> Messages {
        let mut messages = Messages::new(3);
        for (offset, value) in [(0, 0x2800_1003), (4, 1), (8, 33), (12, 0)] {
            messages.write(ENTRY + offset, 4, value);
        }
        messages
    }

    const SENT: (u64, u32) = (0x1_2800_1000, 33);

    #[test]
    fn a_raised_vector_is_written_once_it_is_free() {
        let mut messages = ready();
        messages.raise(0b10, ENABLED);
        assert_eq!(messages.take(), [SENT]);
        messages.raise(0b10, ENABLED | HELD_BACK);
        assert_eq!((messages.take(), messages.read(PENDING, 8)), (vec![], Some(0b10)));
        messages.raise(0b10, ENABLED);
        assert_eq!(
            (messages.take(), messages.read(PENDING, 4)),
            (vec![SENT], Some(0))
        );
        messages.write(ENTRY + 8, 8, 1 << 32 | 44);
        messages.raise(0b11, ENABLED);
        assert_eq!(messages.take(), []);
        messages.write(ENTRY + 12, 4, 0);
        messages.raise(0, ENABLED);
        assert_eq!(messages.take(), [(SENT.0, 44)]);
        messages.raise(0b10, 0);
        messages.raise(0, ENABLED);
        assert_eq!(messages.take(), []);
    }

    #[test]
    fn the_table_reads_as_it_was_written_and_comes_back() {
        let messages = ready();
        let all = [0, 4, 8, 12].map(|offset| messages.read(ENTRY + offset, 4).unwrap());
        assert_eq!(all, [0x2800_1000, 1, 33, 0]);
        assert_eq!(messages.read(ENTRY, 8), Some(SENT.0));
        assert_eq!(
            (messages.read(2, 4), messages.read(3 * ENTRY, 8)),
            (None, Some(0))
        );
        let mut other = Messages::new(3);
        other.restore(&messages.save()).unwrap();
        assert_eq!(other.save(), messages.save());
        assert!(Messages::new(2).restore(&messages.save()).is_err());
        assert_eq!(messages.capability().bytes, [2, 0, 2, 0, 0, 0, 2, 8, 0, 0]);
    }
}
