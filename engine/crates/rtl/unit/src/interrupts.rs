use crate::pins::Pins;
use rackwright_memory::Path;
use rackwright_rtl::InterruptChange;
use rackwright_time::{unit, Cycle};
use std::collections::VecDeque;

/// What the interrupt line of a unit has done.
#[derive(Default)]
pub(crate) struct Interrupts {
    /// What nobody has looked at yet.
    pub(crate) changes: VecDeque<InterruptChange>,
    is_high: bool,
    /// When it last rose.
    rose: unit::Cycle,
    /// How often it has risen, and how often it had when somebody last waited for that.
    risen: u64,
    awaited: u64,
}

impl Interrupts {
    /// Looks at what has happened, for those who wait.
    pub(crate) fn look(&mut self) {
        for change in self.changes.drain(..) {
            self.is_high = change.level != 0;
            if self.is_high {
                self.rose = unit::Cycle::new(change.cycle);
                self.risen += 1;
            }
        }
    }

    /// How often the line has risen, and the hart's cycle in which one that waits since `since` learns of it: when the line
    /// is high, or has risen since somebody last waited.
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
