use crate::aer::Fault;
use crate::bridge::{Bridge, FoundBridge};
use crate::capture::Captured;
use crate::card::{Card, Output};
use crate::class::Class;
use crate::clocks::nanoseconds;
use crate::counters::PortCounters;
use crate::credits::Amount;
use crate::error::FabricError;
use crate::events::{Event, Events, PortId};
use crate::host::Host;
use crate::interrupts::Wires;
use crate::links::Ports;
use crate::packet::{Header, Id, Kind, Status};
use crate::pool::{PacketId, Pool};
use crate::port::{Place, Port, LINK_PACKET};
use crate::rejected::{is_malformed, Rejected};
use crate::routes::Routes;
use crate::system::SystemDescription;
use crate::transmitter::Waiting;
use rackwright_memory::HierarchyParameters;
use rackwright_rtl::Design;
use rackwright_stats::{Counters, Digest};
use rackwright_time::fabric::{Cycle, Cycles};

mod root;
mod switch;
mod transmission;

pub(crate) use root::{Answer, Requests};

/// The root complex's own number: it is the first device of bus 0.
pub(crate) const ROOT: Id = Id(0);

/// What has crossed the links.
#[derive(Default)]
pub(crate) struct Crossed {
    /// Packets, once for each link.
    pub(crate) hops: u64,
    /// Over all of them.
    pub(crate) digest: Digest,
    /// Both, the digest by its value, when the fabric last forgot what a checkpoint does not contain.
    pub(crate) settled: Option<(u64, u128)>,
    /// Every packet, if they are kept.
    pub(crate) captured: Option<Vec<Captured>>,
}

/// The root complex or a switch, as packets pass it.
pub(crate) struct Junction {
    pub(crate) routes: Routes,
    /// Of its ports, in the order of these.
    pub(crate) bridges: Vec<Bridge>,
    /// The interrupt wires below its ports.
    pub(crate) wires: Wires,
    pub(crate) latency: Cycles,
}

impl Junction {
    fn new(bridges: Vec<Bridge>, latency_ns: f64) -> Junction {
        Junction {
            routes: Routes::default(),
            bridges,
            wires: Wires::default(),
            latency: nanoseconds(latency_ns),
        }
    }
}

impl Junction {
    /// Whether a request from below a port violates its access control.
    fn violates(&self, own: usize, header: &Header) -> bool {
        let bridge = &self.bridges[own];
        bridge.access.is_violated(header, &bridge.buses())
    }

    /// The port of the root complex through which no packet from the port `own` leaves: this one, unless it lets pass what
    /// switches have redirected.
    fn barred(&self, own: usize) -> usize {
        if self.bridges[own].access.forwards_up() {
            usize::MAX
        } else {
            own
        }
    }
}

/// A server's fabric: one queue of events for all of its links, and cards that run ahead of it by less than the minimum
/// latency to a card.
pub struct Fabric {
    pub(crate) now: Cycle,
    pub(crate) events: Events,
    pub(crate) pool: Pool,
    pub(crate) ports: Ports,
    pub(crate) cards: Vec<Card>,
    pub(crate) root: Junction,
    pub(crate) switches: Vec<Junction>,
    /// Those that software has found.
    pub(crate) bridges: Vec<FoundBridge>,
    pub(crate) host: Host,
    pub(crate) requests: Requests,
    pub(crate) system: SystemDescription,
    lookahead: Cycles,
    pub(crate) crossed: Crossed,
    pub(crate) rejected: Rejected,
    /// Interrupts of root ports.
    pub(crate) interrupts: u64,
}

impl Fabric {
    /// The fabric of a description, with cards of `designs` just after reset, and `bytes` bytes of memory.
    ///
    /// # Errors
    /// [`FabricError`] if a link or a card differs from its description.
    pub fn new(
        system: SystemDescription,
        designs: &[Design],
        memory_bytes: u64,
        parameters: &HierarchyParameters,
    ) -> Result<Fabric, FabricError> {
        Fabric::with(system, designs, Host::new(memory_bytes, parameters)?)
    }

    /// The same with a host that there is already.
    ///
    /// # Errors
    /// As [`Fabric::new`].
    pub(crate) fn with(
        system: SystemDescription,
        designs: &[Design],
        host: Host,
    ) -> Result<Fabric, FabricError> {
        let cards = system
            .cards
            .iter()
            .map(|card| Card::new(card, designs, system.rate_of(&card.name)?));
        let cards = cards.collect::<Result<Vec<_>, _>>()?;
        let ports = Ports::new(&system, &cards.iter().map(Card::credits).collect::<Vec<_>>())?;
        let crossing = |port: &PortId| {
            let port = &ports.all[port.index()];
            port.delay + port.rate.bytes(LINK_PACKET)
        };
        let lookahead = ports.of_cards.iter().map(crossing).min();
        let mut fabric = Fabric {
            now: cards.iter().map(Card::reached).max().unwrap_or(Cycle::ZERO),
            events: Events::default(),
            pool: Pool::default(),
            cards,
            root: Junction::new(ports.bridges(&ports.of_root, false), system.root.latency_ns),
            switches: ports
                .of_switches
                .iter()
                .zip(&system.switches)
                .map(|(of, switch)| Junction::new(ports.bridges(of, true), switch.latency_ns))
                .collect(),
            bridges: Vec::new(),
            host,
            requests: Requests::default(),
            lookahead: lookahead.unwrap_or(nanoseconds(1.0)),
            crossed: Crossed::default(),
            rejected: Rejected::default(),
            interrupts: 0,
            ports,
            system,
        };
        fabric.begin();
        Ok(fabric)
    }

    /// Passes the credits of the other ends of their links to cards.
    fn begin(&mut self) {
        for (card, port) in self.cards.iter_mut().zip(&self.ports.of_cards) {
            let other = self.ports.all[port.index()].other;
            for class in Class::ALL {
                card.grant(self.now, true, class, self.ports.all[other.index()].room[class]);
            }
        }
    }

    /// Keeps every packet from now on.
    pub fn capture(&mut self) {
        self.crossed.captured.get_or_insert_default();
    }

    /// The recorded packets, in the order in which they left.
    pub fn take_captured(&mut self) -> Vec<Captured> {
        self.crossed
            .captured
            .as_mut()
            .map(std::mem::take)
            .unwrap_or_default()
    }

    /// Names of the ports with the counters of their output, in the order of the links.
    pub fn port_counters(&self) -> impl Iterator<Item = (&str, PortCounters)> {
        let ports = self.ports.all.iter();
        ports.map(|port| (port.name.as_str(), port.transmitter.counters))
    }

    /// Packets that have crossed a link so far.
    pub fn packet_hops(&self) -> u64 {
        self.crossed.hops
    }

    /// Errors so far, and the counters of cards.
    pub fn counters(&self) -> Counters {
        let mut counters = Counters::new();
        counters.push("unsupported_requests", self.rejected.unsupported);
        counters.push("unexpected_completions", self.rejected.unexpected);
        counters.push("malformed_packets", self.rejected.malformed);
        counters.push("poisoned_packets", self.rejected.poisoned);
        counters.push("completion_timeouts", self.rejected.timeouts);
        counters.push("stopped_packets", self.rejected.stopped);
        counters.push("root_port_interrupts", self.interrupts);
        let overflows = self.ports.all.iter().map(|port| port.overflows).sum();
        counters.push("receiver_overflows", overflows);
        for card in &self.cards {
            counters.push(format!("{}.malformed_packets", card.name), card.malformed);
            for (name, count) in card.events() {
                counters.push(format!("{}.{name}", card.name), count);
            }
        }
        counters
    }

    /// The digest over every packet that has crossed a link.
    pub fn digest(&self) -> Digest {
        self.crossed.digest.clone()
    }

    /// Whether no packet is in flight, all credits have been returned, and cards are idle.
    pub fn is_quiet(&self) -> bool {
        self.events.next().is_none()
            && self.pool.used() == 0
            && self.cards.iter().all(|card| card.is_idle())
            && self.ports.all.iter().all(Port::is_quiet)
    }

    /// Advances until `done`, until `deadline`, or until there are no further events; returns whether it is done.
    pub(crate) fn run(
        &mut self,
        deadline: Cycle,
        mut done: impl FnMut(&Fabric) -> bool,
    ) -> Result<bool, FabricError> {
        while !done(self) {
            let Some(begin) = self.begins().filter(|begin| *begin < deadline) else {
                return Ok(false);
            };
            self.advance(begin + self.lookahead)?;
        }
        Ok(true)
    }

    /// Time of the next event: now, while a card is busy.
    pub(crate) fn begins(&self) -> Option<Cycle> {
        let cards = self.cards.iter().filter_map(|card| card.due(self.now));
        let events = self.events.next().map(|at| self.now.max(at));
        cards.chain(events).min()
    }

    /// Advances to an instant and handles all events up to it, in steps that end at the next awaited event at the
    /// latest.
    pub(crate) fn run_until(&mut self, instant: Cycle) -> Result<(), FabricError> {
        let end = instant + Cycles::new(1);
        while let Some(begin) = self.begins().filter(|begin| *begin < end) {
            self.advance((begin + self.lookahead).min(end))?;
        }
        self.now = self.now.max(end);
        Ok(())
    }

    /// Advances cards and then the fabric to `until`, no farther from its next event than the minimum latency to a
    /// card.
    fn advance(&mut self, until: Cycle) -> Result<(), FabricError> {
        for index in 0..self.cards.len() {
            let port = self.ports.of_cards[index];
            let (card, pool) = (&mut self.cards[index], &mut self.pool);
            let (of_card, events) = (&mut self.ports.all[port.index()], &mut self.events);
            card.advance(until, |output| match output {
                Output::Packet(at, header, data, parts) => {
                    let id = pool.take(*header);
                    pool.get(id).data.extend(data);
                    pool.get(id).parts = parts;
                    let waiting = Waiting::new(id, header, at, None);
                    of_card.transmitter.add(0, header.kind.class(), waiting);
                    of_card.await_ready(port, at, events);
                }
                Output::Freed(at, class, amount) => events.at(at, Event::Release(port, class, amount.into())),
            })?;
        }
        while let Some((at, event)) = self.events.take(until) {
            self.now = at;
            self.handle(at, event)?;
        }
        self.now = until;
        Ok(())
    }

    fn handle(&mut self, now: Cycle, event: Event) -> Result<(), FabricError> {
        match event {
            Event::Arrive(port, packet) => self.arrive(now, port, packet),
            Event::Wake(port) => {
                self.wake(now, port);
                Ok(())
            }
            Event::Link(port) => {
                self.transmit(now, port);
                Ok(())
            }
            Event::Left(port, from, class, data) => {
                let data = data.into();
                self.release(now, from, class, Amount { headers: 1, data });
                self.wake(now, port);
                Ok(())
            }
            Event::Acknowledge(port) => {
                self.acknowledge(now, port);
                Ok(())
            }
            Event::Update(port, class) => {
                if self.port(port).tell(class) {
                    self.transmit(now, port);
                }
                Ok(())
            }
            Event::Release(port, class, room) => {
                self.release(now, port, class, room.into());
                Ok(())
            }
        }
    }

    fn port(&mut self, port: PortId) -> &mut Port {
        &mut self.ports.all[port.index()]
    }

    /// A packet has arrived through a port.
    fn arrive(&mut self, now: Cycle, id: PortId, packet: PacketId) -> Result<(), FabricError> {
        let header = self.pool.get(packet).header;
        let port = self.port(id);
        if !port.receiver.arrive(now, header.kind.class(), header.cost()) {
            port.overflows += 1;
            self.report(id, Fault::ReceiverOverflow, &header);
        }
        let place = self.port(id).place;
        let payload = self.pool.get(packet).data.len();
        if is_malformed(&header, payload, self.system.payload_bytes) {
            self.rejected.malformed += 1;
            self.report(id, Fault::Malformed, &header);
            self.settle(now, id, packet, &header);
            return Ok(());
        }
        match place {
            Place::Root => self.at_root(now, id, packet, &header)?,
            Place::Switch(switch) => self.at_switch(now, id, switch, packet, &header),
            // It has it already.
            Place::Card(_) => {}
        }
        Ok(())
    }

    /// A packet has reached its destination: its room is free.
    pub(crate) fn settle(&mut self, now: Cycle, id: PortId, packet: PacketId, header: &Header) {
        self.pool.free(packet);
        self.release(now, id, header.kind.class(), header.cost());
    }

    /// A packet has no target.
    pub(crate) fn refuse(&mut self, now: Cycle, id: PortId, packet: PacketId, header: &Header) {
        if header.kind.class() == Class::Completion {
            self.rejected.unexpected += 1;
            self.report(id, Fault::UnexpectedCompletion, header);
        } else {
            self.rejected.unsupported += 1;
            self.report(id, Fault::UnsupportedRequest, header);
        }
        self.turn_back(now, id, packet, header, Status::Unsupported);
    }

    /// A packet must not pass: the same, with the error `fault` (6.12.1.1).
    pub(crate) fn stop(&mut self, now: Cycle, id: PortId, packet: PacketId, header: &Header, fault: Fault) {
        self.rejected.stopped += 1;
        self.report(id, fault, header);
        self.turn_back(now, id, packet, header, Status::Aborted);
    }

    /// A packet goes no further: a requester that waits for a completion receives one with this status.
    fn turn_back(&mut self, now: Cycle, id: PortId, packet: PacketId, header: &Header, status: Status) {
        if header.kind.class() == Class::NonPosted {
            let completion = Header::completing(header, ROOT, status);
            let answer = self.pool.take(completion);
            let source = self.ports.all[id.index()].number;
            let waiting = Waiting::new(answer, &completion, now, None);
            self.offer(id, source, waiting, Class::Completion);
        }
        self.settle(now, id, packet, header);
    }
}

/// The port through which a packet from the port with the number `own` leaves, and its header there: packets for
/// targets that are not below leave through `up`, and no packet leaves through the port of its arrival.
fn next_port(routes: &Routes, header: &Header, own: usize, up: Option<usize>) -> Option<(usize, Header)> {
    let mut header = *header;
    let below = match header.kind {
        Kind::Completion(_) => routes.of_bus(header.requester.bus()).map(|(port, _)| port),
        Kind::ConfigurationRead(_) | Kind::ConfigurationWrite(_) => {
            let (port, reached) = routes.of_bus(header.request.target.bus())?;
            // On the bus of its target, a configuration request has type 0.
            header.kind = match header.kind {
                Kind::ConfigurationRead(_) => Kind::ConfigurationRead(!reached),
                _ => Kind::ConfigurationWrite(!reached),
            };
            Some(port)
        }
        // The root is whom messages are for.
        Kind::Message(..) => None,
        _ => routes.of_address(header.request.address),
    };
    let port = below.or(up)?;
    (port != own).then_some((port, header))
}
