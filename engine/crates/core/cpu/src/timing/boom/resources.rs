//! The limits of an out-of-order core: slots per cycle, and queues whose entries become free in order.

use rackwright_state::{state, Pass, State, StateError};

/// A port on which one operation starts per cycle, in the order in which operations become ready.
pub(super) struct IssuePort {
    /// A bit for each of the latest cycles: whether it is taken.
    taken: [u64; IssuePort::WORDS],
    /// The first of those cycles, a multiple of 64.
    first: u64,
}

impl IssuePort {
    const WORDS: usize = 32;
    /// Further apart than any two competing requests: the longest stall of a full window.
    const SPAN: u64 = 64 * IssuePort::WORDS as u64;

    pub(super) fn new() -> IssuePort {
        IssuePort {
            taken: [0; IssuePort::WORDS],
            first: 0,
        }
    }

    /// Takes the first free cycle at or after `at`.
    pub(super) fn take(&mut self, at: u64) -> u64 {
        let mut at = at.max(self.first);
        loop {
            if at >= self.first + IssuePort::SPAN {
                self.advance(at);
            }
            if let Some(taken) = self.take_at_once(at) {
                return taken;
            }
            at = (at / 64 + 1) * 64;
        }
    }

    /// The same without a search, which is almost always possible: in one of the 64 cycles with `at`.
    #[inline(always)]
    pub(super) fn take_at_once(&mut self, at: u64) -> Option<u64> {
        if at.wrapping_sub(self.first) >= IssuePort::SPAN {
            return None;
        }
        let word = &mut self.taken[(at / 64) as usize % IssuePort::WORDS];
        let busy = u64::from((*word >> (at % 64)).trailing_ones());
        if at % 64 + busy >= 64 {
            return None;
        }
        *word |= 1 << (at % 64 + busy);
        Some(at + busy)
    }

    /// Makes `at` part of the remembered cycles.
    fn advance(&mut self, at: u64) {
        let first = (at / 64 + 1) * 64 - IssuePort::SPAN;
        for word in (self.first / 64..first / 64).take(IssuePort::WORDS) {
            self.taken[word as usize % IssuePort::WORDS] = 0;
        }
        self.first = first;
    }
}

/// A queue that holds a fixed number of entries, freed in the order in which they were taken.
pub(super) struct Queue {
    /// Until when each of the latest entries was held; an index of eight bits needs no check.
    held: [u64; 256],
    entries: u8,
    /// The next entry.
    next: u8,
}

impl Queue {
    /// A queue of 1 to 255 entries.
    pub(super) fn new(entries: usize) -> Queue {
        let count = u8::try_from(entries).ok().filter(|&count| count > 0);
        Queue {
            held: [0; 256],
            entries: count.unwrap_or_else(|| panic!("a queue of {entries} entries")),
            next: 0,
        }
    }

    /// When there is room for an entry.
    #[inline(always)]
    pub(super) fn free(&self) -> u64 {
        self.held[usize::from(self.next.wrapping_sub(self.entries))]
    }

    /// Takes an entry, until `until`.
    #[inline(always)]
    pub(super) fn hold(&mut self, until: u64) {
        self.held[usize::from(self.next)] = until;
        self.next = self.next.wrapping_add(1);
    }
}

/// The reorder buffer: when each of the latest instructions was committed.
///
/// A run of a block walks along it with a pointer of its own, [`Slot`].
pub(super) struct ReorderBuffer {
    committed: Box<[u64]>,
    next: usize,
    entries: usize,
    /// Distance from a slot to the one `entries` before, in bytes.
    oldest: isize,
}

/// The place in the reorder buffer of the next instruction.
pub(super) type Slot = *mut u64;

impl ReorderBuffer {
    /// Room for the history and for several blocks, so that the history is moved only rarely.
    const ROOM: usize = 512;

    /// A buffer of [`WIDTH`] entries or more, whose runs are at most `run` instructions long.
    pub(super) fn new(entries: usize, run: usize) -> ReorderBuffer {
        assert!(entries >= WIDTH, "a reorder buffer of {entries} entries");
        ReorderBuffer {
            committed: vec![0; 2 * entries + ReorderBuffer::ROOM.max(run)].into(),
            next: entries,
            entries,
            oldest: -((entries * size_of::<u64>()) as isize),
        }
    }

    /// The first slot of a run of at most `run` instructions.
    #[inline(always)]
    pub(super) fn begin(&mut self, run: usize) -> Slot {
        if self.next + run > self.committed.len() {
            self.move_to_front();
        }
        // SAFETY: `next` is within the buffer.
        unsafe { self.committed.as_mut_ptr().add(self.next) }
    }

    #[cold]
    fn move_to_front(&mut self) {
        self.committed.copy_within(self.next - self.entries..self.next, 0);
        self.next = self.entries;
    }

    /// Ends a run whose next instruction would have had that slot.
    #[inline(always)]
    pub(super) fn end(&mut self, slot: Slot) {
        // SAFETY: the slot was made by `begin` and moved within the buffer.
        self.next = unsafe { slot.offset_from(self.committed.as_ptr()) } as usize;
    }

    /// When there is room for the instruction of a slot.
    ///
    /// # Safety
    /// The slot belongs to a run of this buffer.
    #[inline(always)]
    pub(super) unsafe fn free(&self, slot: Slot) -> u64 {
        // SAFETY: as many entries lie before the first slot of a run.
        unsafe { *slot.byte_offset(self.oldest) }
    }
}

/// When an instruction is committed that is ready at `done`, after one committed at `before`: in order, and [`WIDTH`] per cycle.
///
/// # Safety
/// The slot belongs to a run of a [`ReorderBuffer`].
#[inline(always)]
pub(super) unsafe fn commit(slot: Slot, before: u64, done: u64) -> u64 {
    // SAFETY: at least so many entries lie before the first slot of a run.
    unsafe {
        let committed = before.max(done).max(*slot.sub(WIDTH) + 1);
        *slot = committed;
        committed
    }
}

/// Instructions per cycle.
const WIDTH: usize = 3;

/// Steps in order, in rows of three: a row starts in a later cycle than the previous one, and may take several.
///
/// The last step is stored as one number, its cycle times four plus its position (0 to 2) in the row.
#[derive(Clone, Copy)]
pub(super) struct InOrder(u64);

/// Place of the last step of a row.
const LAST_PLACE: u64 = 2;

impl InOrder {
    /// Before the first step, which is in cycle 1 at the earliest.
    pub(super) fn new() -> InOrder {
        InOrder(LAST_PLACE)
    }

    /// The next step, not before `at`.
    #[inline(always)]
    pub(super) fn step(&mut self, at: u64) -> u64 {
        // The last position is followed by the first one of the next cycle, two further on.
        let next = self.0 + 1 + (self.0 >> 1 & 1);
        self.0 = next.max(at << 2 | next & 3);
        self.0 >> 2
    }

    /// No further step is before `cycle`.
    #[inline(always)]
    pub(super) fn not_before(&mut self, cycle: u64) {
        let place = self.0 & 3;
        // A full row is followed by a new cycle without an adjustment.
        let last = (cycle << 2 | place).saturating_sub((place & LAST_PLACE) << 1);
        self.0 = self.0.max(last);
    }

    /// The next step starts a row, and is not before `cycle`.
    #[inline(always)]
    pub(super) fn restart(&mut self, cycle: u64) {
        self.0 = (self.0 >> 2).max(cycle.saturating_sub(1)) << 2 | LAST_PLACE;
    }

    /// The cycle of the last step.
    #[inline(always)]
    pub(super) fn last(&self) -> u64 {
        self.0 >> 2
    }

    /// The cycle of the next step, if it is not delayed.
    #[inline(always)]
    pub(super) fn next(&self) -> u64 {
        let mut copy = *self;
        copy.step(0)
    }
}

state!(IssuePort { taken, first });
state!(Queue { held, next });
state!(ReorderBuffer { committed, next });

impl State for InOrder {
    fn pass(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        self.0.pass(by)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_fills_in_any_order() {
        let mut port = IssuePort::new();
        assert_eq!(
            [port.take(5), port.take(5), port.take(3), port.take(3)],
            [5, 6, 3, 4]
        );
        assert_eq!(port.take(3), 7);
        let far = 5 + 10 * IssuePort::SPAN;
        assert_eq!([port.take(far), port.take(far)], [far, far + 1]);
        let full: Vec<u64> = (0..200).map(|_| port.take(far + 100)).collect();
        assert_eq!(full.last(), Some(&(far + 299)));
    }

    #[test]
    fn a_port_at_once_or_not_at_all() {
        let mut port = IssuePort::new();
        assert_eq!(
            [port.take_at_once(62), port.take_at_once(62)],
            [Some(62), Some(63)]
        );
        assert_eq!(
            [port.take_at_once(62), port.take_at_once(IssuePort::SPAN)],
            [None; 2]
        );
        assert_eq!(port.take(62), 64);
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
    fn instructions_commit_in_order_three_per_cycle() {
        let mut buffer = ReorderBuffer::new(4, 8);
        let mut all = Vec::new();
        let mut before = 0;
        for run in 0..300 {
            let mut slot = buffer.begin(8);
            for done in [5, 9, 7, 6, 9, 8].map(|each| each + 10 * run) {
                // SAFETY: six of the eight slots of a run.
                unsafe {
                    let oldest = all.len().checked_sub(4).map_or(0, |index| all[index]);
                    assert_eq!(buffer.free(slot), oldest);
                    before = commit(slot, before, done);
                    slot = slot.add(1);
                }
                all.push(before);
            }
            buffer.end(slot);
        }
        assert_eq!(all[6..12], [15, 19, 19, 19, 20, 20]);
    }

    #[test]
    fn steps_keep_their_order_and_rows() {
        let mut steps = InOrder::new();
        let at: Vec<u64> = (0..7).map(|_| steps.step(1)).collect();
        assert_eq!(at, [1, 1, 1, 2, 2, 2, 3]);
        steps.not_before(5);
        assert_eq!([steps.step(0), steps.step(0), steps.step(0)], [5, 5, 6]);
        assert_eq!([steps.step(9), steps.step(9), steps.next()], [9, 9, 10]);
        steps.not_before(12);
        assert_eq!([steps.step(0), steps.step(0)], [12, 12]);
        steps.restart(20);
        let at: Vec<u64> = (0..4).map(|_| steps.step(0)).collect();
        assert_eq!(at, [20, 20, 20, 21]);
    }
}
