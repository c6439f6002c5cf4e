use crate::attached::AttachedUnit;
use crate::error::UnitError;
use crate::guard::Guard;
use crate::reach::{INTERRUPT_BYTES, REGISTER_PAGE};
use crate::stall::{Awaited, Stall};
use crate::surroundings::Surroundings;
use crate::wait::{Asked, Wait};
use rackwright_contract::{Command, UNIT_REGISTERS};
use rackwright_cpu::{CustomInstruction, DeviceAccess, Feature, Hart, Registers, Stop, Timing};
use rackwright_memory::{GuestMemory, Interconnect, Shared, SharedHierarchy};
use rackwright_stats::{Counters, Digest};
use rackwright_time::{unit, Cycle};

/// Commands that leave the core without waiting for the unit to take them: the depth of Rocket's
/// RoCC command queue.
const COMMANDS_IN_FLIGHT: u64 = 2;

/// Units are never there without it.
const ATTACHED: &str = "units are attached to a memory hierarchy";

/// A hart and the units beside it, each on a clock of its own.
///
/// The hart runs ahead of busy units by no more than one window of theirs, and units catch up. A command reaches its
/// unit exactly in the cycle of its arrival, and the hart continues exactly in the cycle in which the response arrives.
pub struct Core<T: Timing> {
    /// The hart.
    pub hart: Hart<T>,
    /// The hierarchy through which units access memory.
    hierarchy: Option<SharedHierarchy>,
    /// The units.
    pub units: Vec<AttachedUnit>,
    guard: Guard,
    pub(crate) commands: u64,
    pub(crate) stall: Option<Stall>,
    /// The opcode of a unit outside the core: its commands are left to the caller.
    passed_on: Option<u8>,
    /// Other harts have the units in their turns: an answer is awaited beyond the end of a turn, since none of them may
    /// take it.
    pub(crate) shares_units: bool,
}

impl<T: Timing> Core<T> {
    /// A hart without units.
    pub fn alone(hart: Hart<T>) -> Core<T> {
        Core {
            hart,
            hierarchy: None,
            units: Vec::new(),
            guard: Guard::new(),
            commands: 0,
            stall: None,
            passed_on: None,
            shares_units: false,
        }
    }

    /// `hart` with `units` beside it, which reach memory through `hierarchy`.
    pub fn new(hart: Hart<T>, hierarchy: SharedHierarchy, units: Vec<AttachedUnit>) -> Core<T> {
        let mut core = Core::alone(hart);
        core.attach(hierarchy, units);
        core
    }

    /// The hierarchy through which its units access memory, if there is one.
    pub fn hierarchy(&self) -> Option<&SharedHierarchy> {
        self.hierarchy.as_ref()
    }

    /// Attaches `units` to the hart.
    pub fn attach(&mut self, hierarchy: SharedHierarchy, units: Vec<AttachedUnit>) {
        self.reach(hierarchy, &units);
        self.units = units;
    }

    /// Has the hart share `units` with others, which have [`Core::units`] in their turns.
    pub fn share(&mut self, hierarchy: SharedHierarchy, units: &[AttachedUnit]) {
        self.reach(hierarchy, units);
        self.shares_units = true;
    }

    fn reach(&mut self, hierarchy: SharedHierarchy, units: &[AttachedUnit]) {
        if units.iter().any(|unit| !unit.reach().commands.is_empty()) {
            self.hart.offer(Feature::Units);
        }
        let pages = units.iter().filter_map(|unit| unit.reach().registers);
        let words = units.iter().filter_map(|unit| unit.reach().interrupt);
        let pages = pages.map(|page| page + REGISTER_PAGE);
        let ends = pages.chain(words.map(|word| word + INTERRUPT_BYTES)).max();
        if let Some(end) = ends {
            self.hart.offer(Feature::Devices(UNIT_REGISTERS..end));
        }
        self.hierarchy = Some(hierarchy);
    }

    /// Ends runs at commands with `opcode`, which are those of the unit `to`.
    ///
    /// # Errors
    /// [`UnitError::TakenOpcode`] when one of its own units answers to that.
    pub fn pass_on(&mut self, opcode: u8, to: &str) -> Result<(), UnitError> {
        let answers = |unit: &&AttachedUnit| unit.reach().commands.iter().any(|range| range.opcode == opcode);
        if let Some(unit) = self.units.iter().find(answers) {
            return Err(UnitError::TakenOpcode {
                opcode,
                to: to.to_string(),
                unit: unit.observation().name().to_string(),
            });
        }
        self.passed_on = Some(opcode);
        Ok(())
    }

    /// Runs until cycle `limit` or until an event that does not concern only the hart and its units.
    ///
    /// # Errors
    /// [`UnitError`] when a unit does not answer, or breaks its promise to be idle.
    pub fn run(&mut self, memory: &mut GuestMemory, limit: Cycle) -> Result<Stop, UnitError> {
        loop {
            if self.waits_until(memory, limit)? {
                return Ok(Stop::Budget);
            }
            let until = self.horizon(limit);
            let stop = self.hart.run(memory, until);
            self.catch_up(memory);
            self.check_units()?;
            match stop {
                Stop::Budget if self.hart.cycle() < limit => {}
                Stop::Custom(custom) if self.passed_on != Some(custom.command.opcode) => {
                    self.custom(memory, &custom)?;
                }
                Stop::Device(access) => match self.register(&access) {
                    Some((unit, register)) => {
                        if let Some(fault) = self.access(memory, unit, register, &access)? {
                            return Ok(fault);
                        }
                    }
                    None => match self.interrupt(&access) {
                        Some(unit) => {
                            if let Some(fault) = self.await_interrupt(memory, unit, &access) {
                                return Ok(fault);
                            }
                        }
                        None if self.is_between_units(access.address) => {
                            if let Some(fault) = self.hart.reply().refuse_access() {
                                return Ok(fault);
                            }
                        }
                        None => return Ok(stop),
                    },
                },
                Stop::TranslationsFenced => self.fence(memory),
                other => return Ok(other),
            }
        }
    }

    /// Advances time to `cycle`, for a waiting hart.
    pub fn advance_to(&mut self, memory: &mut GuestMemory, cycle: Cycle) {
        self.hart.advance_to(cycle);
        self.catch_up(memory);
    }

    /// Advances busy units to the hart's cycle `cycle`, while the hart is stalled.
    pub fn advance_units(&mut self, memory: &mut GuestMemory, cycle: Cycle) {
        for index in 0..self.units.len() {
            self.advance_busy(memory, index, cycle);
        }
    }

    /// The same, after which they have also received all writes that they watch, those of each other included.
    pub fn advance_watching_units(&mut self, memory: &mut GuestMemory, cycle: Cycle) {
        self.advance_units(memory, cycle);
        for index in 0..self.units.len() {
            if self.units[index].watches() {
                self.with_unit(memory, index, |unit, surroundings| unit.tell(cycle, surroundings));
            }
        }
    }

    /// Advances a unit to the hart's cycle `until` if it is busy, or if a write that it watches makes it busy.
    fn advance_busy(&mut self, memory: &mut GuestMemory, index: usize, until: Cycle) {
        if self.units[index].watches() {
            self.with_unit(memory, index, |unit, surroundings| unit.tell(until, surroundings));
        }
        if !self.units[index].is_idle() {
            self.advance_unit(memory, index, until);
        }
    }

    /// Commands issued so far.
    pub fn commands(&self) -> u64 {
        self.commands
    }

    /// Adds all events so far to a digest.
    pub fn digest(&self, digest: &mut Digest) {
        digest.number(self.hart.counters().instructions());
        digest.cycle(self.hart.cycle());
        digest_registers(&self.hart, digest);
        digest.number(self.commands);
        for unit in &self.units {
            digest.bytes(&unit.observation().digest().value().to_le_bytes());
        }
    }

    /// How far the hart may run before a busy unit must catch up, or a watching unit must receive the hart's writes.
    fn horizon(&self, limit: Cycle) -> Cycle {
        let horizons = self.units.iter().filter_map(|unit| {
            let clock = unit.observation().clock();
            let begin = if !unit.is_idle() {
                unit.cycle()
            } else if unit.watches() {
                clock.seen_by_unit(self.hart.cycle())
            } else {
                return None;
            };
            Some(clock.seen_by_hart(begin + clock.window()))
        });
        horizons.fold(limit, Cycle::min)
    }

    fn catch_up(&mut self, memory: &mut GuestMemory) {
        self.advance_units(memory, self.hart.cycle());
        self.units.iter_mut().for_each(AttachedUnit::look_at_interrupts);
    }

    /// Advances a unit that is not one of the machine's by a window, up to the cycle `until` of its own clock.
    pub fn advance_other(&mut self, memory: &mut GuestMemory, unit: &mut AttachedUnit, until: unit::Cycle) {
        self.surrounded(memory, |_, surroundings| {
            unit.advance_window(until, surroundings);
        });
    }

    /// Advances a unit to the hart's cycle `until`.
    fn advance_unit(&mut self, memory: &mut GuestMemory, index: usize, until: Cycle) {
        let until = self.units[index].observation().clock().seen_by_unit(until);
        self.advance_unit_itself(memory, index, until);
    }

    /// Advances a unit to the cycle `until` of its own clock.
    pub(crate) fn advance_unit_itself(&mut self, memory: &mut GuestMemory, index: usize, until: unit::Cycle) {
        self.with_unit(memory, index, |unit, surroundings| {
            unit.advance(until, surroundings)
        });
    }

    /// Executes a function on a unit that may access memory.
    pub(crate) fn with_unit(
        &mut self,
        memory: &mut GuestMemory,
        index: usize,
        act: impl FnOnce(&mut AttachedUnit, &mut Surroundings),
    ) {
        self.surrounded(memory, |units, surroundings| act(&mut units[index], surroundings));
    }

    /// Executes a function on units in the surroundings of the machine's units.
    fn surrounded(
        &mut self,
        memory: &mut GuestMemory,
        act: impl FnOnce(&mut [AttachedUnit], &mut Surroundings),
    ) {
        let hierarchy = self.hierarchy.as_ref();
        let mut hierarchy = hierarchy.expect(ATTACHED).lock();
        let mut surroundings = Surroundings {
            memory,
            interconnect: &mut *hierarchy,
            guard: &mut self.guard,
        };
        act(&mut self.units, &mut surroundings);
    }

    fn custom(&mut self, memory: &mut GuestMemory, custom: &CustomInstruction) -> Result<(), UnitError> {
        let asked = custom.command;
        let mut units = self.units.iter().enumerate();
        let found =
            units.find_map(|(index, unit)| Some((index, unit.reach().funct(asked.opcode, asked.funct)?)));
        let Some((index, funct)) = found else {
            return match self.hart.reply().refuse_command(custom) {
                None => Ok(()),
                Some(_) => Err(UnitError::NoUnit {
                    opcode: asked.opcode,
                    pc: self.hart.state().pc(),
                }),
            };
        };
        let command = Command { funct, ..asked };
        self.commands += 1;
        self.advance_unit(memory, index, self.hart.cycle());
        let context = self.hart.command_context();
        let unit = &mut self.units[index];
        unit.commands().set_context(context);
        unit.commands().send(self.hart.cycle(), command);
        self.await_unit(index, Asked::Command(command));
        Ok(())
    }

    /// The unit and its register that an access refers to, if it refers to one.
    fn register(&self, access: &DeviceAccess) -> Option<(usize, u32)> {
        let mut units = self.units.iter().enumerate();
        units.find_map(|(index, unit)| Some((index, unit.reach().register(access.address)?)))
    }

    /// Accesses a register of a unit, and stalls the hart until it responds; accesses to parts of a register are
    /// refused, and the stop for the refusal is returned.
    fn access(
        &mut self,
        memory: &mut GuestMemory,
        unit: usize,
        register: u32,
        access: &DeviceAccess,
    ) -> Result<Option<Stop>, UnitError> {
        if !self.units[unit].registers.has(register, access.bytes) {
            return Ok(self.hart.reply().refuse_access());
        }
        let now = self.hart.cycle();
        self.advance_unit(memory, unit, now);
        let mut registers = self.units[unit].registers();
        registers.access(now, register, access.bytes, access.write)?;
        self.await_unit(unit, Asked::Register(register));
        Ok(None)
    }

    /// The unit whose interrupts an access waits for, if it does.
    fn interrupt(&self, access: &DeviceAccess) -> Option<usize> {
        let mut units = self.units.iter();
        units.position(|unit| unit.reach().interrupt == Some(access.address))
    }

    /// Whether an address is in the range of units, but does not belong to any.
    fn is_between_units(&self, address: u64) -> bool {
        let words = self.units.iter().filter_map(|unit| unit.reach().interrupt);
        let last = words.max().unwrap_or(0);
        (UNIT_REGISTERS..last + INTERRUPT_BYTES).contains(&address)
    }

    /// Stalls the hart until the interrupt line of a unit is high or has risen; accesses other than reads of the word
    /// are refused, and the stop for the refusal is returned.
    fn await_interrupt(
        &mut self,
        memory: &mut GuestMemory,
        unit: usize,
        access: &DeviceAccess,
    ) -> Option<Stop> {
        if access.write.is_some() || u64::from(access.bytes) != INTERRUPT_BYTES {
            return self.hart.reply().refuse_access();
        }
        let now = self.hart.cycle();
        self.advance_unit(memory, unit, now);
        self.units[unit].await_rise(now);
        self.await_unit(unit, Asked::Interrupt);
        None
    }

    /// Flushes translations of units; the hart continues when no request that uses an old translation is outstanding.
    fn fence(&mut self, memory: &mut GuestMemory) {
        let now = self.hart.cycle();
        for index in 0..self.units.len() {
            let mut over = None;
            self.with_unit(memory, index, |unit, surroundings| {
                over = unit.fence(now, surroundings);
            });
            if over.is_some() {
                let reached = self.reached(index);
                self.hart.advance_to(reached);
            }
        }
        self.catch_up(memory);
    }

    fn await_unit(&mut self, unit: usize, asked: Asked) {
        self.stall(Stall::Unit(Awaited {
            unit,
            asked,
            stood: false,
        }));
    }

    /// Whether the hart still waits for a unit at cycle `limit`; if not, it is at the end of the wait.
    fn waits_until(&mut self, memory: &mut GuestMemory, limit: Cycle) -> Result<bool, UnitError> {
        let awaited = match self.stall {
            None => return Ok(false),
            Some(Stall::Unit(awaited)) => awaited,
            Some(other) => unreachable!("a hart that is stalled for {other:?} is not run"),
        };
        let limit = if self.shares_units { Cycle::NEVER } else { limit };
        let over = match awaited.asked {
            Asked::Command(command) if !command.xd => self.await_room(memory, awaited, limit)?,
            _ => self.await_answer(memory, awaited, limit)?,
        };
        let still = Awaited {
            stood: true,
            ..awaited
        };
        self.stall = (!over).then_some(Stall::Unit(still));
        if !over {
            self.hart.advance_to(limit);
        }
        Ok(!over)
    }

    /// Stalls the hart until the unit has responded; returns whether it has.
    fn await_answer(
        &mut self,
        memory: &mut GuestMemory,
        awaited: Awaited,
        limit: Cycle,
    ) -> Result<bool, UnitError> {
        let index = awaited.unit;
        loop {
            if let Some(at) = self.take_answer(awaited) {
                self.advance_to(memory, at);
                return Ok(true);
            }
            self.check(memory, awaited)?;
            if self.reached(index) > limit {
                return Ok(false);
            }
            let window = self.units[index].observation().clock().window();
            self.advance_together(memory, index, window);
        }
    }

    /// Passes an awaited response to the hart, if it has arrived; returns the cycle in which the hart continues.
    fn take_answer(&mut self, awaited: Awaited) -> Option<Cycle> {
        let unit = &mut self.units[awaited.unit];
        match awaited.asked {
            Asked::Command(_) => {
                let (answer, at) = unit.commands().take_response()?;
                self.hart.state_mut().write_register(answer.rd, answer.data);
                Some(at)
            }
            Asked::Register(_) | Asked::Interrupt => {
                let (value, at) = match awaited.asked {
                    Asked::Interrupt => unit.take_rise()?,
                    _ => unit.registers().take_value()?,
                };
                self.hart.advance_to(at);
                self.hart.reply().finish_access(value);
                Some(self.hart.cycle())
            }
        }
    }

    /// Stalls the hart while the command queue is full; returns whether there is room.
    fn await_room(
        &mut self,
        memory: &mut GuestMemory,
        awaited: Awaited,
        limit: Cycle,
    ) -> Result<bool, UnitError> {
        let index = awaited.unit;
        let mut waited = awaited.stood;
        while self.units[index].commands.waiting() > COMMANDS_IN_FLIGHT {
            self.check(memory, awaited)?;
            if self.reached(index) > limit {
                return Ok(false);
            }
            // In single cycles of the unit, so that the hart continues exactly when there is room.
            self.advance_together(memory, index, unit::Cycles::new(1));
            waited = true;
        }
        if waited {
            let unit = &self.units[index];
            let after = unit.commands.last_accept() + unit::Cycles::new(1);
            self.advance_to(memory, unit.observation().clock().seen_by_hart(after));
        }
        Ok(true)
    }

    /// Advances unit `index` by `span` of its cycles, and the other busy ones with it.
    fn advance_together(&mut self, memory: &mut GuestMemory, index: usize, span: unit::Cycles) {
        let until = self.units[index].cycle() + span;
        self.advance_unit_itself(memory, index, until);
        let reached = self.reached(index);
        for other in 0..self.units.len() {
            if other != index {
                self.advance_busy(memory, other, reached);
            }
        }
    }

    /// The hart's cycle up to which a unit has been simulated.
    fn reached(&self, index: usize) -> Cycle {
        self.units[index].reached()
    }

    /// Whether a unit is active, or may become active when others write.
    pub fn is_unit_busy(&self) -> bool {
        self.units.iter().any(|unit| !unit.is_at_rest())
    }

    /// Cycles of RTL that were evaluated, of all units together.
    pub fn unit_cycles(&self) -> u64 {
        self.units
            .iter()
            .map(|unit| unit.observation().evaluated_cycles())
            .sum()
    }

    /// The cause of the hart's stall, if it is stalled. A value from a unit goes to the thread that currently runs on
    /// the hart.
    pub fn stalled(&self) -> Option<Stall> {
        self.stall
    }

    /// Has the hart stall; it is not run until that is over.
    pub fn stall(&mut self, stall: Stall) {
        self.stall = Some(stall);
    }

    /// Ends a stall, as an interrupt does.
    pub fn resume(&mut self) {
        self.stall = None;
    }

    /// Ends the stall of a hart that waits for a response: it continues at `at` with `value`.
    pub fn answer(&mut self, memory: &mut GuestMemory, at: Cycle, value: u64) {
        self.advance_to(memory, at);
        match self.stall.take() {
            Some(Stall::Access(_)) => self.hart.reply().finish_access(value),
            Some(Stall::Command(register)) => self.hart.state_mut().write_register(register, value),
            Some(Stall::Page) => self.hart.reply().end_walk(value == 0),
            other => unreachable!("nobody was asked for what a hart is stalled for: {other:?}"),
        }
    }

    /// The unit that the hart is stalled for.
    pub fn wait(&self) -> Option<Wait> {
        match self.stall? {
            // While units are lent to another hart, there is none here.
            Stall::Unit(awaited) => Some(self.units.get(awaited.unit)?.observation().wait()),
            _ => None,
        }
    }

    /// Has a unit that is broken end the run.
    fn check_units(&self) -> Result<(), UnitError> {
        self.units.iter().try_for_each(|unit| unit.observation().check())
    }

    fn check(&mut self, memory: &mut GuestMemory, awaited: Awaited) -> Result<(), UnitError> {
        if self.units[awaited.unit].is_at_rest() {
            self.with_unit(memory, awaited.unit, AttachedUnit::probe_idle);
        }
        let unit = &self.units[awaited.unit];
        unit.observation().check()?;
        match awaited.asked {
            Asked::Command(command) if unit.is_at_rest() => Err(UnitError::NoAnswer {
                unit: unit.observation().name().to_string(),
                command,
            }),
            Asked::Interrupt if unit.is_at_rest() => Err(UnitError::NoInterrupt {
                unit: unit.observation().name().to_string(),
            }),
            // A unit that owes the answer to an access is never idle.
            _ => Ok(()),
        }
    }
}

/// Adds the registers of a hart to a digest.
fn digest_registers<T: Timing>(hart: &Hart<T>, digest: &mut Digest) {
    let Registers { x, f, pc, vector, .. } = &hart.registers();
    digest.number(*pc);
    x.iter().chain(f).for_each(|register| digest.number(*register));
    if !hart.control().has_vector() {
        return;
    }
    let words = vector.registers.as_flattened().iter();
    words.for_each(|word| digest.number(*word));
    for number in [vector.length, vector.kind, vector.start] {
        digest.number(number);
    }
    digest.number(u64::from(vector.rounding) << 1 | u64::from(vector.saturated));
}

/// Counts of the caches that `cores` share, and of the events of their units.
pub fn counters<T: Timing>(cores: &[Core<T>]) -> Counters {
    let mut counters = interconnect_counters(cores[0].hierarchy.as_ref().expect(ATTACHED));
    push_units(&mut counters, &beside(cores));
    counters
}

/// Counts of an interconnect.
pub(crate) fn interconnect_counters<I: Interconnect>(interconnect: &Shared<I>) -> Counters {
    let mut counters = Counters::new();
    interconnect.lock().count(&mut counters);
    counters
}

/// Counts of the events of units, each added up over all `cores`; none without units.
pub fn unit_counters<T: Timing>(cores: &[Core<T>]) -> Counters {
    let mut counters = Counters::new();
    push_units(&mut counters, &beside(cores));
    counters
}

/// The units beside each hart.
fn beside<T: Timing>(cores: &[Core<T>]) -> Vec<&[AttachedUnit]> {
    cores.iter().map(|core| &*core.units).collect()
}

/// Appends counts of the events of units, each added up over all harts; `beside` has the units of each.
pub(crate) fn push_units(counters: &mut Counters, beside: &[&[AttachedUnit]]) {
    for (index, unit) in beside[0].iter().enumerate() {
        let each: Vec<Counters> = beside
            .iter()
            .filter_map(|units| Some(units.get(index)?.observation().events()))
            .collect();
        for (event, _) in each[0].iter() {
            let count = each.iter().filter_map(|events| events.get(event)).sum();
            counters.push(format!("{}.{event}", unit.observation().name()), count);
        }
    }
}
