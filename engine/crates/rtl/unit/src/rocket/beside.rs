use super::front_bus::FrontBus;
use crate::attached::AttachedUnit;
use crate::error::UnitError;
use crate::guard::Guard;
use crate::surroundings::Surroundings;
use crate::wait::Wait;
use rackwright_contract::{Command, CommandContext};
use rackwright_memory::GuestMemory;
use rackwright_rtl::rocket::{Rocket, RocketCommand};
use rackwright_stats::Digest;
use rackwright_time::Cycle;

/// Commands that wait for a unit: the depth of Rocket's RoCC command queue.
const QUEUE: u64 = 2;

/// The state in which a hart in RTL, which runs machine mode without translation, has its commands executed.
const MACHINE_MODE: CommandContext = CommandContext {
    satp: 0,
    privilege: 3,
    user_memory: false,
    executable_readable: false,
};

/// The units beside a hart in RTL.
pub(super) struct Beside {
    /// The number of its core.
    core: usize,
    pub(super) units: Vec<AttachedUnit>,
    guard: Guard,
    /// Commands whose values units owe, by unit, in the order of the commands.
    owed: Vec<(usize, Command)>,
    commands: u64,
    /// A unit that has tried to swap a word.
    swapped: Option<usize>,
}

impl Beside {
    /// `units` beside the hart of `core`.
    pub(super) fn new(core: usize, units: Vec<AttachedUnit>) -> Beside {
        Beside {
            core,
            units,
            guard: Guard::new(),
            owed: Vec::new(),
            commands: 0,
            swapped: None,
        }
    }

    /// A bit for each custom opcode that leads to a unit.
    pub(super) fn opcodes(&self) -> u8 {
        let ranges = self.units.iter().flat_map(|unit| &unit.reach().commands);
        ranges.fold(0, |opcodes, range| opcodes | 1 << range.opcode)
    }

    /// Whether a unit is active, has a command, or owes a value.
    pub(super) fn is_busy(&self) -> bool {
        !self.owed.is_empty()
            || self
                .units
                .iter()
                .any(|unit| !unit.is_idle() || unit.commands.waiting() > 0)
    }

    /// Number of commands issued.
    pub(super) fn commands(&self) -> u64 {
        self.commands
    }

    /// Tells the core how many commands units accept, and whether they are busy.
    pub(super) fn show(&self, rtl: &mut Rocket) {
        let waiting = self.units.iter().map(|unit| unit.commands.waiting()).max();
        let room = QUEUE.saturating_sub(waiting.unwrap_or(0));
        rtl.set_units(self.core, room, self.is_busy());
    }

    /// Passes a command to its unit.
    ///
    /// # Errors
    /// [`UnitError::NoUnit`] when no unit answers to it.
    pub(super) fn command(
        &mut self,
        memory: &mut GuestMemory,
        front: &mut FrontBus,
        asked: &RocketCommand,
        pc: u64,
    ) -> Result<(), UnitError> {
        let Command { opcode, funct, .. } = asked.command;
        let mut units = self.units.iter().enumerate();
        let found = units.find_map(|(index, unit)| Some((index, unit.reach().funct(opcode, funct)?)));
        let (index, funct) = found.ok_or(UnitError::NoUnit { opcode, pc })?;
        let command = Command {
            funct,
            ..asked.command
        };
        self.advance_unit(memory, front, index, asked.at);
        let mut commands = self.units[index].commands();
        commands.set_context(MACHINE_MODE);
        commands.send(asked.at, command);
        self.commands += 1;
        if command.xd {
            self.owed.push((index, command));
        }
        Ok(())
    }

    /// Advances busy units to the hart's cycle `until`.
    pub(super) fn advance(&mut self, memory: &mut GuestMemory, front: &mut FrontBus, until: Cycle) {
        for index in 0..self.units.len() {
            if !self.units[index].is_idle() {
                self.advance_unit(memory, front, index, until);
            }
        }
    }

    fn advance_unit(&mut self, memory: &mut GuestMemory, front: &mut FrontBus, index: usize, until: Cycle) {
        let mut surroundings = Surroundings {
            memory,
            interconnect: front,
            guard: &mut self.guard,
        };
        let unit = &mut self.units[index];
        unit.advance(unit.observation().clock().seen_by_unit(until), &mut surroundings);
        if front.take_swapped() {
            self.swapped = Some(index);
        }
    }

    /// Passes the values of units to the core.
    pub(super) fn respond(&mut self, rtl: &mut Rocket) {
        for (index, unit) in self.units.iter_mut().enumerate() {
            while let Some((response, at)) = unit.commands().take_response() {
                let first = self.owed.iter().position(|(owing, _)| *owing == index);
                let (_, command) = self.owed.remove(first.expect("a unit responds to a command"));
                rtl.respond(self.core, at.max(rtl.cycle()), command.rd, response.data);
            }
        }
    }

    /// Returns an error for a unit that has broken a rule, waits for writes or swaps words, or is inactive although it owes a value.
    pub(super) fn check(&mut self, memory: &mut GuestMemory, front: &mut FrontBus) -> Result<(), UnitError> {
        for (index, unit) in self.units.iter().enumerate() {
            unit.observation().check()?;
            if unit.watches() || self.swapped == Some(index) {
                return Err(UnitError::Unseen {
                    unit: unit.observation().name().to_string(),
                });
            }
        }
        let Some((index, command)) = self.owed.first().copied() else {
            return Ok(());
        };
        if self.units[index].is_at_rest() {
            let mut surroundings = Surroundings {
                memory,
                interconnect: front,
                guard: &mut self.guard,
            };
            self.units[index].probe_idle(&mut surroundings);
        }
        let unit = &self.units[index];
        unit.observation().check()?;
        if unit.is_at_rest() {
            return Err(UnitError::NoAnswer {
                unit: unit.observation().name().to_string(),
                command,
            });
        }
        Ok(())
    }

    /// The unit that the hart waits for.
    pub(super) fn wait(&self) -> Option<Wait> {
        let (index, _) = self.owed.first()?;
        Some(self.units[*index].observation().wait())
    }

    /// Adds all transfers of the units to a digest.
    pub(super) fn digest(&self, digest: &mut Digest) {
        digest.number(self.commands);
        for unit in &self.units {
            digest.bytes(&unit.observation().digest().value().to_le_bytes());
        }
    }
}
