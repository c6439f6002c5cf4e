//! Failed replicas of services without a known probe: the times and requests of their trials.

use rackwright_dispatch::{ReplicaId, ServiceId};
use std::collections::BTreeMap;

/// The longest wait between two trials of a replica, as a multiple of the first one.
const LONGEST: u64 = 64;

/// The replicas that are to be tried with requests of clients.
///
/// A copy of a request to which another replica responds is as informative as the request itself, and the client loses
/// nothing. Each trial that stays without an answer doubles the wait for the next one.
#[derive(Default, Debug)]
pub(crate) struct Trials {
    waits: BTreeMap<ReplicaId, Wait>,
}

#[derive(Debug)]
struct Wait {
    service: ServiceId,
    nanoseconds: u64,
    longest: u64,
    until: u64,
}

impl Trials {
    /// A replica has failed: it may be tried at once, and first after `nanoseconds` again. A replica that is already
    /// known to have failed keeps its interval.
    pub(crate) fn begin(&mut self, now: u64, replica: ReplicaId, service: ServiceId, nanoseconds: u64) {
        self.waits.entry(replica).or_insert(Wait {
            service,
            nanoseconds,
            longest: nanoseconds.saturating_mul(LONGEST),
            until: now,
        });
    }

    /// A replica has shown that it is alive, or has been removed.
    pub(crate) fn end(&mut self, replica: ReplicaId) {
        self.waits.remove(&replica);
    }

    /// The replica of a service that is to receive a copy of a request now.
    #[inline]
    pub(crate) fn due(&mut self, now: u64, service: ServiceId) -> Option<ReplicaId> {
        if self.waits.is_empty() {
            return None;
        }
        let (replica, wait) = self.first(service)?;
        if wait.until > now {
            return None;
        }
        wait.until = now.saturating_add(wait.nanoseconds);
        wait.nanoseconds = wait.nanoseconds.saturating_mul(2).min(wait.longest);
        Some(replica)
    }

    /// The replica of a service that receives a request which would otherwise be dropped: each in turn.
    pub(crate) fn last_resort(&mut self, now: u64, service: ServiceId) -> Option<ReplicaId> {
        let (replica, wait) = self.first(service)?;
        wait.until = wait.until.max(now) + wait.nanoseconds;
        Some(replica)
    }

    fn first(&mut self, service: ServiceId) -> Option<(ReplicaId, &mut Wait)> {
        let of_service = self.waits.iter_mut().filter(|(_, wait)| wait.service == service);
        of_service
            .min_by_key(|(_, wait)| wait.until)
            .map(|(replica, wait)| (*replica, wait))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SERVICE: ServiceId = ServiceId(3);

    #[test]
    fn waits_double_up_to_the_longest_and_begin_anew_after_a_sign_of_life() {
        let mut trials = Trials::default();
        assert_eq!(trials.due(0, SERVICE), None);
        trials.begin(0, ReplicaId(7), SERVICE, 10);
        assert_eq!(trials.due(0, ServiceId(4)), None);
        let mut tried = Vec::new();
        for now in 0..3000 {
            // The dispatcher requests it at each of its probes.
            trials.begin(now, ReplicaId(7), SERVICE, 10);
            tried.extend(trials.due(now, SERVICE).map(|_| now));
        }
        assert_eq!(tried, [0, 10, 30, 70, 150, 310, 630, 1270, 1910, 2550]);
        trials.end(ReplicaId(7));
        assert_eq!(trials.due(3000, SERVICE), None);
        trials.begin(3000, ReplicaId(7), SERVICE, 10);
        let again = [3000, 3001, 3010].map(|now| trials.due(now, SERVICE).is_some());
        assert_eq!(again, [true, false, true]);
    }

    #[test]
    fn where_nobody_is_alive_the_dead_are_tried_in_turn() {
        let mut trials = Trials::default();
        assert_eq!(trials.last_resort(0, SERVICE), None);
        (0..3).for_each(|replica| trials.begin(0, ReplicaId(replica), SERVICE, 10));
        let tried: Vec<_> = (0..6)
            .filter_map(|now| trials.last_resort(now, SERVICE))
            .collect();
        assert_eq!(tried, [0, 1, 2, 0, 1, 2].map(ReplicaId));
    }
}
