use crate::aer::Fault;
use crate::bridge::{Bridge, FoundBridge};
use crate::capture::Captured;
use crate::card::{Card, Output};
use crate::class::Class;
use crate::clocks::nanoseconds;
use crate::codec::words_of;
use crate::counters::PortCounters;
use crate::credits::Amount;
use crate::error::FabricError;
use crate::events::{Event, Events, LinkPacket, PortId};
use crate::host::{bytes_asked, completions, Host};
use crate::interrupts::Wires;
use crate::links::Ports;
use crate::packet::{Header, Id, Kind, Status};
use crate::parts::{Part, Parts};
use crate::pool::{Packet, PacketId, Pool};
use crate::port::{Coming, Place, Port, FRAMING, FRONT, LINK_PACKET};
use crate::receiver::Urgency;
use crate::rejected::{is_malformed, Rejected};
use crate::routes::Routes;
use crate::system::SystemDescription;
use crate::transmitter::{Next, Waiting};
use rackwright_memory::HierarchyParameters;
use rackwright_rtl::Design;
use rackwright_stats::{Counters, Digest};
use rackwright_time::fabric::{Cycle, Cycles};

/// The root complex's own number: it is the first device of bus 0.
pub(crate) const ROOT: Id = Id(0);

/// Tags of eight bits, which the host uses in turn.
const TAGS: u16 = 256;

/// The answer to a request of the host.
pub(crate) struct Answer {
    pub(crate) at: Cycle,
    pub(crate) status: Status,
    pub(crate) data: u64,
    pub(crate) parts: Parts,
}

/// A request of the host, for which it waits.
pub(crate) struct Asked {
    pub(crate) header: Header,
    /// Through which it has left.
    pub(crate) port: PortId,
}

impl Asked {
    /// Whether a completion with `data` words answers it; one that differs from the request in any other way than its tag
    /// may count as unexpected (2.3.2). Data are complete, since the host reads no more than two words; refused requests
    /// have none.
    fn is_answered_by(&self, header: &Header, data: usize) -> bool {
        let (asked, completion) = (&self.header, &header.completion);
        if header.tag != asked.tag {
            return false;
        }
        if completion.status != Status::Successful {
            return data == 0;
        }
        let reads = !asked.kind.has_data();
        let expected = match asked.kind {
            Kind::MemoryRead => bytes_asked(asked),
            _ => 0..4,
        };
        data == if reads { usize::from(asked.words) } else { 0 }
            && u64::from(completion.byte_count) == expected.end - expected.start
            && u64::from(completion.lower_address) == expected.start & 0x7f
    }
}

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

/// The requests of the host: one at a time, with tags in turn.
#[derive(Default)]
pub(crate) struct Requests {
    /// The outstanding one.
    pub(crate) asked: Option<Asked>,
    /// The answer that the host waits for.
    pub(crate) answer: Option<Answer>,
    /// The latest tag.
    pub(crate) tag: u16,
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

    /// An acknowledgement has waited for the maximum time.
    fn acknowledge(&mut self, now: Cycle, port: PortId) {
        let other = self.port(port).other;
        let transmitter = &self.port(other).transmitter;
        let (arrived, next) = (transmitter.arrived(now), transmitter.next_arrival(now));
        let Port {
            receiver,
            link_packets,
            limit,
            ..
        } = self.port(port);
        link_packets.push_back(LinkPacket::Acknowledge(arrived));
        receiver.acknowledging = next.is_some();
        let limit = *limit;
        if let Some(next) = next {
            self.events.at(next + limit, Event::Acknowledge(port));
        }
        self.transmit(now, port);
    }

    /// Room behind a port has become free.
    fn release(&mut self, now: Cycle, port: PortId, class: Class, amount: Amount) {
        let limit = self.port(port).limit;
        match self.port(port).receiver.release(now, class, amount) {
            Urgency::Now => {
                if self.port(port).tell(class) {
                    self.transmit(now, port);
                }
            }
            Urgency::Later => self.events.at(now + limit, Event::Update(port, class)),
            Urgency::Never => {}
        }
    }

    /// Queues a packet from `source` at a port, to leave from `ready` on.
    pub(crate) fn offer(&mut self, port: PortId, source: usize, waiting: Waiting, class: Class) {
        let (ready, now) = (waiting.ready, self.now);
        let of = &mut self.ports.all[port.index()];
        of.transmitter.add(source, class, waiting);
        if ready > now {
            of.await_ready(port, ready, &mut self.events);
        } else {
            self.transmit(now, port);
        }
    }

    /// An event that may wake a port happens.
    fn wake(&mut self, now: Cycle, id: PortId) {
        if self.port(id).wakes(now) {
            self.transmit(now, id);
        }
    }

    /// Sends the next packet of a port, if one waits, when the wire is free.
    fn transmit(&mut self, now: Cycle, id: PortId) {
        let port = &mut self.ports.all[id.index()];
        if !port.is_waiting() {
            return;
        }
        if port.transmitter.wire > now {
            return port.await_ready(id, now, &mut self.events);
        }
        port.hear(now);
        if let Some(packet) = port.link_packets.pop_front() {
            self.send_link_packet(now, id, packet);
        } else {
            match port.transmitter.next(now) {
                Next::Packet(waiting, class) => self.send(now, id, waiting, class),
                Next::Nothing(until) => {
                    port.await_link_packet(id, &mut self.events);
                    if until != Cycle::NEVER {
                        port.await_ready(id, until, &mut self.events);
                    }
                    return;
                }
            }
        }
        let port = &mut self.ports.all[id.index()];
        if port.is_waiting() {
            port.await_ready(id, now, &mut self.events);
        }
    }

    /// Sends a packet of the data link layer. Its arrival is an event only if packets wait for it there.
    fn send_link_packet(&mut self, now: Cycle, id: PortId, packet: LinkPacket) {
        let port = &mut self.ports.all[id.index()];
        port.transmitter.wire = now + port.rate.bytes(LINK_PACKET);
        let counters = &mut port.transmitter.counters;
        counters.wire_bytes += LINK_PACKET;
        match packet {
            LinkPacket::Acknowledge(_) => counters.acknowledgements += 1,
            LinkPacket::Update(..) => counters.updates += 1,
        }
        let (at, other) = (port.transmitter.wire + port.delay, port.other);
        let port = &mut self.ports.all[other.index()];
        port.coming.push_back(Coming { at, packet });
        port.await_link_packet(other, &mut self.events);
        if let (Place::Card(card), LinkPacket::Update(class, limit)) = (port.place, packet) {
            self.cards[card].grant(at, false, class, limit);
        }
    }

    fn send(&mut self, now: Cycle, id: PortId, waiting: Waiting, class: Class) {
        let port = &mut self.ports.all[id.index()];
        let (rate, delay, other) = (port.rate, port.delay, port.other);
        let bytes = u64::from(waiting.bytes) + FRAMING;
        let end = now + rate.bytes(bytes);
        let tail = end + delay;
        port.transmitter.wire = end;
        let sequence = port.transmitter.sent(waiting.bytes, tail);
        let packet = self.pool.get(waiting.packet);
        let counters = &mut port.transmitter.counters;
        counters.wire_bytes += bytes;
        counters.classes[class.index()].packets += 1;
        counters.classes[class.index()].payload_bytes += packet.data.len() as u64;
        self.crossed.hops += 1;
        note(&mut self.crossed.digest, now, id, &packet.header, &packet.data);
        if let Some(captured) = &mut self.crossed.captured {
            captured.push(Captured::of(now, id.0, sequence, packet));
        }
        // Switches act on the header, other parts on the checked packet.
        let head = now + rate.bytes(FRONT + 4 * packet.header.header_words() as u64) + delay;
        let Port {
            place,
            receiver,
            limit,
            ..
        } = &mut self.ports.all[other.index()];
        let arrives = match place {
            Place::Root => tail + self.root.latency,
            Place::Switch(_) => head,
            Place::Card(_) => tail,
        };
        packet.parts.add(Part::Queue, now.since(waiting.ready));
        match place {
            Place::Root => {
                packet.parts.add(Part::Link, tail.since(now));
                packet.parts.add(Part::Root, self.root.latency);
            }
            Place::Switch(_) | Place::Card(_) => packet.parts.add(Part::Link, arrives.since(now)),
        }
        if !std::mem::replace(&mut receiver.acknowledging, true) {
            self.events.at(tail + *limit, Event::Acknowledge(other));
        }
        // A card runs ahead by less than this latency: it receives the packet now, for the cycle of its arrival.
        let reaches = match *place {
            Place::Card(card) => {
                self.cards[card].arrive(arrives, packet);
                self.pool.free(waiting.packet);
                true
            }
            Place::Switch(switch) => {
                receiver.announced == 0 && self.pass(arrives, other, switch, waiting.packet)
            }
            Place::Root => false,
        };
        let receiver = &mut self.ports.all[other.index()].receiver;
        if reaches {
            receiver.expect(arrives, class, waiting.cost);
        } else {
            receiver.announced += 1;
            self.events.at(arrives, Event::Arrive(other, waiting.packet));
        }
        if let Some(from) = waiting.from {
            let data = waiting.cost.data as u16;
            self.ports.all[id.index()].will_wake(end);
            self.events.at(end, Event::Left(id, from, class, data));
        }
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

    /// Forwards a packet through a switch once its header has arrived: it leaves late enough that its end does not
    /// overtake the arriving end.
    fn at_switch(&mut self, now: Cycle, id: PortId, switch: usize, packet: PacketId, header: &Header) {
        let own = self.ports.all[id.index()].number;
        if let Kind::ConfigurationRead(further) | Kind::ConfigurationWrite(further) = header.kind {
            match self.bridge_at(switch, own, further, header.request.target) {
                Some(Some(number)) => {
                    return self.configure_bridge(now, id, (switch, number), packet, header)
                }
                Some(None) => {}
                None => return self.refuse(now, id, packet, header),
            }
        }
        if self.change_wire(now, id, Some(switch), packet, header) {
            return;
        }
        if let (Kind::Message(..), false) = (header.kind, self.forwards_errors(switch, own)) {
            return self.settle(now, id, packet, header);
        }
        let Some((number, header)) = self.way(switch, own, header) else {
            self.refuse(now, id, packet, header);
            return;
        };
        if header.poisoned {
            self.report_passing(id, &header);
        }
        self.pool.get(packet).header = header;
        self.forward(now, id, (switch, number), packet, &header);
    }

    /// Forwards a packet whose header will arrive at a switch at `at`, before that instant: the switch passes nothing on
    /// earlier than its latency after it. Settings of its bridges count that are there when the header is sent. Returns
    /// whether it was one that is just forwarded.
    fn pass(&mut self, at: Cycle, id: PortId, switch: usize, packet: PacketId) -> bool {
        let own = self.ports.all[id.index()].number;
        let Packet { header, data, .. } = self.pool.get(packet);
        let header = *header;
        let is_data = header.kind.is_memory() || header.kind.class() == Class::Completion;
        if !is_data || header.poisoned || is_malformed(&header, data.len(), self.system.payload_bytes) {
            return false;
        }
        let Some((number, _)) = self.way(switch, own, &header) else {
            return false;
        };
        self.forward(at, id, (switch, number), packet, &header);
        true
    }

    /// The port through which a packet from the port `own` of a switch leaves, and its header there; none if it has no
    /// target, or a bridge lets no requests pass.
    fn way(&self, switch: usize, own: usize, header: &Header) -> Option<(usize, Header)> {
        let Junction { routes, bridges, .. } = &self.switches[switch];
        // Packets from below pass the bridge of their port, packets from above that of the switch.
        let passes = |out: usize| {
            !header.kind.is_memory()
                || (own == 0 || bridges[own].is_master()) && (out != 0 || bridges[0].is_master())
        };
        next_port(routes, header, own, Some(0)).filter(|(out, _)| passes(*out))
    }

    /// Queues a packet whose header arrives at `now` at the port of a switch through which it leaves.
    fn forward(
        &mut self,
        now: Cycle,
        id: PortId,
        (switch, number): (usize, usize),
        packet: PacketId,
        header: &Header,
    ) {
        let own = self.ports.all[id.index()].number;
        let out = self.ports.of_switches[switch][number];
        let (coming, leaving) = (
            &self.ports.all[id.index()].rate,
            &self.ports.all[out.index()].rate,
        );
        let front = FRONT + 4 * header.header_words() as u64;
        let rest = header.bytes() as u64 + FRAMING - front;
        let latency = self.switches[switch].latency;
        let tail = now + coming.bytes(rest) + latency;
        let earliest = Cycle::new(tail.0.saturating_sub(leaving.bytes(rest + front).0));
        let ready = earliest.max(now + latency);
        self.pool.get(packet).parts.add(Part::Switch, ready.since(now));
        let waiting = Waiting::new(packet, header, ready, Some(id));
        self.offer(out, own, waiting, header.kind.class());
    }

    /// The bridge of a switch that is the target of a configuration request from the port `own`: one of its own, none
    /// if it is forwarded, or no target, according to the outer option.
    fn bridge_at(&self, switch: usize, own: usize, further: bool, target: Id) -> Option<Option<usize>> {
        let bridges = &self.switches[switch].bridges;
        // Configuration requests come only from the root.
        if own != 0 {
            return None;
        }
        let device = usize::from(target.device());
        if !further {
            return (device == 0).then_some(Some(0));
        }
        if target.bus() == bridges[0].secondary() {
            let number = device + 1;
            return (number < bridges.len()).then_some(Some(number));
        }
        Some(None)
    }

    /// A bridge of a switch serves configuration.
    fn configure_bridge(
        &mut self,
        now: Cycle,
        id: PortId,
        (switch, number): (usize, usize),
        packet: PacketId,
        header: &Header,
    ) {
        let Junction {
            routes,
            bridges,
            latency,
            ..
        } = &mut self.switches[switch];
        let (bridge, latency) = (&mut bridges[number], *latency);
        let mut completion = Header::completing(header, header.request.target, Status::Successful);
        let word = header.request.address / 4;
        let value = bridge.read(word).to_le_bytes();
        let reads = !header.kind.has_data();
        let mut parts = self.pool.get(packet).parts;
        if reads {
            (completion.kind, completion.words) = (Kind::Completion(true), 1);
        } else {
            let data = word_of(&self.pool.get(packet).data);
            bridge.write(word, header.request.enables & 0xf, data);
            if number != 0 {
                routes.set(number, bridge);
            }
        }
        parts.add(Part::Switch, latency);
        let answer = self.pool.take(completion);
        let place = self.pool.get(answer);
        place.parts = parts;
        place.data.extend(value.iter().take(if reads { 4 } else { 0 }));
        let source = self.ports.all[id.index()].number;
        let waiting = Waiting::new(answer, &completion, now + latency, None);
        self.offer(id, source, waiting, Class::Completion);
        self.settle(now, id, packet, header);
    }

    fn at_root(
        &mut self,
        now: Cycle,
        id: PortId,
        packet: PacketId,
        header: &Header,
    ) -> Result<(), FabricError> {
        let class = header.kind.class();
        if class == Class::Completion && header.requester == ROOT {
            let packet_of = self.pool.get(packet);
            let data = packet_of.data.len() / 4;
            let asked = self
                .requests
                .asked
                .take_if(|asked| asked.is_answered_by(header, data));
            if asked.is_none() {
                self.refuse(now, id, packet, header);
                return Ok(());
            }
            let mut word = [0; 8];
            word[..4 * data].copy_from_slice(&packet_of.data);
            let status = match header.poisoned {
                true => Status::Aborted,
                false => header.completion.status,
            };
            self.requests.answer = Some(Answer {
                at: now,
                status,
                data: u64::from_le_bytes(word),
                parts: packet_of.parts,
            });
            if header.poisoned {
                self.receive_poisoned(id, header);
            }
            self.settle(now, id, packet, header);
            return Ok(());
        }
        let from = self.ports.all[id.index()].number;
        if header.kind.is_memory() && !self.root.bridges[from].is_master() {
            self.refuse(now, id, packet, header);
            return Ok(());
        }
        let address = header.request.address;
        let range = address..address.saturating_add(4 * u64::from(header.words));
        match header.kind {
            // Data that are wrong change no memory, and are no interrupt (2.7.2.2).
            Kind::MemoryWrite
                if header.poisoned && (self.host.has(&range) || self.host.has_message(header)) =>
            {
                self.receive_poisoned(id, header);
                self.settle(now, id, packet, header);
                Ok(())
            }
            Kind::MemoryWrite if self.host.has(&range) => {
                let packet_of = self.pool.get(packet);
                let done = self.host.write(now, header, &packet_of.data)?;
                self.events
                    .at(done, Event::Release(id, class, header.cost().into()));
                self.pool.free(packet);
                Ok(())
            }
            Kind::MemoryRead if self.host.has(&range) => self.read(now, id, packet, header),
            Kind::MemoryWrite if self.host.has_message(header) => {
                self.host.receive(header, &self.pool.get(packet).data);
                self.settle(now, id, packet, header);
                Ok(())
            }
            Kind::Message(..) => {
                if !self.change_wire(now, id, None, packet, header) {
                    self.message(now, id, packet, header);
                }
                Ok(())
            }
            // Only the host may send configuration requests.
            Kind::ConfigurationRead(_) | Kind::ConfigurationWrite(_) => {
                self.refuse(now, id, packet, header);
                Ok(())
            }
            _ => {
                let own = self.ports.all[id.index()].number;
                let next = next_port(&self.root.routes, header, own, None);
                match next.filter(|_| self.system.root.peer_to_peer) {
                    Some((number, header)) => {
                        if header.poisoned {
                            self.report_passing(id, &header);
                        }
                        let out = self.ports.of_root[number];
                        let waiting = Waiting::new(packet, &header, now, Some(id));
                        self.offer(out, own, waiting, class);
                    }
                    None => self.refuse(now, id, packet, header),
                }
                Ok(())
            }
        }
    }

    /// Reads memory, and sends the completions when their data are ready.
    fn read(
        &mut self,
        now: Cycle,
        id: PortId,
        packet: PacketId,
        request: &Header,
    ) -> Result<(), FabricError> {
        let before = self.pool.get(packet).parts;
        let most = u64::from(self.system.root.completion_bytes);
        let source = self.ports.of_root.len();
        let mut ready = now;
        for (header, range) in completions(request, ROOT, most) {
            let id_of = self.pool.take(header);
            let completion = self.pool.get(id_of);
            completion.data.resize((range.end - range.start) as usize, 0);
            ready = ready.max(self.host.read(now, range.start, &mut completion.data)?);
            completion.parts = before;
            completion.parts.add(Part::Memory, ready.since(now));
            completion.parts.add(Part::Root, self.root.latency);
            let waiting = Waiting::new(id_of, &header, ready + self.root.latency, None);
            self.offer(id, source, waiting, Class::Completion);
        }
        self.settle(now, id, packet, request);
        Ok(())
    }

    /// A packet has reached its destination: its room is free.
    pub(crate) fn settle(&mut self, now: Cycle, id: PortId, packet: PacketId, header: &Header) {
        self.pool.free(packet);
        self.release(now, id, header.kind.class(), header.cost());
    }

    /// Data that are known to be wrong have reached the root complex.
    fn receive_poisoned(&mut self, id: PortId, header: &Header) {
        self.rejected.poisoned += 1;
        self.report(id, Fault::Poisoned, header);
    }

    /// A packet has no target: a requester that waits for a completion receives one with this status.
    pub(crate) fn refuse(&mut self, now: Cycle, id: PortId, packet: PacketId, header: &Header) {
        if header.kind.class() == Class::Completion {
            self.rejected.unexpected += 1;
            self.report(id, Fault::UnexpectedCompletion, header);
        } else {
            self.rejected.unsupported += 1;
            self.report(id, Fault::UnsupportedRequest, header);
        }
        if header.kind.class() == Class::NonPosted {
            let completion = Header::completing(header, ROOT, Status::Unsupported);
            let answer = self.pool.take(completion);
            let source = self.ports.all[id.index()].number;
            let waiting = Waiting::new(answer, &completion, now, None);
            self.offer(id, source, waiting, Class::Completion);
        }
        self.settle(now, id, packet, header);
    }

    /// Sends a packet from the host to the target in its header.
    pub(crate) fn issue(&mut self, mut header: Header, data: &[u8]) -> Result<(), FabricError> {
        if header.kind.class() == Class::NonPosted {
            self.requests.tag = (self.requests.tag + 1) % TAGS;
            header.tag = self.requests.tag;
        }
        self.requests.asked = None;
        let Some((number, header)) = next_port(&self.root.routes, &header, usize::MAX, None) else {
            let what = format!("{:?} of {:#x}", header.kind, header.request.address);
            return Err(FabricError::Refused { from: what });
        };
        if header.kind.class() == Class::NonPosted {
            let port = self.ports.of_root[number];
            self.requests.asked = Some(Asked { header, port });
        }
        let packet = self.pool.take(header);
        self.pool.get(packet).data.extend(data);
        self.pool.get(packet).parts.add(Part::Root, self.root.latency);
        let (port, source) = (self.ports.of_root[number], self.ports.of_root.len());
        let waiting = Waiting::new(packet, &header, self.now + self.root.latency, None);
        self.offer(port, source, waiting, header.kind.class());
        Ok(())
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

/// The first word of a payload.
fn word_of(data: &[u8]) -> u32 {
    let mut word = [0; 4];
    word.iter_mut().zip(data).for_each(|(to, from)| *to = *from);
    u32::from_le_bytes(word)
}

fn note(digest: &mut Digest, at: Cycle, port: PortId, header: &Header, data: &[u8]) {
    let [first, second, third, fourth] = words_of(header).map(u64::from);
    let numbers = [
        at.0,
        u64::from(port.0) << 32 | first,
        second << 32 | third,
        fourth,
    ];
    let mut record = [0; 32];
    for (bytes, number) in record.chunks_exact_mut(8).zip(numbers) {
        bytes.copy_from_slice(&number.to_le_bytes());
    }
    digest.record(&record);
    if !data.is_empty() {
        digest.bytes(data);
    }
}
