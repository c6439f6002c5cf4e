use crate::trace::Event;
use rackwright_dispatch::{Action, Counters, Dispatcher, PeerId, RequestKey, ServiceId, Ticket};
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};

/// What a record says beside its decisions: for how long a request counted as under way although no answer came, and
/// for how long a peer was taken for alive although it said nothing.
///
/// Time is that of the dispatcher. What is due is done before anything is decided, so that these times hold for every
/// decision, however busy the machine was.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize)]
pub struct Replayed {
    /// Events that the dispatcher was told of.
    pub events: u64,
    /// Requests that were given to replicas of this rack and counted.
    pub counted: u64,
    /// Of these, how many were answered while they counted.
    pub answered: u64,
    /// Of these, how many ceased to count without an answer, by the number of their replica.
    pub forgotten: BTreeMap<u16, u64>,
    /// How old such a request was when it still counted: the oldest, in nanoseconds.
    pub longest_counted_ns: u64,
    /// For how long a peer had said nothing when a request was redirected to it: at most, in nanoseconds.
    pub longest_trusted_ns: u64,
}

/// The requests that a dispatcher has to count, by what it was told and has decided. It is kept beside the dispatcher,
/// which has to come to the same number.
pub(crate) struct Ledger {
    services: Vec<ServiceId>,
    /// In the order in which they were given to replicas: by time, and by their turn.
    open: BTreeMap<(u64, u64), (RequestKey, u16)>,
    places: HashMap<RequestKey, (u64, u64)>,
    held: BTreeMap<Ticket, RequestKey>,
    heard: HashMap<PeerId, u64>,
    /// What the dispatcher had done at the event before, and when that was.
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

    /// Takes in an event and what was decided; whether the dispatcher counts as many requests as there are here.
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
        if let (true, Some(peer)) = (counters.heard > self.counters.heard, event.reporter()) {
            self.heard.insert(peer, now);
        }
        if let Some(key) = event.key() {
            let is_repeated = counters.repeated > self.counters.repeated;
            let is_answered = counters.answered > self.counters.answered;
            if is_answered {
                self.replayed.answered += u64::from(self.end(key).is_some());
            } else if let Some(place) = self.places.get(&key).filter(|_| !is_repeated) {
                self.forget(*place);
            }
            let is_counted = !is_repeated && counters.untracked == self.counters.untracked;
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

    /// Follows requests to replicas, the one in hand among them if it counts.
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

    /// Requests that the dispatcher takes for under way.
    fn counted(&self, dispatcher: &Dispatcher) -> usize {
        let replicas = self
            .services
            .iter()
            .flat_map(|service| dispatcher.replicas(*service));
        replicas.map(|replica| replica.outstanding as usize).sum()
    }
}
