use crate::trace::Event;
use rackwright_dispatch::{Action, Counters, Dispatcher, PeerId, RequestKey, ServiceId, Ticket};
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};

/// Results of a record in addition to its decisions: the longest time for which a request without a response counted as
/// outstanding, and for which a silent peer was assumed to be alive.
///
/// Time is that of the dispatcher. Timer events that are due are handled before any decision, so that these times hold
/// for every decision, however busy the machine was.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize)]
pub struct Replayed {
    /// Events passed to the dispatcher.
    pub events: u64,
    /// Requests that were sent to replicas of this rack and counted.
    pub counted: u64,
    /// Those with a response while they counted.
    pub answered: u64,
    /// Those that ceased to count without a response, by the number of their replica.
    pub forgotten: BTreeMap<u16, u64>,
    /// The maximum age of such a request while it still counted, in nanoseconds.
    pub longest_counted_ns: u64,
    /// The maximum time for which a peer had been silent when a request was redirected to it, in nanoseconds.
    pub longest_trusted_ns: u64,
}

/// The requests that a dispatcher has to count, computed from its events and decisions. It is separate from the
/// dispatcher, whose count has to be equal.
pub(crate) struct Ledger {
    services: Vec<ServiceId>,
    /// In the order in which they were sent to replicas: by time, and in turn.
    open: BTreeMap<(u64, u64), (RequestKey, u16)>,
    places: HashMap<RequestKey, (u64, u64)>,
    held: BTreeMap<Ticket, RequestKey>,
    heard: HashMap<PeerId, u64>,
    /// The dispatcher's counters at the previous event, and its time.
    counters: Counters,
    before: u64,
    replayed: Replayed,
}

impl Ledger {
    pub(crate) fn new(services: Vec<ServiceId>) -> Ledger {
        Ledger {
            services,
            open: BTreeMap::new(),
            places: HashMap::new(),
            held: BTreeMap::new(),
            heard: HashMap::new(),
            counters: Counters::default(),
            before: 0,
            replayed: Replayed::default(),
        }
    }

    /// Processes an event and the decisions; returns whether the dispatcher counts the same number of requests.
    pub(crate) fn take(
        &mut self,
        at: u64,
        event: &Event,
        decided: &[Action],
        dispatcher: &Dispatcher,
    ) -> bool {
        let now = at.max(self.before);
        let counters = dispatcher.counters();
        self.replayed.events += 1;
        if let (true, Some(peer)) = (
            counters.gossip.heard > self.counters.gossip.heard,
            event.reporter(),
        ) {
            self.heard.insert(peer, now);
        }
        if let Some(key) = event.key() {
            let is_repeated = counters.requests.repeated > self.counters.requests.repeated;
            let is_answered = counters.answers.answered > self.counters.answers.answered;
            if is_answered {
                self.replayed.answered += u64::from(self.end(key).is_some());
            } else if let Some(place) = self.places.get(&key).filter(|_| !is_repeated) {
                self.forget(*place);
            }
            let is_counted = !is_repeated && counters.requests.untracked == self.counters.requests.untracked;
            self.follow(now, is_counted.then_some(key), decided);
        }
        for action in decided {
            if let Action::Redirect { peer, .. } = action {
                let silence = now - self.heard.get(peer).copied().unwrap_or(0);
                self.replayed.longest_trusted_ns = self.replayed.longest_trusted_ns.max(silence);
            }
        }
        let counted = self.counted(dispatcher);
        while let Some(first) = self
            .open
            .keys()
            .next()
            .copied()
            .filter(|_| self.open.len() > counted)
        {
            self.forget(first);
        }
        (self.counters, self.before) = (counters, now);
        self.open.len() == counted
    }

    /// What was found.
    pub(crate) fn replayed(self) -> Replayed {
        self.replayed
    }

    /// Records requests sent to replicas, including the current one if it counts.
    fn follow(&mut self, now: u64, hand: Option<RequestKey>, decided: &[Action]) {
        for action in decided {
            match (action, hand) {
                (Action::Serve { replica }, Some(key)) => self.begin(now, key, replica.0),
                (Action::Hold { ticket }, Some(key)) => {
                    self.held.insert(*ticket, key);
                }
                (Action::Release { ticket, replica }, _) => {
                    if let Some(key) = self.held.remove(ticket) {
                        self.begin(now, key, replica.0);
                    }
                }
                _ => {}
            }
        }
    }

    fn begin(&mut self, now: u64, key: RequestKey, replica: u16) {
        let place = (now, self.replayed.counted);
        self.replayed.counted += 1;
        self.open.insert(place, (key, replica));
        self.places.insert(key, place);
    }

    fn end(&mut self, key: RequestKey) -> Option<(RequestKey, u16)> {
        let place = self.places.remove(&key)?;
        self.open.remove(&place)
    }

    /// A request counts no more; at the event before it still did.
    fn forget(&mut self, place: (u64, u64)) {
        let Some((key, replica)) = self.open.remove(&place) else {
            return;
        };
        self.places.remove(&key);
        *self.replayed.forgotten.entry(replica).or_default() += 1;
        let age = self.before - place.0;
        self.replayed.longest_counted_ns = self.replayed.longest_counted_ns.max(age);
    }

    /// Number of requests that the dispatcher counts as outstanding.
    fn counted(&self, dispatcher: &Dispatcher) -> usize {
        let replicas = self
            .services
            .iter()
            .flat_map(|service| dispatcher.replicas(*service));
        replicas.map(|replica| replica.outstanding as usize).sum()
    }
}
