use crate::access::perform;
use crate::hardware::Hardware;
use crate::parameters::{Windows, QUANTUM};
use crate::pause::Pause;
use crate::processor::Processor;
use crate::workload::{Turn, Window, Workload};
use rackwright_cpu::{DeviceAccess, Stop};
use rackwright_device::Bus;
use rackwright_time::{Cycle, Cycles};
use rackwright_unit::{Stall, UnitError};

/// Software that controls the whole machine, from machine mode on: a bare-metal program, or firmware with a kernel.
pub struct Privileged {
    pub(crate) windows: Windows,
    /// The beginning and the end of the current window.
    pub(crate) now: Cycle,
    pub(crate) end: Cycle,
    /// Whether the hart whose turn it is waited for an interrupt when its turn began.
    waited: bool,
    /// The serial port whose ends of lines interrupt a run.
    pub(crate) watched: Option<usize>,
}

impl Privileged {
    /// Software that begins with these windows.
    pub(crate) fn new(windows: Windows) -> Privileged {
        Privileged {
            windows,
            now: Cycle::ZERO,
            end: Cycle::ZERO,
            waited: false,
            watched: None,
        }
    }

    /// Time of the next event of devices or timers, if all harts wait.
    pub(crate) fn idle_until<C: Processor>(hardware: &mut Hardware<C>) -> Option<Cycle> {
        let timer = Privileged::idle_timer(hardware)?;
        Some(timer.min(hardware.bus.next_event()))
    }

    /// When the first timer is raised, if all harts wait.
    fn idle_timer<C: Processor>(hardware: &mut Hardware<C>) -> Option<Cycle> {
        hardware.deliver_messages();
        let Hardware {
            cores, bus, memory, ..
        } = hardware;
        let mut harts = cores.iter_mut().enumerate();
        if !harts.all(|(index, core)| idles(core, index, bus) && !core.expects_interrupt(memory)) {
            return None;
        }
        let timers = cores.iter().enumerate();
        let first = timers.map(|(index, core)| next_timer(core, index, bus)).min();
        Some(first.unwrap_or(Cycle::NEVER))
    }

    /// Passes over the windows in which all harts wait.
    fn skip_idle<C: Processor>(&mut self, hardware: &mut Hardware<C>, until: Cycle) -> Option<Pause> {
        let timer = Privileged::idle_timer(hardware)?;
        let bus = &mut hardware.bus;
        bus.pci_mut().rest(self.now, timer.min(until));
        let wake = timer.min(bus.next_event());
        if wake == Cycle::NEVER {
            return Some(Pause::Idle);
        }
        self.now = self.now.max(self.windows.before(wake.min(until)));
        (self.now >= until).then_some(Pause::Reached)
    }

    /// The end of the window that begins now.
    fn window_end<C: Processor>(&self, hardware: &mut Hardware<C>, until: Cycle) -> Cycle {
        match self.windows {
            Windows::Free => until,
            Windows::Grid { together, alone } => self
                .grid_end(hardware, together, alone)
                .min(self.event_end(&hardware.bus, together)),
        }
    }

    /// The end of the window as far as harts are concerned. While all harts except one wait, there is no other hart to
    /// keep step with.
    fn grid_end<C: Processor>(&self, hardware: &mut Hardware<C>, together: Cycles, alone: Cycles) -> Cycle {
        let next = self.now + together;
        if together == alone {
            return next;
        }
        let Hardware { cores, bus, .. } = hardware;
        let mut busy = 0;
        let mut end = Cycle::new(alone.0 * (self.now.0 / alone.0 + 1));
        for (index, core) in cores.iter_mut().enumerate() {
            if idles(core, index, bus) {
                end = end.min(next_timer(core, index, bus));
            } else {
                busy += 1;
                if busy > 1 {
                    return next;
                }
            }
        }
        next.max(Cycle::new(end.0 - end.0 % together.0))
    }

    /// Time of the next event of devices: between windows, at the first step of time that is not before it.
    fn event_end(&self, bus: &Bus, together: Cycles) -> Cycle {
        let step = together.min(QUANTUM);
        let steps = bus.next_event().0.div_ceil(step.0);
        Cycle::new(steps.saturating_mul(step.0)).max(self.now + step)
    }

    /// Performs or starts an access of the current hart to a device.
    fn access<C: Processor>(
        &mut self,
        hardware: &mut Hardware<C>,
        window: &mut Window,
        access: DeviceAccess,
    ) -> Turn {
        let now = hardware.cores[window.turn].cycle();
        hardware.show_line(now);
        let Hardware { cores, bus, .. } = hardware;
        let core = &mut cores[window.turn];
        if let Windows::Grid { together, .. } = self.windows {
            // It may wake others, which then have to keep step with this one.
            let step = Cycle::new((core.cycle().0 / together.0 + 1) * together.0);
            self.end = self.end.min(step.max(self.now + together));
        }
        if let Some(ticket) = perform(core, bus, access) {
            core.stall(Stall::Access(ticket));
        }
        hardware.deliver_messages();
        if !self.finish_access(hardware, window.turn) {
            return Turn::Paused(Pause::Reached);
        }
        let Some(byte) = access.write else {
            return Turn::On;
        };
        let pause = self.outcome(&mut hardware.bus, access.address, byte as u8);
        // A window that the first hart has not ended is opened again.
        window.open = pause.is_none() || window.turn > 0;
        pause.map_or(Turn::On, Turn::Paused)
    }

    /// Lets a hart that is stalled for an access continue, if the response is known, in a window that ends at the next
    /// event of devices; returns whether it does.
    fn finish_access<C: Processor>(&mut self, hardware: &mut Hardware<C>, hart: usize) -> bool {
        let done = hardware.finish_access(hart);
        if let Windows::Grid { together, .. } = self.windows {
            if done {
                self.end = self.end.min(self.event_end(&hardware.bus, together));
            }
        }
        done
    }

    /// The decision that the caller has to make after a store to a device.
    fn outcome(&self, bus: &mut Bus, address: u64, byte: u8) -> Option<Pause> {
        if let Some(status) = bus.host.exit() {
            return Some(Pause::Exited(status));
        }
        if let Some(request) = bus.power.request() {
            return Some(Pause::Power(request));
        }
        let uart = self
            .watched
            .filter(|uart| bus.map().uarts[*uart].base == address)?;
        let ended = byte == b'\n' && bus.serial(uart).output().last() == Some(&b'\n');
        ended.then_some(Pause::Line(uart))
    }
}

impl<C: Processor> Workload<C> for Privileged {
    type Time = Cycle;
    type Error = UnitError;

    /// A run may have ended while a hart was stalled for an access whose response is known only now.
    fn resume(&mut self, hardware: &mut Hardware<C>, window: &Window) -> Option<Pause> {
        let is_stalled = matches!(hardware.cores[window.turn].stalled(), Some(Stall::Access(_)));
        (is_stalled && !self.finish_access(hardware, window.turn)).then_some(Pause::Reached)
    }

    fn open(&mut self, hardware: &mut Hardware<C>, until: Cycle) -> Result<Option<Pause>, UnitError> {
        if self.now >= until {
            return Ok(Some(Pause::Reached));
        }
        hardware.show_line(self.now);
        if let Some(pause) = self.skip_idle(hardware, until) {
            return Ok(Some(pause));
        }
        hardware.show_line(self.now);
        let Hardware { memory, bus, .. } = hardware;
        if bus.advance(memory, self.now) && bus.pci().failure().is_some() {
            return Ok(Some(Pause::Reached));
        }
        hardware.deliver_messages();
        self.end = self.window_end(hardware, until);
        Ok(None)
    }

    fn begin(&mut self, hardware: &mut Hardware<C>, hart: usize) {
        if let Windows::Grid { .. } = self.windows {
            hardware.note_writes(hart);
        }
        hardware.follow_time(hart);
        self.waited = waits(&hardware.cores[hart]);
    }

    fn limit(&mut self, hardware: &mut Hardware<C>, hart: usize, _until: Cycle) -> Option<Cycle> {
        let Hardware {
            cores, bus, memory, ..
        } = hardware;
        let core = &mut cores[hart];
        while idles(core, hart, bus) {
            let wake = next_timer(core, hart, bus);
            if core.await_units(memory, wake.min(self.end)) {
                continue;
            }
            if wake >= self.end {
                return None;
            }
            core.wait_until(wake);
        }
        // It may have waited for a long time, and in a long window until an earlier hart ended the window.
        let earliest = match self.windows {
            Windows::Grid { together, .. } if self.waited => {
                Cycle::new(self.end.0.saturating_sub(together.0)).max(self.now)
            }
            _ => self.now,
        };
        core.wait_until(earliest);
        if core.cycle() >= self.end {
            return None;
        }
        refresh(core, hart, bus);
        Some(next_timer(core, hart, bus).min(self.end))
    }

    fn stopped(
        &mut self,
        hardware: &mut Hardware<C>,
        window: &mut Window,
        stop: Result<Stop, UnitError>,
    ) -> Result<Turn, UnitError> {
        match stop? {
            Stop::Budget | Stop::TimerSet => {}
            Stop::WaitForInterrupt => hardware.cores[window.turn].stall(Stall::Interrupt),
            Stop::Device(access) => return Ok(self.access(hardware, window, access)),
            other => unreachable!("privileged software cannot stop with {other:?}"),
        }
        Ok(Turn::On)
    }

    /// While the hart waited, its units have not been advanced.
    fn end(&mut self, hardware: &mut Hardware<C>, hart: usize) {
        let Hardware { cores, memory, .. } = hardware;
        cores[hart].advance_units(memory, self.end);
    }

    fn close(&mut self, _hardware: &mut Hardware<C>, _until: Cycle) {
        self.now = self.end;
    }
}

/// Updates a hart's interrupt lines to their state at its own time.
fn refresh<C: Processor>(core: &mut C, index: usize, bus: &Bus) {
    let timer = bus.timer(index) <= core.cycle();
    core.set_interrupts(bus.lines(index), timer);
}

/// Time at which a timer of a hart expires next; [`Cycle::NEVER`] if none is set to a future time.
fn next_timer<C: Processor>(core: &C, index: usize, bus: &Bus) -> Cycle {
    let now = core.cycle();
    let supervisor = core.supervisor_timer().unwrap_or(Cycle::NEVER);
    let timers = [bus.timer(index), supervisor];
    timers
        .into_iter()
        .filter(|timer| *timer > now)
        .min()
        .unwrap_or(Cycle::NEVER)
}

/// Whether a hart is idle until a timer or another part raises an interrupt.
fn idles<C: Processor>(core: &mut C, index: usize, bus: &Bus) -> bool {
    let over = match core.stalled() {
        Some(Stall::Interrupt) => {
            refresh(core, index, bus);
            core.is_interrupted()
        }
        Some(Stall::Start) => bus.lines(index).software,
        _ => return false,
    };
    if over {
        core.resume();
    }
    !over
}

/// Whether a hart waits for an interrupt, or for its start.
pub(crate) fn waits<C: Processor>(core: &C) -> bool {
    matches!(core.stalled(), Some(Stall::Interrupt | Stall::Start))
}
