use crate::class::Class;
use crate::credits::{Amount, Credits};
use rackwright_time::fabric::Cycle;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// The urgency of a data link layer packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Urgency {
    /// Now.
    Now,
    /// Once it has waited for others to go with it.
    Later,
    /// None: it is awaited already, or never sent.
    Never,
}

/// A packet that will arrive, as far as its room is concerned.
#[derive(Serialize, Deserialize)]
struct Expected {
    #[serde(with = "crate::saved::instant")]
    at: Cycle,
    class: Class,
    cost: Amount,
}

/// The room behind a port for incoming packets, and the part of it that the other end knows.
#[derive(Serialize, Deserialize)]
pub(crate) struct Receiver {
    given: Credits,
    used: Credits,
    /// Headers and data without limit.
    infinite: [(bool, bool); 3],
    /// An update, or an acknowledgement, waits to be sent.
    updating: [bool; 3],
    pub(crate) acknowledging: bool,
    /// Data that the longest packet needs.
    longest: u64,
    /// Packets on the wire that need no event when they arrive, in this order.
    expected: VecDeque<Expected>,
    /// Number of those that have one.
    pub(crate) announced: u32,
}

impl Receiver {
    /// A receiver with this room; 0 stands for no limit. The longest payload is `payload` bytes.
    pub(crate) fn new(credits: Credits, payload: u32) -> Receiver {
        Receiver {
            given: credits,
            used: Credits::default(),
            infinite: Class::ALL.map(|class| (credits[class].headers == 0, credits[class].data == 0)),
            updating: [false; 3],
            acknowledging: false,
            longest: u64::from(payload / 16),
            expected: VecDeque::new(),
            announced: 0,
        }
    }

    /// A packet has arrived. Returns whether there was room for it, which is always true unless the sender violates the
    /// rules.
    pub(crate) fn arrive(&mut self, now: Cycle, class: Class, cost: Amount) -> bool {
        self.settle(now);
        self.announced -= 1;
        self.used[class] += cost;
        let (given, used) = (self.given[class], self.used[class]);
        let (headers, data) = self.infinite[class.index()];
        (headers || used.headers <= given.headers) && (data || used.data <= given.data)
    }

    /// A packet of a sender that keeps to the rules will arrive at `at`.
    pub(crate) fn expect(&mut self, at: Cycle, class: Class, cost: Amount) {
        self.expected.push_back(Expected { at, class, cost });
    }

    /// Takes those that have arrived.
    pub(crate) fn settle(&mut self, now: Cycle) {
        while let Some(expected) = self.expected.front().filter(|expected| expected.at <= now) {
            self.used[expected.class] += expected.cost;
            self.expected.pop_front();
        }
    }

    /// Room of a packet that has arrived is free again. Returns how soon the other end must be informed: immediately if
    /// it lacks room for one more packet (2.6.1.2).
    pub(crate) fn release(&mut self, now: Cycle, class: Class, cost: Amount) -> Urgency {
        self.settle(now);
        let (headers, data) = self.infinite[class.index()];
        if headers && data {
            return Urgency::Never;
        }
        let (given, used) = (&mut self.given[class], self.used[class]);
        let lacking =
            !headers && given.headers <= used.headers || !data && given.data < used.data + self.longest;
        given.headers += if headers { 0 } else { cost.headers };
        given.data += if data { 0 } else { cost.data };
        let updating = std::mem::replace(&mut self.updating[class.index()], true);
        match (updating, lacking) {
            (_, true) => Urgency::Now,
            (false, false) => Urgency::Later,
            (true, false) => Urgency::Never,
        }
    }

    /// The update of a class for the other end, if one is pending.
    pub(crate) fn update(&mut self, class: Class) -> Option<Amount> {
        let updating = std::mem::replace(&mut self.updating[class.index()], false);
        updating.then_some(self.given[class])
    }

    /// The credits granted so far, and the part of them that has been used.
    #[cfg(test)]
    pub(crate) fn credits(&self) -> (Credits, Credits) {
        (self.given, self.used)
    }

    /// Whether all of the room is free when all that is expected has arrived.
    pub(crate) fn is_empty(&self, initial: &Credits) -> bool {
        let mut used = self.used;
        for expected in &self.expected {
            used[expected.class] += expected.cost;
        }
        Class::ALL.into_iter().all(|class| {
            let (given, used, first) = (self.given[class], used[class], initial[class]);
            let (headers, data) = self.infinite[class.index()];
            (headers || given.headers == used.headers + first.headers)
                && (data || given.data == used.data + first.data)
        })
    }
}
