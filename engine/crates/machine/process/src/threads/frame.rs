//! The stack frame of a signal handler: `struct rt_sigframe` of 64-bit RISC-V Linux.

use super::information::Information;
use super::signals::{AlternateStack, SignalSet};
use super::vector_frame;
use crate::gather;
use rackwright_cpu::Registers;
use rackwright_memory::GuestMemory;
use std::io;

/// `li a7, 139` (`rt_sigreturn`) and `ecall`.
pub(super) const RETURN_CODE: [u8; 8] = [0x93, 0x08, 0xb0, 0x08, 0x73, 0x00, 0x00, 0x00];

/// Bytes of `siginfo_t`, with which the frame begins.
const INFORMATION_BYTES: u64 = 128;

// Places in `ucontext_t`.
const STACK: u64 = 16;
const MASK: u64 = 40;
const REGISTERS: u64 = 176;
const FLOAT_REGISTERS: u64 = REGISTERS + 32 * 8;
/// Registers of the quad-precision extension have room there.
const FLOAT_BYTES: u64 = 64 * 8 + 16;
const CONTROL: u64 = FLOAT_REGISTERS + 32 * 8;

const BYTES: u64 = INFORMATION_BYTES + FLOAT_REGISTERS + FLOAT_BYTES;
/// The position of the header of the extension after the frame, in the last words of the floating-point registers.
const EXTENSION: u64 = FLOAT_REGISTERS + FLOAT_BYTES - 8;

/// The state of a thread when the signal arrived.
pub(super) struct Frame<'a> {
    pub(super) registers: &'a Registers,
    pub(super) masked: SignalSet,
    pub(super) alternate: AlternateStack,
    /// Whether it was on the alternate stack already.
    pub(super) on_alternate: bool,
}

impl Frame<'_> {
    /// The address of the frame of a thread with such registers on a stack that is used down to `top`.
    pub(super) fn below(top: u64, registers: &Registers) -> u64 {
        top.wrapping_sub(BYTES + vector_frame::bytes(registers)) & !15
    }

    pub(super) fn store(
        &self,
        place: u64,
        information: &Information,
        memory: &mut GuestMemory,
    ) -> io::Result<()> {
        let mut words = [0; BYTES as usize / 8];
        let mut put = |at: u64, values: &[u64]| {
            let first = (at / 8) as usize;
            words[first..first + values.len()].copy_from_slice(values);
        };
        let context = INFORMATION_BYTES;
        put(0, &information.words());
        let flags = stack_flags(self.alternate, self.on_alternate);
        put(
            context + STACK,
            &[self.alternate.base, flags, self.alternate.bytes],
        );
        put(context + MASK, &[self.masked.0]);
        // The place of `x0` holds the program counter.
        put(context + REGISTERS, &[self.registers.pc]);
        put(context + REGISTERS + 8, &self.registers.x[1..]);
        put(context + FLOAT_REGISTERS, &self.registers.f);
        let control = u64::from(self.registers.frm) << 5 | u64::from(self.registers.fflags);
        put(context + CONTROL, &[control]);
        put(context + EXTENSION, &[vector_frame::announcement(self.registers)]);
        gather::store_words(memory, place, &words)?;
        vector_frame::store(self.registers, place.wrapping_add(BYTES), memory)
    }
}

/// The registers and the mask of the frame at `place`.
pub(super) fn load(place: u64, memory: &GuestMemory) -> io::Result<(Registers, SignalSet)> {
    let context = context_at(place);
    let word = |at: u64| gather::word(memory, context.wrapping_add(at));
    let mut registers = Registers {
        x: [0; 32],
        f: [0; 32],
        pc: word(REGISTERS)?,
        fflags: 0,
        frm: 0,
        vector: vector_frame::load(word(EXTENSION)?, place.wrapping_add(BYTES), memory)?,
    };
    for number in 1..32 {
        registers.x[number] = word(REGISTERS + number as u64 * 8)?;
    }
    for number in 0..32 {
        registers.f[number] = word(FLOAT_REGISTERS + number as u64 * 8)?;
    }
    let control = word(CONTROL)?;
    registers.fflags = control as u8 & 0x1f;
    registers.frm = (control >> 5) as u8 & 7;
    Ok((registers, SignalSet(word(MASK)?)))
}

/// The address of `siginfo_t` of the frame at `place`.
pub(super) fn information_at(place: u64) -> u64 {
    place
}

/// The address of `ucontext_t` of the frame at `place`.
pub(super) fn context_at(place: u64) -> u64 {
    place.wrapping_add(INFORMATION_BYTES)
}

/// `ss_flags` of an alternate stack.
pub(super) fn stack_flags(stack: AlternateStack, in_use: bool) -> u64 {
    let flags = if stack.bytes == 0 {
        libc::SS_DISABLE
    } else if in_use {
        libc::SS_ONSTACK
    } else {
        0
    };
    flags as u64
}
