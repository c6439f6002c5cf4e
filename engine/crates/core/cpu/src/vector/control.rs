//! The control registers of the vector unit.

use super::unit::Vector;
use super::{MOST_ELEMENTS, REGISTER_BYTES};
use crate::control::number;

impl Vector {
    /// The value of one of its control registers.
    pub(crate) fn read(&self, number: u16) -> u64 {
        let saturated = u64::from(self.saturated);
        let rounding = u64::from(self.rounding);
        match number {
            number::VSTART => self.start as u64,
            number::VXSAT => saturated,
            number::VXRM => rounding,
            number::VCSR => rounding << 1 | saturated,
            number::VL => self.length as u64,
            number::VTYPE => self.kind,
            _ => REGISTER_BYTES as u64,
        }
    }

    /// Writes one of them that can be written.
    pub(crate) fn write(&mut self, number: u16, value: u64) {
        match number {
            number::VSTART => self.start = value as usize % MOST_ELEMENTS,
            number::VXSAT => self.saturated = value & 1 != 0,
            number::VXRM => self.rounding = value as u8 & 3,
            _ => {
                self.saturated = value & 1 != 0;
                self.rounding = (value >> 1) as u8 & 3;
            }
        }
    }
}
