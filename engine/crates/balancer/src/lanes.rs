use crate::core::Core;
use crate::flights::{Flight, Flights};
use crate::framing::Framing;
use crate::hand::{client_of, fixed_hash, key_of, Hand, Origin};
use crate::settings::StickyBy;
use crate::shared::{Change, Member, Shared, Work};
use crate::{BalancerError, ServiceSettings};
use rackwright_datagram::{Datagram, Inbox, Options, Outbox, Poll, Socket};
use rackwright_dispatch::wire::{Header, Kind, Origin as WireOrigin, WireError};
use rackwright_dispatch::{Action, PeerId, ReplicaId, Report, Request};
use std::hash::{BuildHasher, RandomState};
use std::net::SocketAddr;
use std::sync::atomic::Ordering;
use std::sync::Arc;

/// What a socket of a thread is for; with its index it is the token by which the thread waits for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Lane {
    /// Clients of the service with that index.
    Clients(usize),
    /// The replica with that number.
    Replica(usize),
    /// Messages of other dispatchers.
    Peers,
    /// Answers of other dispatchers to what this thread redirected.
    Relayed,
}

impl Lane {
    pub(crate) fn token(self) -> u64 {
        match self {
            Lane::Clients(index) => (index as u64) << 2,
            Lane::Replica(index) => (index as u64) << 2 | 1,
            Lane::Peers => 2,
            Lane::Relayed => 3,
        }
    }

    pub(crate) fn of(token: u64) -> Lane {
        let index = (token >> 2) as usize;
        match token & 3 {
            0 => Lane::Clients(index),
            1 => Lane::Replica(index),
            2 => Lane::Peers,
            _ => Lane::Relayed,
        }
    }
}

/// A socket and what is to be sent through it.
pub(crate) struct Way {
    pub(crate) socket: Socket,
    outbox: Outbox,
}

impl Way {
    fn new(socket: Socket) -> Way {
        Way {
            socket,
            outbox: Outbox::new(),
        }
    }
}

/// The way to a replica, and what is under way there.
struct Upstream {
    way: Way,
    flights: Flights,
    member: Member,
}

/// The sockets of one thread, and what goes from one to another.
pub(crate) struct Lanes {
    shared: Arc<Shared>,
    pub(crate) poll: Poll,
    clients: Vec<Way>,
    /// By the numbers of replicas.
    replicas: Vec<Option<Upstream>>,
    peers: Option<Way>,
    relayed: Option<Way>,
    relays: Flights,
    actions: Vec<Action>,
    message: Vec<u8>,
    /// Numbers requests, so that late answers are known from others.
    tag: u64,
    /// Makes the numbers of redirected requests hard to guess: answers carry no authentication but these.
    /// This is no part of any decision, so that it need not be the same in every run.
    secret: RandomState,
    /// When flights are looked through for old ones again.
    look_at: u64,
}

impl Lanes {
    pub(crate) fn new(
        shared: Arc<Shared>,
        clients: Vec<Socket>,
        peers: Option<Socket>,
    ) -> Result<Lanes, BalancerError> {
        let poll = Poll::new()?;
        for (index, socket) in clients.iter().enumerate() {
            poll.add(socket, Lane::Clients(index).token())?;
        }
        let relayed = match &peers {
            Some(socket) => {
                poll.add(socket, Lane::Peers.token())?;
                let address = SocketAddr::new(socket.local_address()?.ip(), 0);
                let own = Socket::bind(address, Options::default())?;
                poll.add(&own, Lane::Relayed.token())?;
                Some(own)
            }
            None => None,
        };
        let mut lanes = Lanes {
            shared,
            poll,
            clients: clients.into_iter().map(Way::new).collect(),
            replicas: Vec::new(),
            peers: peers.map(Way::new),
            relayed: relayed.map(Way::new),
            relays: Flights::new(),
            actions: Vec::new(),
            message: Vec::new(),
            tag: 0,
            secret: RandomState::new(),
            look_at: 0,
        };
        for member in lanes.shared.members() {
            lanes
                .connect(member)
                .map_err(|(address, error)| BalancerError::Socket { address, error })?;
        }
        Ok(lanes)
    }

    /// Makes the way to a replica.
    fn connect(&mut self, member: Member) -> Result<(), (SocketAddr, std::io::Error)> {
        let index = usize::from(member.id.0);
        let address = member.settings.address;
        let socket = Socket::connect(address, Options::default()).map_err(|error| (address, error))?;
        (self.poll.add(&socket, Lane::Replica(index).token())).map_err(|error| (address, error))?;
        if self.replicas.len() <= index {
            self.replicas.resize_with(index + 1, || None);
        }
        self.replicas[index] = Some(Upstream {
            way: Way::new(socket),
            flights: Flights::new(),
            member,
        });
        Ok(())
    }

    /// Whether there is a way to a replica, which may have been added a moment ago.
    fn reaches(&mut self, replica: ReplicaId) -> bool {
        let known = self.replicas.get(usize::from(replica.0));
        if known.is_some_and(Option::is_some) {
            return true;
        }
        let member = self.shared.member(replica).filter(|member| !member.removed);
        member.is_some_and(|member| self.connect(member).is_ok())
    }

    /// Closes the ways to replicas that were removed and owe no answer.
    fn close_unused(&mut self) {
        let shared = self.shared.clone();
        let is_removed = |id| shared.member(id).is_none_or(|member| member.removed);
        for place in &mut self.replicas {
            if place
                .as_ref()
                .is_some_and(|upstream| upstream.flights.open() == 0 && is_removed(upstream.member.id))
            {
                *place = None;
            }
        }
    }

    /// Requests whose answers this thread awaits.
    pub(crate) fn open(&self) -> usize {
        let upstreams = self.replicas.iter().flatten();
        self.relays.open() + upstreams.map(|upstream| upstream.flights.open()).sum::<usize>()
    }

    /// Lets clients know that nobody listens any more.
    pub(crate) fn refuse_clients(&mut self) {
        for way in &self.clients {
            // A socket that goes on listening is read no less.
            let _ = way.socket.refuse();
        }
    }

    /// Receives once through a socket, does what is to be done about it, and tells whether more may be there.
    pub(crate) fn receive(&mut self, lane: Lane, inbox: &mut Inbox) -> std::io::Result<bool> {
        let way = match lane {
            Lane::Clients(index) => self.clients.get(index),
            Lane::Replica(index) => self
                .replicas
                .get(index)
                .and_then(Option::as_ref)
                .map(|upstream| &upstream.way),
            Lane::Peers => self.peers.as_ref(),
            Lane::Relayed => self.relayed.as_ref(),
        };
        // A socket that was closed after the wait has ended.
        let Some(way) = way else {
            return Ok(false);
        };
        match inbox.receive(&way.socket) {
            Ok(0) => return Ok(false),
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionRefused => {
                if let Lane::Replica(index) = lane {
                    self.refused(index);
                }
                return Ok(true);
            }
            Err(error) => return Err(error),
        }
        let shared = self.shared.clone();
        let mut core = shared.core();
        let now = shared.now();
        let mut received = 0;
        for datagram in inbox.datagrams() {
            received += 1;
            match lane {
                Lane::Clients(index) => self.request(&mut core, now, index, datagram),
                Lane::Replica(index) => self.answer(&mut core, now, index, datagram.bytes),
                Lane::Peers => self.message(&mut core, now, datagram),
                Lane::Relayed => self.relayed_answer(datagram),
            }
        }
        drop(core);
        shared.counters.received.add(received);
        self.flush()?;
        Ok(inbox.is_full())
    }

    /// Does what time asks for.
    pub(crate) fn timer(&mut self) -> std::io::Result<()> {
        let shared = self.shared.clone();
        let now = shared.now();
        let mut core = shared.core();
        core.timer(now, &mut self.actions);
        self.perform(&mut core, now, None);
        drop(core);
        if now >= self.look_at {
            let expiry = shared.settings.answer_timeout_us.saturating_mul(1000);
            self.look_at = now + expiry / 8;
            self.close_unused();
            if let Some(too_old) = now.checked_sub(expiry) {
                let upstreams = self.replicas.iter_mut().flatten();
                let expired = upstreams
                    .map(|upstream| upstream.flights.expire(too_old))
                    .sum::<u64>();
                shared.counters.expired.add(expired + self.relays.expire(too_old));
            }
        }
        self.flush()
    }

    /// When `timer` is to be called at the latest, in nanoseconds.
    pub(crate) fn next_timer(&self) -> u64 {
        let next = self.shared.core().dispatcher().next_timer();
        match self.open() {
            0 => next,
            _ => next.min(self.look_at),
        }
    }

    fn service(&self, index: usize) -> &ServiceSettings {
        &self.shared.settings.services[index]
    }

    fn sticky(&self, service: usize, client: [u8; 6], request: &[u8]) -> Option<u64> {
        let service = self.service(service);
        service.sticky.map(|by| match by {
            StickyBy::Client => fixed_hash(&client),
            StickyBy::Key => fixed_hash(service.framing.key(request)),
        })
    }

    /// A datagram of a client.
    fn request(&mut self, core: &mut Core, now: u64, service: usize, datagram: Datagram<'_>) {
        let framing = self.service(service).framing;
        let Some(number) = framing.client_number(datagram.bytes) else {
            self.shared.counters.malformed_requests.add(1);
            return;
        };
        let client = client_of(datagram.from);
        let key = match framing {
            // Requests without a number of their own are all different.
            Framing::Shim => key_of(client, self.next_tag()),
            _ => key_of(client, number),
        };
        let hand = Hand {
            service,
            origin: Origin::Client {
                address: datagram.from,
                number,
            },
            request: Request {
                service: self.service(service).id,
                key,
                sticky: self.sticky(service, client, datagram.bytes),
                hops: 0,
            },
            bytes: datagram.bytes,
        };
        core.request(now, &hand.request, None, &mut self.actions);
        self.perform(core, now, Some(&hand));
    }

    /// A datagram of another dispatcher, or of somebody who would be one.
    fn message(&mut self, core: &mut Core, now: u64, datagram: Datagram<'_>) {
        let shared = self.shared.clone();
        let result = match Header::parse(datagram.bytes) {
            Ok((header, _)) if header.kind == Kind::Gossip => {
                shared.key.read_gossip(datagram.bytes).map(|report| {
                    core.gossip(now, &report, &mut self.actions);
                    self.perform(core, now, None);
                })
            }
            _ => (shared.key.read_redirected(datagram.bytes)).map(|(header, origin, report, request)| {
                self.redirected(
                    core,
                    now,
                    header,
                    origin,
                    &report,
                    Datagram {
                        from: datagram.from,
                        bytes: request,
                    },
                );
            }),
        };
        match result {
            Ok(()) => {}
            Err(WireError::Tag) => shared.counters.strangers.add(1),
            Err(_) => shared.counters.malformed_messages.add(1),
        }
    }

    fn redirected(
        &mut self,
        core: &mut Core,
        now: u64,
        header: Header,
        origin: WireOrigin,
        report: &Report,
        datagram: Datagram<'_>,
    ) {
        let services = &self.shared.settings.services;
        let service = services.iter().position(|service| service.id == header.service);
        let number = service.and_then(|index| services[index].framing.client_number(datagram.bytes));
        let (Some(service), Some(number)) = (service, number) else {
            self.shared.counters.malformed_messages.add(1);
            return;
        };
        let [a, b, c, d] = origin.address;
        let [e, f] = origin.port.to_be_bytes();
        let client = [a, b, c, d, e, f];
        let key = match self.service(service).framing {
            Framing::Shim => key_of(client, header.number),
            _ => key_of(client, number),
        };
        let hand = Hand {
            service,
            origin: Origin::Peer {
                address: datagram.from,
                number: header.number,
                client,
                client_number: number,
            },
            request: Request {
                service: header.service,
                key,
                sticky: self.sticky(service, client, datagram.bytes),
                hops: origin.hops,
            },
            bytes: datagram.bytes,
        };
        core.request(now, &hand.request, Some(report), &mut self.actions);
        self.perform(core, now, Some(&hand));
    }

    /// A datagram of a replica.
    fn answer(&mut self, core: &mut Core, now: u64, replica: usize, bytes: &[u8]) {
        let Some(upstream) = self.replicas[replica].as_mut() else {
            return;
        };
        let framing = self.shared.settings.services[upstream.member.service].framing;
        let Some(number) = framing.own_number(bytes) else {
            self.shared.counters.malformed_answers.add(1);
            return;
        };
        let Some(flight) = upstream.flights.find(number, framing.mask()) else {
            self.shared.counters.late_answers.add(1);
            return;
        };
        let is_last = framing.is_last(bytes);
        if is_last {
            upstream.flights.end(number);
        }
        let id = upstream.member.id;
        match flight.origin {
            Origin::Probe => core.up(now, id, &mut self.actions),
            Origin::Client { number, .. } => {
                note_work(&upstream.member.work, now, &flight, is_last);
                self.deliver(&flight, &framing.restore(bytes, number).parts());
            }
            Origin::Peer { client_number, .. } => {
                note_work(&upstream.member.work, now, &flight, is_last);
                self.deliver(&flight, &framing.restore(bytes, client_number).parts());
            }
        }
        if is_last && flight.origin != Origin::Probe {
            core.response(now, flight.key, &mut self.actions);
        }
        self.perform(core, now, None);
    }

    /// A datagram to where this thread redirects from.
    fn relayed_answer(&mut self, datagram: Datagram<'_>) {
        let counters = &self.shared.counters;
        if !(self.shared.settings.peers.iter()).any(|peer| peer.address == datagram.from) {
            counters.strangers.add(1);
            return;
        }
        let Some((header, answer)) = Header::parse(datagram.bytes)
            .ok()
            .filter(|(header, _)| header.kind == Kind::Response)
        else {
            counters.malformed_messages.add(1);
            return;
        };
        let Some(flight) = self.relays.find(header.number, u64::MAX) else {
            counters.late_answers.add(1);
            return;
        };
        if self.service(flight.service).framing.is_last(answer) {
            self.relays.end(header.number);
        }
        self.deliver(&flight, &[answer]);
    }

    /// Brings an answer, as the client is to have it, to where its request came from.
    fn deliver(&mut self, flight: &Flight, parts: &[&[u8]]) {
        self.shared.counters.answers.add(1);
        match flight.origin {
            Origin::Client { address, .. } => {
                self.clients[flight.service].outbox.push(Some(address), parts);
            }
            Origin::Peer { address, number, .. } => {
                let header = Header {
                    kind: Kind::Response,
                    service: self.service(flight.service).id,
                    argument: 0,
                    number,
                };
                if let Some(peers) = &mut self.peers {
                    let header = header.to_bytes();
                    let [a, b, c] = [0, 1, 2].map(|at| parts.get(at).copied().unwrap_or_default());
                    peers.outbox.push(Some(address), &[&header, a, b, c]);
                }
            }
            Origin::Probe => {}
        }
    }

    /// Does what the dispatcher wants, about the request in hand if there is one.
    fn perform(&mut self, core: &mut Core, now: u64, hand: Option<&Hand<'_>>) {
        let mut actions = std::mem::take(&mut self.actions);
        for action in actions.drain(..) {
            match (action, hand) {
                (Action::Serve { replica }, Some(hand)) => self.serve(replica, hand, now),
                (Action::Redirect { peer, hops, report }, Some(hand)) => {
                    self.redirect(peer, hops, &report, hand, now);
                }
                (Action::Hold { ticket }, Some(hand)) => core.hold(ticket, hand),
                (Action::Release { ticket, replica }, _) => match core.take(ticket) {
                    Some(held) => self.serve(replica, &held.hand(), now),
                    None => self.shared.counters.undelivered.add(1),
                },
                (Action::Discard { ticket }, _) => drop(core.take(ticket)),
                (Action::Gossip { peer, report }, _) => self.gossip(peer, &report),
                (Action::Probe { replica }, _) => self.probe(core, replica, now),
                // An answer goes back when its flight is found, counted or not; the reasons of drops are counted
                // by the dispatcher.
                (Action::Answer | Action::Drop(_), _) => {}
                (Action::Serve { .. } | Action::Redirect { .. } | Action::Hold { .. }, None) => {
                    self.shared.counters.undelivered.add(1);
                }
            }
        }
        // What probing without a question has found comes last.
        actions.append(&mut self.actions);
        std::mem::swap(&mut self.actions, &mut actions);
        if !self.actions.is_empty() {
            self.perform(core, now, None);
        }
    }

    fn next_tag(&mut self) -> u64 {
        self.tag += 1;
        self.tag << 16
    }

    fn serve(&mut self, replica: ReplicaId, hand: &Hand<'_>, now: u64) {
        let tag = self.next_tag();
        if !self.reaches(replica) {
            self.shared.counters.undelivered.add(1);
            return;
        }
        let settings = &self.shared.settings.services[hand.service];
        let (framing, service) = (settings.framing, settings.id);
        let upstream = self.replicas[usize::from(replica.0)]
            .as_mut()
            .expect("it is reached");
        let flight = Flight {
            origin: hand.origin,
            key: hand.request.key,
            service: hand.service,
            since: now,
        };
        let Some(number) = upstream.flights.begin(tag, flight) else {
            self.shared.counters.overflows.add(1);
            return;
        };
        let request = framing.forward(hand.bytes, number, service);
        upstream.way.outbox.push(None, &request.parts());
    }

    fn redirect(&mut self, peer: PeerId, hops: u8, report: &Report, hand: &Hand<'_>, now: u64) {
        let flight = Flight {
            origin: hand.origin,
            key: hand.request.key,
            service: hand.service,
            since: now,
        };
        let tag = self.next_tag();
        let tag = self.secret.hash_one(tag);
        let Some(number) = self.relays.begin(tag, flight) else {
            self.shared.counters.overflows.add(1);
            return;
        };
        let client = match hand.origin {
            Origin::Client { address, .. } => client_of(address),
            Origin::Peer { client, .. } => client,
            Origin::Probe => return,
        };
        let header = Header {
            kind: Kind::Redirected,
            service: hand.request.service,
            argument: 0,
            number,
        };
        let [a, b, c, d, e, f] = client;
        let origin = WireOrigin {
            address: [a, b, c, d],
            port: u16::from_be_bytes([e, f]),
            hops,
        };
        self.message.clear();
        self.shared
            .key
            .write_redirected(header, origin, report, &mut self.message);
        self.tell(peer, hand.bytes);
    }

    fn gossip(&mut self, peer: PeerId, report: &Report) {
        self.message.clear();
        self.shared.key.write_gossip(report, &mut self.message);
        self.tell(peer, &[]);
    }

    /// Sends the message, and what follows it, to another dispatcher.
    fn tell(&mut self, peer: PeerId, rest: &[u8]) {
        let peer = self.shared.settings.peers.iter().find(|known| known.rack == peer);
        match (peer, &mut self.relayed) {
            (Some(peer), Some(way)) => way.outbox.push(Some(peer.address), &[&self.message, rest]),
            _ => self.shared.counters.undelivered.add(1),
        }
    }

    /// Asks a replica for a sign of life. One that nothing can be asked is tried with requests again.
    fn probe(&mut self, core: &mut Core, replica: ReplicaId, now: u64) {
        let tag = self.next_tag();
        if !self.reaches(replica) {
            return;
        }
        let upstream = self.replicas[usize::from(replica.0)]
            .as_mut()
            .expect("it is reached");
        let service = upstream.member.service;
        let settings = &self.shared.settings.services[service];
        let flight = Flight {
            origin: Origin::Probe,
            key: key_of([0; 6], 0),
            service,
            since: now,
        };
        let Some(number) = upstream.flights.begin(tag, flight) else {
            return;
        };
        match settings
            .framing
            .probe(settings.probe.as_deref(), number, settings.id)
        {
            Some(probe) => upstream.way.outbox.push(None, &[&probe]),
            None => {
                upstream.flights.end(number);
                core.up(now, replica, &mut self.actions);
            }
        }
    }

    /// A replica's machine says that nobody listens there.
    fn refused(&mut self, index: usize) {
        let shared = self.shared.clone();
        shared.counters.refused.add(1);
        let mut core = shared.core();
        let now = shared.now();
        core.down(now, ReplicaId(index as u16), &mut self.actions);
        self.perform(&mut core, now, None);
    }

    /// Sends everything.
    fn flush(&mut self) -> std::io::Result<()> {
        for index in 0..self.replicas.len() {
            let Some(upstream) = &mut self.replicas[index] else {
                continue;
            };
            if upstream.way.outbox.is_empty() {
                continue;
            }
            if flush(&self.shared, &mut upstream.way)? {
                self.refused(index);
            }
        }
        for way in self
            .clients
            .iter_mut()
            .chain(&mut self.peers)
            .chain(&mut self.relayed)
        {
            flush(&self.shared, way)?;
        }
        Ok(())
    }

    /// Makes changes that were asked for from elsewhere.
    pub(crate) fn change(&mut self, changes: &[Change]) -> std::io::Result<()> {
        let shared = self.shared.clone();
        let mut core = shared.core();
        let now = shared.now();
        for change in changes {
            let result = match *change {
                Change::Add(service, replica) => core.add(now, service, replica, &mut self.actions),
                Change::Remove(replica) => core.remove(now, replica, &mut self.actions),
            };
            // Changes were checked before they were asked for.
            shared.counters.undelivered.add(result.is_err().into());
            self.perform(&mut core, now, None);
        }
        drop(core);
        self.flush()
    }
}

fn flush(shared: &Shared, way: &mut Way) -> std::io::Result<bool> {
    if way.outbox.is_empty() {
        return Ok(false);
    }
    let sent = way.outbox.flush(&way.socket)?;
    shared.counters.sent.add(sent.datagrams);
    shared.counters.not_sent.add(sent.dropped);
    Ok(sent.refused)
}

fn note_work(work: &Work, now: u64, flight: &Flight, is_last: bool) {
    if is_last {
        work.answered.fetch_add(1, Ordering::Relaxed);
        work.nanoseconds
            .fetch_add(now.saturating_sub(flight.since), Ordering::Relaxed);
    }
}
