//! The state of the second cycle of a fetch: positions of jumps, last targets of jumps to registers, and how often
//! branches are taken.

use rackwright_state::state;

/// Sets of the branch target buffer in both banks, and places in them.
const SETS: usize = 2 * 128 * 4;
/// Counters of the bimodal table: 2048 sets in each of two banks, of four places.
const COUNTERS: usize = 2 * 2048 * 4;
/// Jumps to registers that have not committed yet.
const LATE: usize = 16;

#[derive(Clone, Copy, Default)]
struct Way {
    /// Position of the jump, or zero.
    site: u64,
    target: u64,
}

/// A target that is known when its jump is committed.
#[derive(Clone, Copy, Default)]
struct Late {
    site: u64,
    target: u64,
    from: u64,
}

pub(super) struct Buffer {
    sets: Box<[[Way; 2]; SETS]>,
    counters: Box<[u8; COUNTERS]>,
    late: [Late; LATE],
    first: usize,
    next: usize,
}

impl Buffer {
    pub(super) fn new() -> Buffer {
        Buffer {
            sets: Box::new([[Way::default(); 2]; SETS]),
            counters: Box::new([2; COUNTERS]),
            late: [Late::default(); LATE],
            first: 0,
            next: 0,
        }
    }

    #[inline(always)]
    fn set(&self, site: u64) -> &[Way; 2] {
        &self.sets[(site >> 1) as usize % SETS]
    }

    #[inline(always)]
    pub(super) fn knows(&self, site: u64) -> bool {
        let [first, second] = self.set(site);
        first.site == site || second.site == site
    }

    /// Whether a branch is more often taken, as far as is known; learns whether it is.
    #[inline(always)]
    pub(super) fn direction(&mut self, site: u64, taken: bool) -> bool {
        let counter = &mut self.counters[(site >> 1) as usize % COUNTERS];
        let likely = *counter >= 2;
        *counter = if taken {
            (*counter + 1).min(3)
        } else {
            counter.saturating_sub(1)
        };
        likely
    }

    /// Records a jump; its target is in its instruction.
    #[inline(always)]
    pub(super) fn remember(&mut self, site: u64) {
        if !self.knows(site) {
            self.insert(site, 0);
        }
    }

    #[cold]
    fn insert(&mut self, site: u64, target: u64) {
        let set = &mut self.sets[(site >> 1) as usize % SETS];
        let parity = set[0].site ^ set[1].site ^ site;
        let way = if set[0].site == 0 {
            0
        } else if set[1].site == 0 {
            1
        } else {
            (parity >> 11).count_ones() as usize % 2
        };
        set[way] = Way { site, target };
    }

    /// The target of a jump to a register that was committed before `now`.
    pub(super) fn target(&mut self, site: u64, now: u64) -> Option<u64> {
        while self.first != self.next && self.late[self.first % LATE].from <= now {
            self.learn_first();
        }
        self.set(site)
            .iter()
            .find(|way| way.site == site)
            .map(|way| way.target)
    }

    /// Learns the target of a jump to a register, from its commit at `committed` on.
    pub(super) fn learn(&mut self, site: u64, target: u64, committed: u64) {
        if self.next - self.first == LATE {
            self.learn_first();
        }
        self.late[self.next % LATE] = Late {
            site,
            target,
            from: committed,
        };
        self.next += 1;
    }

    fn learn_first(&mut self) {
        let Late { site, target, .. } = self.late[self.first % LATE];
        self.first += 1;
        let set = &mut self.sets[(site >> 1) as usize % SETS];
        match set.iter_mut().find(|way| way.site == site) {
            Some(way) => way.target = target,
            None => self.insert(site, target),
        }
    }
}

state!(Way { site, target });
state!(Late { site, target, from });
state!(Buffer {
    sets,
    counters,
    late,
    first,
    next
});
