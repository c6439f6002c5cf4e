mod frames;
mod incoming;
mod lane;
mod outgoing;
mod way;

use crate::flights::Flights;
use crate::shared::{Change, Member, Shared};
use crate::BalancerError;
use frames::FrameLanes;
pub(crate) use lane::Lane;
use rackwright_datagram::{Inbox, Options, Poll, Socket};
use rackwright_dispatch::{Action, ReplicaId};
use rackwright_xdp::Outgoing;
use std::hash::RandomState;
use std::net::SocketAddr;
use std::sync::Arc;
use way::{Upstream, Way};

/// The sockets of one thread, and the forwarding between them.
pub(crate) struct Lanes {
    shared: Arc<Shared>,
    pub(crate) poll: Poll,
    clients: Vec<Way>,
    /// By the numbers of replicas.
    replicas: Vec<Option<Upstream>>,
    peers: Option<Way>,
    relayed: Option<Way>,
    relays: Flights,
    frames: Option<FrameLanes>,
    actions: Vec<Action>,
    message: Vec<u8>,
    /// Numbers requests, so that late answers are known from others.
    tag: u64,
    /// Makes the numbers of redirected requests hard to guess: answers carry no authentication but these.
    /// This is no part of any decision, so that it need not be the same in every run.
    secret: RandomState,
    /// Time of the next search for expired flights.
    look_at: u64,
}

impl Lanes {
    pub(crate) fn new(
        shared: Arc<Shared>,
        clients: Vec<Socket>,
        peers: Option<Socket>,
        outgoing: Option<(u32, Outgoing)>,
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
            frames: outgoing.map(FrameLanes::new),
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

    /// Creates the connection to a replica.
    fn connect(&mut self, member: Member) -> Result<(), (SocketAddr, std::io::Error)> {
        let index = usize::from(member.id.0);
        let address = member.settings.address;
        let socket = Socket::connect(address, Options::default()).map_err(|error| (address, error))?;
        (self.poll.add(&socket, Lane::Replica(index).token())).map_err(|error| (address, error))?;
        if self.replicas.len() <= index {
            self.replicas.resize_with(index + 1, || None);
        }
        let own = socket.local_address().map_err(|error| (address, error))?;
        let frames = self.frames.as_mut();
        let opened = frames.and_then(|frames| frames.open_replica(&self.shared, index, own, address));
        self.replicas[index] = Some(Upstream {
            route: None,
            opened,
            way: Way::new(socket),
            flights: Flights::new(),
            member,
        });
        Ok(())
    }

    /// Whether there is a connection to a replica, which may just have been added.
    fn reaches(&mut self, replica: ReplicaId) -> bool {
        let known = self.replicas.get(usize::from(replica.0));
        if known.is_some_and(Option::is_some) {
            return true;
        }
        let member = self.shared.member(replica).filter(|member| !member.removed);
        member.is_some_and(|member| self.connect(member).is_ok())
    }

    /// Closes the connections to removed replicas without outstanding responses.
    fn close_unused(&mut self) {
        let shared = self.shared.clone();
        let is_removed = |id| shared.member(id).is_none_or(|member| member.removed);
        for place in &mut self.replicas {
            if place
                .as_ref()
                .is_some_and(|upstream| upstream.flights.open() == 0 && is_removed(upstream.member.id))
            {
                let opened = place.take().and_then(|upstream| upstream.opened);
                if let (Some(opened), Some(frames)) = (opened, &mut self.frames) {
                    frames.close(&shared, opened);
                }
            }
        }
    }

    /// Requests whose answers this thread awaits.
    pub(crate) fn open(&self) -> usize {
        let upstreams = self.replicas.iter().flatten();
        self.relays.open() + upstreams.map(|upstream| upstream.flights.open()).sum::<usize>()
    }

    /// Refuses further datagrams of clients.
    pub(crate) fn refuse_clients(&mut self) {
        self.refuse_frames();
        for way in &self.clients {
            // A socket that continues to listen is still read.
            let _ = way.socket.refuse();
        }
    }

    /// Receives once through a socket, handles the datagrams, and returns whether more may be available.
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
            // Frames do not arrive through a socket of the kernel.
            Lane::Frames => None,
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
                Lane::Clients(index) => self.request(&mut core, now, index, datagram, None),
                Lane::Replica(index) => self.answer(&mut core, now, index, datagram.bytes),
                Lane::Peers => self.message(&mut core, now, datagram),
                Lane::Relayed | Lane::Frames => self.relayed_answer(datagram),
            }
        }
        drop(core);
        shared.counters.received.add(received);
        self.flush()?;
        Ok(inbox.is_full())
    }

    /// Handles timer events.
    pub(crate) fn timer(&mut self) -> std::io::Result<()> {
        let shared = self.shared.clone();
        let now = shared.now();
        let mut core = shared.core();
        core.timer(now, &mut self.actions);
        self.perform(&mut core, now, None);
        drop(core);
        if now >= self.look_at {
            let expiry = shared.settings.times.answer_timeout_us.saturating_mul(1000);
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

    /// The latest time for the next call of `timer`, in nanoseconds.
    pub(crate) fn next_timer(&self) -> u64 {
        let next = self.shared.core().dispatcher().next_timer();
        match self.open() {
            0 => next,
            _ => next.min(self.look_at),
        }
    }

    /// Sends everything.
    pub(crate) fn flush(&mut self) -> std::io::Result<()> {
        if let Some(frames) = &mut self.frames {
            frames.flush(&self.shared);
        }
        for index in 0..self.replicas.len() {
            let Some(upstream) = &mut self.replicas[index] else {
                continue;
            };
            if upstream.way.outbox.is_empty() {
                continue;
            }
            if upstream.way.flush(&self.shared)? {
                self.refused(index);
            }
        }
        for way in self
            .clients
            .iter_mut()
            .chain(&mut self.peers)
            .chain(&mut self.relayed)
        {
            way.flush(&self.shared)?;
        }
        Ok(())
    }

    /// Executes changes requested by other threads.
    pub(crate) fn change(&mut self, changes: &[Change]) -> std::io::Result<()> {
        let shared = self.shared.clone();
        let mut core = shared.core();
        let now = shared.now();
        for change in changes {
            let result = match *change {
                Change::Add(service, replica) => core.add(now, service, replica, &mut self.actions),
                Change::Remove(replica) => core.remove(now, replica, &mut self.actions),
            };
            // Changes were checked before they were requested.
            shared.counters.undelivered.add(result.is_err().into());
            self.perform(&mut core, now, None);
        }
        drop(core);
        self.flush()
    }
}
