use crate::activity::Activity;
use crate::clock::UnitClock;
use crate::commands::{CommandPort, Commands};
use crate::frames::Assembler;
use crate::interrupts::Interrupts;
use crate::observation::Observation;
use crate::observed::Observed;
use crate::pins::Pins;
use crate::ports::MemoryPorts;
use crate::reach::Reach;
use crate::record::Record;
use crate::registers::{RegisterPort, Registers};
use crate::streams::Streams;
use crate::surroundings::Surroundings;
use crate::wait::Asked;
use rackwright_memory::{Interconnect, Route};
use rackwright_rtl::{Design, Instance, InterruptChange, MemoryRequest, MemoryResponse, RtlError};
use rackwright_stats::UnitObserver;
use rackwright_time::{unit, Clock, Cycle, Cycles};
use std::path::Path as FilePath;
use std::sync::Arc;

/// A unit in RTL with its ports: commands, registers, memory, streams, and an interrupt line.
///
/// Its memory traffic crosses in windows no longer than the shortest latency of its ports, so that
/// the RTL runs many cycles between two exchanges and still sees every answer in its exact cycle.
pub struct AttachedUnit {
    pub(crate) pins: Pins,
    reach: Reach,
    pub(crate) commands: CommandPort,
    pub(crate) registers: RegisterPort,
    pub(crate) memory: MemoryPorts,
    pub(crate) sent: Assembler,
    pub(crate) interrupts: Interrupts,
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
        let manifest = &design.manifest;
        let memory = MemoryPorts::attach(design, placement, interconnect);
        let shortest = memory.minimum_latency(interconnect);
        let path = placement.command_path(interconnect.clock());
        Ok(AttachedUnit {
            pins: Pins {
                name: manifest.unit.clone(),
                instance: Instance::new(design, waves)?,
                clock: UnitClock::shared(shortest.unwrap_or(UNCONNECTED_WINDOW)),
                activity: Activity::at_reset(),
                record: Record::default(),
            },
            reach: Reach::alone(manifest),
            commands: CommandPort::new(path, manifest.is_translated()),
            registers: RegisterPort::new(manifest),
            memory,
            sent: Assembler::default(),
            interrupts: Interrupts::default(),
        })
    }

    /// Runs the unit on a clock of its own instead of that of the memory hierarchy, `memory`.
    pub fn on_clock(mut self, own: Clock, memory: Clock) -> AttachedUnit {
        self.pins.clock = self.pins.clock.apart(own, memory);
        self
    }

    /// Has harts call and reach it otherwise than if it were the only one.
    pub fn reached_by(mut self, name: String, reach: Reach) -> AttachedUnit {
        (self.pins.name, self.reach) = (name, reach);
        self
    }

    /// By which instructions and addresses harts reach it.
    pub fn reach(&self) -> &Reach {
        &self.reach
    }

    /// The simulated unit itself.
    pub fn instance(&mut self) -> &mut Instance {
        &mut self.pins.instance
    }

    /// The first cycle not yet simulated.
    pub fn cycle(&self) -> unit::Cycle {
        self.pins.instance.cycle()
    }

    /// The first cycle of a hart that does not observe anything simulated so far.
    pub(crate) fn reached(&self) -> Cycle {
        self.pins.clock.seen_by_hart(self.cycle())
    }

    /// Whether the unit is inactive until it receives input.
    pub fn is_idle(&self) -> bool {
        self.pins.activity.is_idle()
    }

    /// Its command port.
    pub fn commands(&mut self) -> Commands<'_> {
        Commands {
            port: &mut self.commands,
            pins: &mut self.pins,
        }
    }

    /// The hart fences translations at `at`. Returns the unit's cycle, to which it advances, in which the requests that
    /// use a translation from before are complete; none for a unit that uses no translation at present. A watch is a
    /// use: it is asked for again.
    pub fn fence<I: Interconnect>(
        &mut self,
        at: Cycle,
        surroundings: &mut Surroundings<I>,
    ) -> Option<unit::Cycle> {
        if !self.commands.is_translated() {
            return None;
        }
        if self.is_at_rest() {
            self.commands().fence_next();
            return None;
        }
        let forgotten = self.commands().fence(at);
        self.pins.activity.disturb();
        self.advance(forgotten, surroundings);
        let over = forgotten.max(self.memory.answered());
        self.advance(over, surroundings);
        Some(over)
    }

    /// Its registers.
    pub fn registers(&mut self) -> Registers<'_> {
        Registers {
            port: &mut self.registers,
            pins: &mut self.pins,
            path: self.commands.path,
        }
    }

    /// Its streams.
    pub fn streams(&mut self) -> Streams<'_> {
        Streams {
            sent: &mut self.sent,
            pins: &mut self.pins,
        }
    }

    /// Its memory ports.
    pub fn memory(&mut self) -> &mut MemoryPorts {
        &mut self.memory
    }

    /// The next change of its interrupt line.
    pub fn take_interrupt(&mut self) -> Option<InterruptChange> {
        self.interrupts.changes.pop_front()
    }

    /// Whether it has an interrupt line.
    pub(crate) fn has_interrupt(&self) -> bool {
        self.pins.design().manifest.has_interrupt()
    }

    /// When its interrupt line has risen, in cycles of the hart, if it is high.
    pub(crate) fn raised(&self) -> Option<Cycle> {
        let rose = self.interrupts.raised()?;
        Some(self.pins.clock.seen_by_hart(rose))
    }

    /// Takes note that a hart waits for its interrupt from its cycle `at` on.
    pub(crate) fn await_rise(&mut self, at: Cycle) {
        self.pins.record.asked = Some((at, Asked::Interrupt));
    }

    /// The number of times its interrupt line has risen, and the time at which the waiting hart observes it; none while
    /// the line is low and has not risen since the last wait.
    pub(crate) fn take_rise(&mut self) -> Option<(u64, Cycle)> {
        let since = self.pins.record.asked.map_or(Cycle::ZERO, |(at, _)| at);
        self.interrupts.take(since, &self.pins, self.commands.path)
    }

    /// Updates the state of its interrupt line, for later waits.
    pub(crate) fn look_at_interrupts(&mut self) {
        self.interrupts.look();
    }

    /// The externally visible state of the unit.
    pub fn observation(&self) -> Observation<'_> {
        Observation { pins: &self.pins }
    }

    /// Reports its events to `observer`, with numbers from `first` on. Returns the next number.
    pub(crate) fn observe(&mut self, observer: Arc<dyn UnitObserver>, first: usize) -> usize {
        self.pins.record.observed = Some(Observed::by(observer, first));
        first + self.pins.design().manifest.events().count()
    }

    /// Clocks an awaited unit whose `idle` output is high for some time, to detect that this is wrong, if that is checked
    /// ([`Instance::check_idle`]).
    pub fn probe_idle<I: Interconnect>(&mut self, surroundings: &mut Surroundings<I>) {
        if self.is_idle() && self.pins.instance.checks_idle() {
            self.advance(self.cycle() + PATIENCE, surroundings);
        }
    }

    /// Advances to `until`; a unit that has stopped does not advance. If the interconnect responds later, this must be
    /// its only requester at present, since it is also told the time here.
    pub fn advance<I: Interconnect>(&mut self, until: unit::Cycle, surroundings: &mut Surroundings<I>) {
        while self.cycle() < until && !self.pins.activity.is_broken() {
            self.advance_window(until, surroundings);
            surroundings.interconnect.advance(self.reached());
        }
    }

    /// Whether it waits for writes of others: it receives them when it is advanced, or by [`AttachedUnit::tell`].
    pub fn watches(&self) -> bool {
        self.memory.watch()
    }

    /// Whether it is inactive until it receives a request: it is idle and does not watch.
    pub fn is_at_rest(&self) -> bool {
        self.is_idle() && !self.watches()
    }

    /// Passes writes of others to it, if it watches memory, at the hart's cycle `now` if no cache has observed them.
    pub fn tell<I: Interconnect>(&mut self, now: Cycle, surroundings: &mut Surroundings<I>) {
        if self.watches() {
            let told = self.memory.tell(now, &self.pins.clock, surroundings);
            self.answer(told);
        }
    }

    /// Answers watches. A unit that is ahead of the writer receives the write late, and observes it immediately.
    fn answer(&mut self, told: Vec<(MemoryRequest, MemoryResponse)>) {
        for (request, mut response) in told {
            response.due = response.due.max(self.cycle());
            self.give(&request, &response);
            self.pins.activity.disturb();
        }
    }

    /// Passes a response of memory to it.
    fn give(&mut self, request: &MemoryRequest, response: &MemoryResponse) {
        let digest = &mut self.pins.record.digest;
        digest.request(request, &response.data, response.due);
        self.pins.instance.respond(response);
    }

    /// Advances by one window, or directly to `until` if the unit is idle: it receives responses of memory, and sends
    /// further requests.
    pub fn advance_window<I: Interconnect>(
        &mut self,
        until: unit::Cycle,
        surroundings: &mut Surroundings<I>,
    ) {
        self.take_answers(surroundings);
        let present = if self.is_idle() { until } else { self.cycle() };
        self.tell(self.pins.clock.seen_by_hart(present), surroundings);
        let (begin, rested) = (self.cycle(), self.is_idle());
        let end = if rested {
            until
        } else {
            (begin + self.pins.clock.window()).min(until)
        };
        let moved = self.step(end);
        let requests = self.pins.instance.requests().len();
        if requests != 0 || self.memory.awaits() {
            self.pins.activity.disturb();
        }
        for request in self.pins.instance.requests() {
            surroundings.interconnect.prefetch(request.address);
            surroundings.memory.prefetch(request.address);
        }
        for index in 0..requests {
            self.ask(index, surroundings);
        }
        let idle = self.is_idle();
        if let Some(observed) = &mut self.pins.record.observed {
            let worked = !(rested && idle) || moved;
            let clock = self.pins.clock;
            observed.tell(&self.pins.instance, begin, (worked, idle), |cycle| {
                clock.seen_by_hart(cycle)
            });
        }
    }

    /// Steps the unit to the cycle `end`, and passes its outputs to its ports; returns whether there were any.
    fn step(&mut self, end: unit::Cycle) -> bool {
        let step = self.pins.instance.step(end);
        let digest = &mut self.pins.record.digest;
        self.pins.activity.take(&step);
        let mut moved = self.commands.take(&step, digest);
        moved |= self.registers.take(&step);
        moved |= !step.flits.is_empty();
        for flit in step.flits {
            digest.leaves(flit);
            self.sent.add(flit);
        }
        for change in step.interrupts {
            digest.interrupt(change);
        }
        self.interrupts.changes.extend(step.interrupts);
        let requests = self.pins.instance.requests();
        if moved || !requests.is_empty() {
            self.pins.record.moved = self.pins.instance.cycle();
        }
        if let Some(last) = requests.last() {
            self.pins.record.last_request = Some(*last);
        }
        moved
    }

    /// Sends one of the unit's latest requests to memory.
    fn ask<I: Interconnect>(&mut self, index: usize, surroundings: &mut Surroundings<I>) {
        let request = self.pins.instance.requests()[index];
        let ended = self.memory.withdraw(&request, &self.pins.clock, surroundings);
        self.answer(ended);
        let done = self
            .memory
            .ask(&request, &self.pins.clock, surroundings.interconnect);
        if let Some(done) = done {
            self.respond(&request, done, surroundings);
        }
    }

    /// Takes the responses of memory to earlier requests.
    fn take_answers<I: Interconnect>(&mut self, surroundings: &mut Surroundings<I>) {
        while self.memory.awaits() {
            let Some((request, done)) = self.memory.answer(surroundings.interconnect) else {
                return;
            };
            self.respond(&request, done, surroundings);
        }
    }

    /// Passes the response to a request to it, which arrives in the memory's cycle `done`.
    fn respond<I: Interconnect>(
        &mut self,
        request: &MemoryRequest,
        done: Cycle,
        surroundings: &mut Surroundings<I>,
    ) {
        let (response, kept) = self.memory.perform(request, done, &self.pins.clock, surroundings);
        if let Err(reason) = kept {
            self.pins.activity.stop(request.cycle, reason);
        }
        if let Some(response) = response {
            debug_assert!(response.due >= self.cycle(), "no answer comes before its time");
            self.give(request, &response);
        }
    }
}

/// How long an idle unit that owes a response is clocked: longer than any operation leaves its unit without activity.
const PATIENCE: unit::Cycles = unit::Cycles::new(1 << 16);

/// A unit without memory ports interacts only with the hart; this is the length of its windows.
const UNCONNECTED_WINDOW: Cycles = Cycles::new(64);
