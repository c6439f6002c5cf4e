use std::collections::VecDeque;

/// A `HeadQueue` of the hardware with `gapless`: its oldest entry is separate from the others, and an entry to a queue
/// that is empty, or whose only entry leaves, is stored there directly.
#[derive(Clone, Debug)]
pub(crate) struct HeadQueue<T> {
    head: Option<T>,
    others: VecDeque<T>,
}

impl<T> HeadQueue<T> {
    pub(crate) fn new() -> HeadQueue<T> {
        HeadQueue {
            head: None,
            others: VecDeque::new(),
        }
    }

    /// The offered entry in this cycle.
    pub(crate) fn head(&self) -> Option<&T> {
        self.head.as_ref()
    }

    /// The end of a cycle in which the head was taken or not, and an entry arrived or not; returns the taken entry.
    pub(crate) fn clock(&mut self, taken: bool, entering: Option<T>) -> Option<T> {
        let left = if taken { self.head.take() } else { None };
        let passes = self.head.is_none() && self.others.is_empty();
        if passes {
            self.head = entering;
            return left;
        }
        if self.head.is_none() {
            self.head = self.others.pop_front();
        }
        self.others.extend(entering);
        left
    }
}
