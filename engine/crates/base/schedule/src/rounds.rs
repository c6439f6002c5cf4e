use crate::patience::Patience;
use rustix::thread::futex;
use std::sync::atomic::{AtomicU32, Ordering};

/// Set while a thread sleeps until the round is entered.
const AWAITED: u32 = 1;

/// Set when the thread has failed and will enter no more rounds.
const FAILED: u32 = 2;

/// The lowest bit of the count of rounds.
const ROUND: u32 = 4;

/// The number of rounds that a thread has entered, which other threads can read and wait for: the count, which may
/// wrap, above two bits.
#[derive(Default)]
pub(crate) struct Rounds(AtomicU32);

impl Rounds {
    /// Enters a round: everything that the thread has done before is visible to all threads that observe the round.
    pub(crate) fn enter(&self, round: u64) {
        let before = self.0.swap(entered(round), Ordering::AcqRel);
        if before & FAILED != 0 {
            self.fail();
        }
        self.wake_if(before & AWAITED != 0);
    }

    /// Announces that the thread enters no more rounds, so that no thread waits for it.
    pub(crate) fn fail(&self) {
        let before = self.0.fetch_or(FAILED, Ordering::AcqRel);
        self.wake_if(before & AWAITED != 0);
    }

    /// Returns when the thread has entered the round, which is the next one or one that it has entered. Between polls,
    /// `work` does some other work and returns whether there was any; while there is none, the thread waits, and sleeps
    /// when patience ends. Returns the number of unsuccessful polls since the last work.
    ///
    /// # Panics
    /// When the thread has failed before.
    pub(crate) fn wait(&self, round: u64, patience: Patience, mut work: impl FnMut() -> bool) -> u32 {
        let mut looks = 0;
        loop {
            let state = self.0.load(Ordering::Acquire);
            if is_entered(state, round) {
                return looks;
            }
            assert!(state & FAILED == 0, "another thread of the run has failed");
            if work() {
                looks = 0;
                continue;
            }
            if !patience.looks_again(looks) {
                self.sleep(state);
            }
            looks += 1;
        }
    }

    /// Sleeps while the state is `state`, until the thread enters a round or fails.
    fn sleep(&self, state: u32) {
        let awaited = state | AWAITED;
        let marked = self
            .0
            .compare_exchange(state, awaited, Ordering::AcqRel, Ordering::Acquire);
        if marked.is_ok() {
            // It returns immediately if the state has changed, and may return spuriously: the caller polls again.
            let _ = futex::wait(&self.0, futex::Flags::PRIVATE, awaited, None);
        }
    }

    fn wake_if(&self, is_awaited: bool) {
        if is_awaited {
            // If it fails, no thread sleeps, since there is no other reason for a failure.
            let _ = futex::wake(&self.0, futex::Flags::PRIVATE, i32::MAX as u32);
        }
    }
}

/// The state once a round has been entered.
fn entered(round: u64) -> u32 {
    (round as u32).wrapping_add(1).wrapping_mul(ROUND)
}

/// Whether a state is that of the round or of a later one. Threads are never half of all counts apart.
fn is_entered(state: u32, round: u64) -> bool {
    let ahead = (state & !(ROUND - 1)).wrapping_sub(entered(round));
    (ahead as i32) >= 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    /// A thread waits with this patience for another one, which enters no round before it sleeps.
    fn looks_until_entered(patience: Patience, round: u64) -> u32 {
        let rounds = Rounds::default();
        if round > 0 {
            rounds.enter(round - 1);
        }
        thread::scope(|scope| {
            let waiting = scope.spawn(|| rounds.wait(round, patience, || false));
            while rounds.0.load(Ordering::Acquire) & AWAITED == 0 {
                thread::yield_now();
            }
            rounds.enter(round);
            waiting.join().unwrap()
        })
    }

    #[test]
    fn a_thread_without_a_processor_of_its_own_sleeps_at_once() {
        for round in [0, 1, 2, u64::from(u32::MAX / ROUND), u64::from(u32::MAX)] {
            assert_eq!(looks_until_entered(Patience::of(3, 2), round), 1);
        }
    }

    #[test]
    fn a_thread_with_a_processor_of_its_own_looks_for_a_while() {
        let patience = Patience::of(2, 2);
        let looks = looks_until_entered(patience, 7);
        assert!(looks > 1_000 && patience.looks_again(looks - 2) && !patience.looks_again(looks - 1));
    }

    #[test]
    fn a_thread_works_while_it_waits() {
        let (rounds, mut left) = (Rounds::default(), 3);
        let work = || {
            left -= 1;
            if left == 0 {
                rounds.enter(0);
            }
            true
        };
        assert_eq!(rounds.wait(0, Patience::of(3, 2), work), 0);
        assert_eq!(left, 0);
    }

    #[test]
    fn whoever_waits_for_a_thread_that_fails_fails_too() {
        for patience in [Patience::of(2, 2), Patience::of(3, 2)] {
            let rounds = Rounds::default();
            rounds.enter(4);
            thread::scope(|scope| {
                let waiting = scope.spawn(|| rounds.wait(5, patience, || false));
                rounds.fail();
                assert!(waiting.join().is_err());
            });
            assert_eq!(
                rounds.wait(4, patience, || false),
                0,
                "what it has done before it failed is done"
            );
            rounds.enter(5);
            let after = || rounds.wait(6, patience, || false);
            assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(after)).is_err());
        }
    }
}
