//! What limits an out-of-order core: slots per cycle, and queues whose entries come free in order.

/// A resource that serves a number of requests per cycle, in whatever order they become ready.
pub(super) struct Slots {
    /// For each of the latest cycles, how it is taken.
    cycles: Box<[Taken; Slots::SPAN]>,
    per_cycle: u32,
}

/// The slots of one cycle.
#[derive(Clone, Copy, Default)]
struct Taken {
    cycle: u64,
    slots: u32,
    /// When all are taken: how many cycles from here on are known to be full. A busy port would
    /// otherwise be searched cycle by cycle by every instruction of the window.
    full_for: u32,
}

impl Slots {
    /// Further apart than any two requests that compete: the longest stall of a full window.
    const SPAN: usize = 1024;

    pub(super) fn new(per_cycle: u32) -> Slots {
        Slots {
            cycles: Box::new([Taken::default(); Slots::SPAN]),
            per_cycle,
        }
    }

    /// Takes a slot in the first cycle at or after `at` that has one.
    #[inline]
    pub(super) fn take(&mut self, at: u64) -> u64 {
        let taken = &mut self.cycles[at as usize % Slots::SPAN];
        if taken.cycle == at && taken.slots == self.per_cycle {
            return self.take_later(at);
        }
        taken.slots = if taken.cycle == at { taken.slots + 1 } else { 1 };
        taken.cycle = at;
        taken.full_for = 1;
        at
    }

    /// The same when cycle `first` is full.
    fn take_later(&mut self, first: u64) -> u64 {
        let mut at = first;
        loop {
            let taken = &mut self.cycles[at as usize % Slots::SPAN];
            if taken.cycle != at {
                *taken = Taken {
                    cycle: at,
                    slots: 1,
                    full_for: 1,
                };
                break;
            }
            if taken.slots < self.per_cycle {
                taken.slots += 1;
                break;
            }
            at += u64::from(taken.full_for);
        }
        self.cycles[first as usize % Slots::SPAN].full_for = (at - first) as u32;
        at
    }
}

/// A queue that holds a fixed number of entries, freed in the order in which they were taken.
pub(super) struct Queue {
    freed: Box<[u64]>,
    next: usize,
}

impl Queue {
    pub(super) fn new(entries: usize) -> Queue {
        Queue {
            freed: vec![0; entries].into(),
            next: 0,
        }
    }

    /// When the entry that comes next is free.
    #[inline]
    pub(super) fn free(&self) -> u64 {
        self.freed[self.next]
    }

    /// Takes that entry, until `until`.
    #[inline]
    pub(super) fn hold(&mut self, until: u64) {
        self.freed[self.next] = until;
        self.next += 1;
        if self.next == self.freed.len() {
            self.next = 0;
        }
    }
}

/// Steps that go in order, a number of them per cycle.
pub(super) struct InOrder {
    cycle: u64,
    done: u32,
    per_cycle: u32,
}

impl InOrder {
    pub(super) fn new(per_cycle: u32) -> InOrder {
        InOrder {
            cycle: 0,
            done: 0,
            per_cycle,
        }
    }

    /// The next step, not before `at`.
    #[inline]
    pub(super) fn step(&mut self, at: u64) -> u64 {
        // Without branches: which case it is changes from one instruction to the next.
        let next = self.cycle + u64::from(self.done == self.per_cycle);
        let step = next.max(at);
        self.done = if step == self.cycle { self.done + 1 } else { 1 };
        self.cycle = step;
        step
    }

    /// Nothing more happens in the current cycle.
    #[inline]
    pub(super) fn end_group(&mut self) {
        self.done = self.per_cycle;
    }

    pub(super) fn cycle(&self) -> u64 {
        self.cycle
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_fill_in_any_order() {
        let mut slots = Slots::new(2);
        assert_eq!([slots.take(5), slots.take(5), slots.take(5)], [5, 5, 6]);
        assert_eq!(slots.take(3), 3);
        assert_eq!(slots.take(5 + Slots::SPAN as u64), 5 + Slots::SPAN as u64);
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
        let mut steps = InOrder::new(3);
        let at: Vec<u64> = (0..7).map(|_| steps.step(1)).collect();
        assert_eq!(at, [1, 1, 1, 2, 2, 2, 3]);
        steps.end_group();
        assert_eq!(steps.step(0), 4);
    }
}
