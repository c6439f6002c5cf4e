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
    /// Until when each of the latest entries was held; an index of eight bits needs no check.
    held: [u64; 256],
    entries: u8,
}

/// The entry of a [`Queue`] that comes next. It lies outside of the queue, so that a loop can keep it in a register.
#[derive(Clone, Copy, Default)]
pub(super) struct Place(u8);

impl Queue {
    /// A queue of 1 to 255 entries.
    pub(super) fn new(entries: usize) -> Queue {
        let count = u8::try_from(entries).ok().filter(|&count| count > 0);
        Queue {
            held: [0; 256],
            entries: count.unwrap_or_else(|| panic!("a queue of {entries} entries")),
        }
    }

    /// When the entry at `next` is free.
    #[inline(always)]
    pub(super) fn free(&self, next: Place) -> u64 {
        self.held[usize::from(next.0.wrapping_sub(self.entries))]
    }

    /// Takes that entry, until `until`.
    #[inline(always)]
    pub(super) fn hold(&mut self, next: &mut Place, until: u64) {
        self.held[usize::from(next.0)] = until;
        next.0 = next.0.wrapping_add(1);
    }
}

/// Steps that go in order, three of them per cycle.
///
/// The last step is kept as one number, its cycle times four plus its place (0 to 2) in the cycle.
#[derive(Clone, Copy)]
pub(super) struct InOrder(u64);

/// Place of the last step of a cycle.
const LAST_PLACE: u64 = 2;

impl InOrder {
    /// Before the first step, which comes in cycle 1 at the earliest.
    pub(super) fn new() -> InOrder {
        InOrder(LAST_PLACE)
    }

    /// The next step, not before `at`.
    #[inline(always)]
    pub(super) fn step(&mut self, at: u64) -> u64 {
        // Behind the last place comes the first one of the next cycle, two further on.
        let next = self.0 + 1 + (self.0 >> 1 & 1);
        self.0 = next.max(at << 2);
        self.0 >> 2
    }

    /// No further step comes before `cycle`.
    #[inline(always)]
    pub(super) fn not_before(&mut self, cycle: u64) {
        // As if the cycle before were full.
        let full = (cycle << 2).saturating_sub(4) | LAST_PLACE;
        self.0 = self.0.max(full);
    }

    /// The cycle of the next step, if nothing holds it up.
    #[inline(always)]
    pub(super) fn next(&self) -> u64 {
        let mut copy = *self;
        copy.step(0)
    }

    /// Nothing more happens in the cycle of the last step.
    #[inline(always)]
    pub(super) fn end_group(&mut self) {
        self.0 = self.0 & !3 | LAST_PLACE;
    }

    /// The cycle of the last step.
    #[inline(always)]
    pub(super) fn cycle(&self) -> u64 {
        self.0 >> 2
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
        let mut next = Place::default();
        queue.hold(&mut next, 10);
        queue.hold(&mut next, 7);
        assert_eq!(queue.free(next), 10);
        queue.hold(&mut next, 20);
        assert_eq!(queue.free(next), 7);
    }

    #[test]
    fn steps_keep_their_order_and_width() {
        let mut steps = InOrder::new();
        let at: Vec<u64> = (0..7).map(|_| steps.step(1)).collect();
        assert_eq!(at, [1, 1, 1, 2, 2, 2, 3]);
        steps.end_group();
        assert_eq!(steps.next(), 4);
        assert_eq!(steps.step(0), 4);
        steps.not_before(4);
        assert_eq!(steps.step(0), 4);
        steps.not_before(9);
        assert_eq!(
            [steps.step(0), steps.step(8), steps.step(9), steps.step(9)],
            [9, 9, 9, 10]
        );
    }
}
