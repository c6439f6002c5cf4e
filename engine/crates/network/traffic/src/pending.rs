use rackwright_time::network::{Cycle, Cycles};
use std::collections::VecDeque;

/// The outstanding requests of a client, by number.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pending {
    /// The oldest recorded number.
    oldest: u64,
    /// When each was sent; `Cycle::NEVER` when it has been answered.
    sent: VecDeque<Cycle>,
}

impl Pending {
    /// Adds a request; returns its number. Numbers count up from zero.
    #[inline]
    pub(crate) fn add(&mut self, at: Cycle) -> u64 {
        self.sent.push_back(at);
        self.oldest + self.sent.len() as u64 - 1
    }

    /// The time at which the request with this number was sent, if it is outstanding; it is not any more afterwards.
    #[inline]
    pub(crate) fn answer(&mut self, number: u64) -> Option<Cycle> {
        let index = number.checked_sub(self.oldest)?;
        let slot = self.sent.get_mut(usize::try_from(index).ok()?)?;
        let sent = std::mem::replace(slot, Cycle::NEVER);
        while self.sent.front() == Some(&Cycle::NEVER) {
            self.sent.pop_front();
            self.oldest += 1;
        }
        (sent != Cycle::NEVER).then_some(sent)
    }

    /// When the oldest request has waited for `timeout`.
    #[inline]
    pub(crate) fn deadline(&self, timeout: Cycles) -> Cycle {
        self.sent.front().map_or(Cycle::NEVER, |sent| *sent + timeout)
    }

    /// Abandons the oldest request.
    pub(crate) fn give_up(&mut self) {
        self.answer(self.oldest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_come_in_any_order_and_once() {
        let mut pending = Pending::default();
        let numbers: Vec<u64> = (0..3).map(|at| pending.add(Cycle::new(10 + at))).collect();
        assert_eq!(numbers, [0, 1, 2]);
        assert_eq!(pending.answer(1), Some(Cycle::new(11)));
        assert_eq!(pending.answer(1), None);
        assert_eq!(pending.deadline(Cycles::new(5)), Cycle::new(15));
        pending.give_up();
        assert_eq!(pending.answer(0), None);
        assert_eq!(pending.deadline(Cycles::new(5)), Cycle::new(17));
        assert_eq!(pending.answer(7), None);
        assert_eq!(pending.answer(2), Some(Cycle::new(12)));
        assert_eq!(pending.deadline(Cycles::new(5)), Cycle::NEVER);
        assert_eq!(pending.add(Cycle::new(20)), 3);
    }
}
