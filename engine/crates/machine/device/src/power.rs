use crate::device::{decode, encode, Device, RestoreError};
use rackwright_time::Cycle;

/// The values to write (as for SiFive's test device): the end with status 0, the end with the status in the upper half,
/// and a restart.
const PASS: u16 = 0x5555;
const FAIL: u16 = 0x3333;
const RESET: u16 = 0x7777;

/// A request of software to the power supply.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PowerRequest {
    /// Off, with a status that is 0 when all is well.
    Off(u16),
    /// Off and on again.
    Reset,
}

/// The device that switches the machine off or restarts it.
#[derive(Default)]
pub struct Power {
    requested: Option<(u16, u16)>,
}

impl Power {
    /// The last request.
    pub fn request(&self) -> Option<PowerRequest> {
        match self.requested? {
            (FAIL, status) => Some(PowerRequest::Off(status)),
            (RESET, _) => Some(PowerRequest::Reset),
            _ => Some(PowerRequest::Off(0)),
        }
    }
}

impl Device for Power {
    fn read(&mut self, offset: u64, _: u8, _: Cycle) -> Option<u64> {
        (offset == 0).then_some(0)
    }

    fn write(&mut self, offset: u64, _: u8, value: u64, _: Cycle) -> bool {
        let command = (value as u16, (value >> 16) as u16);
        if matches!(command.0, PASS | FAIL | RESET) {
            self.requested = Some(command);
        }
        offset == 0
    }

    fn save(&self) -> Vec<u8> {
        encode(&self.requested)
    }

    fn restore(&mut self, state: &[u8]) -> Result<(), RestoreError> {
        self.requested = decode(state, "power switch")?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_known_words_are_obeyed() {
        let mut power = Power::default();
        assert!(power.write(0, 4, 0x1234, Cycle::ZERO));
        assert_eq!(power.request(), None);
        for (word, request) in [
            (0x5555, PowerRequest::Off(0)),
            (0x2_3333, PowerRequest::Off(2)),
            (0x7777, PowerRequest::Reset),
        ] {
            assert!(power.write(0, 4, word, Cycle::ZERO));
            assert_eq!(power.request(), Some(request));
        }
        assert!(!power.write(4, 4, 0x5555, Cycle::ZERO));
    }
}
