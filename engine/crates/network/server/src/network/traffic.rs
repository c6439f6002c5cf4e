use super::tile::LinkedTile;
use super::OnLink;
use crate::nic::Nic;
use crate::pager::Pager;
use crate::stamps::Event;
use rackwright_cpu::Timing;
use rackwright_device::CROSSING_LATENCY;
use rackwright_ethernet::Frame;
use rackwright_machine::Hardware;
use rackwright_time::network::{Cycle, Cycles};
use rackwright_unit::Core;

/// The simulation of the NIC, and the frames on the link.
impl OnLink {
    /// Has the NIC do its part of the time before `end`, with the access of a hart that falls into it.
    pub(super) fn run_nic<T: Timing>(&mut self, hardware: &mut Hardware<Core<T>>, end: Cycle) {
        if let Some((at, access)) = self.accesses.next(self.nic.linked.cycle(), end) {
            self.advance_nic(hardware, at);
            let register = Nic::register(access.address).expect("the access is to the NIC");
            self.nic.access(at, register, access.write);
            self.stamp(hardware, at, Event::Reached(register));
        }
        self.now = end;
        if self.nic.linked.is_idle() {
            return;
        }
        self.advance_nic(hardware, end);
        if let Some((at, value)) = self.nic.take_answer() {
            self.now = self.nic.linked.cycle().min(end);
            // None if the program has ended in the meantime.
            let Some(index) = self.accesses.answered() else {
                return;
            };
            let comes = self.to_hart.seen(at) + CROSSING_LATENCY;
            hardware.answer(index, comes, value);
            self.stamp(hardware, at, Event::Answered);
            self.stamp_hart(hardware, index, Event::GoesOn);
        }
    }

    fn advance_nic<T: Timing>(&mut self, hardware: &mut Hardware<Core<T>>, until: Cycle) {
        let instructions = hardware.hart(0).counters().instructions();
        let stamps = &mut self.stamps;
        self.nic.advance(
            until,
            |unit, until| hardware.advance_other(unit, until),
            |cycle, level| stamps.note(cycle, Event::Line(level), instructions),
        );
        if let Err(error) = self.nic.linked.unit.observation().check() {
            self.fail(error.into());
        }
    }

    /// Receives the frames whose first flits arrive before `end`.
    pub(super) fn take_arrivals<T: Timing>(&mut self, hardware: &mut Hardware<Core<T>>, end: Cycle) {
        if self.next_arrival() >= end {
            return;
        }
        // The NIC may be far behind; it skips that time before it receives input.
        self.advance_nic(hardware, self.now);
        self.advance_pager(hardware);
        while self.next_arrival() < end {
            let (first, frame) = self.frames.coming.pop_front().expect("a frame arrives");
            self.arrive(hardware, first, &frame);
        }
    }

    /// A frame whose first flit arrives in the cycle `first`, or after the previous frame: a frame from another NIC is
    /// known only from its last flit on (`OutputPort::pass`), so that a short one would overlap a long one.
    fn arrive<T: Timing>(&mut self, hardware: &mut Hardware<Core<T>>, first: Cycle, frame: &Frame) {
        let first = first.max(self.frames.arrived);
        self.frames.arrived = self.nic.last_flit(first, frame.length()) + Cycles::new(1);
        if self.stamps.are_kept() {
            self.stamp(hardware, first, Event::FirstIn);
            self.stamp(hardware, self.nic.last_flit(first, frame.length()), Event::LastIn);
        }
        match (frame, &mut self.pager) {
            (Frame::Raw(bytes), Some(pager)) if Pager::is_for(bytes) => pager.linked.arrive(first, bytes),
            (Frame::Raw(bytes), _) => self.arrive_at_units(hardware, first, bytes),
            (frame, _) => self.arrive_at_units(hardware, first, &frame.to_bytes()),
        }
    }

    /// A unit on a tile passes on what is for the NIC; or both receive all frames, and drop what they have no use for.
    fn arrive_at_units<T: Timing>(&mut self, hardware: &mut Hardware<Core<T>>, first: Cycle, frame: &[u8]) {
        if let Some(tile) = &self.tile {
            tile.arrive(&mut hardware.cores[0], self.to_hart, first, frame);
        }
        if !self.tile.as_ref().is_some_and(LinkedTile::passes_on) {
            self.nic.linked.arrive(first, frame);
        }
    }

    /// Has units on tiles do their part of the time before the end of the step, if their hart has not.
    pub(super) fn run_tiles<T: Timing>(&mut self, hardware: &mut Hardware<Core<T>>) {
        let units = &hardware.cores[0].units;
        if self.tile.is_none() && !units.iter().any(|unit| unit.reach().interrupt.is_some()) {
            return;
        }
        if !self.off {
            hardware.advance_watching_units(0, self.to_hart.seen(self.end));
        }
        let passed_on = match &mut self.tile {
            Some(tile) => tile.take_sent(&mut hardware.cores[0], self.to_link),
            None => Vec::new(),
        };
        if let Some(frame) = passed_on.first() {
            // The NIC may be far behind; it skips that time before it receives input.
            debug_assert!(self.end <= frame.first, "a frame is passed on in time");
            self.advance_nic(hardware, self.now);
        }
        for frame in passed_on {
            self.nic.linked.arrive(frame.first, &frame.bytes);
        }
        let failed = hardware.cores[0]
            .units
            .iter()
            .find_map(|unit| unit.observation().check().err());
        if let Some(error) = failed {
            self.fail(error.into());
        }
    }

    /// Takes the frames that have left the NIC and the page-fault unit, in the order of their last flits.
    pub(super) fn take_sent<T: Timing>(&mut self, hardware: &Hardware<Core<T>>, until: Cycle) {
        let mut frames: Vec<_> = std::iter::from_fn(|| self.nic.linked.take_frame()).collect();
        if let Some(pager) = &mut self.pager {
            frames.extend(std::iter::from_fn(|| pager.linked.take_frame()));
            frames.sort_by_key(|frame| frame.last);
        }
        if let Some(tile) = &mut self.tile {
            frames.extend(tile.leaving(until));
            frames.sort_by_key(|frame| frame.last);
        }
        for frame in &frames {
            self.stamp(hardware, frame.first, Event::FirstOut);
            self.stamp(hardware, frame.last, Event::LastOut);
        }
        self.frames.left.append(&mut frames);
    }
}
