use crate::pins::Pins;
use crate::reach::REGISTER_PAGE;
use crate::wait::Asked;
use rackwright_memory::Path;
use rackwright_rtl::{BusRegisters, Manifest, RegisterAccess, RegisterAnswer, RtlError, Step};
use rackwright_state::{Pass, StateError};
use rackwright_time::{unit, Cycle, Cycles};
use std::collections::VecDeque;

/// Registers that are accessed by a port of our own contract.
const REGISTERS_OF_OURS: BusRegisters = BusRegisters {
    bytes: 8,
    size: REGISTER_PAGE,
    has_parts: false,
};

/// Time from a hart to the bus of registers, or back: as the access to any device of a server.
pub(crate) const ACROSS: Cycles = Cycles::new(4);

/// The pending accesses of harts to the registers of a unit.
pub(crate) struct RegisterPort {
    is_there: bool,
    /// Its registers, if they are accessed by AXI4-Lite, APB or TileLink.
    bus: Option<BusRegisters>,
    answers: VecDeque<RegisterAnswer>,
}

impl RegisterPort {
    /// That of a unit with this manifest.
    pub(crate) fn new(manifest: &Manifest) -> RegisterPort {
        RegisterPort {
            is_there: manifest.has_registers(),
            bus: manifest.bus_registers(),
            answers: VecDeque::new(),
        }
    }

    /// Whether there is a register of `bytes` bytes at `offset`, or, on these buses, a part of one.
    pub(crate) fn has(&self, offset: u32, bytes: u8) -> bool {
        let BusRegisters {
            bytes: most,
            size,
            has_parts,
        } = self.bus.unwrap_or(REGISTERS_OF_OURS);
        (has_parts || u32::from(bytes) == most)
            && u32::from(bytes) <= most
            && offset % u32::from(bytes) == 0
            && u64::from(offset) + u64::from(bytes) <= size
    }

    /// The mask for a write of `bytes` bytes of a register, all of them by default.
    fn written(&self, bytes: Option<u8>) -> u8 {
        match self.bus {
            Some(registers) => ((1_u32 << bytes.map_or(registers.bytes, u32::from)) - 1) as u8,
            None => 1,
        }
    }

    /// Passes the answers that have not been taken.
    pub(crate) fn pass_answers(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        by.queue(&mut self.answers, || RegisterAnswer { cycle: 0, data: 0 })
    }

    /// Takes the outputs of a step; returns whether there were any.
    pub(crate) fn take(&mut self, step: &Step<'_>) -> bool {
        self.answers.extend(step.register_answers);
        !step.register_answers.is_empty()
    }
}

/// The registers of a unit, in use.
pub struct Registers<'a> {
    pub(crate) port: &'a mut RegisterPort,
    pub(crate) pins: &'a mut Pins,
    /// The path of commands, which is also that of accesses beyond the bus.
    pub(crate) path: Path,
}

impl Registers<'_> {
    /// Refuses a unit without registers.
    ///
    /// # Errors
    /// [`RtlError::NoPort`] when it has none.
    pub fn require(&self) -> Result<(), RtlError> {
        if self.port.is_there {
            return Ok(());
        }
        Err(RtlError::NoPort {
            unit: self.pins.design().manifest.unit.clone(),
            contract: "mmio",
        })
    }

    /// Offers an access to a whole register at `address`, a read or a write, from the unit's cycle `due` on.
    ///
    /// # Errors
    /// [`RtlError::NoPort`] when the unit has none.
    pub fn offer(&mut self, due: unit::Cycle, address: u32, write: Option<u64>) -> Result<(), RtlError> {
        let written = self.port.written(None);
        self.give(RegisterAccess {
            due: due.0,
            data: write.unwrap_or(0),
            address,
            write: write.map_or(0, |_| written),
        })
    }

    /// Offers the access of a hart at `at` to `bytes` bytes of registers at `offset`, which is `write` or a read.
    ///
    /// # Errors
    /// [`RtlError::NoPort`] when the unit has none.
    pub(crate) fn access(
        &mut self,
        at: Cycle,
        offset: u32,
        bytes: u8,
        write: Option<u64>,
    ) -> Result<(), RtlError> {
        let due = self.pins.clock.seen_by_unit(at + ACROSS + self.path.request);
        let written = self.port.written(Some(bytes));
        self.pins.record.asked = Some((at, Asked::Register(offset)));
        self.give(RegisterAccess {
            due: due.0,
            data: write.unwrap_or(0),
            address: offset,
            write: write.map_or(0, |_| written),
        })
    }

    /// Passes a register access to the unit.
    ///
    /// # Errors
    /// [`RtlError::NoPort`] when it has none.
    pub fn give(&mut self, access: RegisterAccess) -> Result<(), RtlError> {
        self.require()?;
        self.pins.record.digest.register_access(&access);
        self.pins.instance.register_access(access);
        self.pins.activity.disturb();
        Ok(())
    }

    /// The response to the first access, and the hart's cycle in which it arrives.
    pub(crate) fn take_value(&mut self) -> Option<(u64, Cycle)> {
        let answer = self.take_answer()?;
        let left = self.pins.clock.seen_by_hart(unit::Cycle::new(answer.cycle));
        Some((answer.data, left + self.path.response + ACROSS))
    }

    /// The next answer to an access.
    pub fn take_answer(&mut self) -> Option<RegisterAnswer> {
        self.port.answers.pop_front()
    }

    /// Whether there is an answer to an access.
    pub fn has_answer(&self) -> bool {
        !self.port.answers.is_empty()
    }
}
