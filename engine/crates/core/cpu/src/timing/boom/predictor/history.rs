//! The outcomes of the latest branches, one for each chunk that had any.
//!
//! A chunk sees the outcomes up to the one before the last: a fetch of two chunks is predicted at once.

use rackwright_state::{state, Pass, State, StateError};

/// Outcomes as TAGE uses them: the latest in bit 0, and exclusive-ors of the longer histories' parts.
#[derive(Clone, Copy, Default)]
pub(super) struct Folded {
    pub latest: u64,
    /// The folds of [`FOLDS`], each in a lane of 16 bits, the first one lowest: they are pushed together.
    lanes: u64,
}

/// Number of folded outcomes, and number of bits of the result.
const FOLDS: [(u32, u32); 4] = [(32, 7), (32, 9), (64, 7), (64, 9)];
const LANE: u32 = 16;

/// A bit of each lane whose fold has `length` outcomes, at the position that `bit` has for the width.
const fn lane_bits(length: u32, bit: [u32; 4]) -> u64 {
    let mut bits = 0;
    let mut lane = 0;
    while lane < 4 {
        if length == 0 || FOLDS[lane as usize].0 == length {
            bits |= 1 << (lane * LANE + bit[lane as usize]);
        }
        lane += 1;
    }
    bits
}

/// Bit 0 of every lane, where an outcome enters.
const ENTERS: u64 = lane_bits(0, [0; 4]);
/// The positions where an outcome leaves the folds of 32 and of 64.
const LEAVES: [u32; 4] = [32 % 7, 32 % 9, 64 % 7, 64 % 9];
const LEAVES_32: u64 = lane_bits(32, LEAVES);
const LEAVES_64: u64 = lane_bits(64, LEAVES);
/// The bits of folds of seven, and of nine bits.
const SEVEN: u64 = 0x7f | (0x7f << (2 * LANE));
const NINE: u64 = (0x1ff << LANE) | (0x1ff << (3 * LANE));

impl Folded {
    #[inline(always)]
    fn push(&mut self, taken: bool) {
        let shifted = (self.lanes << 1) | (ENTERS * u64::from(taken));
        let carried = ((shifted >> 7) & SEVEN & ENTERS) | ((shifted >> 9) & NINE & ENTERS);
        let left = ((self.latest >> 31 & 1) * LEAVES_32) | ((self.latest >> 63) * LEAVES_64);
        self.lanes = (shifted ^ carried ^ left) & (SEVEN | NINE);
        self.latest = self.latest << 1 | u64::from(taken);
    }

    /// The folds of [`FOLDS`].
    #[inline(always)]
    pub(super) fn long(&self) -> [u32; 4] {
        let lane = |lane: u32| (self.lanes >> (lane * LANE)) as u32 & 0x1ff;
        [lane(0), lane(1), lane(2), lane(3)]
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

impl State for Outcome {
    fn pass(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        by.one_of(self, &[Outcome::None, Outcome::NotTaken, Outcome::Taken])
    }
}

state!(Folded { latest, lanes });
state!(History {
    folded,
    before,
    chunk,
    outcome,
    neighbour
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folds_are_those_of_the_history() {
        let mut folded = Folded::default();
        for step in 0..200u32 {
            folded.push(step.wrapping_mul(0x9e37_79b9) >> 13 & 1 == 1);
            for (fold, (length, width)) in folded.long().iter().zip(FOLDS) {
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
