use crate::error::MachineError;
use rackwright_cpu::{CpuModel, Timing};
use rackwright_time::Cycles;

/// Most harts of a machine.
pub const MAXIMUM_HARTS: usize = 64;

/// What a machine is made of.
#[derive(Clone, Copy, Debug)]
pub struct MachineParameters {
    /// The harts' timing model.
    pub cpu: CpuModel,
    /// How many harts.
    pub harts: usize,
    /// Bytes of memory.
    pub memory_bytes: u64,
    /// What the guest's random numbers start from.
    pub seed: u64,
    /// Whether harts have vector units (RVV 1.0, 128 bits), which kernels use where they find them.
    pub vector: bool,
}

/// Cycles of a hart in a tick of the register `time`: 1 MHz at 2 GHz, as on SiFive's boards.
pub(crate) const TICK: Cycles = Cycles::new(2000);

/// How far harts run ahead of each other. Windows divide a tick, so that no hart reads a time that lies before what another
/// one has read already: a kernel could not bear that.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Windows {
    /// While several of them run.
    pub(crate) together: Cycles,
    /// While all but one wait.
    pub(crate) alone: Cycles,
}

impl Windows {
    /// Makes windows no longer than that.
    pub(crate) fn limit(&mut self, cycles: Cycles) {
        self.together = self.together.min(cycles);
        self.alone = self.alone.min(cycles);
    }

    /// The windows of these harts.
    pub(crate) fn of<T: Timing>(timings: &[T]) -> Windows {
        let both = |cycles| Windows {
            together: cycles,
            alone: cycles,
        };
        let [first, _, ..] = timings else {
            // Alone, a hart only has to come back now and then.
            return both(Cycles::new(500 * TICK.0));
        };
        match first.line_transfer() {
            Some(transfer) => Windows {
                together: within(transfer),
                alone: TICK,
            },
            None => both(TICK),
        }
    }
}

/// The longest window that divides a tick and is no longer than `transfer`.
fn within(transfer: Cycles) -> Cycles {
    let divides = |cycles: &u64| TICK.0 % cycles == 0;
    let longest = (1..=transfer.0.min(TICK.0)).rev().find(divides);
    Cycles::new(longest.unwrap_or(1))
}

impl MachineParameters {
    pub(crate) fn check(&self) -> Result<(), MachineError> {
        if (1..=MAXIMUM_HARTS).contains(&self.harts) {
            Ok(())
        } else {
            Err(MachineError::Harts { harts: self.harts })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rackwright_memory::HierarchyParameters;

    #[test]
    fn windows_divide_a_tick_and_are_no_longer_than_a_line_takes() {
        let windows = [0, 1, 39, 40, 41, 1999, 2000, 50_000].map(|cycles| within(Cycles::new(cycles)).0);
        assert_eq!(windows, [1, 1, 25, 40, 40, 1000, 2000, 2000]);
        assert_eq!(HierarchyParameters::server().line_transfer(), Cycles::new(40));
    }
}
