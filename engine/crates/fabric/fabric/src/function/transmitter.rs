use super::NEVER;
use crate::class::Class;
use crate::credits::{Amount, Credits};
use std::collections::VecDeque;

/// From when on a packet of a class is there, and what its data costs.
pub(super) type Ready = (u64, u64);

/// Chooses among the packets of the three classes, in turn, those that have credits.
#[derive(Default)]
pub(super) struct Transmitter {
    /// From when on the next packet may leave.
    free: u64,
    /// The class that left last.
    chosen: usize,
    limits: Credits,
    /// Which of headers and data have no limit.
    infinite: [(bool, bool); 3],
    consumed: Credits,
    /// Limits that arrive.
    grants: VecDeque<(u64, bool, Class, Amount)>,
}

/// What is there of the three classes.
pub(super) type Offers = [Ready; 3];

impl Transmitter {
    pub(super) fn grant(&mut self, cycle: u64, initial: bool, class: Class, limit: Amount) {
        self.grants.push_back((cycle, initial, class, limit));
    }

    /// When it learns of credits, or sends the next packet.
    pub(super) fn due(&self, offers: &Offers) -> u64 {
        // A limit counts from the cycle after it has come.
        let told = self.grants.front().map_or(NEVER, |(cycle, ..)| cycle + 1);
        let open = Class::ALL
            .into_iter()
            .filter(|class| self.is_open(*class, offers));
        open.map(|class| offers[class.index()].0.max(self.free))
            .fold(told, u64::min)
    }

    fn is_open(&self, class: Class, offers: &Offers) -> bool {
        let (ready, data) = offers[class.index()];
        let (unlimited, limit, consumed) = (
            self.infinite[class.index()],
            self.limits[class],
            self.consumed[class],
        );
        ready != NEVER
            && (unlimited.0 || consumed.headers < limit.headers)
            && (unlimited.1 || consumed.data + data <= limit.data)
    }

    /// The class of the packet that leaves now, after the limits that have come.
    pub(super) fn choose(&mut self, now: u64, offers: &Offers) -> Option<Class> {
        while let Some((_, initial, class, limit)) = self.grants.front().copied().filter(|(at, ..)| *at < now)
        {
            self.grants.pop_front();
            if initial {
                self.infinite[class.index()] = (limit.headers == 0, limit.data == 0);
            }
            self.limits[class] = limit;
        }
        let turns = (1..=3).map(|ahead| Class::ALL[(self.chosen + ahead) % 3]);
        let mut there = turns
            .filter(|class| self.is_open(*class, offers) && offers[class.index()].0.max(self.free) <= now);
        let class = there.next()?;
        self.chosen = class.index();
        self.consumed[class] += Amount {
            headers: 1,
            data: offers[class.index()].1,
        };
        Some(class)
    }

    /// The packet's last beat leaves in the cycle `last`.
    pub(super) fn sent(&mut self, last: u64) {
        self.free = last + 1;
    }
}
