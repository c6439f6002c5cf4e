mod accesses;
mod harts;
mod lines;
mod model;
mod paging;
mod start;
mod state;
mod steps;
mod tile;
mod traffic;

use self::accesses::Accesses;
use self::lines::Lines;
use self::steps::{after_step, last_step, next_step, STEP};
use self::tile::LinkedTile;
use crate::error::ServerError;
use crate::nic::Nic;
use crate::pager::Pager;
use crate::stamps::{Event, Stamps};
use rackwright_cpu::{Fault, Interrupt, Timing};
use rackwright_ethernet::{Frame, OutputPort};
use rackwright_machine::{Hardware, Machine};
use rackwright_time::network::Cycle;
use rackwright_time::{Crossing, Hart, Network};
use rackwright_unit::{raised, AttachedUnit, Core, SentFrame, Stall};
pub use start::NetworkConfig;
use std::collections::VecDeque;
use std::ops::Range;

/// A bare-metal program on a machine whose NIC is joined to a link.
pub(crate) struct Networked<T: Timing> {
    machine: Machine<Core<T>, OnLink>,
    output: OutputPort,
}

/// A bare-metal program, and a NIC in RTL between its machine and a link. Its cycles are those of the link.
///
/// Results do not depend on the windows of the network: the times at which hart and NIC observe each other are
/// multiples of [`STEP`] and accesses to registers, both of which are independent of windows.
///
/// While several harts are busy, they go from one multiple of [`STEP`] to the next together; one that is alone may run
/// ahead.
pub(crate) struct OnLink {
    nic: Nic,
    pager: Option<Pager>,
    /// The unit of hart 0 that is on the link too.
    tile: Option<LinkedTile>,
    to_hart: Crossing<Network, Hart>,
    to_link: Crossing<Hart, Network>,
    /// Everything before this cycle has been simulated.
    now: Cycle,
    /// The end of the harts' current step.
    end: Cycle,
    /// The last multiple of [`STEP`] at which the lines were sampled, and their values, by hart. A hart does not
    /// observe its own effect on them in the step in which it occurs.
    looked: Cycle,
    lines: Vec<Lines>,
    /// Accesses of harts to the NIC.
    accesses: Accesses,
    /// The program has ended, or the run has failed: harts execute nothing any more.
    off: bool,
    /// Time of the last tick of the page-fault unit.
    ticked: Cycle,
    frames: Frames,
    error: Option<ServerError>,
    stamps: Stamps,
}

/// The frames on the link, in both directions.
pub(super) struct Frames {
    /// Those known to arrive, by the cycle of their first flit.
    coming: VecDeque<(Cycle, Frame)>,
    /// The first cycle after the last one that has arrived.
    arrived: Cycle,
    /// Those that have left.
    left: Vec<SentFrame<Network>>,
}

impl OnLink {
    fn harts(&self) -> Range<usize> {
        0..self.lines.len()
    }

    /// The interrupt lines of a hart in the cycle `at`, as far as is known now.
    fn lines_at<T: Timing>(&self, hardware: &Hardware<Core<T>>, hart: usize, at: Cycle) -> Lines {
        Lines {
            external: self.nic.linked.raised()
                || self.pager.as_ref().is_some_and(|pager| pager.linked.raised())
                || raised(&hardware.cores[hart].units).is_some(),
            software: hardware.bus.lines(hart).software,
            timer: hardware.bus.timer(hart) <= self.to_hart.seen(at),
        }
    }

    /// Shows the harts their interrupt lines, once at each multiple of [`STEP`].
    fn look<T: Timing>(&mut self, hardware: &mut Hardware<Core<T>>) {
        if self.now.0 % STEP != 0 || self.now <= self.looked {
            return;
        }
        self.looked = self.now;
        for index in self.harts() {
            let lines = self.lines_at(hardware, index, self.now);
            self.lines[index] = lines;
            let hart = &mut hardware.cores[index].hart;
            hart.control_mut()
                .set_interrupt(Interrupt::MachineExternal, lines.external);
            hart.control_mut()
                .set_interrupt(Interrupt::MachineSoftware, lines.software);
            hart.control_mut()
                .set_interrupt(Interrupt::MachineTimer, lines.timer);
            let interrupted = hart.control().is_interrupted();
            let wakes = match hardware.cores[index].stalled() {
                Some(Stall::Start) => lines.software,
                Some(Stall::Interrupt) => interrupted,
                _ => false,
            };
            if wakes && !self.off {
                hardware.advance_to(index, self.to_hart.seen(self.now));
                hardware.cores[index].resume();
                self.stamp_hart(hardware, index, Event::Wakes);
            }
        }
    }

    /// Time at which the lines are sampled next.
    fn next_look(&self) -> Cycle {
        after_step(self.now.max(self.looked))
    }

    /// When a hart sees its timer's interrupt rise, if it has not.
    fn timer<T: Timing>(&self, hardware: &Hardware<Core<T>>) -> Cycle {
        let rises = |hart: &usize| !self.lines[*hart].timer;
        let timers = self.harts().filter(rises).map(|hart| hardware.bus.timer(hart));
        timers.min().map_or(Cycle::NEVER, |timer| {
            next_step(self.to_link.seen(timer)).max(self.next_look())
        })
    }

    /// Whether a hart runs, or is stalled for no more than a unit beside it.
    fn runs<T: Timing>(&self, hardware: &Hardware<Core<T>>, hart: usize) -> bool {
        let stalled = hardware.cores[hart].stalled();
        !self.off && matches!(stalled, None | Some(Stall::Unit(_)))
    }

    /// Whether a hart's next actions depend only on itself and the NIC's response.
    fn is_busy<T: Timing>(&self, hardware: &Hardware<Core<T>>, hart: usize) -> bool {
        let stalled = hardware.cores[hart].stalled();
        self.runs(hardware, hart) || !self.off && matches!(stalled, Some(Stall::Access(_)))
    }

    /// Whether the NIC and the page-fault unit are idle.
    fn is_idle(&self) -> bool {
        self.nic.linked.is_idle() && self.pager.as_ref().is_none_or(|pager| pager.linked.is_idle())
    }

    /// Whether only one hart itself changes state before a frame arrives or a timer expires.
    fn may_run_ahead<T: Timing>(&self, hardware: &Hardware<Core<T>>) -> bool {
        let busy = self.harts().filter(|hart| self.is_busy(hardware, *hart));
        // Units on tiles watch what harts write.
        let most = usize::from(self.tile.is_none());
        self.is_idle() && busy.count() <= most && self.harts().all(|hart| self.leaves_alone(hardware, hart))
    }

    /// Whether neither a unit of a hart nor its interrupt lines change state.
    fn leaves_alone<T: Timing>(&self, hardware: &Hardware<Core<T>>, hart: usize) -> bool {
        let units = &hardware.cores[hart].units;
        let without_units =
            units.is_empty() || !self.runs(hardware, hart) && units.iter().all(AttachedUnit::is_idle);
        without_units && self.lines[hart] == self.lines_at(hardware, hart, self.next_look())
    }

    /// Arrival of the next frame; [`Cycle::NEVER`] if none is known.
    fn next_arrival(&self) -> Cycle {
        self.frames
            .coming
            .front()
            .map_or(Cycle::NEVER, |(first, _)| *first)
    }

    /// The end of the next step.
    fn reach<T: Timing>(&self, hardware: &Hardware<Core<T>>, until: Cycle) -> Cycle {
        let arrival = self.next_arrival();
        let step = after_step(self.now);
        if arrival < step || !self.may_run_ahead(hardware) {
            return step;
        }
        last_step(arrival)
            .min(self.timer(hardware))
            .min(self.next_tick(hardware))
            .min(until)
    }

    /// Ends the run of the harts.
    fn fail(&mut self, error: ServerError) {
        self.error.get_or_insert(error);
        self.switch_off();
    }

    /// Stops the harts for good.
    fn switch_off(&mut self) {
        self.off = true;
        self.accesses = Accesses::default();
    }

    /// Records an event in a cycle of the link, with the number of instructions that hart 0 has executed.
    fn stamp<T: Timing>(&mut self, hardware: &Hardware<Core<T>>, cycle: Cycle, event: Event) {
        let instructions = hardware.cores[0].hart.counters().instructions();
        self.stamps.note(cycle, event, instructions);
    }

    /// Records an event of a hart now.
    fn stamp_hart<T: Timing>(&mut self, hardware: &mut Hardware<Core<T>>, index: usize, event: Event) {
        if !self.stamps.are_kept() {
            return;
        }
        let hart = &mut hardware.cores[index].hart;
        for fault in hart.take_faults() {
            let (cycle, event) = match fault {
                Fault::Taken(cycle) => (cycle, Event::Faults),
                Fault::Left(cycle) => (cycle, Event::Leaves),
            };
            self.stamps.note(cycle, event, hart.counters().instructions());
        }
        self.stamps
            .note(hart.cycle(), event, hart.counters().instructions());
    }
}
