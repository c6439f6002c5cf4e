use rackwright_cpu::{Interrupt, Timing};
use rackwright_device::Bus;
use rackwright_time::Cycle;
use rackwright_unit::{Core, Stall};

/// A hart among those of a machine.
pub(crate) struct Member<T: Timing> {
    /// The hart, and the units beside it.
    pub(crate) core: Core<T>,
    /// Its number.
    pub(crate) index: usize,
}

impl<T: Timing> Member<T> {
    /// Shows the hart its interrupt lines as they are at its own time.
    pub(crate) fn refresh(&mut self, bus: &Bus) {
        let now = self.core.hart.cycle();
        let lines = bus.lines(self.index);
        let hart = &mut self.core.hart;
        hart.set_interrupt(Interrupt::MachineSoftware, lines.software);
        hart.set_interrupt(Interrupt::MachineExternal, lines.machine_external);
        hart.set_interrupt(Interrupt::SupervisorExternal, lines.supervisor_external);
        hart.set_interrupt(Interrupt::MachineTimer, bus.timer(self.index) <= now);
        if let Some(timer) = hart.supervisor_timer() {
            hart.set_interrupt(Interrupt::SupervisorTimer, timer <= now);
        }
    }

    /// When a timer of the hart is raised next; [`Cycle::NEVER`] when none is set to a time to come.
    pub(crate) fn next_timer(&self, bus: &Bus) -> Cycle {
        let now = self.core.hart.cycle();
        let supervisor = self.core.hart.supervisor_timer().unwrap_or(Cycle::NEVER);
        let timers = [bus.timer(self.index), supervisor];
        timers
            .into_iter()
            .filter(|timer| *timer > now)
            .min()
            .unwrap_or(Cycle::NEVER)
    }

    /// Whether the hart has nothing to do until a timer or somebody else raises an interrupt.
    pub(crate) fn idles(&mut self, bus: &Bus) -> bool {
        if self.waits() {
            self.refresh(bus);
            if self.core.hart.is_interrupted() {
                self.core.resume();
            }
        }
        self.waits()
    }

    /// Whether it waits for an interrupt.
    pub(crate) fn waits(&self) -> bool {
        self.core.stalled() == Some(Stall::Interrupt)
    }
}
