//! The vector registers and the control registers beside them.

use super::element::Width;
use super::{MOST_ELEMENTS, REGISTER_BYTES};
use serde::{Deserialize, Serialize};

/// The bit of `vtype` that marks an illegal type.
pub(crate) const ILLEGAL_TYPE: u64 = 1 << 63;

/// The vector registers of 128 bits, and the control registers beside them.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct VectorRegisters {
    /// Both halves of each register, the lower one first.
    pub registers: [[u64; 2]; 32],
    /// `vl`: number of elements to process.
    pub length: u64,
    /// `vtype`.
    pub kind: u64,
    /// `vstart`: the first element to be worked on.
    pub start: u64,
    /// `vxrm`: rounding mode of fixed-point results.
    pub rounding: u8,
    /// `vxsat`: whether a fixed-point result was saturated.
    pub saturated: bool,
}

impl Default for VectorRegisters {
    /// The state after a reset, which a kernel also gives to a new thread.
    fn default() -> VectorRegisters {
        VectorRegisters {
            registers: [[0; 2]; 32],
            length: 0,
            kind: ILLEGAL_TYPE,
            start: 0,
            rounding: 0,
            saturated: false,
        }
    }
}

/// Bytes of all vector registers.
const BYTES: usize = 32 * REGISTER_BYTES;

/// The vector unit of a hart.
pub(crate) struct Vector {
    bytes: [u8; BYTES],
    /// `vl`: number of elements to process.
    pub(crate) length: usize,
    /// `vtype`.
    pub(crate) kind: u64,
    /// `vstart`: the first element to be worked on.
    pub(crate) start: usize,
    /// `vxrm`: rounding mode of fixed-point results.
    pub(crate) rounding: u8,
    /// `vxsat`: whether a fixed-point result was saturated.
    pub(crate) saturated: bool,
}

impl Vector {
    pub(crate) fn new() -> Vector {
        Vector {
            bytes: [0; BYTES],
            length: 0,
            kind: ILLEGAL_TYPE,
            start: 0,
            rounding: 0,
            saturated: false,
        }
    }

    pub(crate) fn registers(&self) -> VectorRegisters {
        let word = |at: usize| self.get(0, at, Width::LONG);
        VectorRegisters {
            registers: std::array::from_fn(|number| [word(2 * number), word(2 * number + 1)]),
            length: self.length as u64,
            kind: self.kind,
            start: self.start as u64,
            rounding: self.rounding,
            saturated: self.saturated,
        }
    }

    pub(crate) fn set_registers(&mut self, saved: &VectorRegisters) {
        for (at, word) in saved.registers.as_flattened().iter().enumerate() {
            self.put(0, at, Width::LONG, *word);
        }
        // A program may have changed the state that is restored, for example at the end of a signal handler.
        super::set(self, saved.kind, super::Length::Elements(saved.length));
        self.start = saved.start as usize % MOST_ELEMENTS;
        self.rounding = saved.rounding;
        self.saturated = saved.saturated;
    }

    /// Element `index` of the group that begins with `register`, zero-extended.
    #[inline]
    pub(crate) fn get(&self, register: u8, index: usize, width: Width) -> u64 {
        let at = usize::from(register) * REGISTER_BYTES + (index << width.0);
        let mut bytes = [0; 8];
        bytes[..width.bytes()].copy_from_slice(&self.bytes[at..at + width.bytes()]);
        u64::from_le_bytes(bytes)
    }

    /// Sets element `index` of the group that begins with `register` to the low bits of `value`.
    #[inline]
    pub(crate) fn put(&mut self, register: u8, index: usize, width: Width, value: u64) {
        let at = usize::from(register) * REGISTER_BYTES + (index << width.0);
        self.bytes[at..at + width.bytes()].copy_from_slice(&value.to_le_bytes()[..width.bytes()]);
    }

    /// Bit `index` of a mask.
    #[inline]
    pub(crate) fn bit(&self, register: u8, index: usize) -> bool {
        self.bytes[usize::from(register) * REGISTER_BYTES + index / 8] >> (index % 8) & 1 != 0
    }

    /// Sets bit `index` of a mask.
    #[inline]
    pub(crate) fn set_bit(&mut self, register: u8, index: usize, value: bool) {
        let byte = &mut self.bytes[usize::from(register) * REGISTER_BYTES + index / 8];
        *byte = *byte & !(1 << (index % 8)) | u8::from(value) << (index % 8);
    }

    /// All bytes from the start of `register` on.
    pub(crate) fn bytes_mut(&mut self, register: u8) -> &mut [u8] {
        &mut self.bytes[usize::from(register) * REGISTER_BYTES..]
    }
}
