use crate::checkpoint::SavedMachine;
use crate::error::MachineError;
use crate::member::Member;
use crate::parameters::{window, TICK};
use rackwright_boot::Entry;
use rackwright_cpu::{DeviceAccess, Environment, Hart, Stop, Timing};
use rackwright_device::{Bus, Map, PowerRequest};
use rackwright_memory::GuestMemory;
use rackwright_stats::Digest;
use rackwright_time::{Cycle, Cycles};

/// Time of an access to a device: across the chip and back.
const DEVICE_LATENCY: Cycles = Cycles(10);

/// Why a machine came back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pause {
    /// The cycle to run to has come.
    Reached,
    /// The guest ended a line on this serial port.
    Line(usize),
    /// Software switches the machine off or starts it anew.
    Power(PowerRequest),
    /// All harts wait, and only somebody outside can wake them.
    Idle,
}

/// Harts on one clock, memory and devices.
///
/// Harts take turns, in the order of their numbers, for windows of time that lie on a fixed grid: what a machine does
/// depends neither on where its runs are cut nor on the host.
pub struct Machine<T: Timing> {
    harts: Vec<Member<T>>,
    memory: GuestMemory,
    bus: Bus,
    window: Cycles,
    /// Where the current window begins.
    now: Cycle,
    /// Whose turn it is.
    turn: usize,
    /// The serial port whose ends of lines interrupt a run.
    watched: Option<usize>,
}

impl<T: Timing> Machine<T> {
    /// A machine with a hart for each of `timings`, which all start at `entry`.
    pub fn new(timings: Vec<T>, memory: GuestMemory, map: Map, entry: &Entry) -> Machine<T> {
        let count = timings.len();
        let start = |(index, timing)| Member {
            hart: start(index, timing, entry),
            index,
            waiting: false,
        };
        Machine {
            harts: timings.into_iter().enumerate().map(start).collect(),
            memory,
            bus: Bus::new(map, count, TICK),
            window: window(count),
            now: Cycle::ZERO,
            turn: 0,
            watched: None,
        }
    }

    /// A machine that goes on from where another one was, with a hart for each of `timings`.
    ///
    /// # Errors
    /// [`MachineError`] when what was saved does not fit.
    pub(crate) fn restore(
        timings: Vec<T>,
        memory: GuestMemory,
        map: Map,
        saved: &SavedMachine,
    ) -> Result<Machine<T>, MachineError> {
        let nowhere = Entry {
            pc: 0,
            device_tree: 0,
            information: 0,
        };
        let mut machine = Machine::new(timings, memory, map, &nowhere);
        machine.bus.restore(&saved.bus)?;
        for (member, (hart, waiting)) in machine.harts.iter_mut().zip(&saved.harts) {
            member.hart.restore(hart);
            member.waiting = *waiting;
        }
        machine.now = Cycle(saved.now);
        machine.turn = saved.turn as usize;
        Ok(machine)
    }

    /// The state of harts and devices.
    pub(crate) fn save(&self) -> SavedMachine {
        let save = |member: &Member<T>| (member.hart.save(), member.waiting);
        SavedMachine {
            harts: self.harts.iter().map(save).collect(),
            bus: self.bus.save(),
            now: self.now.0,
            turn: self.turn as u64,
        }
    }

    /// Has harts forget all translations, which a restored machine does not know either.
    pub(crate) fn forget_translations(&mut self) {
        self.harts
            .iter_mut()
            .for_each(|member| member.hart.forget_translations());
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
            .map(|member| member.hart.instructions_retired())
            .sum()
    }

    /// How many harts there are.
    pub fn harts(&self) -> usize {
        self.harts.len()
    }

    /// Adds the state of harts and devices to a digest.
    pub fn digest(&self, digest: &mut Digest) {
        for member in &self.harts {
            let hart = &member.hart;
            digest.number(hart.instructions_retired());
            digest.cycle(hart.cycle());
            digest.number(hart.pc());
            (0..32).for_each(|number| digest.number(hart.register(number)));
            (0..32).for_each(|number| digest.number(hart.float_register(number)));
        }
        digest.cycle(self.now);
        digest.bytes(&self.bus.save());
    }

    /// Runs until `until` has come or something is to be decided outside; goes on from there when run again.
    pub fn run(&mut self, until: Cycle) -> Pause {
        loop {
            if self.turn == 0 {
                if self.now >= until {
                    return Pause::Reached;
                }
                if let Some(pause) = self.skip_idle(until) {
                    return pause;
                }
            }
            let end = self.now + self.window;
            while self.turn < self.harts.len() {
                if let Some(pause) = self.run_hart(end) {
                    return pause;
                }
                self.turn += 1;
            }
            self.turn = 0;
            self.now = end;
        }
    }

    /// Passes over the windows in which all harts wait.
    fn skip_idle(&mut self, until: Cycle) -> Option<Pause> {
        let bus = &self.bus;
        if !self.harts.iter_mut().all(|member| member.idles(bus)) {
            return None;
        }
        let wake = self.harts.iter().map(|member| member.next_timer(bus)).min();
        let wake = wake.unwrap_or(Cycle::NEVER);
        if wake == Cycle::NEVER {
            return Some(Pause::Idle);
        }
        let target = wake.min(until).0;
        self.now = self.now.max(Cycle(target - target % self.window.0));
        (self.now >= until).then_some(Pause::Reached)
    }

    /// Runs the hart whose turn it is to the end of the window.
    fn run_hart(&mut self, end: Cycle) -> Option<Pause> {
        let shared = self.harts.len() > 1;
        let member = &mut self.harts[self.turn];
        if shared {
            member.hart.forget_reservation();
        }
        loop {
            if member.idles(&self.bus) {
                let wake = member.next_timer(&self.bus);
                if wake >= end {
                    return None;
                }
                member.hart.advance_to(wake);
                continue;
            }
            // It may have waited for long.
            member.hart.advance_to(self.now);
            if member.hart.cycle() >= end {
                return None;
            }
            member.refresh(&self.bus);
            let until = member.next_timer(&self.bus).min(end);
            match member.hart.run(&mut self.memory, until) {
                Stop::Budget | Stop::TimerSet => {}
                Stop::WaitForInterrupt => member.waiting = true,
                Stop::Custom(command) => {
                    let stop = member.hart.refuse_command(&command);
                    debug_assert!(stop.is_none(), "a kernel gets the trap");
                }
                Stop::Device(access) => {
                    if let Some(pause) = perform(member, &mut self.bus, access, self.watched) {
                        return Some(pause);
                    }
                }
                other => unreachable!("a hart of a machine cannot stop with {other:?}"),
            }
        }
    }
}

fn start<T: Timing>(index: usize, timing: T, entry: &Entry) -> Hart<T> {
    let mut hart = Hart::new(index as u64, Environment::BareMetal, timing);
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

/// Performs an access to a device; tells when it is one that somebody outside must know of.
fn perform<T: Timing>(
    member: &mut Member<T>,
    bus: &mut Bus,
    access: DeviceAccess,
    watched: Option<usize>,
) -> Option<Pause> {
    let now = member.hart.cycle();
    member.hart.advance_to(now + DEVICE_LATENCY);
    let read = match access.write {
        None => bus.read(access.address, access.bytes, now),
        Some(value) => bus.write(access.address, access.bytes, value, now).then_some(0),
    };
    match read {
        Some(value) => member.hart.finish_access(value),
        None => member.hart.refuse_access(),
    }
    let byte = access.write?;
    if let Some(request) = bus.power() {
        return Some(Pause::Power(request));
    }
    let uart = watched.filter(|uart| bus.map().uarts[*uart].base == access.address)?;
    (byte as u8 == b'\n' && bus.sent(uart).last() == Some(&b'\n')).then_some(Pause::Line(uart))
}
