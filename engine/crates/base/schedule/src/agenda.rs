use rackwright_time::{Cycle, Cycles, Domain};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Number of coming windows that have buckets of their own.
const NEAR: u64 = 256;
const WORDS: usize = NEAR as usize / 64;

/// The models to visit in each window.
///
/// Windows begin at multiples of their length. A model noted for a window may have found an earlier event since; the
/// caller that removes it checks whether it is still due.
pub(crate) struct Agenda {
    window: u64,
    /// The window to remove next; no model is noted for an earlier one.
    current: u64,
    near: Vec<Vec<u32>>,
    /// Which buckets are not empty.
    filled: [u64; WORDS],
    far: BinaryHeap<Reverse<(u64, u32)>>,
}

impl Agenda {
    /// An empty agenda that begins with the window of the cycle `from`.
    pub(crate) fn new<C: Domain>(window: Cycles<C>, from: Cycle<C>) -> Agenda {
        Agenda {
            window: window.0,
            current: from.0 / window.0,
            near: (0..NEAR).map(|_| Vec::new()).collect(),
            filled: [0; WORDS],
            far: BinaryHeap::new(),
        }
    }

    /// Notes that a model has an event in a cycle, which must not be in a window removed before.
    #[inline]
    pub(crate) fn note<C: Domain>(&mut self, wake: Cycle<C>, model: u32) {
        if wake == Cycle::NEVER {
            return;
        }
        let window = wake.0 / self.window;
        if window.saturating_sub(self.current) < NEAR {
            self.fill(window, model);
        } else {
            self.far.push(Reverse((window, model)));
        }
    }

    /// The beginning of the first window with a model.
    pub(crate) fn next<C: Domain>(&self) -> Cycle<C> {
        let far = self.far.peek().map_or(u64::MAX, |Reverse((window, _))| *window);
        match self.first_near().unwrap_or(u64::MAX).min(far) {
            u64::MAX => Cycle::NEVER,
            window => Cycle::new(window * self.window),
        }
    }

    /// Moves to the window of cycle `from`, and moves the models noted for it into `models`.
    pub(crate) fn take<C: Domain>(&mut self, from: Cycle<C>, models: &mut Vec<u32>) {
        self.current = from.0 / self.window;
        while let Some(Reverse((window, model))) = self.far.peek().copied() {
            if window.saturating_sub(self.current) >= NEAR {
                break;
            }
            self.far.pop();
            self.fill(window, model);
        }
        let bucket = (self.current % NEAR) as usize;
        self.filled[bucket / 64] &= !(1 << (bucket % 64));
        models.append(&mut self.near[bucket]);
    }

    #[inline]
    fn fill(&mut self, window: u64, model: u32) {
        let bucket = (window % NEAR) as usize;
        self.filled[bucket / 64] |= 1 << (bucket % 64);
        self.near[bucket].push(model);
    }

    /// The first filled bucket, from the current one on and around.
    fn first_near(&self) -> Option<u64> {
        let start = (self.current % NEAR) as usize;
        let (word, bit) = (start / 64, start % 64);
        for step in 0..=WORDS {
            let index = (word + step) % WORDS;
            let mask = match step {
                0 => u64::MAX << bit,
                WORDS => !(u64::MAX << bit),
                _ => u64::MAX,
            };
            let filled = self.filled[index] & mask;
            if filled != 0 {
                let bucket = (index * 64) as u64 + u64::from(filled.trailing_zeros());
                return Some(self.current + (bucket + NEAR - start as u64) % NEAR);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rackwright_time::network::{Cycle, Cycles};

    fn taken(agenda: &mut Agenda) -> Option<(u64, Vec<u32>)> {
        let next = agenda.next();
        if next == Cycle::NEVER {
            return None;
        }
        let mut models = Vec::new();
        agenda.take(next, &mut models);
        models.sort_unstable();
        Some((next.0, models))
    }

    #[test]
    fn windows_come_in_order_near_and_far() {
        let mut agenda = Agenda::new(Cycles::new(10), Cycle::new(95));
        let notes = [
            (99, 1),
            (100, 2),
            (109, 3),
            (95 + 2559, 4),
            (1_000_000, 5),
            (2650, 6),
            (640, 7),
            (100, 8),
        ];
        notes
            .iter()
            .for_each(|(wake, model)| agenda.note(Cycle::new(*wake), *model));
        agenda.note(Cycle::NEVER, 9);
        let all: Vec<_> = std::iter::from_fn(|| taken(&mut agenda)).collect();
        let expected = [
            (90, vec![1]),
            (100, vec![2, 3, 8]),
            (640, vec![7]),
            (2650, vec![4, 6]),
            (1_000_000, vec![5]),
        ];
        assert_eq!(all, expected);
    }

    #[test]
    fn buckets_are_used_again() {
        let mut agenda = Agenda::new(Cycles::new(1), Cycle::ZERO);
        for round in 0..1000 {
            agenda.note(Cycle::new(round * 37 + 255), round as u32);
            let (cycle, models) = taken(&mut agenda).unwrap();
            assert_eq!((cycle, models), (round * 37 + 255, vec![round as u32]));
        }
    }
}
