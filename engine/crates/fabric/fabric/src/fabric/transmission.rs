use super::Fabric;
use crate::capture::Captured;
use crate::class::Class;
use crate::codec::words_of;
use crate::credits::Amount;
use crate::events::{Event, LinkPacket, PortId};
use crate::packet::Header;
use crate::parts::Part;
use crate::port::{Coming, Place, Port, FRAMING, FRONT, LINK_PACKET};
use crate::receiver::Urgency;
use crate::transmitter::{Next, Waiting};
use rackwright_stats::Digest;
use rackwright_time::fabric::Cycle;

impl Fabric {
    /// An acknowledgement has waited for the maximum time.
    pub(super) fn acknowledge(&mut self, now: Cycle, port: PortId) {
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
    pub(super) fn release(&mut self, now: Cycle, port: PortId, class: Class, amount: Amount) {
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
    pub(super) fn wake(&mut self, now: Cycle, id: PortId) {
        if self.port(id).wakes(now) {
            self.transmit(now, id);
        }
    }

    /// Sends the next packet of a port, if one waits, when the wire is free.
    pub(super) fn transmit(&mut self, now: Cycle, id: PortId) {
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
