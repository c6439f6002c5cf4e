use rackwright_time::Cycle;

/// Cycles in a tick of `time` unless another number is set: 10 MHz at 2 GHz.
const CYCLES_PER_TICK: u64 = 200;

/// The counters of a hart, and the time that it reads.
pub struct Counters {
    retired: u64,
    /// What software has added to the counters of cycles and instructions.
    cycle_offset: u64,
    retired_offset: u64,
    cycles_per_tick: u64,
    /// The latest time that the hart, or a hart before it, has read, in ticks.
    latest_time: u64,
}

/// The counters in a checkpoint.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SavedCounters {
    pub(crate) retired: u64,
    pub(crate) cycle_offset: u64,
    pub(crate) retired_offset: u64,
    pub(crate) latest_time: u64,
}

impl Counters {
    /// All at zero.
    pub(crate) fn new() -> Counters {
        Counters {
            retired: 0,
            cycle_offset: 0,
            retired_offset: 0,
            cycles_per_tick: CYCLES_PER_TICK,
            latest_time: 0,
        }
    }

    /// Instructions executed since the start.
    pub fn instructions(&self) -> u64 {
        self.retired
    }

    /// Number of cycles per tick of the register `time`.
    ///
    /// # Panics
    /// When that is zero.
    pub fn set_cycles_per_tick(&mut self, cycles: u64) {
        assert!(cycles > 0, "a tick lasts at least one cycle");
        self.cycles_per_tick = cycles;
    }

    /// The latest tick that the hart, or one that it follows, has read.
    pub fn latest_time(&self) -> u64 {
        self.latest_time
    }

    /// Ensures that the hart reads no time before `time`, which an earlier hart has read: the time that one hart has
    /// read and written to memory is never later than the time that the next one reads, independent of their positions
    /// in a window.
    pub fn follow_time(&mut self, time: u64) {
        self.latest_time = self.latest_time.max(time);
    }

    /// The value of the register `time` in cycle `now`: its tick, or a later one that another hart has read before.
    pub(crate) fn read_time(&mut self, now: Cycle) -> u64 {
        self.follow_time(now.0 / self.cycles_per_tick);
        self.latest_time
    }

    /// The cycle of a tick.
    pub(crate) fn cycle_of(&self, tick: u64) -> Cycle {
        Cycle::new(tick.saturating_mul(self.cycles_per_tick))
    }

    /// `executed` further instructions have been executed.
    #[inline(always)]
    pub(crate) fn retire(&mut self, executed: u64) {
        self.retired += executed;
    }

    /// The last instruction has not been executed after all.
    pub(crate) fn take_back(&mut self) {
        self.retired -= 1;
    }

    /// The register `mcycle` in cycle `now`.
    pub(crate) fn cycles(&self, now: Cycle) -> u64 {
        now.0.wrapping_add(self.cycle_offset)
    }

    /// Sets the register `mcycle` in cycle `now`.
    pub(crate) fn set_cycles(&mut self, now: Cycle, value: u64) {
        self.cycle_offset = value.wrapping_sub(now.0);
    }

    /// The register `minstret`.
    pub(crate) fn counted(&self) -> u64 {
        self.retired.wrapping_add(self.retired_offset)
    }

    /// Sets the register `minstret` by an instruction that is not retired yet, and is not counted.
    pub(crate) fn set_counted(&mut self, value: u64) {
        self.retired_offset = value.wrapping_sub(self.retired + 1);
    }

    /// Their state.
    pub(crate) fn save(&self) -> SavedCounters {
        SavedCounters {
            retired: self.retired,
            cycle_offset: self.cycle_offset,
            retired_offset: self.retired_offset,
            latest_time: self.latest_time,
        }
    }

    /// Continues from a state.
    pub(crate) fn restore(&mut self, saved: SavedCounters) {
        self.retired = saved.retired;
        self.cycle_offset = saved.cycle_offset;
        self.retired_offset = saved.retired_offset;
        self.latest_time = saved.latest_time;
    }
}
