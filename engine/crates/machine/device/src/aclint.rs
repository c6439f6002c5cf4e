use crate::device::{decode, encode, Device, RestoreError};
use rackwright_time::{Cycle, Cycles};
use serde::{Deserialize, Serialize};

/// Registers: one word of software interrupt for each hart, one doubleword of time to compare with, and the time.
const SOFTWARE: u64 = 0;
const COMPARE: u64 = 0x4000;
const TIME: u64 = 0xbff8;

/// The core-local interruptor: software interrupts and timers of machine mode (RISC-V ACLINT specification 1.0,
/// laid out as SiFive's CLINT).
pub struct Aclint {
    cycles_per_tick: u64,
    state: State,
}

#[derive(Clone, Serialize, Deserialize)]
struct State {
    software: Vec<bool>,
    compare: Vec<u64>,
}

impl Aclint {
    /// For `harts` harts, with a tick of time every `cycles_per_tick`.
    pub fn new(harts: usize, cycles_per_tick: Cycles) -> Aclint {
        Aclint {
            cycles_per_tick: cycles_per_tick.0,
            state: State {
                software: vec![false; harts],
                compare: vec![u64::MAX; harts],
            },
        }
    }

    /// Whether the software interrupt of `hart` is raised.
    pub fn software(&self, hart: usize) -> bool {
        self.state.software[hart]
    }

    /// When the timer interrupt of `hart` is raised, and stays so until another time is set.
    pub fn timer(&self, hart: usize) -> Cycle {
        Cycle::new(self.state.compare[hart].saturating_mul(self.cycles_per_tick))
    }

    /// The doubleword that holds the byte at `offset`.
    fn doubleword(&self, offset: u64, now: Cycle) -> Option<u64> {
        if offset & !7 == TIME {
            return Some(now.0 / self.cycles_per_tick);
        }
        if offset >= COMPARE {
            return self.state.compare.get((offset - COMPARE) as usize / 8).copied();
        }
        let first = (offset - SOFTWARE) as usize / 8 * 2;
        let word = |hart| Some(u64::from(*self.state.software.get(hart)?));
        Some(word(first)? | word(first + 1).unwrap_or(0) << 32)
    }
}

impl Device for Aclint {
    fn read(&mut self, offset: u64, bytes: u8, now: Cycle) -> Option<u64> {
        if bytes < 4 || offset % u64::from(bytes) != 0 {
            return None;
        }
        Some(self.doubleword(offset, now)? >> (offset % 8 * 8))
    }

    fn write(&mut self, offset: u64, bytes: u8, value: u64, now: Cycle) -> bool {
        if bytes < 4 || offset % u64::from(bytes) != 0 {
            return false;
        }
        let Some(old) = self.doubleword(offset, now) else {
            return false;
        };
        let shift = offset % 8 * 8;
        let mask = u64::MAX >> (64 - 8 * u32::from(bytes)) << shift;
        let new = old & !mask | value << shift & mask;
        if offset & !7 == TIME {
            // Time is that of the machine and cannot be set.
        } else if offset >= COMPARE {
            self.state.compare[(offset - COMPARE) as usize / 8] = new;
        } else {
            let first = (offset - SOFTWARE) as usize / 8 * 2;
            for (hart, software) in self.state.software.iter_mut().enumerate().skip(first).take(2) {
                *software = new >> (32 * (hart - first)) & 1 != 0;
            }
        }
        true
    }

    fn save(&self) -> Vec<u8> {
        encode(&self.state)
    }

    fn restore(&mut self, state: &[u8]) -> Result<(), RestoreError> {
        let device = "ACLINT";
        let state: State = decode(state, device)?;
        if state.software.len() != self.state.software.len() || state.compare.len() != state.software.len() {
            return Err(RestoreError { device });
        }
        self.state = state;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Cycle = Cycle::new(5000);

    fn aclint() -> Aclint {
        Aclint::new(3, Cycles::new(1000))
    }

    #[test]
    fn half_a_time_to_compare_with_can_be_set() {
        let mut aclint = aclint();
        assert!(aclint.write(COMPARE + 8, 8, 7, NOW));
        assert!(aclint.write(COMPARE + 12, 4, 1, NOW));
        assert_eq!(aclint.read(COMPARE + 8, 8, NOW), Some(7 | 1 << 32));
        assert!(aclint.write(COMPARE + 12, 4, 0, NOW));
        assert_eq!(
            (aclint.timer(1), aclint.timer(0)),
            (Cycle::new(7000), Cycle::NEVER)
        );
    }

    #[test]
    fn each_hart_has_a_software_interrupt() {
        let mut aclint = aclint();
        assert!(aclint.write(SOFTWARE + 4, 4, 1, NOW));
        assert!(aclint.write(SOFTWARE + 8, 4, u64::MAX, NOW));
        assert_eq!([0, 1, 2].map(|hart| aclint.software(hart)), [false, true, true]);
        assert!(!aclint.write(SOFTWARE + 16, 4, 1, NOW));
        assert!(!aclint.write(SOFTWARE + 1, 1, 1, NOW));
    }

    #[test]
    fn time_ticks_and_states_come_back() {
        let mut aclint = aclint();
        assert_eq!(aclint.read(TIME, 8, NOW), Some(5));
        aclint.write(COMPARE, 8, 9, NOW);
        let mut other = Aclint::new(3, Cycles::new(1000));
        other.restore(&aclint.save()).unwrap();
        assert_eq!(other.timer(0), Cycle::new(9000));
        assert!(Aclint::new(2, Cycles::new(1)).restore(&aclint.save()).is_err());
        assert!(other.restore(&[1, 2]).is_err());
    }
}
