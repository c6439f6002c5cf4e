//! The generator that Rocket's caches choose their victims with.

use rackwright_state::{Pass, State, StateError};

/// A Fibonacci linear-feedback shift register of 16 bits with the taps 16, 14, 13 and 11, as Chisel's `LFSR(16)`.
#[derive(Clone)]
pub struct ShiftRegister(u16);

impl ShiftRegister {
    /// Numbers after which they repeat.
    pub const PERIOD: u32 = 65_535;

    /// In the state that reset leaves.
    pub fn new() -> ShiftRegister {
        ShiftRegister(1)
    }

    /// One of four ways.
    #[inline]
    pub fn way(&self) -> usize {
        usize::from(self.0 & 3)
    }

    /// Advances to the next number.
    #[inline]
    pub fn advance(&mut self) {
        let state = self.0;
        let bit = (state >> 15 ^ state >> 13 ^ state >> 12 ^ state >> 10) & 1;
        self.0 = state << 1 | bit;
    }
}

impl State for ShiftRegister {
    fn pass(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        self.0.pass(by)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_visits_every_state_but_zero() {
        let mut register = ShiftRegister::new();
        let mut period = 0u32;
        loop {
            register.advance();
            period += 1;
            if register.0 == 1 {
                break;
            }
        }
        assert_eq!(period, ShiftRegister::PERIOD);
    }
}
