//! Explanation of time in timing models: each cycle in which no instruction retires has a reason.

use crate::timing::Accounts;
use rackwright_memory::HierarchyCounters;

/// The counters: reasons for cycles, then other events.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) enum Count {
    /// Packets were late although all predictions were correct, as after taken branches and traps.
    #[default]
    FrontEnd,
    /// Packets were late because of a misprediction.
    Branch,
    /// Packets were late because of a miss in L1.
    InstructionCache,
    /// A result, or a store that a load depends on, was not ready yet.
    Dependency,
    /// Data, or the permission to write them, came from L2 or from another L1.
    L2,
    /// Data came from the last-level cache.
    LastLevel,
    /// Data came from memory.
    Memory,
    /// The hart waited for an interrupt, a device or a unit, or an emulated system call took the time.
    Waiting,
    InstructionMisses,
    DataMisses,
    Upgrades,
    Mispredictions,
    /// Cycles in which an instruction retired, for a model that retires several instructions per cycle.
    RetiringCycles,
}

const STALLS: [&str; 8] = [
    "stall.front_end",
    "stall.branch",
    "stall.instruction_cache",
    "stall.dependency",
    "stall.l2",
    "stall.llc",
    "stall.memory",
    "stall.waiting",
];

const EVENTS: [&str; 5] = [
    "l1i_misses",
    "l1d_misses",
    "l1d_upgrades",
    "mispredictions",
    "retiring_cycles",
];

/// The names of a model that retires an instruction in a cycle, in the order of [`Count`].
pub(super) const SCALAR: Accounts = Accounts {
    stalls: &STALLS,
    events: EVENTS.split_at(EVENTS.len() - 1).0,
};

/// The names of a model that retires several.
pub(super) const SUPERSCALAR: Accounts = Accounts {
    stalls: &STALLS,
    events: &EVENTS,
};

/// The value of each [`Count`] so far.
#[derive(Default)]
pub(super) struct Counts([u64; STALLS.len() + EVENTS.len()]);

impl Counts {
    #[inline(always)]
    pub(super) fn add(&mut self, count: Count, more: u64) {
        self.0[count as usize] += more;
    }

    /// The counters in `names`.
    pub(super) fn of(&self, names: Accounts) -> &[u64] {
        &self.0[..names.stalls.len() + names.events.len()]
    }
}

/// The level that supplied an access's line, from the counters of the hierarchy before and after it.
pub(super) fn level(before: &HierarchyCounters, after: &HierarchyCounters) -> Count {
    if after.llc_misses != before.llc_misses {
        Count::Memory
    } else if after.l2_misses != before.l2_misses {
        Count::LastLevel
    } else {
        Count::L2
    }
}
