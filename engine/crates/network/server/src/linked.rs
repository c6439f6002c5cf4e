use crate::width::Width;
use crate::ServerError;
use rackwright_ethernet::Rate;
use rackwright_memory::{Hierarchy, Route};
use rackwright_rtl::{Attach, Design};
use rackwright_state::{Pass, State, StateError};
use rackwright_stats::{Counters, Digest};
use rackwright_time::network::Cycle;
use rackwright_time::{unit, Clock, Network};
use rackwright_unit::{AttachedUnit, SentFrame};

/// A unit in RTL between the harts and a link: on the link's clock, or slower by the ratio of its width to a flit. All
/// cycles are the link's.
pub(crate) struct Linked {
    pub(crate) unit: AttachedUnit,
    pub(crate) width: Width,
    /// Data rate of incoming frames.
    pub(crate) rate: Rate,
    input: u8,
    raised: bool,
    /// It is idle, and its outputs have been processed since.
    idle: bool,
}

impl Linked {
    /// A unit that has just left reset, as `place` on a link with the clock `link`.
    ///
    /// # Errors
    /// [`ServerError`] when the design is for other places, has no stream, or is too wide for the clock.
    pub(crate) fn new(
        design: &Design,
        place: Attach,
        hierarchy: &mut Hierarchy,
        link: Clock,
        rate: Rate,
        skip_idle: bool,
    ) -> Result<Linked, ServerError> {
        design.manifest.require(place)?;
        let memory = hierarchy.parameters().clock;
        let bytes = design.manifest.network_bytes();
        let width = Width::of(bytes);
        let own = width.clock(link).ok_or_else(|| ServerError::LinkClock {
            unit: design.manifest.unit.clone(),
            bytes,
            clock: link,
        })?;
        let mut unit = AttachedUnit::new(design, &Route::default(), hierarchy, None)?.on_clock(own, memory);
        unit.instance().skip_idle(skip_idle);
        let input = unit.streams().input()?;
        Ok(Linked {
            unit,
            width,
            rate,
            input,
            raised: false,
            idle: false,
        })
    }

    /// The first cycle not yet simulated.
    pub(crate) fn cycle(&self) -> Cycle {
        self.width.outside(self.unit.cycle())
    }

    /// Whether it is inactive until it receives input.
    pub(crate) fn is_idle(&self) -> bool {
        self.idle
    }

    /// The level of its interrupt line.
    pub(crate) fn raised(&self) -> bool {
        self.raised
    }

    /// Something reaches it.
    pub(crate) fn disturb(&mut self) {
        self.idle = false;
    }

    /// Sends a frame to it, with the first flit in the cycle `first`.
    pub(crate) fn arrive(&mut self, first: Cycle, frame: &[u8]) {
        let (rate, width) = (self.rate, self.width);
        self.unit
            .streams()
            .frame(self.input, frame, |flit| width.inside(first + rate.cycles(flit)));
        self.disturb();
    }

    /// Advances to the cycle `until`, or to an earlier cycle in which it has `answered`, by `advance`, which advances
    /// the unit by one window. `line` receives the changes of its interrupt line.
    pub(crate) fn advance(
        &mut self,
        until: Cycle,
        answered: impl Fn(&mut AttachedUnit) -> bool,
        mut advance: impl FnMut(&mut AttachedUnit, unit::Cycle),
        mut line: impl FnMut(Cycle, bool),
    ) {
        let until = self.width.inside(until);
        if self.unit.cycle() >= until {
            return;
        }
        let was_idle = self.unit.is_idle();
        while self.unit.cycle() < until
            && !answered(&mut self.unit)
            && self.unit.observation().check().is_ok()
        {
            advance(&mut self.unit, until);
        }
        while let Some(change) = self.unit.take_interrupt() {
            self.raised = change.level != 0;
            line(self.width.outside(unit::Cycle::new(change.cycle)), self.raised);
        }
        // A change of its outputs with the last edge is seen in the cycle after only.
        self.idle = was_idle && self.unit.is_idle() || self.unit.observation().check().is_err();
    }

    /// The next frame that has left.
    pub(crate) fn take_frame(&mut self) -> Option<SentFrame<Network>> {
        self.unit
            .streams()
            .take_frame()
            .map(|frame| self.width.sent(frame))
    }

    /// What it counts.
    pub(crate) fn events(&self) -> Counters {
        self.unit.observation().events()
    }

    /// Cycles that were evaluated rather than skipped.
    pub(crate) fn evaluated_cycles(&self) -> u64 {
        self.unit.observation().evaluated_cycles()
    }

    /// The digest of all transfers at its pins.
    pub(crate) fn digest(&self) -> Digest {
        self.unit.observation().digest()
    }
}

impl State for Linked {
    fn pass(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        self.unit.pass(by)?;
        self.raised.pass(by)?;
        self.idle.pass(by)
    }
}
