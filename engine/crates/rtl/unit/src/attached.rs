use crate::activity::Activity;
use crate::clock::UnitClock;
use crate::commands::{CommandPort, Commands};
use crate::error::UnitError;
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
    pins: Pins,
    reach: Reach,
    pub(crate) commands: CommandPort,
    pub(crate) registers: RegisterPort,
    memory: MemoryPorts,
    sent: Assembler,
    interrupts: Interrupts,
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

    /// Runs it on a clock of its own instead of that of the memory hierarchy, `memory`.
    pub fn on_clock(mut self, own: Clock, memory: Clock) -> AttachedUnit {
        self.pins.clock = self.pins.clock.apart(own, memory);
        self
    }

    /// Has harts call and reach it otherwise than if it were the only one.
    pub fn reached_by(mut self, name: String, reach: Reach) -> AttachedUnit {
        (self.pins.name, self.reach) = (name, reach);
        self
    }

    /// What it is called among the units of its hart.
    pub fn name(&self) -> &str {
        &self.pins.name
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

    /// The first cycle of a hart that sees nothing of what has been simulated.
    pub(crate) fn reached(&self) -> Cycle {
        self.pins.clock.seen_by_hart(self.cycle())
    }

    /// Its clock beside that of harts.
    pub fn clock(&self) -> &UnitClock {
        &self.pins.clock
    }

    /// Whether nothing happens in the unit before something reaches it.
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

    /// The hart fences translations at `at`. Gives the unit's cycle, to which it advances, in which what it has asked for with
    /// one from before has been answered; there is none for a unit that uses none at present.
    pub fn fence<I: Interconnect>(
        &mut self,
        at: Cycle,
        surroundings: &mut Surroundings<I>,
    ) -> Option<unit::Cycle> {
        if !self.commands.is_translated() {
            return None;
        }
        if self.is_idle() {
            self.commands().fence_next();
            return None;
        }
        let forgotten = self.commands().fence(at);
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

    /// Takes note that a hart waits for its interrupt from its cycle `at` on.
    pub(crate) fn await_rise(&mut self, at: Cycle) {
        self.pins.record.asked = Some((at, Asked::Interrupt));
    }

    /// How often its interrupt line has risen, and when the hart learns of it that waits; nothing while the line is low and
    /// has not risen since somebody waited.
    pub(crate) fn take_rise(&mut self) -> Option<(u64, Cycle)> {
        let since = self.pins.record.asked.map_or(Cycle::ZERO, |(at, _)| at);
        self.interrupts.take(since, &self.pins, self.commands.path)
    }

    /// Looks at what its interrupt line has done, for those who will wait.
    pub(crate) fn look_at_interrupts(&mut self) {
        self.interrupts.look();
    }

    /// What is seen of it from outside.
    pub fn observation(&self) -> Observation<'_> {
        Observation { pins: &self.pins }
    }

    /// Tells `observer` what happens in it; its events have numbers from `first` on. Gives the number of the next one.
    pub(crate) fn observe(&mut self, observer: Arc<dyn UnitObserver>, first: usize) -> usize {
        self.pins.record.observed = Some(Observed::by(observer, first));
        first + self.pins.design().manifest.events().count()
    }

    /// Clocks it also while it says that it is idle, to find it lying ([`AttachedUnit::check`]).
    pub fn watch_idle(&mut self) {
        self.pins.instance.check_idle();
        self.pins.activity.is_watched = true;
    }

    /// Gives a unit that says that it is idle, although somebody waits for it, the time to be found lying.
    pub fn probe_idle<I: Interconnect>(&mut self, surroundings: &mut Surroundings<I>) {
        if self.is_idle() && self.pins.activity.is_watched {
            self.advance(self.cycle() + PATIENCE, surroundings);
        }
    }

    /// Advances to `until`; a broken unit stays where it is. Of an interconnect that answers later, it is to be all that asks
    /// at present, since that is told the time here.
    pub fn advance<I: Interconnect>(&mut self, until: unit::Cycle, surroundings: &mut Surroundings<I>) {
        while self.cycle() < until && !self.pins.activity.is_broken() {
            self.advance_window(until, surroundings);
            surroundings.interconnect.advance(self.reached());
        }
    }

    /// Whether it waits for what others write: it is told when it is advanced, or by [`AttachedUnit::tell`].
    pub fn watches(&self) -> bool {
        self.memory.watch()
    }

    /// Whether nothing happens in it before it is asked for something: it is idle and does not watch.
    pub fn is_at_rest(&self) -> bool {
        self.is_idle() && !self.watches()
    }

    /// Tells it, if it watches memory, what others have written, at the hart's cycle `now` if no cache has seen that.
    pub fn tell<I: Interconnect>(&mut self, now: Cycle, surroundings: &mut Surroundings<I>) {
        if self.watches() {
            let told = self.memory.tell(now, &self.pins.clock, surroundings);
            self.answer(told);
        }
    }

    /// Answers watches. A unit that is told late, since it was ahead of who wrote, sees it at once.
    fn answer(&mut self, told: Vec<(MemoryRequest, MemoryResponse)>) {
        for (request, mut response) in told {
            response.due = response.due.max(self.cycle());
            self.give(&request, &response);
            self.pins.activity.disturb();
        }
    }

    /// Gives it an answer of memory.
    fn give(&mut self, request: &MemoryRequest, response: &MemoryResponse) {
        let digest = &mut self.pins.record.digest;
        digest.request(request, &response.data, response.due);
        self.pins.instance.respond(response);
    }

    /// Advances by one window, or to `until` at once when the unit is idle: it gets what memory has answered, and asks for more.
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

    /// Steps it to the cycle `end`, and has its ports take what it has done; tells whether that is anything.
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

    /// Refuses to go on with a unit that broke its promise to be idle, or one of whose assertions failed.
    ///
    /// # Errors
    /// [`UnitError::IdleBroken`] or [`UnitError::Stopped`] when that has happened; it stays where it is then.
    pub fn check(&self) -> Result<(), UnitError> {
        self.pins.activity.check(&self.pins.name)
    }

    /// Asks memory for one of the requests that it has just made.
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

    /// Takes what memory has answered since it was asked.
    fn take_answers<I: Interconnect>(&mut self, surroundings: &mut Surroundings<I>) {
        while self.memory.awaits() {
            let Some((request, done)) = self.memory.answer(surroundings.interconnect) else {
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

/// How long a unit is watched that ought to answer and says that it is idle: longer than any operation leaves its
/// unit without a sign of life.
const PATIENCE: unit::Cycles = unit::Cycles::new(1 << 16);

/// A unit without memory ports only meets the hart; this is how far it runs at once.
const UNCONNECTED_WINDOW: Cycles = Cycles::new(64);
