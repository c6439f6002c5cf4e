use crate::digest::PinDigest;
use crate::error::UnitError;
use crate::frames::{Assembler, SentFrame};
use crate::guard::Guard;
use crate::landmarks::Landmarks;
use crate::observed::Observed;
use crate::ports::{Crossings, MemoryPorts};
use crate::reach::{Reach, REGISTER_PAGE};
use crate::rules::MemoryRules;
use crate::wait::{Asked, LastRequest, Wait};
use rackwright_contract::{flits_of, Command, CommandContext};
use rackwright_memory::{GuestMemory, Hierarchy, Interconnect, Path, Route};
use rackwright_rtl::{
    Broken, BusRegisters, CommandResponse, Design, Direction, Instance, InterruptChange, MemoryRequest,
    RegisterAccess, RegisterAnswer, RtlError, StreamFlit,
};
use rackwright_stats::{Counters, Digest, UnitObserver};
use rackwright_time::{unit, Clock, Crossing, Cycle, Cycles};
use std::collections::VecDeque;
use std::path::Path as FilePath;
use std::sync::Arc;

/// What a unit reaches beside its pins.
pub struct Surroundings<'a, I = Hierarchy> {
    /// The bytes.
    pub memory: &'a mut GuestMemory,
    /// What says when accesses to them are over.
    pub interconnect: &'a mut I,
    /// Which of them are allowed.
    pub guard: &'a mut Guard,
}

/// A unit in RTL with its connections: command path, memory ports, placement.
///
/// Its memory traffic crosses in windows no longer than the shortest latency of its ports, so that
/// the RTL runs many cycles between two exchanges and still sees every answer in its exact cycle.
pub struct AttachedUnit {
    instance: Instance,
    ports: MemoryPorts,
    window: unit::Cycles,
    crossings: Crossings,
    command_path: Path,
    name: String,
    reach: Reach,
    /// What the commands before came with; none for a unit that translates nothing.
    context: Option<CommandContext>,
    /// Whether translations are to be forgotten before the next command.
    fenced: bool,
    has_registers: bool,
    /// Its registers, if they are accessed by AXI4-Lite or APB.
    bus: Option<BusRegisters>,
    commands_sent: u64,
    commands_accepted: u64,
    last_accept: unit::Cycle,
    idle: bool,
    responses: VecDeque<CommandResponse>,
    answers: VecDeque<RegisterAnswer>,
    sent: Assembler,
    interrupts: VecDeque<InterruptChange>,
    idle_watched: bool,
    broken: Option<Broken>,
    asked: Option<(Cycle, Asked)>,
    moved: unit::Cycle,
    last_request: Option<MemoryRequest>,
    observed: Option<Observed>,
    digest: PinDigest,
}

impl AttachedUnit {
    /// Attaches a fresh copy of `design` to an interconnect.
    ///
    /// # Errors
    /// [`RtlError`] when the wave file cannot be named to the library.
    pub fn new<I: Interconnect>(
        design: &Design,
        placement: &Route,
        interconnect: &mut I,
        waves: Option<&FilePath>,
    ) -> Result<AttachedUnit, RtlError> {
        let ports = MemoryPorts::attach(design, placement, interconnect);
        let crossings = Crossings {
            to_memory: Crossing::NONE,
            from_memory: Crossing::NONE,
        };
        let shortest = ports.minimum_latency(interconnect).unwrap_or(UNCONNECTED_WINDOW);
        Ok(AttachedUnit {
            instance: Instance::new(design, waves)?,
            ports,
            window: crossings.from_memory.fitting(shortest),
            crossings,
            command_path: placement.command_path(interconnect.clock()),
            name: design.manifest.unit.clone(),
            reach: Reach::alone(&design.manifest),
            context: design.manifest.is_translated().then(CommandContext::default),
            fenced: false,
            has_registers: design.manifest.has_registers(),
            bus: design.manifest.bus_registers(),
            commands_sent: 0,
            commands_accepted: 0,
            last_accept: Cycle::ZERO,
            idle: true,
            responses: VecDeque::new(),
            answers: VecDeque::new(),
            sent: Assembler::default(),
            interrupts: VecDeque::new(),
            idle_watched: false,
            broken: None,
            asked: None,
            moved: Cycle::ZERO,
            last_request: None,
            observed: None,
            digest: PinDigest::default(),
        })
    }

    /// Runs it on a clock of its own instead of that of the memory hierarchy, `memory`.
    pub fn on_clock(mut self, own: Clock, memory: Clock) -> AttachedUnit {
        let window = self.crossings.to_memory.fitting(self.window);
        self.crossings = Crossings {
            to_memory: Crossing::new(own, memory),
            from_memory: Crossing::new(memory, own),
        };
        self.window = self
            .crossings
            .from_memory
            .fitting(window)
            .max(unit::Cycles::new(1));
        self
    }

    /// Has harts call and reach it otherwise than if it were the only one.
    pub fn reached_by(mut self, name: String, reach: Reach) -> AttachedUnit {
        (self.name, self.reach) = (name, reach);
        self
    }

    /// What it is called among the units of its hart.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// By which instructions and addresses harts reach it.
    pub fn reach(&self) -> &Reach {
        &self.reach
    }

    /// The number by which it knows the command `funct` of `opcode`, if that leads to it.
    pub fn funct(&self, opcode: u8, funct: u8) -> Option<u8> {
        let mut ranges = self.reach.commands.iter();
        ranges.find_map(|range| range.funct(opcode, funct))
    }

    /// The design that this is a copy of.
    pub fn design(&self) -> &Design {
        self.instance.design()
    }

    /// The simulated unit itself.
    pub fn instance(&mut self) -> &mut Instance {
        &mut self.instance
    }

    /// The first cycle not yet simulated.
    pub fn cycle(&self) -> unit::Cycle {
        self.instance.cycle()
    }

    /// The hart's cycle in which it sees what the unit does in its own `cycle`.
    pub fn seen_by_hart(&self, cycle: unit::Cycle) -> Cycle {
        self.crossings.to_memory.seen(cycle)
    }

    /// The unit's cycle in which it sees what the hart does in its own `cycle`.
    pub fn seen_by_unit(&self, cycle: Cycle) -> unit::Cycle {
        self.crossings.from_memory.seen(cycle)
    }

    /// Cycles that were evaluated rather than skipped.
    pub fn evaluated_cycles(&self) -> u64 {
        self.instance.evaluated_cycles()
    }

    /// Whether nothing happens in the unit before a command reaches it.
    pub fn is_idle(&self) -> bool {
        self.idle
    }

    /// The longest span between two exchanges with memory.
    pub fn window(&self) -> unit::Cycles {
        self.window
    }

    /// Sends a command that leaves the hart at `at`; gives the unit's cycle in which it is there.
    pub fn command(&mut self, at: Cycle, command: Command) -> unit::Cycle {
        self.digest.command(at, &command);
        let arrival = self.seen_by_unit(at + self.command_path.request);
        if std::mem::take(&mut self.fenced) {
            self.instance.fence(arrival);
        }
        self.instance.command(arrival, command);
        self.commands_sent += 1;
        self.asked = Some((at, Asked::Command(command)));
        self.idle = false;
        arrival
    }

    /// Has the commands from now on come with `context`, if it is a unit that translates addresses.
    pub fn set_context(&mut self, context: CommandContext) {
        if self.context.is_none_or(|known| known == context) {
            return;
        }
        self.context = Some(context);
        self.digest.context(&context);
        self.instance.context(&context);
    }

    /// The hart fences translations at `at`. Gives the unit's cycle, to which it advances, in which what it has asked for with
    /// one from before has been answered; there is none for a unit that uses none at present.
    pub fn fence<I: Interconnect>(
        &mut self,
        at: Cycle,
        surroundings: &mut Surroundings<I>,
    ) -> Option<unit::Cycle> {
        self.context?;
        if self.idle {
            self.fenced = true;
            return None;
        }
        self.digest.fence(at);
        let arrival = self.seen_by_unit(at + self.command_path.request);
        self.instance.fence(arrival);
        let forgotten = arrival + FORGETTING;
        self.advance(forgotten, surroundings);
        let over = forgotten.max(self.ports.answered());
        self.advance(over, surroundings);
        Some(over)
    }

    /// The first read and the last write since this was last asked.
    pub fn take_landmarks(&mut self) -> Landmarks {
        self.ports.take_landmarks()
    }

    /// Commands sent that the unit has not yet taken.
    pub fn commands_waiting(&self) -> u64 {
        self.commands_sent - self.commands_accepted
    }

    /// The hart's first cycle after the one in which the unit took its latest command.
    pub fn after_accept(&self) -> Cycle {
        self.seen_by_hart(self.last_accept + unit::Cycles::new(1))
    }

    /// The next register value, and the hart's cycle in which it reaches it.
    pub fn take_response(&mut self) -> Option<(CommandResponse, Cycle)> {
        let response = self.responses.pop_front()?;
        let at = self.seen_by_hart(response.cycle) + self.command_path.response;
        Some((response, at))
    }

    /// Whether a register value has left the unit that nobody has taken.
    pub fn has_response(&self) -> bool {
        !self.responses.is_empty()
    }

    /// The unit's cycle in which the first of them left it.
    pub fn responded(&self) -> Option<unit::Cycle> {
        self.responses.front().map(|response| response.cycle)
    }

    /// Refuses a unit without registers.
    ///
    /// # Errors
    /// [`RtlError::NoPort`] when it has none.
    pub fn require_registers(&self) -> Result<(), RtlError> {
        if self.has_registers {
            return Ok(());
        }
        Err(RtlError::NoPort {
            unit: self.design().manifest.unit.clone(),
            contract: "mmio",
        })
    }

    /// Offers an access to the unit's registers.
    ///
    /// # Errors
    /// [`RtlError::NoPort`] when the unit has none.
    pub fn register_access(&mut self, access: RegisterAccess) -> Result<(), RtlError> {
        self.require_registers()?;
        self.digest.register_access(&access);
        self.instance.register_access(access);
        self.idle = false;
        Ok(())
    }

    /// Whether it has a register of so many `bytes` at `offset`, or, in AXI4-Lite and APB, a part of one.
    pub fn has_register(&self, offset: u32, bytes: u8) -> bool {
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

    /// What says that so many `bytes` of a register are written, all of them by default.
    pub fn written(&self, bytes: Option<u8>) -> u8 {
        match self.bus {
            Some(registers) => ((1_u32 << bytes.map_or(registers.bytes, u32::from)) - 1) as u8,
            None => 1,
        }
    }

    /// Offers the access of a hart at `at` to so many `bytes` of registers at `offset`, which is `write` or a read.
    ///
    /// # Errors
    /// [`RtlError::NoPort`] when the unit has none.
    pub fn access_register(
        &mut self,
        at: Cycle,
        offset: u32,
        bytes: u8,
        write: Option<u64>,
    ) -> Result<(), RtlError> {
        let arrival = self.seen_by_unit(at + ACROSS + self.command_path.request);
        self.asked = Some((at, Asked::Register(offset)));
        self.register_access(RegisterAccess {
            due: arrival.0,
            data: write.unwrap_or(0),
            address: offset,
            write: write.map_or(0, |_| self.written(Some(bytes))),
        })
    }

    /// What the first access was answered with, and the hart's cycle in which the answer reaches it.
    pub fn take_register_value(&mut self) -> Option<(u64, Cycle)> {
        let answer = self.answers.pop_front()?;
        let at = self.seen_by_hart(unit::Cycle::new(answer.cycle)) + self.command_path.response + ACROSS;
        Some((answer.data, at))
    }

    /// The next answer to a register access.
    pub fn take_register_answer(&mut self) -> Option<RegisterAnswer> {
        self.answers.pop_front()
    }

    /// Whether there is an answer to a register access.
    pub fn has_register_answer(&self) -> bool {
        !self.answers.is_empty()
    }

    /// Number of the stream port through which frames reach the unit.
    ///
    /// # Errors
    /// [`RtlError::NoPort`] when the unit has none.
    pub fn stream_input(&self) -> Result<u8, RtlError> {
        let manifest = &self.instance.design().manifest;
        let input = manifest
            .stream_ports()
            .position(|(_, direction)| direction == Direction::In);
        match input {
            Some(port) => Ok(port as u8),
            None => Err(RtlError::NoPort {
                unit: manifest.unit.clone(),
                contract: "stream",
            }),
        }
    }

    /// Offers a flit to a stream port of the unit.
    pub fn flit(&mut self, flit: StreamFlit) {
        self.digest.arrives(&flit);
        self.instance.flit(flit);
        self.idle = false;
    }

    /// Has a frame come in at the stream port `port`, its flit number `n` in the cycle `at(n)`.
    pub fn frame(&mut self, port: u8, frame: &[u8], at: impl Fn(u64) -> unit::Cycle) {
        for (number, flit) in (0..).zip(flits_of(frame)) {
            self.flit(StreamFlit::new(port, at(number), flit));
        }
    }

    /// The next frame that left the unit.
    pub fn take_frame(&mut self) -> Option<SentFrame> {
        self.sent.take()
    }

    /// The next change of the unit's interrupt line.
    pub fn take_interrupt(&mut self) -> Option<InterruptChange> {
        self.interrupts.pop_front()
    }

    /// The unit's events and their sums so far, in the manifest's order.
    pub fn events(&self) -> Counters {
        let mut counters = Counters::new();
        for (index, name) in self.instance.design().manifest.events().enumerate() {
            counters.push(name, self.instance.event(index));
        }
        counters
    }

    /// Tells `observer` what happens in it; its events have numbers from `first` on.
    pub fn observe(&mut self, observer: Arc<dyn UnitObserver>, first: usize) {
        self.observed = Some(Observed::by(observer, first));
    }

    /// Clocks it also while it says that it is idle, to find it lying ([`AttachedUnit::check`]).
    pub fn watch_idle(&mut self) {
        self.instance.check_idle();
        self.idle_watched = true;
    }

    /// Gives a unit that says that it is idle, although somebody waits for it, the time to be found lying.
    pub fn probe_idle<I: Interconnect>(&mut self, surroundings: &mut Surroundings<I>) {
        if self.idle && self.idle_watched {
            self.advance(self.cycle() + PATIENCE, surroundings);
        }
    }

    /// Holds it to the rules of memory ports, with a memory in which what is written is seen from the answer on only. For a
    /// unit with which nobody shares memory but who calls [`AttachedUnit::settle_writes`].
    pub fn hold_to_rules(&mut self) {
        self.ports
            .hold_to(MemoryRules::new(&self.instance.design().manifest));
    }

    /// Has memory hold what has been answered in the unit's cycle `now` or before.
    pub fn settle_writes(&mut self, now: unit::Cycle, memory: &mut GuestMemory) {
        self.ports.settle(now, memory);
    }

    /// Whether it stays where it is, for a reason that [`AttachedUnit::check`] tells.
    pub fn is_broken(&self) -> bool {
        self.broken.is_some()
    }

    /// Advances to `until`; a broken unit stays where it is. Of an interconnect that answers later, it is to be all that asks
    /// at present, since that is told the time here.
    pub fn advance<I: Interconnect>(&mut self, until: unit::Cycle, surroundings: &mut Surroundings<I>) {
        while self.cycle() < until && self.broken.is_none() {
            self.advance_window(until, surroundings);
            let now = self.seen_by_hart(self.cycle());
            surroundings.interconnect.advance(now);
        }
    }

    /// Advances by one window, or to `until` at once when the unit is idle: it gets what memory has answered, and asks for more.
    pub fn advance_window<I: Interconnect>(
        &mut self,
        until: unit::Cycle,
        surroundings: &mut Surroundings<I>,
    ) {
        self.take_answers(surroundings);
        let (begin, rested) = (self.cycle(), self.idle);
        let end = if self.idle {
            until
        } else {
            (self.cycle() + self.window).min(until)
        };
        let step = self.instance.step(end);
        self.idle = step.idle;
        self.broken = step.broken;
        let given = step.command_responses.len() + step.register_answers.len() + step.flits.len();
        let moved = given != 0 || self.commands_accepted != step.commands_accepted;
        self.commands_accepted = step.commands_accepted;
        self.last_accept = step.last_accept;
        self.responses.extend(step.command_responses);
        self.answers.extend(step.register_answers);
        for response in step.command_responses {
            self.digest.response(response);
        }
        for flit in step.flits {
            self.digest.leaves(flit);
            self.sent.add(flit);
        }
        for change in step.interrupts {
            self.digest.interrupt(change);
        }
        self.interrupts.extend(step.interrupts);
        let requests = self.instance.requests().len();
        if moved || requests != 0 {
            self.moved = self.instance.cycle();
        }
        if let Some(last) = self.instance.requests().last() {
            self.last_request = Some(*last);
        }
        self.idle &= requests == 0 && !self.ports.awaits();
        for request in self.instance.requests() {
            surroundings.interconnect.prefetch(request.address);
            surroundings.memory.prefetch(request.address);
        }
        for index in 0..requests {
            self.ask(index, surroundings);
        }
        if let Some(observed) = &mut self.observed {
            let worked = !(rested && self.idle) || moved;
            let crossings = self.crossings;
            observed.tell(&self.instance, begin, (worked, self.idle), |cycle| {
                crossings.to_memory.seen(cycle)
            });
        }
    }

    /// Refuses to go on with a unit that broke its promise to be idle, or one of whose assertions failed.
    ///
    /// # Errors
    /// [`UnitError::IdleBroken`] or [`UnitError::Stopped`] when that has happened.
    pub fn check(&self) -> Result<(), UnitError> {
        let unit = || self.name.clone();
        match &self.broken {
            None => Ok(()),
            Some(Broken::Idle(cycle)) => Err(UnitError::IdleBroken {
                unit: unit(),
                cycle: *cycle,
            }),
            Some(Broken::Stopped(cycle, reason)) => Err(UnitError::Stopped {
                unit: unit(),
                cycle: *cycle,
                reason: reason.clone(),
            }),
        }
    }

    /// What is to be said of it when it is awaited for long.
    pub fn wait(&self) -> Wait {
        Wait {
            unit: self.name.clone(),
            asked: self.asked.map(|(_, asked)| asked),
            since: self.asked.map_or(Cycle::ZERO, |(at, _)| at),
            moved: self.seen_by_hart(self.moved),
            request: self.last_request.map(|last| LastRequest {
                cycle: self.seen_by_hart(last.cycle),
                address: last.address,
                write: last.write,
            }),
        }
    }

    /// The digest over everything that crossed the unit's pins.
    pub fn digest(&self) -> Digest {
        self.digest.all()
    }

    /// Asks memory for one of the requests that it has just made.
    fn ask<I: Interconnect>(&mut self, index: usize, surroundings: &mut Surroundings<I>) {
        let request = self.instance.requests()[index];
        let done = self
            .ports
            .ask(&request, self.crossings, surroundings.interconnect);
        if let Some(done) = done {
            self.respond(&request, done, surroundings);
        }
    }

    /// Takes what memory has answered since it was asked.
    fn take_answers<I: Interconnect>(&mut self, surroundings: &mut Surroundings<I>) {
        while self.ports.awaits() {
            let Some((request, done)) = self.ports.answer(surroundings.interconnect) else {
                return;
            };
            self.respond(&request, done, surroundings);
        }
    }

    /// Gives it the answer to a request, which comes in the memory's cycle `done`.
    fn respond<I: Interconnect>(
        &mut self,
        request: &MemoryRequest,
        done: Cycle,
        surroundings: &mut Surroundings<I>,
    ) {
        let (response, kept) = self.ports.perform(request, done, self.crossings, surroundings);
        debug_assert!(response.due >= self.cycle(), "no answer comes before its time");
        if let Err(reason) = kept {
            self.broken.get_or_insert(Broken::Stopped(request.cycle, reason));
        }
        self.digest.request(request, &response.data, response.due);
        self.instance.respond(&response);
    }
}

/// How long a unit is watched that ought to answer and says that it is idle: longer than any operation leaves its
/// unit without a sign of life.
const PATIENCE: unit::Cycles = unit::Cycles::new(1 << 16);

/// Registers that are accessed by neither AXI4-Lite nor APB.
const REGISTERS_OF_OURS: BusRegisters = BusRegisters {
    bytes: 8,
    size: REGISTER_PAGE,
    has_parts: false,
};

/// Time from a hart to the bus of registers, or back: as the access to any device of a server.
const ACROSS: Cycles = Cycles::new(4);

/// Until the last request that was translated before a fence has left: it may be in a queue of two.
const FORGETTING: unit::Cycles = unit::Cycles::new(4);

/// A unit without memory ports only meets the hart; this is how far it runs at once.
const UNCONNECTED_WINDOW: Cycles = Cycles::new(64);
