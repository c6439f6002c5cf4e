use std::collections::VecDeque;

/// An outstanding request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked {
    /// When it was due, in nanoseconds since the start.
    pub(crate) due: u64,
    /// When it was sent.
    pub(crate) sent: u64,
    answered: bool,
}

/// The outstanding requests, in the order in which they were sent, which is that of their numbers.
pub(crate) struct Pending {
    requests: VecDeque<Asked>,
    /// The number of the first.
    first: u64,
    open: u64,
    /// The bits of a number that are returned.
    mask: u64,
}

impl Pending {
    pub(crate) fn new(number_bits: u32) -> Pending {
        Pending {
            requests: VecDeque::new(),
            first: 0,
            open: 0,
            mask: u64::MAX >> (64 - number_bits),
        }
    }

    /// Records a request, and returns its number.
    pub(crate) fn ask(&mut self, due: u64, sent: u64) -> u64 {
        let number = self.first + self.requests.len() as u64;
        self.requests.push_back(Asked {
            due,
            sent,
            answered: false,
        });
        self.open += 1;
        number
    }

    /// Whether the next request's number could not be distinguished from an outstanding one.
    pub(crate) fn is_full(&self) -> bool {
        self.requests.len() as u64 > self.mask
    }

    /// The request that an answer with this number belongs to, once.
    pub(crate) fn answer(&mut self, number: u64) -> Option<(u64, Asked)> {
        let at = number.wrapping_sub(self.first) & self.mask;
        let asked = self.requests.get_mut(usize::try_from(at).ok()?)?;
        if asked.answered {
            return None;
        }
        asked.answered = true;
        self.open -= 1;
        let asked = *asked;
        let number = self.first + at;
        self.forget_answered();
        Some((number, asked))
    }

    /// Removes requests sent at `time` or earlier, and returns their number.
    pub(crate) fn give_up(&mut self, time: u64) -> u64 {
        let before = self.open;
        while self.requests.front().is_some_and(|asked| asked.sent <= time) {
            let asked = self.requests.pop_front().expect("there is a first");
            self.open -= u64::from(!asked.answered);
            self.first += 1;
        }
        let lost = before - self.open;
        self.forget_answered();
        lost
    }

    /// When the oldest was sent.
    pub(crate) fn oldest(&self) -> Option<u64> {
        self.requests.front().map(|asked| asked.sent)
    }

    fn forget_answered(&mut self) {
        while self.requests.front().is_some_and(|asked| asked.answered) {
            self.requests.pop_front();
            self.first += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_taken_once_in_any_order() {
        let mut pending = Pending::new(16);
        let numbers: Vec<u64> = (0..100_000)
            .map(|at| {
                if at >= 50_000 {
                    assert!(pending.answer((at - 50_000) & 0xffff).is_some());
                }
                assert!(!pending.is_full());
                pending.ask(at, at + 1)
            })
            .collect();
        assert_eq!(numbers.last(), Some(&99_999));
        assert!(pending
            .answer(70_000 & 0xffff)
            .is_some_and(|(number, asked)| { (number, asked.due, asked.sent) == (70_000, 70_000, 70_001) }));
        assert!(pending.answer(70_000 & 0xffff).is_none(), "only once");
        assert_eq!(pending.oldest(), Some(50_001));
        assert_eq!(pending.give_up(70_001), 20_000);
        assert_eq!(pending.oldest(), Some(70_002));
        assert_eq!(pending.give_up(u64::MAX), 29_999);
        assert_eq!(pending.oldest(), None);
    }

    #[test]
    fn numbers_are_not_used_twice_at_once() {
        let mut pending = Pending::new(16);
        (0..1 << 16).for_each(|at| {
            assert!(!pending.is_full());
            pending.ask(at, at);
        });
        assert!(pending.is_full());
        assert!(pending.answer(0).is_some());
        assert!(!pending.is_full());
    }
}
