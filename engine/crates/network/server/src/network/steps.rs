use rackwright_time::network::{Cycle, Cycles};

/// Interval, in cycles of the link, at which hart and NIC are synchronised while either is busy: the maximum delay with
/// which a hart observes the NIC's interrupt line and the timer. Within a step, the hart runs first.
pub(super) const STEP: u64 = 16;

/// The last multiple of [`STEP`] in a cycle or before it.
pub(super) fn last_step(cycle: Cycle) -> Cycle {
    Cycle::new(cycle.0 / STEP * STEP)
}

/// The end of the step of a cycle.
pub(super) fn after_step(cycle: Cycle) -> Cycle {
    last_step(cycle) + Cycles::new(STEP)
}

/// The first multiple of [`STEP`] in a cycle or after it.
pub(super) fn next_step(cycle: Cycle) -> Cycle {
    Cycle::new(cycle.0.checked_next_multiple_of(STEP).unwrap_or(u64::MAX))
}
