//! Explanation of time in the `boom` model: each cycle without a commit has a reason.
//!
//! It is that of the next instruction to commit, by the cause of its delay: first late dispatch, then a line of the
//! data cache; the remaining cycles are those of operands, ports and its own latency.

use super::memory::Waited;
use crate::timing::explain::{Count, Counts};

/// Why the front end supplies instructions late: until a cycle for one reason, and from then on for another.
#[derive(Clone, Copy, Default)]
struct Late {
    first: Count,
    since: u64,
    then: Count,
}

impl Late {
    fn of(reason: Count) -> Late {
        Late {
            first: reason,
            since: 0,
            then: reason,
        }
    }
}

/// The time at which an instruction was dispatched, the time at which the front end had it ready, and the reason for
/// its delay.
#[derive(Clone, Copy)]
struct Dispatched {
    at: u64,
    supplied: u64,
    late: Late,
}

/// The state for explanations, and the counts so far.
pub(super) struct Explanation {
    pub(super) counts: Counts,
    /// When the front end had the present packet ready; why it was late, and why the next one will be.
    supplied: u64,
    late: Late,
    next: Late,
    /// Of an instruction that sends the front end elsewhere before it is committed.
    own: Option<Dispatched>,
    /// The time until which stores have waited for their lines, and the level that supplied them.
    stores: (u64, Count),
    /// Cycles from the dispatch to the commit of the simplest instruction.
    depth: u64,
}

impl Explanation {
    /// At the core's reset, which is explained as the front end's; the simplest instruction takes `depth` cycles from
    /// dispatch to commit.
    pub(super) fn new(depth: u64) -> Explanation {
        let mut counts = Counts::default();
        counts.add(Count::FrontEnd, 1);
        Explanation {
            counts,
            supplied: 0,
            late: Late::default(),
            next: Late::default(),
            own: None,
            stores: (0, Count::default()),
            depth,
        }
    }

    /// The front end has the next packet ready in cycle `supplied`.
    pub(super) fn packet(&mut self, supplied: u64) {
        self.supplied = supplied;
        self.late = std::mem::take(&mut self.next);
    }

    /// The line of the next packet is missing; otherwise, the packet would be ready in cycle `supplied`.
    pub(super) fn line_missing(&mut self, supplied: u64) {
        self.counts.add(Count::InstructionMisses, 1);
        self.next = Late {
            first: self.next.then,
            since: supplied,
            then: Count::InstructionCache,
        };
    }

    /// The instructions after the one dispatched at `at` are ready in cycle `supplied` at the earliest, for a reason.
    pub(super) fn restart(&mut self, at: u64, supplied: u64, reason: Count) {
        self.own = Some(Dispatched {
            at,
            supplied: self.supplied,
            late: self.late,
        });
        self.supplied = supplied;
        self.late = Late::of(reason);
        self.next = self.late;
    }

    /// A trap: the handler is ready in cycle `supplied`.
    pub(super) fn trap(&mut self, supplied: u64) {
        self.restart(0, supplied, Count::FrontEnd);
        self.own = None;
    }

    /// A store may have waited until `there` for its line.
    pub(super) fn stored(&mut self, there: u64, waited: &Waited) {
        self.count(waited);
        if waited.cycles > 0 && there > self.stores.0 {
            self.stores = (there, waited.from);
        }
    }

    fn count(&mut self, waited: &Waited) {
        self.counts.add(Count::DataMisses, waited.misses);
        self.counts.add(Count::Upgrades, waited.upgrades);
    }

    /// The instruction dispatched last, at `dispatched`, is committed in cycle `now`, after one in cycle `before`; before that
    /// it has `waited` for a line of the data cache.
    pub(super) fn committed(&mut self, before: u64, now: u64, dispatched: u64, waited: &Waited) {
        self.count(waited);
        let own = self.own.take().unwrap_or(Dispatched {
            at: dispatched,
            supplied: self.supplied,
            late: self.late,
        });
        if now == before {
            return;
        }
        self.counts.add(Count::RetiringCycles, 1);
        let lost = now - before - 1;
        let Dispatched { at, supplied, late } = own;
        let by_dispatch = lost.min((at + self.depth).saturating_sub(before + 1));
        let by_supply = by_dispatch.min((supplied + self.depth).saturating_sub(before + 1));
        let first = by_supply.min((late.since + self.depth).saturating_sub(before + 1));
        let by_line = (lost - by_dispatch).min(waited.cycles);
        self.counts.add(late.first, first);
        self.counts.add(late.then, by_supply - first);
        self.counts.add(self.held_up(before), by_dispatch - by_supply);
        self.counts.add(waited.from, by_line);
        self.counts.add(Count::Dependency, lost - by_dispatch - by_line);
    }

    /// Why an instruction is dispatched later than it is supplied: a store before it has no line yet, or it waits for all
    /// before it.
    fn held_up(&self, before: u64) -> Count {
        match self.stores {
            (there, from) if there > before => from,
            _ => Count::Dependency,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timing::explain::SUPERSCALAR;

    fn waited(cycles: u64, from: Count) -> Waited {
        Waited {
            cycles,
            from,
            misses: u64::from(cycles > 0),
            upgrades: 0,
        }
    }

    fn counts(explanation: &Explanation) -> Vec<(&'static str, u64)> {
        let names = SUPERSCALAR.stalls.iter().chain(SUPERSCALAR.events);
        let counts = explanation.counts.of(SUPERSCALAR);
        let all = names.copied().zip(counts.iter().copied());
        all.filter(|(_, count)| *count > 0).collect()
    }

    #[test]
    fn a_late_commit_is_explained_part_by_part() {
        let mut explanation = Explanation::new(5);
        // Mispredicted until cycle 20, when the line turned out to be missing until cycle 50.
        explanation.restart(3, 20, Count::Branch);
        explanation.committed(7, 8, 3, &Waited::default());
        explanation.line_missing(20);
        explanation.packet(50);
        explanation.committed(8, 100, 50, &waited(30, Count::Memory));
        assert_eq!(
            counts(&explanation),
            [
                ("stall.front_end", 1),
                ("stall.branch", 16),
                ("stall.instruction_cache", 30),
                ("stall.dependency", 15),
                ("stall.memory", 30),
                ("l1i_misses", 1),
                ("l1d_misses", 1),
                ("retiring_cycles", 2),
            ]
        );
    }

    #[test]
    fn what_waits_for_stores_has_the_reason_of_their_lines() {
        let mut explanation = Explanation::new(5);
        explanation.stored(40, &waited(9, Count::LastLevel));
        explanation.committed(9, 46, 41, &Waited::default());
        explanation.committed(46, 46, 41, &Waited::default());
        explanation.committed(46, 50, 41, &Waited::default());
        assert_eq!(
            counts(&explanation),
            [
                ("stall.front_end", 1),
                ("stall.dependency", 3),
                ("stall.llc", 36),
                ("l1d_misses", 1),
                ("retiring_cycles", 2),
            ]
        );
    }
}
