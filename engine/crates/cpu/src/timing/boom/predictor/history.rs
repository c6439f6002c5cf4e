//! The outcomes of the latest branches, one for each chunk that had any.
//!
//! A chunk sees the outcomes up to the one before the last: a fetch of two chunks is predicted at once.

/// Outcomes as TAGE uses them: the latest in bit 0, and exclusive-ors of the longer histories' parts.
#[derive(Clone, Copy, Default)]
pub(super) struct Folded {
    pub latest: u64,
    /// 32 outcomes in 7 and in 9 bits, 64 in 7 and in 9.
    pub long: [u32; 4],
}

/// Length and width of the elements of [`Folded::long`].
const FOLDS: [(u32, u32); 4] = [(32, 7), (32, 9), (64, 7), (64, 9)];

impl Folded {
    fn push(&mut self, taken: bool) {
        for (fold, (length, width)) in self.long.iter_mut().zip(FOLDS) {
            let leaves = (self.latest >> (length - 1) & 1) as u32;
            let shifted = *fold << 1 | u32::from(taken);
            *fold = (shifted ^ shifted >> width ^ leaves << (length % width)) & ((1 << width) - 1);
        }
        self.latest = self.latest << 1 | u64::from(taken);
    }
}

/// A chunk's outcome: a chunk with branches is taken if one of them is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    None,
    NotTaken,
    Taken,
}

pub(super) struct History {
    pub(super) folded: Folded,
    /// Chunks up to the block that runs.
    before: u64,
    /// The latest chunk with branches, and the one before if that is its neighbour.
    chunk: u64,
    outcome: Outcome,
    neighbour: Outcome,
}

impl History {
    pub(super) fn new() -> History {
        History {
            folded: Folded::default(),
            before: 0,
            chunk: 0,
            outcome: Outcome::None,
            neighbour: Outcome::None,
        }
    }

    #[inline(always)]
    pub(super) fn leave(&mut self, chunk: u8) {
        self.before += u64::from(chunk) + 1;
    }

    /// A branch is fetched in chunk number `chunk` of the block that runs.
    #[inline(always)]
    pub(super) fn enter(&mut self, chunk: u8) {
        let chunk = self.before + u64::from(chunk);
        if chunk == self.chunk {
            return;
        }
        self.push(self.neighbour);
        self.neighbour = Outcome::None;
        if chunk == self.chunk + 1 {
            self.neighbour = self.outcome;
        } else {
            self.push(self.outcome);
        }
        self.outcome = Outcome::None;
        self.chunk = chunk;
    }

    /// The branch that was entered last is taken or not.
    #[inline(always)]
    pub(super) fn outcome(&mut self, taken: bool) {
        self.outcome = if taken { Outcome::Taken } else { Outcome::NotTaken };
    }

    #[inline(always)]
    fn push(&mut self, outcome: Outcome) {
        if outcome != Outcome::None {
            self.folded.push(outcome == Outcome::Taken);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folds_are_those_of_the_history() {
        let mut folded = Folded::default();
        for step in 0..200u32 {
            folded.push(step.wrapping_mul(0x9e37_79b9) >> 13 & 1 == 1);
            for (fold, (length, width)) in folded.long.iter().zip(FOLDS) {
                let kept = folded.latest & u64::MAX >> (64 - length);
                let parts = (0..length).step_by(width as usize).map(|at| kept >> at);
                let whole = parts.fold(0, |all, part| all ^ part) & ((1 << width) - 1);
                assert_eq!(u64::from(*fold), whole);
            }
        }
    }

    #[test]
    fn a_chunk_sees_what_lies_two_before_it() {
        let mut history = History::new();
        let mut seen = Vec::new();
        for chunk in 1..6 {
            history.enter(chunk);
            history.outcome(true);
            seen.push(history.folded.latest);
        }
        assert_eq!(seen, [0, 0, 1, 3, 7]);
        history.enter(9);
        assert_eq!(history.folded.latest, 31);
    }
}
