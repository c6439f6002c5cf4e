//! `epoll`: a list of descriptors to wait for.

use crate::activity::{event, Readiness};
use crate::calls::refuse;
use crate::files::{Shared, WeakShared};
use rackwright_state::{Pass, State, StateError};
use std::collections::BTreeMap;
use std::io;

/// The bits of an interest that are events.
const EVENTS: u32 = !(libc::EPOLLET as u32 | libc::EPOLLONESHOT as u32 | libc::EPOLLEXCLUSIVE as u32);

/// The requested events of a descriptor.
#[derive(Debug)]
struct Interest {
    target: WeakShared,
    events: u32,
    data: u64,
    /// The arrivals and departures at the last report.
    told: Option<(u64, u64)>,
    /// Order of the last report, or of its addition: the interest that has waited longest is reported first.
    order: u64,
    /// A one-shot interest that has been reported is inactive until it is set again.
    is_spent: bool,
}

impl Interest {
    /// The events to report.
    fn events(&self, readiness: &Readiness) -> u32 {
        if self.is_spent {
            return 0;
        }
        let events = readiness.events & (self.events & EVENTS | event::ALWAYS);
        let is_edge = self.events & libc::EPOLLET as u32 != 0;
        match self.told {
            Some(told) if is_edge && told == counts(readiness) => 0,
            _ => events,
        }
    }
}

fn counts(readiness: &Readiness) -> (u64, u64) {
    (readiness.arrivals, readiness.departures)
}

/// The list, by number of a descriptor and its object.
#[derive(Debug, Default)]
pub(crate) struct Epoll {
    interests: BTreeMap<(u64, usize), Interest>,
    told: u64,
}

/// An interest as it is saved: its number and the place of its target among all descriptors; its events and its data; the
/// rest.
type Saved = ((u64, usize), (u32, u64), (Option<(u64, u64)>, u64, bool));

impl Epoll {
    /// Passes the interests in descriptors that are among `all`.
    pub(crate) fn pass(&mut self, all: &[Shared], by: &mut Pass<'_>) -> Result<(), StateError> {
        self.interests.retain(|_, interest| interest.target.is_alive());
        let save = |((number, identity), interest): (&(u64, usize), &Interest)| -> Option<Saved> {
            let place = all.iter().position(|other| other.identity() == *identity)?;
            let rest = (interest.told, interest.order, interest.is_spent);
            Some(((*number, place), (interest.events, interest.data), rest))
        };
        let mut saved: Vec<Saved> = self.interests.iter().filter_map(save).collect();
        saved.pass(by)?;
        let restore = |((number, place), (events, data), (told, order, is_spent)): Saved| {
            let target = all.get(place)?;
            let interest = Interest {
                target: target.downgrade(),
                events,
                data,
                told,
                order,
                is_spent,
            };
            Some(((number, target.identity()), interest))
        };
        let restored: Option<_> = saved.into_iter().map(restore).collect();
        self.interests = restored.ok_or(StateError::Damaged)?;
        self.told.pass(by)
    }

    /// `epoll_ctl`.
    pub(crate) fn control(
        &mut self,
        operation: i32,
        number: u64,
        target: &Shared,
        (events, data): (u32, u64),
    ) -> io::Result<u64> {
        let key = (number, target.identity());
        let known = self.interests.contains_key(&key);
        match operation {
            libc::EPOLL_CTL_ADD if known => return refuse(libc::EEXIST),
            libc::EPOLL_CTL_ADD => {}
            libc::EPOLL_CTL_MOD | libc::EPOLL_CTL_DEL if !known => return refuse(libc::ENOENT),
            libc::EPOLL_CTL_MOD => {}
            libc::EPOLL_CTL_DEL => {
                self.interests.remove(&key);
                return Ok(0);
            }
            _ => return refuse(libc::EINVAL),
        }
        self.told += 1;
        let interest = Interest {
            target: target.downgrade(),
            events,
            data,
            told: None,
            order: self.told,
            is_spent: false,
        };
        self.interests.insert(key, interest);
        Ok(0)
    }

    /// Events and data of up to `most` descriptors that are ready at `now`, which count as reported.
    pub(crate) fn take(&mut self, most: usize, now: u64) -> Vec<(u32, u64)> {
        // Interests are removed when their last descriptor has been closed.
        self.interests.retain(|_, interest| interest.target.is_alive());
        let mut ready: Vec<(&mut Interest, Readiness)> = Vec::new();
        for interest in self.interests.values_mut() {
            let Some(target) = interest.target.upgrade() else {
                continue;
            };
            let readiness = target.borrow().readiness(now);
            if interest.events(&readiness) != 0 {
                ready.push((interest, readiness));
            }
        }
        ready.sort_by_key(|(interest, _)| interest.order);
        let mut told = Vec::new();
        for (interest, readiness) in ready.into_iter().take(most) {
            self.told += 1;
            told.push((interest.events(&readiness), interest.data));
            interest.told = Some(counts(&readiness));
            interest.order = self.told;
            interest.is_spent = interest.events & libc::EPOLLONESHOT as u32 != 0;
        }
        told
    }

    /// The objects that it waits for.
    pub(crate) fn targets(&self) -> Vec<Shared> {
        let interests = self.interests.values();
        interests
            .filter_map(|interest| interest.target.upgrade())
            .collect()
    }

    /// Whether it has events to report.
    pub(crate) fn readiness(&self, now: u64) -> Readiness {
        let mut all = Readiness::default();
        for interest in self.interests.values() {
            let Some(target) = interest.target.upgrade() else {
                continue;
            };
            let readiness = target.borrow().readiness(now);
            all.arrivals += readiness.arrivals + readiness.departures;
            if interest.events(&readiness) != 0 {
                all.events = event::IN;
            }
        }
        all
    }
}
