use crate::{RequestKey, Ticket};
use std::collections::VecDeque;

/// The requests of a service that wait until a replica has room, first come, first served.
#[derive(Clone, Debug, Default)]
pub(crate) struct Held {
    waiting: VecDeque<Waiting>,
}

/// A request that waits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waiting {
    pub(crate) ticket: Ticket,
    pub(crate) key: RequestKey,
    /// The epoch of its arrival.
    pub(crate) epoch: u32,
}

impl Held {
    pub(crate) fn len(&self) -> usize {
        self.waiting.len()
    }

    pub(crate) fn push(&mut self, waiting: Waiting) {
        self.waiting.push_back(waiting);
    }

    pub(crate) fn first(&self) -> Option<Waiting> {
        self.waiting.front().copied()
    }

    pub(crate) fn pop(&mut self) -> Option<Waiting> {
        self.waiting.pop_front()
    }
}
