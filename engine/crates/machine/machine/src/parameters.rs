use crate::error::MachineError;
use crate::processor::Processor;
use rackwright_cpu::{CpuModel, Timing};
use rackwright_time::{Cycle, Cycles};

/// Most harts of a machine.
pub const MAXIMUM_HARTS: usize = 64;

/// The interrupt controllers of a machine that boots a kernel.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Interrupts {
    /// A platform-level interrupt controller (PLIC), with wires.
    #[default]
    Plic,
    /// The Advanced Interrupt Architecture: messages, and a controller that turns wires into messages.
    Aia,
}

/// The parameters of a machine.
#[derive(Clone, Copy, Debug)]
pub struct MachineParameters {
    /// The harts' timing model.
    pub cpu: CpuModel,
    /// How many harts.
    pub harts: usize,
    /// Bytes of memory.
    pub memory_bytes: u64,
    /// The seed of the guest's random numbers.
    pub seed: u64,
    /// Whether harts have vector units (RVV 1.0, 128 bits), which kernels use if they find them.
    pub vector: bool,
}

/// The longest window of harts that boot a kernel and run concurrently with others, and the grid of devices' own
/// events.
pub(crate) const QUANTUM: Cycles = Cycles::new(2000);

/// How far harts run ahead of each other.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Windows {
    /// There is one hart, and no other part has events of its own: it runs as far as requested.
    Free,
    /// All windows begin and end at multiples of `together`.
    Grid {
        /// While several of them run.
        together: Cycles,
        /// While all but one wait.
        alone: Cycles,
    },
}

impl Windows {
    /// Makes windows no longer than that.
    pub(crate) fn limit(&mut self, cycles: Cycles) {
        if let Windows::Grid { together, alone } = self {
            *together = (*together).min(cycles);
            *alone = (*alone).min(cycles);
        }
    }

    /// The windows of harts that boot a kernel.
    pub(crate) fn of_kernel<T: Timing>(timings: &[T]) -> Windows {
        match timings {
            // A single hart only has to return now and then.
            [_] => Windows::both(Cycles::new(500 * QUANTUM.0)),
            several => Windows::of_several(several[0].line_transfer(), QUANTUM),
        }
    }

    /// The windows of `cores` that run a bare-metal program, none longer than `longest`; if devices have events of their
    /// own, a single one returns as often for them.
    pub(crate) fn of_bare_metal<C: Processor>(cores: &[C], longest: Cycles, acts: bool) -> Windows {
        match (cores.len(), acts) {
            (1, false) => Windows::Free,
            (1, true) => Windows::Grid {
                together: longest,
                alone: Cycles::new(500 * QUANTUM.0),
            },
            _ => Windows::of_several(cores[0].line_transfer(), longest),
        }
    }

    /// The windows of several that need `transfer` for a line from the caches of one to those of another.
    fn of_several(transfer: Option<Cycles>, longest: Cycles) -> Windows {
        match transfer {
            Some(transfer) => Windows::Grid {
                together: within(transfer, longest),
                alone: longest,
            },
            None => Windows::both(longest),
        }
    }

    fn both(cycles: Cycles) -> Windows {
        Windows::Grid {
            together: cycles,
            alone: cycles,
        }
    }

    /// The last cycle up to `cycle` in which a window may begin.
    pub(crate) fn before(&self, cycle: Cycle) -> Cycle {
        match self {
            Windows::Free => cycle,
            Windows::Grid { together, .. } => Cycle::new(cycle.0 - cycle.0 % together.0),
        }
    }
}

/// The longest window that divides `longest` and is no longer than `transfer`.
fn within(transfer: Cycles, longest: Cycles) -> Cycles {
    let divides = |cycles: &u64| longest.0 % cycles == 0;
    let window = (1..=transfer.0.min(longest.0)).rev().find(divides);
    Cycles::new(window.unwrap_or(1))
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
    fn windows_divide_the_longest_and_are_no_longer_than_a_line_takes() {
        let windows =
            [0, 1, 39, 40, 41, 1999, 2000, 50_000].map(|cycles| within(Cycles::new(cycles), QUANTUM).0);
        assert_eq!(windows, [1, 1, 25, 40, 40, 1000, 2000, 2000]);
        assert_eq!(HierarchyParameters::server().line_transfer(), Cycles::new(40));
    }
}
