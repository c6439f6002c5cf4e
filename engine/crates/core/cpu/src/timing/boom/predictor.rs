//! Prediction as in BOOM's front end, in three cycles of a fetch, each of which may override the previous one: a small
//! buffer of jumps ([`micro`]), a larger one with a bimodal table ([`buffer`]), and TAGE with a loop predictor and the
//! return stack.
//!
//! The front end works on chunks of eight bytes, one for each of its two banks, with four places for jumps; tables are indexed by chunk.
//! Tables learn at once here; in the core they do when a jump is committed, which the targets of jumps to registers wait for.

mod buffer;
mod history;
mod loops;
mod micro;
mod tage;

use buffer::Buffer;
use history::History;
use loops::Loops;
use micro::Micro;
use rackwright_state::state;
use tage::Tage;

const RETURNS: usize = 32;

/// Whether the front end finally follows a jump, and the number of fetch cycles that it loses before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Guess {
    pub right: bool,
    pub lost: u64,
}

/// Lost when the second cycle of a fetch overrules the first, and when the third overrules the second.
const SECOND: u64 = 1;
const THIRD: u64 = 2;

/// Everything that predicts.
pub(super) struct Predictor {
    history: History,
    micro: Micro,
    buffer: Buffer,
    tage: Tage,
    loops: Loops,
    returns: [u64; RETURNS],
    top: usize,
}

impl Predictor {
    pub(super) fn new() -> Predictor {
        Predictor {
            history: History::new(),
            micro: Micro::new(),
            buffer: Buffer::new(),
            tage: Tage::new(),
            loops: Loops::new(),
            returns: [0; RETURNS],
            top: 0,
        }
    }

    /// A block was left in its chunk number `chunk`.
    #[inline(always)]
    pub(super) fn leave(&mut self, chunk: u8) {
        self.history.leave(chunk);
    }

    /// Predicts the branch at `site` in chunk number `chunk` of its block, and learns that it is `taken` or not.
    #[inline(never)]
    pub(super) fn branch(&mut self, site: u64, chunk: u8, taken: bool) -> Guess {
        self.history.enter(chunk);
        let first = self.micro.branch(site, taken);
        let known = self.buffer.knows(site) || first.is_some();
        let base = self.buffer.direction(site, taken);
        let found = self.tage.look_up(site, &self.history, base);
        let expected = self.loops.predict(site, found.taken);
        let right = expected == taken;
        self.tage.learn(&found, taken, !right);
        if !right {
            self.loops.mispredicted(site);
        }
        self.buffer.remember(site);
        self.history.outcome(taken);
        let lost = overruled(first == Some(true), known && base, expected);
        Guess { right, lost }
    }

    /// Follows a jump whose target is in its instruction.
    #[inline]
    pub(super) fn fixed(&mut self, site: u64) -> u64 {
        let first = self.micro.jump(site);
        let second = self.buffer.knows(site);
        self.buffer.remember(site);
        overruled(first, first || second, true)
    }

    /// Predicts a jump to a register, fetched at `fetched` and committed at `committed`: the prediction is its last
    /// target.
    #[inline]
    pub(super) fn jump(&mut self, site: u64, target: u64, fetched: u64, committed: u64) -> Guess {
        let first = self.micro.jump(site);
        let right = self.buffer.target(site, fetched) == Some(target);
        self.buffer.learn(site, target, committed);
        Guess {
            right,
            lost: if first { 0 } else { SECOND },
        }
    }

    /// The same for the return of a function, whose target finally comes from the return stack.
    #[inline]
    pub(super) fn function_return(&mut self, site: u64, target: u64, fetched: u64, committed: u64) -> Guess {
        let expected = self.returns[self.top];
        self.top = (self.top + RETURNS - 1) % RETURNS;
        let before = self.jump(site, target, fetched, committed);
        Guess {
            right: expected == target,
            lost: if before.right { before.lost } else { THIRD },
        }
    }

    /// Records the return address of a call.
    #[inline]
    pub(super) fn call(&mut self, return_address: u64) {
        self.top = (self.top + 1) % RETURNS;
        self.returns[self.top] = return_address;
    }
}

/// Cycles of fetching that are lost when the three cycles' decisions are these.
#[inline(always)]
fn overruled(first: bool, second: bool, third: bool) -> u64 {
    if second != third {
        THIRD
    } else {
        u64::from(first != third) * SECOND
    }
}

state!(Predictor {
    history,
    micro,
    buffer,
    tage,
    loops,
    returns,
    top
});

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong_guesses(outcome: impl Fn(u32) -> bool) -> u32 {
        let mut predictor = Predictor::new();
        let guess = |step| {
            let guess = predictor.branch(0x1000, 0, outcome(step));
            predictor.leave(1);
            u32::from(!guess.right && step >= 2000)
        };
        (0..4000).map(guess).sum()
    }

    #[test]
    fn patterns_are_learnt() {
        assert_eq!(wrong_guesses(|_| true), 0);
        assert!(wrong_guesses(|step| step % 2 == 0) < 20);
        assert!(wrong_guesses(|step| step % 7 == 0) < 40);
        assert!(
            wrong_guesses(|step| step % 100 == 0) < 4,
            "the loop predictor counts"
        );
    }

    #[test]
    fn noise_is_not() {
        let noise = |step: u32| step.wrapping_mul(0x9e37_79b9).wrapping_mul(step ^ 0x55) >> 17 & 1 == 1;
        assert!(wrong_guesses(noise) > 600);
    }

    #[test]
    fn returns_nest() {
        let mut predictor = Predictor::new();
        predictor.call(4);
        predictor.call(8);
        let mut right = |target| predictor.function_return(0x100, target, 0, 0).right;
        assert!(right(8) && right(4) && !right(4));
    }

    #[test]
    fn each_cycle_overrules_the_one_before() {
        let mut predictor = Predictor::new();
        assert_eq!(predictor.fixed(0x1000), THIRD);
        assert_eq!(predictor.fixed(0x1000), 0);
        for other in 1..128 {
            predictor.fixed(0x1000 + other * 8);
        }
        assert_eq!(
            predictor.fixed(0x1000),
            SECOND,
            "only the larger buffer still knows it"
        );
    }
}
