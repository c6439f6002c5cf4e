use super::Networked;
use crate::nic::Nic;
use crate::pager::Pager;
use crate::stamps::Event;
use rackwright_cpu::Timing;
use rackwright_device::CROSSING_LATENCY;
use rackwright_ethernet::Frame;
use rackwright_schedule::Outbox;
use rackwright_time::network::{Cycle, Cycles};
use rackwright_time::Network;
use rackwright_unit::SentFrame;

/// The NIC's part of the time, and what passes the link.
impl<T: Timing> Networked<T> {
    /// Has the NIC do its part of the time before `end`, with the access of a hart that falls into it.
    pub(super) fn run_nic(&mut self, end: Cycle) {
        if let Some((at, access)) = self.accesses.next(self.nic.linked.cycle(), end) {
            self.advance_nic(at);
            let register = Nic::register(access.address).expect("the access is to the NIC");
            self.nic.access(at, register, access.write);
            self.stamp(at, Event::Reached(register));
        }
        self.now = end;
        if self.nic.linked.is_idle() {
            return;
        }
        self.advance_nic(end);
        if let Some((at, value)) = self.nic.take_answer() {
            self.now = self.nic.linked.cycle().min(end);
            // None when the program has ended meanwhile.
            let Some(index) = self.accesses.answered() else {
                return;
            };
            let comes = self.to_hart.seen(at) + CROSSING_LATENCY;
            self.machine.answer(index, comes, value);
            self.stamp(at, Event::Answered);
            self.stamp_hart(index, Event::GoesOn);
        }
    }

    pub(super) fn advance_nic(&mut self, until: Cycle) {
        let machine = &mut self.machine;
        let instructions = machine.cores[0].hart.instructions_retired();
        let stamps = &mut self.stamps;
        self.nic.advance(
            until,
            |unit, until| machine.advance_other(unit, until),
            |cycle, level| stamps.note(cycle, Event::Line(level), instructions),
        );
        if let Err(error) = self.nic.linked.unit.check() {
            self.fail(error.into());
        }
    }

    /// A frame whose first flit arrives in the cycle `first`, or behind the frame before: one from another NIC is
    /// known from its last flit on only ([`OutputPort::pass`]), so that a short one would come into a long one.
    pub(super) fn arrive(&mut self, first: Cycle, frame: &Frame) {
        self.output.count_received(frame.length());
        let first = first.max(self.arrived);
        self.arrived = self.nic.last_flit(first, frame.length()) + Cycles::new(1);
        if self.stamps.are_kept() {
            self.stamp(first, Event::FirstIn);
            self.stamp(self.nic.last_flit(first, frame.length()), Event::LastIn);
        }
        match (frame, &mut self.pager) {
            (Frame::Raw(bytes), Some(pager)) if Pager::is_for(bytes) => pager.linked.arrive(first, bytes),
            (Frame::Raw(bytes), _) => self.nic.linked.arrive(first, bytes),
            (frame, _) => self.nic.linked.arrive(first, &frame.to_bytes()),
        }
    }

    pub(super) fn depart(&mut self, sent: SentFrame<Network>, until: Cycle, outbox: &mut Outbox<'_, Frame>) {
        self.stamp(sent.first, Event::FirstOut);
        self.stamp(sent.last, Event::LastOut);
        let frame = Frame::raw(&sent.bytes).expect("the NIC's frames have 1 to 9600 bytes");
        self.output.pass(sent.first, sent.last, frame, until, 0, outbox);
    }

    /// The frames that have left the NIC and the page-fault unit, in the order of their last flits.
    pub(super) fn sent(&mut self) -> Vec<SentFrame<Network>> {
        let mut frames: Vec<_> = std::iter::from_fn(|| self.nic.linked.take_frame()).collect();
        if let Some(pager) = &mut self.pager {
            frames.extend(std::iter::from_fn(|| pager.linked.take_frame()));
            frames.sort_by_key(|frame| frame.last);
        }
        frames
    }
}
