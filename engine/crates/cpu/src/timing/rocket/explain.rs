//! Why time passes in the `rocket` model: each cycle in which nothing retires has a reason.

use crate::timing::Accounts;
use rackwright_memory::HierarchyCounters;

/// What is counted: reasons for cycles, then other events.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) enum Count {
    /// Packets came late although all was predicted well, as behind taken branches and traps.
    #[default]
    FrontEnd,
    /// Packets came late because of a misprediction.
    Branch,
    /// Packets came late because their line was not in L1.
    InstructionCache,
    /// A result, or a store that a load has to see, was not there yet.
    Dependency,
    /// Data came from L2, or from another L1; or the permission to write it did.
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
}

/// The names, in the order of [`Count`].
pub(super) const ACCOUNTS: Accounts = Accounts {
    stalls: &[
        "stall.front_end",
        "stall.branch",
        "stall.instruction_cache",
        "stall.dependency",
        "stall.l2",
        "stall.llc",
        "stall.memory",
        "stall.waiting",
    ],
    events: &["l1i_misses", "l1d_misses", "l1d_upgrades", "mispredictions"],
};

const COUNTS: usize = ACCOUNTS.stalls.len() + ACCOUNTS.events.len();

/// The counts so far, and why the packet that comes next is late if it is.
#[derive(Default)]
pub(super) struct Explanation {
    counts: [u64; COUNTS],
    pub(super) fetch: Count,
}

impl Explanation {
    #[inline(always)]
    pub(super) fn add(&mut self, count: Count, more: u64) {
        self.counts[count as usize] += more;
    }

    pub(super) fn counts(&self) -> &[u64] {
        &self.counts
    }
}

/// Where an access got its line, by the counters of the hierarchy before and after it.
pub(super) fn level(before: &HierarchyCounters, after: &HierarchyCounters) -> Count {
    if after.llc_misses != before.llc_misses {
        Count::Memory
    } else if after.l2_misses != before.l2_misses {
        Count::LastLevel
    } else {
        Count::L2
    }
}
