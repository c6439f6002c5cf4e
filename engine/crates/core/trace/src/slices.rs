use crate::names::Function;

/// An event with a duration on the time line.
pub(crate) trait Lasting {
    /// How long.
    fn cycles(&self) -> u64;
}

/// A call on the time line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Slice {
    /// The thread, by its number in the profile.
    pub thread: u32,
    /// Number of enclosing calls.
    pub depth: u32,
    /// What was called.
    pub function: Function,
    /// The cycle of the call.
    pub begin: u64,
    /// The cycle of the return.
    pub end: u64,
}

/// A time in which a hart has run one thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Turn {
    pub(crate) thread: u32,
    pub(crate) begin: u64,
    pub(crate) end: u64,
}

/// A trap on the time line, until the interrupted code continues.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct TrapSlice {
    pub(crate) thread: u32,
    pub(crate) cause: Cause,
    pub(crate) end: u64,
}

/// Why a trap was taken.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Cause {
    /// As in `scause`.
    pub(crate) code: u64,
    /// Register `a7`: the number of the call, if it is the reason.
    pub(crate) call: u64,
    /// When.
    pub(crate) begin: u64,
}

/// A time in which a unit had work.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Work {
    pub(crate) begin: u64,
    pub(crate) end: u64,
}

impl Lasting for Work {
    fn cycles(&self) -> u64 {
        self.end - self.begin
    }
}

impl Lasting for Slice {
    fn cycles(&self) -> u64 {
        self.end - self.begin
    }
}

impl Lasting for Turn {
    fn cycles(&self) -> u64 {
        self.end - self.begin
    }
}

impl Lasting for TrapSlice {
    fn cycles(&self) -> u64 {
        self.end - self.cause.begin
    }
}

/// The longest slices of a run: if there are too many, the shorter half of them is dropped.
#[derive(Debug)]
pub(crate) struct Longest<T> {
    kept: Vec<T>,
    shortest: u64,
    dropped: u64,
}

/// Maximum number of slices.
const CAPACITY: usize = 1 << 17;

impl<T> Default for Longest<T> {
    fn default() -> Longest<T> {
        Longest {
            kept: Vec::new(),
            shortest: 1,
            dropped: 0,
        }
    }
}

impl<T: Lasting> Longest<T> {
    #[inline]
    pub(crate) fn add(&mut self, one: T) {
        if one.cycles() < self.shortest {
            self.dropped += 1;
            return;
        }
        self.kept.push(one);
        if self.kept.len() >= CAPACITY {
            self.thin();
        }
    }

    /// Counts a dropped one.
    pub(crate) fn leave_out(&mut self) {
        self.dropped += 1;
    }

    /// Drops the shorter half; of those equal to the shortest remaining one, the earliest remain.
    fn thin(&mut self) {
        let half = self.kept.len() / 2;
        let mut cycles: Vec<u64> = self.kept.iter().map(Lasting::cycles).collect();
        let (_, &mut limit, longer) = cycles.select_nth_unstable(half);
        let mut as_long = half - longer.iter().filter(|&&cycles| cycles > limit).count();
        self.dropped += (self.kept.len() - half) as u64;
        self.shortest = limit;
        self.kept.retain(|one| {
            let cycles = one.cycles();
            let chosen = cycles == limit && as_long > 0;
            as_long -= usize::from(chosen);
            chosen || cycles > limit
        });
    }

    pub(crate) fn kept(&self) -> &[T] {
        &self.kept
    }

    pub(crate) fn dropped(&self) -> u64 {
        self.dropped
    }
}

/// Which thread a hart runs, and has run.
#[derive(Default, Debug)]
pub(crate) struct Turns {
    pub(crate) longest: Longest<Turn>,
    current: Option<(u32, u64)>,
}

impl Turns {
    /// The hart runs `thread`, at the latest from `now` on.
    pub(crate) fn begin(&mut self, thread: u32, now: u64) {
        if self.current.is_some_and(|(current, _)| current == thread) {
            return;
        }
        self.end(now);
        self.current = Some((thread, now));
    }

    /// The hart runs no thread from `now` on.
    pub(crate) fn end(&mut self, now: u64) {
        if let Some((thread, begin)) = self.current.take() {
            let end = now;
            self.longest.add(Turn { thread, begin, end });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_of_one_thread_are_one() {
        let mut turns = Turns::default();
        turns.begin(0, 10);
        turns.begin(0, 20);
        turns.begin(3, 30);
        turns.end(31);
        turns.end(40);
        let made: Vec<(u32, u64, u64)> = turns
            .longest
            .kept()
            .iter()
            .map(|turn| (turn.thread, turn.begin, turn.end))
            .collect();
        assert_eq!(made, [(0, 10, 30), (3, 30, 31)]);
    }

    #[test]
    fn the_longest_are_kept() {
        let mut longest = Longest::default();
        let count = 3 * CAPACITY as u64;
        for end in 0..count {
            let (thread, begin) = (0, 0);
            longest.add(Turn { thread, begin, end });
        }
        assert!(longest.kept().len() < CAPACITY);
        assert_eq!(longest.kept().len() as u64 + longest.dropped(), count);
        assert_eq!(longest.kept().last().map(Lasting::cycles), Some(count - 1));
    }

    #[test]
    fn of_equal_ones_the_first_are_kept() {
        let mut longest = Longest::default();
        for begin in 0..CAPACITY as u64 {
            let (thread, end) = (0, begin + 5);
            longest.add(Turn { thread, begin, end });
        }
        let kept: Vec<u64> = longest.kept().iter().map(|turn| turn.begin).collect();
        assert_eq!(kept, Vec::from_iter(0..CAPACITY as u64 / 2));
    }
}
