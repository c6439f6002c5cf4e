use crate::clock::UnitClock;
use crate::error::UnitError;
use crate::pins::Pins;
use crate::wait::{LastRequest, Wait};
use rackwright_stats::{Counters, Digest};
use rackwright_time::Cycle;

/// The externally visible state of a unit.
pub struct Observation<'a> {
    pub(crate) pins: &'a Pins,
}

impl<'a> Observation<'a> {
    /// Its name among the units of its hart.
    pub fn name(&self) -> &'a str {
        &self.pins.name
    }

    /// Its clock beside that of harts.
    pub fn clock(&self) -> &'a UnitClock {
        &self.pins.clock
    }

    /// Returns an error for a unit that broke its promise to be idle, or one of whose assertions failed.
    ///
    /// # Errors
    /// [`UnitError::IdleBroken`] or [`UnitError::Stopped`] in that case; the unit then stays in its cycle.
    pub fn check(&self) -> Result<(), UnitError> {
        self.pins.activity.check(&self.pins.name)
    }

    /// The unit's events and their sums so far, in the manifest's order.
    pub fn events(&self) -> Counters {
        let mut counters = Counters::new();
        for (index, name) in self.pins.design().manifest.events().enumerate() {
            counters.push(name, self.pins.instance.event(index));
        }
        counters
    }

    /// Cycles that were evaluated rather than skipped.
    pub fn evaluated_cycles(&self) -> u64 {
        self.pins.instance.evaluated_cycles()
    }

    /// The digest of all transfers at the unit's pins.
    pub fn digest(&self) -> Digest {
        self.pins.record.digest.all()
    }

    /// The description of a long wait for the unit.
    pub fn wait(&self) -> Wait {
        let Pins { record, clock, .. } = self.pins;
        Wait {
            unit: self.pins.name.clone(),
            asked: record.asked.map(|(_, asked)| asked),
            since: record.asked.map_or(Cycle::ZERO, |(at, _)| at),
            moved: clock.seen_by_hart(record.moved),
            request: record.last_request.map(|last| LastRequest {
                cycle: clock.seen_by_hart(last.cycle),
                address: last.address,
                write: last.is_write(),
            }),
        }
    }
}
