mod accesses;
mod harts;
mod lines;
mod model;
mod paging;
mod start;
mod steps;
mod traffic;

use self::accesses::Accesses;
use self::lines::Lines;
use self::steps::{after_step, last_step, next_step, STEP};
use crate::error::ServerError;
use crate::harts::Harts;
use crate::nic::Nic;
use crate::pager::Pager;
use crate::stamps::{Event, Stamps};
use rackwright_cpu::{Fault, Interrupt, Timing};
use rackwright_device::Bus;
use rackwright_ethernet::OutputPort;
use rackwright_time::network::Cycle;
use rackwright_time::{Crossing, Hart, Network};
use rackwright_unit::{AttachedUnit, Stall};
pub use start::NetworkConfig;
use std::ops::Range;

/// A bare-metal program on a machine, and a NIC in RTL between them and a link. Its cycles are those of the link.
///
/// Nothing here depends on where the windows of the network end: what hart and NIC see of each other is decided at
/// multiples of [`STEP`] and at accesses to registers, both of which are the same whatever the windows.
///
/// Harts take turns, in the order of their numbers. While several are busy, they go from one multiple of [`STEP`] to the
/// next together; one that is alone may run ahead.
pub(crate) struct Networked<T: Timing> {
    machine: Harts<T>,
    bus: Bus,
    nic: Nic,
    pager: Option<Pager>,
    to_hart: Crossing<Network, Hart>,
    to_link: Crossing<Hart, Network>,
    /// Everything before has happened.
    now: Cycle,
    /// The last multiple of [`STEP`] at which the lines were looked at, and what they were, by hart. What a hart does to
    /// them is not seen in the step in which it does.
    looked: Cycle,
    lines: Vec<Lines>,
    /// Accesses of harts to the NIC.
    accesses: Accesses,
    /// The program has ended, or the run has failed: harts do nothing any more.
    off: bool,
    /// When the page-fault unit was told the time last.
    ticked: Cycle,
    /// The first cycle behind the last frame that has come.
    arrived: Cycle,
    error: Option<ServerError>,
    output: OutputPort,
    stamps: Stamps,
}

impl<T: Timing> Networked<T> {
    fn harts(&self) -> Range<usize> {
        0..self.lines.len()
    }

    /// The interrupt lines of a hart in the cycle `at`, as far as is known now.
    fn lines_at(&self, hart: usize, at: Cycle) -> Lines {
        Lines {
            external: self.nic.linked.raised()
                || self.pager.as_ref().is_some_and(|pager| pager.linked.raised()),
            software: self.bus.lines(hart).software,
            timer: self.bus.timer(hart) <= self.to_hart.seen(at),
        }
    }

    /// Shows the harts their interrupt lines, once at each multiple of [`STEP`].
    fn look(&mut self) {
        if self.now.0 % STEP != 0 || self.now <= self.looked {
            return;
        }
        self.looked = self.now;
        for index in self.harts() {
            let lines = self.lines_at(index, self.now);
            self.lines[index] = lines;
            let hart = &mut self.machine.cores[index].hart;
            hart.set_interrupt(Interrupt::MachineExternal, lines.external);
            hart.set_interrupt(Interrupt::MachineSoftware, lines.software);
            hart.set_interrupt(Interrupt::MachineTimer, lines.timer);
            let interrupted = hart.is_interrupted();
            let wakes = match self.machine.cores[index].stalled() {
                Some(Stall::Start) => lines.software,
                Some(Stall::Interrupt) => interrupted,
                _ => false,
            };
            if wakes && !self.off {
                self.machine.advance_to(index, self.to_hart.seen(self.now));
                self.machine.cores[index].resume();
                self.stamp_hart(index, Event::Wakes);
            }
        }
    }

    /// When the lines are looked at next.
    fn next_look(&self) -> Cycle {
        after_step(self.now.max(self.looked))
    }

    /// When a hart sees its timer's interrupt rise, if it has not.
    fn timer(&self) -> Cycle {
        let rises = |hart: &usize| !self.lines[*hart].timer;
        let timers = self.harts().filter(rises).map(|hart| self.bus.timer(hart));
        timers.min().map_or(Cycle::NEVER, |timer| {
            next_step(self.to_link.seen(timer)).max(self.next_look())
        })
    }

    /// Whether a hart runs, or is stalled for no more than a unit beside it.
    fn runs(&self, hart: usize) -> bool {
        let stalled = self.machine.cores[hart].stalled();
        !self.off && matches!(stalled, None | Some(Stall::Unit(_)))
    }

    /// Whether what a hart does next depends on nothing but itself and the NIC's answer.
    fn is_busy(&self, hart: usize) -> bool {
        self.runs(hart) || !self.off && self.machine.cores[hart].stalled() == Some(Stall::Access)
    }

    /// Whether nothing moves in the NIC and the page-fault unit.
    fn is_idle(&self) -> bool {
        self.nic.linked.is_idle() && self.pager.as_ref().is_none_or(|pager| pager.linked.is_idle())
    }

    /// Whether nothing but one hart itself changes anything before a frame arrives or a timer rises.
    fn may_run_ahead(&self) -> bool {
        let busy = self.harts().filter(|hart| self.is_busy(*hart));
        self.is_idle() && busy.count() <= 1 && self.harts().all(|hart| self.leaves_alone(hart))
    }

    /// Whether neither a unit of a hart nor its interrupt lines change anything.
    fn leaves_alone(&self, hart: usize) -> bool {
        let units = &self.machine.cores[hart].units;
        let without_units = units.is_empty() || !self.runs(hart) && units.iter().all(AttachedUnit::is_idle);
        without_units && self.lines[hart] == self.lines_at(hart, self.next_look())
    }

    /// How far to go at once, when the next frame arrives in the cycle `arrival`.
    fn reach(&self, arrival: Cycle, until: Cycle) -> Cycle {
        let step = after_step(self.now);
        if arrival < step || !self.may_run_ahead() {
            return step;
        }
        last_step(arrival)
            .min(self.timer())
            .min(self.next_tick())
            .min(until)
    }

    /// Ends the run of the harts.
    fn fail(&mut self, error: ServerError) {
        self.error.get_or_insert(error);
        self.switch_off();
    }

    /// Has the harts do nothing any more.
    fn switch_off(&mut self) {
        self.off = true;
        self.accesses = Accesses::default();
    }

    /// Notes an event in a cycle of the link, with how many instructions hart 0 has executed.
    fn stamp(&mut self, cycle: Cycle, event: Event) {
        let instructions = self.machine.cores[0].hart.instructions_retired();
        self.stamps.note(cycle, event, instructions);
    }

    /// Notes what a hart does now.
    fn stamp_hart(&mut self, index: usize, event: Event) {
        if !self.stamps.are_kept() {
            return;
        }
        let hart = &mut self.machine.cores[index].hart;
        for fault in hart.take_faults() {
            let (cycle, event) = match fault {
                Fault::Taken(cycle) => (cycle, Event::Faults),
                Fault::Left(cycle) => (cycle, Event::Leaves),
            };
            self.stamps.note(cycle, event, hart.instructions_retired());
        }
        self.stamps.note(hart.cycle(), event, hart.instructions_retired());
    }
}
