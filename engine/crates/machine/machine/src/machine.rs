use crate::access::perform;
use crate::checkpoint::SavedMachine;
use crate::error::MachineError;
use crate::member::Member;
use crate::parameters::{Windows, TICK};
use rackwright_boot::Entry;
use rackwright_cpu::{DeviceAccess, ExecutionEnvironment, Hart, SharedCode, Stop, Timing};
use rackwright_device::{Bus, Endpoint, Map, PowerRequest, ACCESS_LATENCY};
use rackwright_memory::{GuestMemory, SharedHierarchy};
use rackwright_stats::{Counters, Digest};
use rackwright_time::{Cycle, Cycles};
use rackwright_trace::Observation;
use rackwright_unit::{observe, Attachment, Core, Stall, UnitError};
use std::sync::Arc;

/// Why a machine came back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pause {
    /// The cycle to run to has come, or a hart is stalled for what a device does not know before that.
    Reached,
    /// The guest ended a line on this serial port.
    Line(usize),
    /// Software switches the machine off or starts it anew.
    Power(PowerRequest),
    /// All harts wait, and only somebody outside can wake them.
    Idle,
    /// A unit did what it may not: [`Machine::failure`].
    Failed,
}

/// How far the turn of a hart has come.
enum Turn {
    /// To the end of the window.
    Over,
    /// To a load whose value a device has only later.
    Stalled,
    /// To what is to be decided outside.
    Paused(Pause),
}

/// Harts on one clock, memory and devices.
///
/// Harts take turns, in the order of their numbers, for windows of time that lie on a fixed grid: what a machine does
/// depends neither on where its runs are cut nor on the host.
pub struct Machine<T: Timing> {
    harts: Vec<Member<T>>,
    memory: GuestMemory,
    bus: Bus,
    windows: Windows,
    /// Where the current window begins, and where it ends.
    now: Cycle,
    end: Cycle,
    /// Whose turn it is.
    turn: usize,
    /// The serial port whose ends of lines interrupt a run.
    watched: Option<usize>,
    failure: Option<UnitError>,
}

impl<T: Timing> Machine<T> {
    /// A machine with a hart for each of `timings`, which all start at `entry`.
    pub fn new(timings: Vec<T>, memory: GuestMemory, map: Map, entry: &Entry) -> Machine<T> {
        let (count, windows) = (timings.len(), Windows::of(&timings));
        let start = |(index, timing)| Member {
            core: Core::alone(start(index, timing, entry)),
            index,
        };
        Machine {
            harts: timings.into_iter().enumerate().map(start).collect(),
            memory,
            bus: Bus::new(map, count, TICK),
            windows,
            now: Cycle::ZERO,
            end: Cycle::ZERO,
            turn: 0,
            watched: None,
            failure: None,
        }
    }

    /// A machine that goes on from where another one was, with a hart for each of `timings` and the same PCI functions.
    ///
    /// # Errors
    /// [`MachineError`] when what was saved does not fit.
    pub(crate) fn restore(
        timings: Vec<T>,
        memory: GuestMemory,
        map: Map,
        functions: Vec<Box<dyn Endpoint>>,
        saved: &SavedMachine,
    ) -> Result<Machine<T>, MachineError> {
        let nowhere = Entry {
            pc: 0,
            device_tree: 0,
            information: 0,
        };
        let mut machine = Machine::new(timings, memory, map, &nowhere);
        functions
            .into_iter()
            .for_each(|function| machine.bus.attach(function));
        machine.bus.restore(&saved.bus)?;
        for (member, (hart, waiting)) in machine.harts.iter_mut().zip(&saved.harts) {
            member.core.hart.restore(hart);
            if *waiting {
                member.core.stall(Stall::Interrupt);
            }
        }
        machine.now = Cycle::new(saved.now);
        machine.turn = saved.turn as usize;
        machine.end = Cycle::new(saved.end);
        Ok(machine)
    }

    /// Has all harts have vector units.
    pub(crate) fn offer_vector(&mut self) {
        for member in &mut self.harts {
            member.core.hart.offer_vector();
        }
    }

    /// Has all harts use code that others have decoded, and others theirs.
    pub(crate) fn share_code(&mut self, code: &Arc<SharedCode<T::Block>>) {
        for member in &mut self.harts {
            member.core.hart.share_code(code.clone());
        }
    }

    /// Puts units beside each hart. Commands of processes come with virtual addresses, which units must translate.
    ///
    /// # Errors
    /// [`UnitError`] when they do not, or cannot be attached.
    pub fn attach(
        &mut self,
        hierarchy: &SharedHierarchy,
        attachment: &Attachment<'_>,
    ) -> Result<(), UnitError> {
        attachment.require_translation()?;
        for member in &mut self.harts {
            let units = attachment.attach(hierarchy, member.index)?;
            member.core.attach(hierarchy.clone(), units);
        }
        Ok(())
    }

    /// Has `observation` be told what happens in the units beside its harts.
    pub(crate) fn observe_units(&mut self, observation: &Observation) {
        for member in &mut self.harts {
            observe(&mut member.core.units, &observation.units(member.index));
        }
    }

    /// Why it paused with [`Pause::Failed`].
    pub fn failure(&mut self) -> Option<UnitError> {
        self.failure.take()
    }

    /// Commands that harts have given to units so far.
    pub fn commands(&self) -> u64 {
        self.harts.iter().map(|member| member.core.commands()).sum()
    }

    /// Cycles of RTL that were evaluated, of the units of all harts.
    pub fn unit_cycles(&self) -> u64 {
        let cycles = self.harts.iter().map(|member| member.core.unit_cycles());
        cycles.sum()
    }

    /// Counts of the events of units, each added up over all harts; none without units.
    pub fn unit_counters(&self) -> Counters {
        let mut counters = Counters::new();
        for (index, unit) in self.harts[0].core.units.iter().enumerate() {
            let each: Vec<Counters> = self
                .harts
                .iter()
                .map(|member| member.core.units[index].events())
                .collect();
            for (event, _) in each[0].iter() {
                let count = each.iter().filter_map(|events| events.get(event)).sum();
                counters.push(format!("{}.{event}", unit.name()), count);
            }
        }
        counters
    }

    /// The state of harts and devices.
    pub(crate) fn save(&self) -> SavedMachine {
        let save = |member: &Member<T>| (member.core.hart.save(), member.waits());
        SavedMachine {
            harts: self.harts.iter().map(save).collect(),
            bus: self.bus.save(),
            now: self.now.0,
            turn: self.turn as u64,
            end: self.end.0,
        }
    }

    /// Has harts forget what a restored machine does not know.
    pub(crate) fn forget_unsaved(&mut self) {
        self.harts
            .iter_mut()
            .for_each(|member| member.core.hart.forget_unsaved());
    }

    /// The memory.
    pub fn memory(&self) -> &GuestMemory {
        &self.memory
    }

    /// Has runs end at each end of a line that the guest sends through serial port `uart`.
    pub fn watch(&mut self, uart: usize) {
        self.watched = Some(uart);
    }

    /// The devices.
    pub fn bus(&mut self) -> &mut Bus {
        &mut self.bus
    }

    /// The cycle that all harts have reached.
    pub fn cycle(&self) -> Cycle {
        self.now
    }

    /// Instructions executed by all harts.
    pub fn instructions(&self) -> u64 {
        self.harts
            .iter()
            .map(|member| member.core.hart.instructions_retired())
            .sum()
    }

    /// How many harts there are.
    pub fn harts(&self) -> usize {
        self.harts.len()
    }

    /// Adds the state of harts, memory and devices to a digest.
    pub fn digest(&self, digest: &mut Digest) {
        self.harts.iter().for_each(|member| member.core.digest(digest));
        digest.contents(self.memory.contents());
        digest.cycle(self.now);
        digest.bytes(&self.bus.save());
    }

    /// Has harts and devices meet at least every so many cycles, which divide a tick of time: for a machine of which
    /// something is not run by itself.
    pub(crate) fn meet_every(&mut self, cycles: Cycles) {
        self.windows.limit(cycles);
    }

    /// The memory, for who else writes it.
    pub(crate) fn memory_mut(&mut self) -> &mut GuestMemory {
        &mut self.memory
    }

    /// When something happens next: now, while a hart runs.
    pub(crate) fn next_event(&mut self) -> Cycle {
        let bus = &self.bus;
        if self.turn != 0 || !self.harts.iter_mut().all(|member| member.idles(bus)) {
            return self.now;
        }
        let timers = self.harts.iter().map(|member| member.next_timer(bus)).min();
        timers.unwrap_or(Cycle::NEVER).min(bus.next_event())
    }

    /// Runs until `until` has come or something is to be decided outside; goes on from there when run again.
    pub fn run(&mut self, until: Cycle) -> Pause {
        'windows: loop {
            if !self.finish_read() {
                return Pause::Reached;
            }
            if self.turn == 0 {
                if self.now >= until {
                    return Pause::Reached;
                }
                if let Some(pause) = self.skip_idle(until) {
                    return pause;
                }
                self.bus.advance(&mut self.memory, self.now);
                self.end = self.window_end().min(self.event_end());
            }
            while self.turn < self.harts.len() {
                match self.run_hart() {
                    Turn::Over => {}
                    Turn::Stalled => continue 'windows,
                    Turn::Paused(pause) => return pause,
                }
                // Where the hart waits, its units have not been taken along.
                let member = &mut self.harts[self.turn];
                member.core.advance_units(&mut self.memory, self.end);
                self.turn += 1;
            }
            self.turn = 0;
            self.now = self.end;
        }
    }

    /// Has the hart whose turn it is go on that is stalled for a load, if a device knows its value. Tells whether none is
    /// stalled for one any more.
    fn finish_read(&mut self) -> bool {
        let core = &mut self.harts[self.turn].core;
        if core.stalled() != Some(Stall::Access) {
            return true;
        }
        let Some((value, at)) = self.bus.finish_read(&mut self.memory) else {
            return false;
        };
        core.answer(&mut self.memory, at, value);
        true
    }

    /// When devices next do something on their own: between windows, at the first step of time that is not before.
    fn event_end(&self) -> Cycle {
        let step = self.windows.together.min(TICK);
        let steps = self.bus.next_event().0.div_ceil(step.0);
        Cycle::new(steps.saturating_mul(step.0)).max(self.now + step)
    }

    /// Where the window that begins now ends, as far as harts are concerned. While all harts but one wait there is nobody
    /// to be in step with.
    fn window_end(&mut self) -> Cycle {
        let Windows { together, alone } = self.windows;
        let next = self.now + together;
        if together == alone {
            return next;
        }
        let bus = &self.bus;
        let mut busy = 0;
        let mut end = Cycle::new(alone.0 * (self.now.0 / alone.0 + 1));
        for member in &mut self.harts {
            if member.idles(bus) {
                end = end.min(member.next_timer(bus));
            } else {
                busy += 1;
                if busy > 1 {
                    return next;
                }
            }
        }
        next.max(Cycle::new(end.0 - end.0 % together.0))
    }

    /// Passes over the windows in which all harts wait.
    fn skip_idle(&mut self, until: Cycle) -> Option<Pause> {
        let bus = &self.bus;
        if !self.harts.iter_mut().all(|member| member.idles(bus)) {
            return None;
        }
        let timers = self.harts.iter().map(|member| member.next_timer(bus)).min();
        let wake = timers.unwrap_or(Cycle::NEVER).min(bus.next_event());
        if wake == Cycle::NEVER {
            return Some(Pause::Idle);
        }
        let target = wake.min(until).0;
        self.now = self
            .now
            .max(Cycle::new(target - target % self.windows.together.0));
        (self.now >= until).then_some(Pause::Reached)
    }

    /// Runs the hart whose turn it is to the end of the window.
    fn run_hart(&mut self) -> Turn {
        let member = &mut self.harts[self.turn];
        // Others may have written since it had its turn: harts, or devices.
        member.core.hart.check_reservation();
        let waited = member.waits();
        loop {
            let end = self.end;
            let member = &mut self.harts[self.turn];
            if member.idles(&self.bus) {
                let wake = member.next_timer(&self.bus);
                if wake >= end {
                    return Turn::Over;
                }
                member.core.hart.advance_to(wake);
                continue;
            }
            // It may have waited for long, and in a long window until somebody before it did what ended the window.
            let earliest = if waited {
                Cycle::new(end.0.saturating_sub(self.windows.together.0)).max(self.now)
            } else {
                self.now
            };
            member.core.hart.advance_to(earliest);
            if member.core.hart.cycle() >= end {
                return Turn::Over;
            }
            member.refresh(&self.bus);
            let until = member.next_timer(&self.bus).min(end);
            let stop = match member.core.run(&mut self.memory, until) {
                Ok(stop) => stop,
                Err(error) => {
                    self.failure = Some(error);
                    return Turn::Paused(Pause::Failed);
                }
            };
            match stop {
                Stop::Budget | Stop::TimerSet => {}
                Stop::WaitForInterrupt => member.core.stall(Stall::Interrupt),
                Stop::Device(access) => {
                    // It may wake others, which then are to be in step with this one.
                    let together = self.windows.together.0;
                    let step = Cycle::new((member.core.hart.cycle().0 / together + 1) * together);
                    self.end = end.min(step.max(self.now + self.windows.together));
                    let turn = reach(member, &mut self.bus, access, self.watched);
                    self.end = self.end.min(self.event_end());
                    if let Some(turn) = turn {
                        return turn;
                    }
                }
                other => unreachable!("a hart of a machine cannot stop with {other:?}"),
            }
        }
    }
}

fn start<T: Timing>(index: usize, timing: T, entry: &Entry) -> Hart<T> {
    let mut hart = Hart::new(index as u64, ExecutionEnvironment::BareMetal, timing);
    hart.set_cycles_per_tick(TICK.0);
    hart.offer_supervisor_timer();
    hart.set_pc(entry.pc);
    for (register, value) in [
        (10, index as u64),
        (11, entry.device_tree),
        (12, entry.information),
    ] {
        hart.write_register(register, value);
    }
    hart
}

/// Performs an access to a device, or begins it; tells when the hart's turn does not go on.
fn reach<T: Timing>(
    member: &mut Member<T>,
    bus: &mut Bus,
    access: DeviceAccess,
    watched: Option<usize>,
) -> Option<Turn> {
    let now = member.core.hart.cycle();
    if access.write.is_none() && bus.begin_read(access.address, access.bytes, now) {
        member.core.stall(Stall::Access);
        return Some(Turn::Stalled);
    }
    member.core.hart.advance_to(now + ACCESS_LATENCY);
    perform(&mut member.core.hart, bus, access, now);
    let byte = access.write?;
    if let Some(request) = bus.power() {
        return Some(Turn::Paused(Pause::Power(request)));
    }
    let uart = watched.filter(|uart| bus.map().uarts[*uart].base == access.address)?;
    let ended = byte as u8 == b'\n' && bus.sent(uart).last() == Some(&b'\n');
    ended.then_some(Turn::Paused(Pause::Line(uart)))
}
