use rackwright_contract::Command;
use rackwright_state::{Pass, State, StateError};
use rackwright_time::Cycle;
use std::fmt;

/// A memory request of a unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LastRequest {
    /// When, of the hart's.
    pub cycle: Cycle,
    /// Where.
    pub address: u64,
    /// Whether it was to write.
    pub write: bool,
}

/// A request to a unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Asked {
    /// A command.
    Command(Command),
    /// An access to the register at this offset.
    Register(u32),
    /// Its next interrupt.
    Interrupt,
}

/// A unit that a hart waits for, and its last observed state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Wait {
    /// Its name.
    pub unit: String,
    /// The request that it has to respond to, if there is one.
    pub asked: Option<Asked>,
    /// Time of the request.
    pub since: Cycle,
    /// Time of its last input or output.
    pub moved: Cycle,
    /// Its last request to memory, if there was one.
    pub request: Option<LastRequest>,
}

impl fmt::Display for Wait {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = &self.unit;
        match self.asked {
            Some(Asked::Register(register)) => write!(
                out,
                "waits for unit `{unit}`, which has not answered an access to register {register:#x} since {}",
                self.since
            )?,
            Some(Asked::Command(Command { opcode, funct, .. })) => write!(
                out,
                "waits for unit `{unit}`, which has not ended custom-{opcode} funct {funct} since {}",
                self.since
            )?,
            Some(Asked::Interrupt) => write!(
                out,
                "waits for unit `{unit}`, which has raised no interrupt since {}",
                self.since
            )?,
            None => write!(out, "waits for unit `{unit}` since {}", self.since)?,
        }
        write!(out, "; it last moved at {}", self.moved)?;
        match self.request {
            Some(LastRequest {
                cycle,
                address,
                write,
            }) => {
                let kind = if write { "write" } else { "read" };
                write!(out, ", its last request was a {kind} of {address:#x} at {cycle}")
            }
            None => write!(out, ", it has asked nothing of memory"),
        }
    }
}

impl State for Asked {
    fn pass(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        let (mut kind, mut command, mut register) = match *self {
            Asked::Command(command) => (0_u8, command, 0),
            Asked::Register(register) => (1, Command::default(), register),
            Asked::Interrupt => (2, Command::default(), 0),
        };
        kind.pass(by)?;
        command.pass(by)?;
        register.pass(by)?;
        *self = match kind {
            0 => Asked::Command(command),
            1 => Asked::Register(register),
            2 => Asked::Interrupt,
            _ => return Err(StateError::Damaged),
        };
        Ok(())
    }
}
