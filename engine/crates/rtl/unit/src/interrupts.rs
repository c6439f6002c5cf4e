use crate::pins::Pins;
use rackwright_memory::Path;
use rackwright_rtl::InterruptChange;
use rackwright_state::{Pass, State, StateError};
use rackwright_time::{unit, Cycle};
use std::collections::VecDeque;

/// The history of a unit's interrupt line.
#[derive(Default)]
pub(crate) struct Interrupts {
    /// Changes that have not been processed yet.
    pub(crate) changes: VecDeque<InterruptChange>,
    is_high: bool,
    /// When it last rose.
    rose: unit::Cycle,
    /// The number of times it has risen, and this number at the last wait.
    risen: u64,
    awaited: u64,
}

impl State for Interrupts {
    fn pass(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        by.queue(&mut self.changes, || InterruptChange { cycle: 0, level: 0 })?;
        self.is_high.pass(by)?;
        self.rose.pass(by)?;
        self.risen.pass(by)?;
        self.awaited.pass(by)
    }
}

impl Interrupts {
    /// When the line has risen, if it is high as far as the unit has been simulated.
    pub(crate) fn raised(&self) -> Option<unit::Cycle> {
        let (is_high, rose) = match self.changes.back() {
            Some(change) => (change.level != 0, unit::Cycle::new(change.cycle)),
            None => (self.is_high, self.rose),
        };
        is_high.then_some(rose)
    }

    /// Processes the changes so far, for later waits.
    pub(crate) fn look(&mut self) {
        for change in self.changes.drain(..) {
            self.is_high = change.level != 0;
            if self.is_high {
                self.rose = unit::Cycle::new(change.cycle);
                self.risen += 1;
            }
        }
    }

    /// The number of times the line has risen, and the hart's cycle in which a hart that waits since `since` observes
    /// it: if the line is high, or has risen since the last wait.
    pub(crate) fn take(&mut self, since: Cycle, pins: &Pins, path: Path) -> Option<(u64, Cycle)> {
        self.look();
        if !self.is_high && self.risen == self.awaited {
            return None;
        }
        self.awaited = self.risen;
        let rose = pins.clock.seen_by_hart(self.rose);
        let asked = since + crate::registers::ACROSS + path.request;
        Some((
            self.risen,
            rose.max(asked) + path.response + crate::registers::ACROSS,
        ))
    }
}
