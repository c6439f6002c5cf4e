//! The ports of the system for units: commands of the cores, and accesses to memory beside theirs.

use super::interface::{RawCommand, RawCompletion, RawRequest};
use super::Rocket;
use crate::BEAT_BYTES;
use rackwright_contract::Command;
use rackwright_time::Cycle;

/// A command that has left a core.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RocketCommand {
    /// The first cycle in which it has left.
    pub at: Cycle,
    /// The number of the core.
    pub core: usize,
    /// The command itself.
    pub command: Command,
}

/// An access to memory that the hub keeps coherent with the caches of the cores.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RocketRequest {
    /// Its number, which is repeated when it is complete.
    pub number: u64,
    /// The first cycle in which it may be at the system's pins.
    pub from: Cycle,
    /// Physical address.
    pub address: u64,
    /// Number of bytes.
    pub bytes: u32,
    /// The bytes of a write and a bit for each that is written; `None` for a read.
    pub write: Option<([u8; BEAT_BYTES], u32)>,
}

impl Rocket {
    /// Makes the instructions of custom opcodes with a bit in `opcodes` commands; those of others are illegal.
    pub fn offer(&mut self, opcodes: u8) {
        // SAFETY: as in `run`.
        unsafe { (self.design.functions.offer)(self.core.as_ptr(), opcodes.into()) };
    }

    /// Sets how many further commands the units of `core` accept, and whether one of them is busy, so that fences wait.
    pub fn set_units(&mut self, core: usize, room: u64, busy: bool) {
        // SAFETY: as in `run`; there is such a core.
        unsafe {
            (self.design.functions.set_units)(self.core.as_ptr(), core as u32, room as u32, busy.into());
        }
    }

    /// Whether commands or completions have not been taken.
    pub fn has_events(&self) -> bool {
        self.state.events != 0
    }

    /// The next command.
    pub fn take_command(&mut self) -> Option<RocketCommand> {
        let mut raw = RawCommand::default();
        // SAFETY: as in `run`; the function writes one command.
        let taken = unsafe { (self.design.functions.take_command)(self.core.as_ptr(), &mut raw) };
        if taken == 0 {
            return None;
        }
        self.state.events -= 1;
        let field = |low: u32, mask: u32| (raw.instruction >> low & mask) as u8;
        Some(RocketCommand {
            at: Cycle::new(raw.cycle),
            core: raw.core as usize,
            command: Command {
                opcode: field(5, 3),
                funct: field(25, 127),
                rd: field(7, 31),
                xd: field(14, 1) != 0,
                rs1: if field(13, 1) != 0 { raw.rs1 } else { 0 },
                rs2: if field(12, 1) != 0 { raw.rs2 } else { 0 },
            },
        })
    }

    /// Passes the value of a register to `core`, at whose pins it is in cycle `at`.
    pub fn respond(&mut self, core: usize, at: Cycle, rd: u8, value: u64) {
        // SAFETY: as in `set_units`.
        unsafe {
            (self.design.functions.respond)(self.core.as_ptr(), core as u32, at.0, rd.into(), value);
        }
    }

    /// Sends an access to memory.
    pub fn request(&mut self, request: &RocketRequest) {
        let (data, mask) = request.write.unwrap_or_default();
        let raw = RawRequest {
            number: request.number,
            cycle: request.from.0,
            address: request.address,
            bytes: request.bytes,
            mask,
            write: request.write.is_some().into(),
            reserved: 0,
            data,
        };
        // SAFETY: as in `run`; the function copies the request.
        unsafe { (self.design.functions.request)(self.core.as_ptr(), &raw) };
    }

    /// The number of the next access that is complete, and the first cycle in which it is.
    pub fn take_completion(&mut self) -> Option<(u64, Cycle)> {
        let mut raw = RawCompletion::default();
        // SAFETY: as in `run`; the function writes one completion.
        let taken = unsafe { (self.design.functions.take_completion)(self.core.as_ptr(), &mut raw) };
        self.state.events -= taken;
        (taken != 0).then_some((raw.number, Cycle::new(raw.cycle)))
    }
}
