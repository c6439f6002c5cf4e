use super::steps::STEP;
use rackwright_contract::flits;
use rackwright_cpu::Timing;
use rackwright_ethernet::Rate;
use rackwright_state::{Pass, State, StateError};
use rackwright_time::network::{Cycle, Cycles};
use rackwright_time::{Crossing, Hart, Network};
use rackwright_unit::{Core, SentFrame, LINK_STREAMS};
use std::collections::VecDeque;

/// Time in cycles of the link that a frame takes between the link and the unit, in either direction, beyond that of its
/// flits. It exceeds a step of the harts, so that the unit has not simulated the time yet in which a frame reaches it.
const LATENCY: Cycles = Cycles::new(2 * STEP);

/// A unit on a tile, beside hart 0, whose streams are connected to the link of its server, with buffers for whole
/// frames between their clocks.
pub(super) struct LinkedTile {
    /// Its number among the units of the hart.
    unit: usize,
    /// The stream through which frames reach it, and that with those for the network interface.
    input: u8,
    rest: Option<u8>,
    /// The first cycle after the last frame that has been passed on.
    passed: Cycle,
    rate: Rate,
    /// Frames in the order in which they leave.
    leaving: VecDeque<SentFrame<Network>>,
}

impl LinkedTile {
    /// The unit of a hart with streams for a link of this rate, if there is one.
    pub(super) fn of<T: Timing>(core: &mut Core<T>, rate: Rate) -> Option<LinkedTile> {
        let [arriving, _, passed_on] = LINK_STREAMS;
        let found = core.units.iter_mut().enumerate().find_map(|(number, unit)| {
            let input = unit.streams().input_named(arriving).ok()?;
            Some((number, input, unit.streams().output_named(passed_on).ok()))
        });
        found.map(|(unit, input, rest)| LinkedTile {
            unit,
            input,
            rest,
            passed: Cycle::ZERO,
            rate,
            leaving: VecDeque::new(),
        })
    }

    /// Whether it passes frames on to the network interface, which then receives no others.
    pub(super) fn passes_on(&self) -> bool {
        self.rest.is_some()
    }

    /// A frame arrives, its first flit in the link's cycle `first`.
    pub(super) fn arrive<T: Timing>(
        &self,
        core: &mut Core<T>,
        to_hart: Crossing<Network, Hart>,
        first: Cycle,
        frame: &[u8],
    ) {
        let unit = &mut core.units[self.unit];
        let clock = *unit.observation().clock();
        let rate = self.rate;
        unit.streams().frame(self.input, frame, |flit| {
            clock.seen_by_unit(to_hart.seen(first + rate.cycles(flit) + LATENCY))
        });
    }

    /// Takes the frames that the unit has sent so far; returns those that it passes on.
    pub(super) fn take_sent<T: Timing>(
        &mut self,
        core: &mut Core<T>,
        to_link: Crossing<Hart, Network>,
    ) -> Vec<SentFrame<Network>> {
        let mut passed_on = Vec::new();
        let unit = &mut core.units[self.unit];
        let clock = *unit.observation().clock();
        while let Some(frame) = unit.streams().take_frame() {
            let [first, last] =
                [frame.first, frame.last].map(|cycle| to_link.seen(clock.seen_by_hart(cycle)) + LATENCY);
            let before = self.leaving.back().map_or(Cycle::ZERO, |frame| frame.last);
            let behind = Cycles::new(flits(frame.bytes.len()).max(1) as u64 - 1);
            let (port, bytes) = (frame.port, frame.bytes);
            if self.rest == Some(port) {
                let first = first.max(self.passed);
                let last = last.max(first + self.rate.cycles(behind.0));
                self.passed = last + Cycles::new(1);
                passed_on.push(SentFrame {
                    first,
                    last,
                    port,
                    bytes,
                });
            } else {
                let last = last.max(first + behind).max(before);
                self.leaving.push_back(SentFrame {
                    first,
                    last,
                    port,
                    bytes,
                });
            }
        }
        passed_on
    }

    /// Departure of the last flit of the next frame.
    pub(super) fn next_departure(&self) -> Cycle {
        self.leaving.front().map_or(Cycle::NEVER, |frame| frame.last)
    }

    /// The frames whose last flits leave before `until`.
    pub(super) fn leaving(&mut self, until: Cycle) -> Vec<SentFrame<Network>> {
        let count = self.leaving.partition_point(|frame| frame.last < until);
        self.leaving.drain(..count).collect()
    }
}

/// The unit itself is passed with its hart.
impl State for LinkedTile {
    fn pass(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        self.passed.pass(by)?;
        self.leaving.pass(by)
    }
}
