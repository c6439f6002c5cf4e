use crate::error::ServerError;
use rackwright_contract::{flits_of, Command, CommandContext, Flit};
use rackwright_memory::{GuestMemory, Hierarchy, HierarchyParameters, Route};
use rackwright_rtl::{Design, StreamFlit};
use rackwright_stats::{Counters, Digest};
use rackwright_time::{unit, Cycle, Cycles};
use rackwright_unit::{AttachedUnit, Guard, SentFrame, Surroundings, UnitError};
use std::path::Path;

/// A unit alone against guest memory and the memory hierarchy, commanded from outside.
pub struct Bench {
    unit: AttachedUnit,
    memory: GuestMemory,
    hierarchy: Hierarchy,
    guard: Guard,
    cycle: Cycle,
}

/// Number of cycles by which a bench advances between two checks.
const STRIDE: unit::Cycles = unit::Cycles::new(4096);

impl Bench {
    /// A bench with `guest_bytes` of zeroed memory, all of it readable and writable, behind caches with these
    /// `parameters`; if the unit has a memory of its own, it has its own clock besides that of the memory.
    ///
    /// # Errors
    /// [`ServerError`] when memory cannot be reserved or the unit cannot be attached.
    pub fn new(
        design: &Design,
        placement: &Route,
        parameters: &HierarchyParameters,
        guest_bytes: u64,
        waves: Option<&Path>,
    ) -> Result<Bench, ServerError> {
        let mut hierarchy = Hierarchy::new(parameters.clone())?.populated();
        let mut memory = GuestMemory::new(guest_bytes)?;
        memory.allow_all();
        let mut unit = AttachedUnit::new(design, placement, &mut hierarchy, waves)?;
        unit.memory().hold_to_rules();
        if parameters.is_own {
            unit = unit.on_clock(design.clock, parameters.clock);
        }
        Ok(Bench {
            unit,
            memory,
            hierarchy,
            guard: Guard::new(),
            cycle: Cycle::ZERO,
        })
    }

    /// The current bytes, for inspection or changes that take no time. The unit's writes are visible when memory has
    /// responded.
    pub fn memory(&mut self) -> &mut GuestMemory {
        let now = self.now();
        self.unit.memory().settle(now, &mut self.memory);
        &mut self.memory
    }

    /// The timing of memory, to warm a range or read its counters.
    pub fn hierarchy(&mut self) -> &mut Hierarchy {
        &mut self.hierarchy
    }

    /// Which bytes the unit may touch.
    pub fn guard(&mut self) -> &mut Guard {
        &mut self.guard
    }

    /// The unit.
    pub fn unit(&mut self) -> &mut AttachedUnit {
        &mut self.unit
    }

    /// The current time of the imagined hart that sends the commands.
    pub fn cycle(&self) -> Cycle {
        self.cycle
    }

    /// Now, as the unit counts it.
    pub fn unit_cycle(&self) -> unit::Cycle {
        self.now()
    }

    /// Sends a command now; with `xd`, waits for the register value, at most `limit` cycles.
    ///
    /// # Errors
    /// [`UnitError::NoAnswer`] when the unit can never answer, [`ServerError::CycleLimit`] when it takes too long.
    pub fn command(&mut self, command: Command, limit: Option<Cycles>) -> Result<Option<u64>, ServerError> {
        self.unit.commands().send(self.cycle, command);
        if !command.xd {
            self.cycle += Cycles::new(1);
            return Ok(None);
        }
        let deadline = limit.map_or(Cycle::NEVER, |limit| self.cycle + limit);
        while self.unit.commands().responded().is_none() {
            self.with_unit(AttachedUnit::probe_idle);
            self.unit.observation().check()?;
            if self.unit.is_idle() {
                let unit = self.unit.observation().name().to_string();
                return Err(UnitError::NoAnswer { unit, command }.into());
            }
            self.check(deadline)?;
            let until = self.unit.cycle() + self.unit.observation().clock().window();
            self.advance(until);
        }
        let response = self.unit.commands().take_response();
        Ok(response.map(|(response, at)| {
            self.cycle = self.cycle.max(at);
            response.data
        }))
    }

    /// Sets the context of later commands, for a unit that translates addresses.
    ///
    /// # Errors
    /// [`UnitError::Untranslated`] when it does not.
    pub fn set_context(&mut self, context: CommandContext) -> Result<(), ServerError> {
        self.unit.commands().require_translation()?;
        self.unit.commands().set_context(context);
        Ok(())
    }

    /// Has the unit forget its translations.
    ///
    /// # Errors
    /// [`UnitError::Untranslated`] when it has none.
    pub fn fence(&mut self) -> Result<(), ServerError> {
        self.unit.commands().require_translation()?;
        let (now, mut over) = (self.cycle, None);
        self.with_unit(|unit, surroundings| over = unit.fence(now, surroundings));
        self.cycle = over.map_or(now, |over| {
            now.max(self.unit.observation().clock().seen_by_hart(over))
        });
        Ok(())
    }

    /// Lets `span` pass.
    ///
    /// # Errors
    /// As of [`rackwright_unit::Observation::check`].
    pub fn run(&mut self, span: Cycles) -> Result<(), ServerError> {
        self.cycle += span;
        self.advance(self.now());
        Ok(self.unit.observation().check()?)
    }

    /// Advances time until the unit is idle, at most by `limit` cycles; returns whether it is.
    ///
    /// # Errors
    /// As of [`rackwright_unit::Observation::check`].
    pub fn run_until_idle(&mut self, limit: Option<Cycles>) -> Result<bool, ServerError> {
        let deadline = limit.map_or(Cycle::NEVER, |limit| self.cycle + limit);
        let deadline = self.unit.observation().clock().seen_by_unit(deadline);
        while !self.unit.is_idle() && self.unit.cycle() < deadline {
            let until = (self.unit.cycle() + STRIDE).min(deadline);
            self.advance(until);
            self.unit.observation().check()?;
        }
        self.cycle = self.cycle.max(self.reached());
        Ok(self.unit.is_idle())
    }

    /// Reads or writes a register of a unit that has some.
    ///
    /// # Errors
    /// [`ServerError::NoRegisterPort`] when it has none, [`ServerError::CycleLimit`] when it never answers.
    pub fn register(&mut self, address: u32, write: Option<u64>, limit: Cycles) -> Result<u64, ServerError> {
        let deadline = self.cycle + limit;
        let now = self.now();
        self.unit.registers().offer(now, address, write)?;
        loop {
            if let Some(answer) = self.unit.registers().take_answer() {
                let at = self
                    .unit
                    .observation()
                    .clock()
                    .seen_by_hart(unit::Cycle::new(answer.cycle));
                self.cycle = self.cycle.max(at);
                return Ok(answer.data);
            }
            self.check(deadline)?;
            let until = self.unit.cycle() + self.unit.observation().clock().window();
            self.advance(until);
        }
    }

    /// Number of the stream port for frames to the unit: the port with this name, or else the first one.
    ///
    /// # Errors
    /// [`ServerError`] when the unit has no such port.
    pub fn stream_input(&mut self, name: Option<&str>) -> Result<u8, ServerError> {
        let streams = self.unit.streams();
        Ok(match name {
            Some(name) => streams.input_named(name)?,
            None => streams.input()?,
        })
    }

    /// Has a frame arrive at the stream port `port`, its first flit at `at` or now, if that is later, and one more every
    /// `spacing` cycles; returns the cycle after its last.
    pub fn deliver(&mut self, port: u8, frame: &[u8], at: unit::Cycle, spacing: unit::Cycles) -> unit::Cycle {
        let mut cycle = at;
        for flit in flits_of(frame) {
            cycle = self.deliver_flit(port, flit, cycle) + spacing;
        }
        cycle
    }

    /// Has a flit of a frame arrive at `at` or now, if that is later; returns when.
    pub fn deliver_flit(&mut self, port: u8, flit: Flit<'_>, at: unit::Cycle) -> unit::Cycle {
        let cycle = at.max(self.unit.cycle());
        self.unit.streams().flit(StreamFlit::new(port, cycle, flit));
        cycle
    }

    /// The next frame that left the unit.
    pub fn take_frame(&mut self) -> Option<SentFrame> {
        self.unit.streams().take_frame()
    }

    /// The unit's events and their sums so far.
    pub fn events(&self) -> Counters {
        self.unit.observation().events()
    }

    /// The digest of all transfers at the unit's pins.
    pub fn digest(&self) -> Digest {
        self.unit.observation().digest()
    }

    /// Now, as the unit sees it.
    fn now(&self) -> unit::Cycle {
        self.unit.observation().clock().seen_by_unit(self.cycle)
    }

    /// The time of the unit, in the hart's cycles.
    fn reached(&self) -> Cycle {
        self.unit.observation().clock().seen_by_hart(self.unit.cycle())
    }

    fn advance(&mut self, until: unit::Cycle) {
        self.with_unit(|unit, surroundings| unit.advance(until, surroundings));
    }

    /// Executes a function on the unit that may access memory.
    fn with_unit(&mut self, act: impl FnOnce(&mut AttachedUnit, &mut Surroundings)) {
        let mut surroundings = Surroundings {
            memory: &mut self.memory,
            interconnect: &mut self.hierarchy,
            guard: &mut self.guard,
        };
        act(&mut self.unit, &mut surroundings);
    }

    fn check(&self, deadline: Cycle) -> Result<(), ServerError> {
        self.unit.observation().check()?;
        let cycle = self.reached();
        if cycle >= deadline {
            return Err(ServerError::CycleLimit {
                cycle,
                wait: Some(Box::new(self.unit.observation().wait())),
            });
        }
        Ok(())
    }
}
