use crate::function::NEVER;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// A queue of two entries between boxes: an entry is visible in the next cycle, and a full queue accepts the next one a
/// cycle after it has passed one on.
#[derive(Serialize, Deserialize)]
pub(super) struct Pair<T> {
    entries: VecDeque<(u64, T)>,
    /// From when on it takes another one, when it is not full.
    free_at: u64,
}

impl<T> Default for Pair<T> {
    fn default() -> Pair<T> {
        Pair {
            entries: VecDeque::with_capacity(2),
            free_at: 0,
        }
    }
}

impl<T> Pair<T> {
    /// From when on it takes another one.
    pub(super) fn free_at(&self) -> u64 {
        if self.entries.len() == 2 {
            NEVER
        } else {
            self.free_at
        }
    }

    pub(super) fn push(&mut self, now: u64, entry: T) {
        self.entries.push_back((now + 1, entry));
        self.free_at = now + 1;
    }

    /// The time from which on its first entry is visible, and the entry.
    pub(super) fn front(&self) -> Option<(u64, &T)> {
        self.entries.front().map(|(at, entry)| (*at, entry))
    }

    pub(super) fn pop(&mut self, now: u64) -> Option<T> {
        if self.entries.len() == 2 {
            self.free_at = now + 1;
        }
        self.entries.pop_front().map(|(_, entry)| entry)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}
