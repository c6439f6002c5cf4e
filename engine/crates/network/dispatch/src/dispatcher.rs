use crate::decide::Choice;
use crate::held::Waiting;
use crate::monitor::Monitor;
use crate::outstanding::{Outstanding, Place, HELD};
use crate::peer::Peer;
use crate::random::Random;
use crate::replica::{Health, Replica};
use crate::rules::{Epochs, Rules};
use crate::service::Service;
use crate::{
    Action, Configuration, ConfigurationError, Counters, DropReason, PeerId, Policy, Report, RequestKey,
    ServiceId, Ticket, MAX_SERVICES,
};

/// The fields of a request that a dispatcher uses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Request {
    /// For which service.
    pub service: ServiceId,
    /// Which request.
    pub key: RequestKey,
    /// The key by which a stateful service keeps requests together.
    pub sticky: Option<u64>,
    /// Number of redirections so far.
    pub hops: u8,
}

/// The dispatcher of a rack.
///
/// Every event has a time in nanoseconds since any origin; a time before that of the previous event counts as that one.
/// Actions are appended to `actions`, in the order of execution.
#[derive(Clone, Debug)]
pub struct Dispatcher {
    pub(crate) own: PeerId,
    pub(crate) incarnation: u32,
    pub(crate) rules: Rules,
    pub(crate) services: Vec<Service>,
    /// From the number of a service to its index, for numbers up to the highest.
    service_index: Vec<Option<u8>>,
    pub(crate) replicas: Vec<Replica>,
    /// In the order of their numbers.
    pub(crate) peers: Vec<Peer>,
    pub(crate) outstanding: Outstanding,
    pub(crate) now: u64,
    pub(crate) epochs: Epochs,
    pub(crate) probe_at: u64,
    pub(crate) sequence: u32,
    tickets: u64,
    pub(crate) random: Random,
    pub(crate) counters: Counters,
}

impl Dispatcher {
    /// A dispatcher at time zero. Its replicas count as alive, and nothing is known about its peers.
    ///
    /// # Errors
    /// [`ConfigurationError`] with the error in the configuration.
    pub fn new(configuration: &Configuration) -> Result<Dispatcher, ConfigurationError> {
        configuration.check()?;
        let monitor = Monitor::new(configuration.gossip_floor, configuration.average_shift);
        let peers = configuration.peers.len();
        let services = configuration.services.iter();
        let highest = services.clone().map(|service| service.id.0).max().unwrap_or(0);
        let mut dispatcher = Dispatcher {
            own: configuration.own,
            incarnation: configuration.incarnation,
            rules: Rules::of(configuration),
            service_index: vec![None; usize::from(highest) + 1],
            services: services
                .clone()
                .map(|service| Service::new(service.id, service.sticky, monitor.clone(), peers))
                .collect(),
            replicas: Vec::new(),
            peers: Vec::new(),
            outstanding: Outstanding::new(configuration.tracked),
            now: 0,
            epochs: Epochs::of(configuration),
            probe_at: configuration.times.probe_interval_ns,
            sequence: 0,
            tickets: 0,
            random: Random::new(configuration.seed, configuration.own.0),
            counters: Counters::default(),
        };
        for (service, index) in services.zip(0_u8..) {
            dispatcher.service_index[usize::from(service.id.0)] = Some(index);
            for replica in &service.replicas {
                dispatcher.replicas.push(Replica::new(*replica, index.into(), 0));
            }
        }
        dispatcher.make_peers(configuration);
        (0..dispatcher.services.len()).for_each(|index| dispatcher.count_again(index));
        Ok(dispatcher)
    }

    fn make_peers(&mut self, configuration: &Configuration) {
        for peer in &configuration.peers {
            let index =
                |service: &ServiceId| self.find(*service).expect("services of peers were checked") as u16;
            let mut services: arrayvec::ArrayVec<u16, MAX_SERVICES> =
                peer.services.iter().map(index).collect();
            // In the order used by hardware.
            services.sort_unstable();
            self.peers.push(Peer::new(peer.id, services));
        }
        self.peers.sort_by_key(|peer| peer.id);
    }

    /// A request from a client.
    pub fn request(&mut self, now: u64, request: &Request, actions: &mut Vec<Action>) {
        let now = self.settle(now, actions);
        self.counters.requests.requests += 1;
        self.place(now, request, actions);
    }

    /// A request that another dispatcher has redirected, with its loads. It is accepted even if those are outdated.
    pub fn redirected(&mut self, now: u64, request: &Request, report: &Report, actions: &mut Vec<Action>) {
        let now = self.settle(now, actions);
        self.counters.requests.taken_over += 1;
        self.hear(now, report);
        self.place(now, request, actions);
    }

    /// A message of another dispatcher.
    pub fn gossip(&mut self, now: u64, report: &Report, actions: &mut Vec<Action>) {
        let now = self.settle(now, actions);
        self.hear(now, report);
    }

    /// A replica of this rack has answered a request.
    pub fn response(&mut self, now: u64, key: RequestKey, actions: &mut Vec<Action>) {
        let now = self.settle(now, actions);
        actions.push(Action::Answer);
        let Some(slot) = self.outstanding.take(key, self.epochs.current) else {
            self.counters.answers.strays += 1;
            return;
        };
        if slot.replica == HELD {
            self.counters.answers.strays += 1;
            return;
        }
        self.counters.answers.answered += 1;
        let replica = &mut self.replicas[usize::from(slot.replica)];
        replica.end(slot.epoch, self.epochs.current);
        let (service, health) = (replica.service, replica.health);
        match health {
            Health::Up => {
                self.services[service].outstanding -= 1;
                self.changed(now, service, actions);
            }
            Health::Failed => self.revive(now, slot.replica, actions),
            Health::Removed => {}
        }
        self.release(now, service, actions);
    }

    fn place(&mut self, now: u64, request: &Request, actions: &mut Vec<Action>) {
        let Some(own) = self.find(request.service) else {
            self.counters.drops.unknown_service += 1;
            return actions.push(Action::Drop(DropReason::UnknownService));
        };
        let mut place = self.outstanding.find(request.key, self.epochs.current);
        if let Place::Known(index) = place {
            if self.repeat(index, actions) {
                return;
            }
            // Its replica has been removed: it is treated as a new request.
            self.give_up(request.key);
            place = self.outstanding.find(request.key, self.epochs.current);
        }
        match self.decide(now, own, request) {
            Choice::Here(replica) => {
                self.counters.requests.served += 1;
                actions.push(Action::Serve {
                    replica: self.replicas[usize::from(replica)].id,
                });
                match place {
                    Place::Free(slot) => {
                        self.begin(slot, request.key, replica);
                        self.changed(now, own, actions);
                    }
                    _ => self.counters.requests.untracked += 1,
                }
            }
            Choice::Elsewhere(peer) => self.redirect(now, own, peer, request, actions),
            Choice::Wait => self.hold(own, place, request.key, actions),
            Choice::Nobody => {
                self.counters.drops.no_replica += 1;
                actions.push(Action::Drop(DropReason::NoReplica));
            }
        }
    }

    /// Sends an outstanding request to the same destination again; returns whether that was possible.
    fn repeat(&mut self, index: u16, actions: &mut Vec<Action>) -> bool {
        if index == HELD {
            self.counters.drops.duplicates += 1;
            actions.push(Action::Drop(DropReason::Duplicate));
            return true;
        }
        let replica = &self.replicas[usize::from(index)];
        if replica.health == Health::Up {
            self.counters.requests.repeated += 1;
            actions.push(Action::Serve { replica: replica.id });
        }
        replica.health == Health::Up
    }

    /// Forgets a request at a removed replica.
    fn give_up(&mut self, key: RequestKey) {
        if let Some(slot) = self.outstanding.take(key, self.epochs.current) {
            let replica = &mut self.replicas[usize::from(slot.replica)];
            let heard = replica.last_heard();
            replica.end(slot.epoch, heard);
            self.counters.answers.expired += 1;
        }
    }

    #[inline]
    fn begin(&mut self, slot: usize, key: RequestKey, replica: u16) {
        self.outstanding.note(slot, key, self.epochs.current, replica);
        let replica = &mut self.replicas[usize::from(replica)];
        replica.begin(self.epochs.current);
        self.services[replica.service].outstanding += 1;
    }

    fn hold(&mut self, own: usize, place: Place, key: RequestKey, actions: &mut Vec<Action>) {
        let held = &mut self.services[own].held;
        let (Place::Free(slot), true) = (place, held.len() < self.rules.held) else {
            self.counters.drops.queue_full += 1;
            return actions.push(Action::Drop(DropReason::QueueFull));
        };
        let ticket = Ticket(self.tickets);
        self.tickets += 1;
        held.push(Waiting {
            ticket,
            key,
            epoch: self.epochs.current,
        });
        self.outstanding.note(slot, key, self.epochs.current, HELD);
        self.counters.requests.held += 1;
        actions.push(Action::Hold { ticket });
    }

    /// Sends waiting requests to replicas that have room again.
    pub(crate) fn release(&mut self, now: u64, own: usize, actions: &mut Vec<Action>) {
        let Policy::BoundedQueue { bound } = self.rules.policy else {
            return;
        };
        while let Some(waiting) = self.services[own].held.first() {
            let room = self.services[own].least_loaded(&self.replicas);
            let Some(replica) = room.filter(|replica| self.has_room(*replica, bound)) else {
                return;
            };
            self.services[own].held.pop();
            self.outstanding.take(waiting.key, self.epochs.current);
            let Place::Free(slot) = self.outstanding.find(waiting.key, self.epochs.current) else {
                unreachable!("a slot was just given back")
            };
            self.begin(slot, waiting.key, replica);
            self.counters.requests.served += 1;
            actions.push(Action::Release {
                ticket: waiting.ticket,
                replica: self.replicas[usize::from(replica)].id,
            });
            self.changed(now, own, actions);
        }
    }

    /// The index of a service.
    #[inline]
    pub(crate) fn find(&self, service: ServiceId) -> Option<usize> {
        let index = self.service_index.get(usize::from(service.0))?;
        index.map(usize::from)
    }

    /// Its events and decisions so far.
    pub fn counters(&self) -> Counters {
        self.counters
    }
}
