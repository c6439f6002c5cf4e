use crate::error::MachineError;
use rackwright_cpu::{CpuModel, Timing};
use rackwright_memory::LINE_TRANSFER;
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

    /// The windows of `harts` harts with the timing model `T`.
    pub(crate) fn of<T: Timing>(harts: usize) -> Windows {
        let both = |cycles| Windows {
            together: cycles,
            alone: cycles,
        };
        if harts == 1 {
            // Alone, a hart only has to come back now and then.
            both(Cycles::new(500 * TICK.0))
        } else if T::RECORDS {
            Windows {
                together: LINE_TRANSFER,
                alone: TICK,
            }
        } else {
            // Without caches, nothing tells how long it takes until others see a write.
            both(TICK)
        }
    }
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
