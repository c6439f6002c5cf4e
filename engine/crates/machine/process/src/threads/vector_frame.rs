//! Vector registers in the frame of a signal: Linux appends them when the thread has used them (`struct
//! __riscv_v_ext_state`, preceded by a magic number and a size, and followed by an end).

use crate::gather;
use rackwright_cpu::{Registers, VectorRegisters};
use rackwright_memory::GuestMemory;
use std::io;

/// `RISCV_V_MAGIC`.
const MAGIC: u64 = 0x5346_5457;
/// Words of the state: five control registers and the address of the registers.
const STATE: usize = 6;
const REGISTER_WORDS: usize = 2 * 32;
/// All words, including the end.
const WORDS: usize = STATE + REGISTER_WORDS + 2;
/// The size in the header, including the header.
const SIZE: u64 = 8 * (1 + STATE + REGISTER_WORDS) as u64;
/// Bytes of a vector register.
const REGISTER_BYTES: u64 = 16;

/// Whether a thread has vector registers to keep.
fn is_used(registers: &Registers) -> bool {
    registers.vector != VectorRegisters::default()
}

/// Bytes that follow the frame.
pub(super) fn bytes(registers: &Registers) -> u64 {
    if is_used(registers) {
        8 * WORDS as u64
    } else {
        0
    }
}

/// What announces them.
pub(super) fn announcement(registers: &Registers) -> u64 {
    if is_used(registers) {
        MAGIC | SIZE << 32
    } else {
        0
    }
}

/// Stores them at `place`, directly after the frame.
pub(super) fn store(registers: &Registers, place: u64, memory: &mut GuestMemory) -> io::Result<()> {
    if !is_used(registers) {
        return Ok(());
    }
    let vector = &registers.vector;
    let control = u64::from(vector.rounding) << 1 | u64::from(vector.saturated);
    let data = place.wrapping_add(8 * STATE as u64);
    let mut words = [0; WORDS];
    words[..STATE].copy_from_slice(&[
        vector.start,
        vector.length,
        vector.kind,
        control,
        REGISTER_BYTES,
        data,
    ]);
    words[STATE..STATE + REGISTER_WORDS].copy_from_slice(vector.registers.as_flattened());
    gather::store_words(memory, place, &words)
}

/// Reads them from `place`, if they are announced.
pub(super) fn load(announcement: u64, place: u64, memory: &GuestMemory) -> io::Result<VectorRegisters> {
    if announcement != (MAGIC | SIZE << 32) {
        return Ok(VectorRegisters::default());
    }
    let word = |index: usize| gather::word(memory, place.wrapping_add(8 * index as u64));
    let control = word(3)?;
    let mut vector = VectorRegisters {
        start: word(0)? % 128,
        length: word(1)?.min(128),
        kind: word(2)?,
        rounding: (control >> 1) as u8 & 3,
        saturated: control & 1 != 0,
        ..VectorRegisters::default()
    };
    for (index, register) in vector.registers.as_flattened_mut().iter_mut().enumerate() {
        *register = word(STATE + index)?;
    }
    Ok(vector)
}
