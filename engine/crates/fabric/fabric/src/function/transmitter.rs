use super::NEVER;
use crate::class::Class;
use crate::credits::{Amount, Credits};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// The time from which on a packet of a class is ready, and its data credits.
pub(super) type Ready = (u64, u64);

/// Selects packets with credits among the three classes, in turn.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct Transmitter {
    /// From when on the next packet may leave.
    free: u64,
    /// The class that left last.
    chosen: usize,
    consumed: Credits,
    /// The remaining credits of each class.
    left: [Left; 3],
    /// Limits that arrive.
    grants: VecDeque<(u64, bool, Class, Amount)>,
}

/// The remaining credits of a class; infinite credits are never used up.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
struct Left {
    headers: u64,
    data: u64,
    /// Which of the two have no limit.
    infinite: (bool, bool),
}

const WITHOUT_LIMIT: u64 = u64::MAX;

impl Left {
    /// Updates the remaining credits for a limit and the amount already consumed.
    fn learn(&mut self, limit: Amount, consumed: Amount) {
        let left = |infinite, limit: u64, consumed| {
            if infinite {
                WITHOUT_LIMIT
            } else {
                limit.saturating_sub(consumed)
            }
        };
        self.headers = left(self.infinite.0, limit.headers, consumed.headers);
        self.data = left(self.infinite.1, limit.data, consumed.data);
    }

    fn take(&mut self, data: u64) {
        self.headers -= u64::from(!self.infinite.0);
        self.data -= if self.infinite.1 { 0 } else { data };
    }
}

/// The ready packets of the three classes.
pub(super) type Offers = [Ready; 3];

impl Transmitter {
    pub(super) fn grant(&mut self, cycle: u64, initial: bool, class: Class, limit: Amount) {
        self.grants.push_back((cycle, initial, class, limit));
    }

    /// When it learns of credits, or sends the next packet.
    pub(super) fn due(&self, offers: &Offers) -> u64 {
        // A limit takes effect in the cycle after its arrival.
        let mut first = self.grants.front().map_or(NEVER, |(cycle, ..)| cycle + 1);
        for (class, (ready, data)) in Class::ALL.into_iter().zip(offers) {
            if *ready != NEVER && self.affords(class, *data) {
                first = first.min((*ready).max(self.free));
            }
        }
        first
    }

    /// From when on a packet may leave, if it has credits.
    pub(super) fn free_at(&self) -> u64 {
        self.free
    }

    /// Whether a packet with so many data credits may leave.
    pub(super) fn affords(&self, class: Class, data: u64) -> bool {
        let left = &self.left[class.index()];
        left.headers != 0 && data <= left.data
    }

    /// Learns of the limits that have arrived before now.
    pub(super) fn learn(&mut self, now: u64) {
        while let Some((_, initial, class, limit)) = self.grants.front().copied().filter(|(at, ..)| *at < now)
        {
            self.grants.pop_front();
            let left = &mut self.left[class.index()];
            if initial {
                left.infinite = (limit.headers == 0, limit.data == 0);
            }
            left.learn(limit, self.consumed[class]);
        }
    }

    /// The class of the packet that leaves now, after the limits that have arrived.
    pub(super) fn choose(&mut self, now: u64, offers: &Offers) -> Option<Class> {
        self.learn(now);
        let turns = (1..=3).map(|ahead| Class::ALL[(self.chosen + ahead) % 3]);
        let mut there = turns.filter(|class| {
            let (ready, data) = offers[class.index()];
            self.affords(*class, data) && ready.max(self.free) <= now
        });
        let class = there.next()?;
        let data = offers[class.index()].1;
        self.chosen = class.index();
        self.left[class.index()].take(data);
        self.consumed[class] += Amount { headers: 1, data };
        Some(class)
    }

    /// The packet's last beat leaves in the cycle `last`.
    pub(super) fn sent(&mut self, last: u64) {
        self.free = last + 1;
    }
}
