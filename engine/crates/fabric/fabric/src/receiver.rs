use crate::class::Class;
use crate::credits::{Amount, Credits};
use serde::{Deserialize, Serialize};

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
        }
    }

    /// A packet has arrived. Returns whether there was room for it, which is always true unless the sender violates the
    /// rules.
    pub(crate) fn arrive(&mut self, class: Class, cost: Amount) -> bool {
        self.used[class] += cost;
        let (given, used) = (self.given[class], self.used[class]);
        let (headers, data) = self.infinite[class.index()];
        (headers || used.headers <= given.headers) && (data || used.data <= given.data)
    }

    /// Its room is free again. Returns how soon the other end must be informed: immediately if it lacks room for one
    /// more packet (2.6.1.2).
    pub(crate) fn release(&mut self, class: Class, cost: Amount) -> Urgency {
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

    /// Whether all of the room is free.
    pub(crate) fn is_empty(&self, initial: &Credits) -> bool {
        Class::ALL.into_iter().all(|class| {
            let (given, used, first) = (self.given[class], self.used[class], initial[class]);
            let (headers, data) = self.infinite[class.index()];
            (headers || given.headers == used.headers + first.headers)
                && (data || given.data == used.data + first.data)
        })
    }
}
