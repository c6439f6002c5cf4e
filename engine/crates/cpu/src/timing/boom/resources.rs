//! What limits an out-of-order core: slots per cycle, and queues whose entries come free in order.

/// A port on which one operation starts per cycle, in whatever order they become ready.
pub(super) struct Port {
    /// A bit for each of the latest cycles: whether it is taken.
    taken: [u64; Port::WORDS],
    /// The first of those cycles, a multiple of 64.
    first: u64,
}

impl Port {
    const WORDS: usize = 32;
    /// Further apart than any two requests that compete: the longest stall of a full window.
    const SPAN: u64 = 64 * Port::WORDS as u64;

    pub(super) fn new() -> Port {
        Port {
            taken: [0; Port::WORDS],
            first: 0,
        }
    }

    /// Takes the first free cycle at or after `at`.
    #[inline]
    pub(super) fn take(&mut self, at: u64) -> u64 {
        let mut at = at.max(self.first);
        loop {
            if at >= self.first + Port::SPAN {
                self.advance(at);
            }
            let word = &mut self.taken[(at / 64) as usize % Port::WORDS];
            let busy = u64::from((*word >> (at % 64)).trailing_ones());
            if at % 64 + busy < 64 {
                at += busy;
                *word |= 1 << (at % 64);
                return at;
            }
            at = (at / 64 + 1) * 64;
        }
    }

    /// Makes `at` part of the remembered cycles.
    #[cold]
    fn advance(&mut self, at: u64) {
        let first = (at / 64 + 1) * 64 - Port::SPAN;
        for word in (self.first / 64..first / 64).take(Port::WORDS) {
            self.taken[word as usize % Port::WORDS] = 0;
        }
        self.first = first;
    }
}

/// A queue that holds a fixed number of entries, freed in the order in which they were taken.
pub(super) struct Queue {
    /// Until when each of the latest entries was held.
    held: Box<[u64; Queue::SPAN]>,
    taken: usize,
    entries: usize,
}

impl Queue {
    const SPAN: usize = 256;

    /// A queue of 1 to 256 entries.
    pub(super) fn new(entries: usize) -> Queue {
        assert!(
            (1..=Queue::SPAN).contains(&entries),
            "a queue of {entries} entries"
        );
        Queue {
            held: Box::new([0; Queue::SPAN]),
            taken: entries,
            entries,
        }
    }

    /// When the entry that comes next is free.
    #[inline]
    pub(super) fn free(&self) -> u64 {
        self.held[(self.taken - self.entries) % Queue::SPAN]
    }

    /// Takes that entry, until `until`.
    #[inline]
    pub(super) fn hold(&mut self, until: u64) {
        self.held[self.taken % Queue::SPAN] = until;
        self.taken += 1;
    }
}

/// Steps that go in order, three of them per cycle.
#[derive(Clone, Copy)]
pub(super) struct InOrder {
    /// When the latest three steps were. Three fields and no array, so that they stay in registers.
    newest: u64,
    middle: u64,
    oldest: u64,
    /// The earliest cycle of the next step: that of the last one, or the one behind it.
    least: u64,
}

impl InOrder {
    pub(super) fn new() -> InOrder {
        InOrder {
            newest: 0,
            middle: 0,
            oldest: 0,
            least: 1,
        }
    }

    /// The next step, not before `at`.
    #[inline(always)]
    pub(super) fn step(&mut self, at: u64) -> u64 {
        let cycle = at.max(self.least).max(self.oldest + 1);
        self.oldest = self.middle;
        self.middle = self.newest;
        self.newest = cycle;
        self.least = cycle;
        cycle
    }

    /// Nothing more happens in the cycle of the last step.
    #[inline(always)]
    pub(super) fn end_group(&mut self) {
        self.least = self.newest + 1;
    }

    /// The cycle of the last step.
    #[inline(always)]
    pub(super) fn cycle(&self) -> u64 {
        self.newest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_fills_in_any_order() {
        let mut port = Port::new();
        assert_eq!(
            [port.take(5), port.take(5), port.take(3), port.take(3)],
            [5, 6, 3, 4]
        );
        assert_eq!(port.take(3), 7);
        let far = 5 + 10 * Port::SPAN;
        assert_eq!([port.take(far), port.take(far)], [far, far + 1]);
        let full: Vec<u64> = (0..200).map(|_| port.take(far + 100)).collect();
        assert_eq!(full.last(), Some(&(far + 299)));
    }

    #[test]
    fn a_queue_frees_its_oldest_entry() {
        let mut queue = Queue::new(2);
        queue.hold(10);
        queue.hold(7);
        assert_eq!(queue.free(), 10);
        queue.hold(20);
        assert_eq!(queue.free(), 7);
    }

    #[test]
    fn steps_keep_their_order_and_width() {
        let mut steps = InOrder::new();
        let at: Vec<u64> = (0..7).map(|_| steps.step(1)).collect();
        assert_eq!(at, [1, 1, 1, 2, 2, 2, 3]);
        steps.end_group();
        assert_eq!(steps.step(0), 4);
    }
}
