use rackwright_time::network::{Cycle, Cycles};

/// Cycles of the link after which hart and NIC meet while either is busy: how late a hart may see the NIC's
/// interrupt line and the timer. Within them, the hart's part comes first.
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
