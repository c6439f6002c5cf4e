use crate::{Admission, Datagram, Egress, Endpoint, Forwarding, Frame, Kind, Mac, OutputPort, Policy, Told};
use rackwright_dispatch::{
    Action, Configuration, ConfigurationError, Counters, Dispatcher, PeerId, ReplicaId, Request, RequestKey,
    Ticket,
};
use rackwright_stats::Digest;
use rackwright_time::network::Cycle;
use rackwright_time::Clock;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The location of a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    /// The hardware address.
    pub mac: Mac,
    /// The Internet address and UDP port.
    pub endpoint: Endpoint,
}

/// The rack of a dispatching switch: the locations of its nodes.
#[derive(Clone, Debug)]
pub struct Rack {
    /// The configuration of the dispatcher.
    pub configuration: Configuration,
    /// The replicas of this rack.
    pub replicas: BTreeMap<ReplicaId, Place>,
    /// For every peer, a replica in its rack: the switch above it intercepts messages to this replica.
    pub peers: BTreeMap<PeerId, Place>,
}

/// The policy of a top-of-rack switch that dispatches requests among replicas (`rackwright-dispatch`).
///
/// It intercepts requests addressed to a replica below it, however the client has chosen it, and sends them to the
/// replica or the rack that the dispatcher chooses; it counts the responses of its replicas as they pass. All other
/// frames are forwarded as by an ordinary switch.
pub struct Dispatching {
    forwarding: Forwarding,
    rack: Rack,
    dispatcher: Dispatcher,
    clock: Clock,
    /// The replicas below by hardware address, in order.
    below: Vec<(Mac, ReplicaId)>,
    held: BTreeMap<Ticket, Datagram>,
    actions: Vec<Action>,
    /// The counters from before its last restart.
    before: Vec<Counters>,
}

impl Dispatching {
    /// The policy of a switch that has just started.
    ///
    /// # Errors
    /// [`ConfigurationError`].
    pub fn new(forwarding: Forwarding, rack: Rack, clock: Clock) -> Result<Dispatching, ConfigurationError> {
        let mut below: Vec<(Mac, ReplicaId)> =
            rack.replicas.iter().map(|(id, place)| (place.mac, *id)).collect();
        below.sort_unstable();
        Ok(Dispatching {
            dispatcher: Dispatcher::new(&rack.configuration)?,
            forwarding,
            rack,
            clock,
            below,
            held: BTreeMap::new(),
            actions: Vec::new(),
            before: Vec::new(),
        })
    }

    fn is_below(&self, mac: Mac) -> Option<ReplicaId> {
        let found = self.below.binary_search_by_key(&mac, |(mac, _)| *mac);
        found.ok().map(|index| self.below[index].1)
    }

    fn nanoseconds(&self, at: Cycle) -> u64 {
        (u128::from(at.0) * 1_000_000_000 / u128::from(self.clock.hertz())) as u64
    }

    /// The first cycle that is not before a time.
    fn cycle(&self, nanoseconds: u64) -> Cycle {
        let cycles = u128::from(nanoseconds) * u128::from(self.clock.hertz());
        Cycle::new(u64::try_from(cycles.div_ceil(1_000_000_000)).unwrap_or(u64::MAX))
    }

    /// Takes a frame that concerns the dispatcher; whether it does. The message for the dispatcher is returned.
    fn take(&mut self, now: u64, frame: &Frame) -> Option<Datagram> {
        let mut actions = std::mem::take(&mut self.actions);
        let taken = match frame {
            Frame::Told(told) => self.is_below(told.datagram.destination).map(|_| {
                let request = told.request();
                match told.datagram.message.kind {
                    Kind::Gossip => self.dispatcher.gossip(now, &told.report, &mut actions),
                    _ => {
                        let asked = asked(&request, told.hops);
                        self.dispatcher
                            .redirected(now, &asked, &told.report, &mut actions);
                    }
                }
                request
            }),
            frame => frame.datagram().filter(|datagram| match datagram.message.kind {
                Kind::Request if self.is_below(datagram.destination).is_some() => {
                    self.dispatcher.request(now, &asked(datagram, 0), &mut actions);
                    true
                }
                Kind::Response if self.is_below(datagram.source).is_some() => {
                    self.dispatcher.response(now, answered(datagram), &mut actions);
                    true
                }
                Kind::Alive => match self.is_below(datagram.source) {
                    Some(replica) => {
                        self.dispatcher.replica_up(now, replica, &mut actions);
                        true
                    }
                    None => false,
                },
                _ => false,
            }),
        };
        self.actions = actions;
        taken
    }

    /// Executes the dispatcher's actions with the current message, and others.
    fn act(&mut self, hand: Option<Datagram>, egress: &mut Egress) {
        let mut actions = std::mem::take(&mut self.actions);
        for action in actions.drain(..) {
            match (action, hand) {
                (Action::Serve { replica }, Some(request)) => self.serve(request, replica, egress),
                (Action::Redirect { peer, hops, report }, Some(request)) => {
                    let request = addressed(request, self.rack.peers[&peer]);
                    self.send(
                        Frame::Told(Arc::new(Told::redirected(request, hops, report))),
                        egress,
                    );
                }
                (Action::Answer, Some(response)) => self.send(Frame::Datagram(response), egress),
                (Action::Hold { ticket }, Some(request)) => {
                    self.held.insert(ticket, request);
                }
                (Action::Release { ticket, replica }, _) => {
                    let request = self.held.remove(&ticket).expect("what is released was held");
                    self.serve(request, replica, egress);
                }
                (Action::Discard { ticket }, _) => {
                    self.held.remove(&ticket);
                }
                (Action::Gossip { peer, report }, _) => {
                    let datagram = Datagram::own(Kind::Gossip, &self.rack.peers[&peer]);
                    self.send(Frame::Told(Arc::new(Told::gossip(datagram, report))), egress);
                }
                (Action::Probe { replica }, _) => {
                    let datagram = Datagram::own(Kind::Probe, &self.rack.replicas[&replica]);
                    self.send(Frame::Datagram(datagram), egress);
                }
                (Action::Drop(_), _) => {}
                (action, None) => unreachable!("{action:?} without a message in hand"),
            }
        }
        self.actions = actions;
    }

    fn serve(&self, datagram: Datagram, replica: ReplicaId, egress: &mut Egress) {
        self.send(
            Frame::Datagram(addressed(datagram, self.rack.replicas[&replica])),
            egress,
        );
    }

    fn send(&self, frame: Frame, egress: &mut Egress) {
        if let Some(port) = self.forwarding.port(&frame) {
            egress.send(port, frame);
        }
    }
}

impl Policy for Dispatching {
    fn route(&mut self, at: Cycle, ingress: usize, frame: &Frame, ports: &[OutputPort], egress: &mut Egress) {
        match self.take(self.nanoseconds(at), frame) {
            Some(datagram) => {
                egress.consume();
                self.act(Some(datagram), egress);
            }
            None => self.forwarding.route(at, ingress, frame, ports, egress),
        }
    }

    fn admit(&mut self, at: Cycle, frame: &Frame, port: &OutputPort) -> Admission {
        self.forwarding.admit(at, frame, port)
    }

    fn next_event(&self) -> Cycle {
        self.cycle(self.dispatcher.next_timer())
    }

    fn act(&mut self, at: Cycle, egress: &mut Egress) {
        let mut actions = std::mem::take(&mut self.actions);
        self.dispatcher.timer(self.nanoseconds(at), &mut actions);
        self.actions = actions;
        Dispatching::act(self, None, egress);
    }

    fn restart(&mut self, at: Cycle, egress: &mut Egress) {
        self.before.push(self.dispatcher.counters());
        self.rack.configuration.incarnation += 1;
        self.dispatcher = Dispatcher::new(&self.rack.configuration).expect("it was possible before");
        self.held.clear();
        Policy::act(self, at, egress);
    }

    fn dispatched(&self) -> Option<Counters> {
        let all = self.before.iter().copied().chain([self.dispatcher.counters()]);
        all.reduce(|sum, counters| sum.plus(counters))
    }

    fn digest(&self, digest: &mut Digest) {
        let counters = self.dispatched().expect("it dispatches");
        counters.named().for_each(|(_, count)| digest.number(count));
    }
}

/// A request as the dispatcher sees it. If a service has state, requests that belong together are one client.
fn asked(datagram: &Datagram, hops: u8) -> Request {
    let client = client(datagram.from);
    Request {
        service: datagram.message.service,
        key: RequestKey {
            client,
            number: datagram.message.number,
        },
        sticky: Some(client),
        hops,
    }
}

/// Which request a response answers.
fn answered(datagram: &Datagram) -> RequestKey {
    RequestKey {
        client: client(datagram.to),
        number: datagram.message.number,
    }
}

fn client(endpoint: Endpoint) -> u64 {
    u64::from(endpoint.address.to_bits()) << 16 | u64::from(endpoint.port)
}

fn addressed(datagram: Datagram, to: Place) -> Datagram {
    Datagram {
        destination: to.mac,
        to: to.endpoint,
        ..datagram
    }
}
