//! A device that sums bytes of memory: three registers of 8 bytes, an interrupt, and DMA.

use rackwright_device::{decode, encode, Device, Ram, RestoreError};
use rackwright_time::{Cycle, Cycles};
use serde::{Deserialize, Serialize};

/// Registers: where the bytes are; how many, which starts a sum; and the sum, whose load ends the interrupt.
const ADDRESS: u64 = 0;
const BYTES: u64 = 8;
const SUM: u64 = 16;

/// Time of a sum: until the first bytes have come, and of each 16 bytes.
const LATENCY: Cycles = Cycles::new(100);
const BEAT: u64 = 16;

#[derive(Default)]
pub struct Checksum(State);

#[derive(Default, Serialize, Deserialize)]
struct State {
    address: u64,
    bytes: u64,
    /// The cycle in which the sum that is under way ends.
    due: Option<u64>,
    sum: u64,
    done: bool,
}

impl Device for Checksum {
    fn read(&mut self, offset: u64, bytes: u8, _now: Cycle) -> Option<u64> {
        match (offset, bytes) {
            (ADDRESS, 8) => Some(self.0.address),
            (BYTES, 8) => Some(self.0.bytes),
            (SUM, 8) => {
                self.0.done = false;
                Some(self.0.sum)
            }
            _ => None,
        }
    }

    fn write(&mut self, offset: u64, bytes: u8, value: u64, now: Cycle) -> bool {
        match (offset, bytes) {
            (ADDRESS, 8) => self.0.address = value,
            (BYTES, 8) => {
                self.0.bytes = value;
                self.0.due = Some((now + LATENCY + Cycles::new(value.div_ceil(BEAT))).0);
            }
            _ => return false,
        }
        true
    }

    fn interrupts(&self) -> bool {
        self.0.done
    }

    fn next_event(&self) -> Cycle {
        self.0.due.map_or(Cycle::NEVER, Cycle::new)
    }

    fn advance(&mut self, ram: &mut Ram<'_>, now: Cycle) {
        if self.next_event() > now {
            return;
        }
        let State { address, bytes, .. } = self.0;
        let mut data = vec![
            0;
            if ram.holds(address, bytes) {
                bytes as usize
            } else {
                0
            }
        ];
        // Where there is no memory, there is nothing to sum.
        let _ = ram.fetch(address, &mut data);
        self.0.sum = data.iter().map(|byte| u64::from(*byte)).sum();
        (self.0.due, self.0.done) = (None, true);
    }

    fn save(&self) -> Vec<u8> {
        encode(&self.0)
    }

    fn restore(&mut self, state: &[u8]) -> Result<(), RestoreError> {
        self.0 = decode(state, "checksum")?;
        Ok(())
    }
}
