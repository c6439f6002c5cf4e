use super::{next_port, Fabric, Junction};
use crate::aer::Fault;
use crate::class::Class;
use crate::events::PortId;
use crate::packet::{Header, Id, Kind, Status};
use crate::parts::Part;
use crate::pool::{Packet, PacketId};
use crate::port::{FRAMING, FRONT};
use crate::rejected::is_malformed;
use crate::transmitter::Waiting;
use rackwright_time::fabric::Cycle;

impl Fabric {
    /// Forwards a packet through a switch once its header has arrived: it leaves late enough that its end does not
    /// overtake the arriving end.
    pub(super) fn at_switch(
        &mut self,
        now: Cycle,
        id: PortId,
        switch: usize,
        packet: PacketId,
        header: &Header,
    ) {
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
        if own != 0 && self.switches[switch].violates(own, header) {
            return self.stop(now, id, packet, header, Fault::AccessControl);
        }
        if let Some(group) = self.switches[switch].bridges[own].multicast.group(header) {
            return self.spread(now, id, (switch, group), packet, header);
        }
        let Some((number, header)) = self.way(switch, own, header) else {
            self.refuse(now, id, packet, header);
            return;
        };
        if header.poisoned {
            self.report_passing(id, &header);
        }
        self.pool.get(packet).header = header;
        self.forward(now, Some(id), (switch, own, number), packet, &header);
    }

    /// Forwards a packet of a multicast group through all ports that receive it but that of its arrival, with the addresses
    /// that they give it (6.14.2). The last copy takes its room there along; the others have room in their ports.
    fn spread(
        &mut self,
        now: Cycle,
        id: PortId,
        (switch, group): (usize, u64),
        packet: PacketId,
        header: &Header,
    ) {
        let own = self.ports.all[id.index()].number;
        let bridges = &self.switches[switch].bridges;
        if bridges[own].multicast.blocks(group) {
            return self.stop(now, id, packet, header, Fault::BlockedMulticast);
        }
        let passes = own == 0 || bridges[own].is_master();
        let receives = |out: &usize| *out != own && bridges[*out].multicast.receives(group);
        let outs: Vec<usize> = (0..bridges.len()).filter(|out| passes && receives(out)).collect();
        let Some((last, others)) = outs.split_last() else {
            return self.settle(now, id, packet, header);
        };
        for out in others.iter().chain([last]) {
            let mut header = *header;
            let multicast = &self.switches[switch].bridges[*out].multicast;
            header.request.address = multicast.overlaid(header.request.address);
            let (from, leaving) = if out == last {
                (Some(id), packet)
            } else {
                (None, self.pool.copy(packet))
            };
            self.pool.get(leaving).header = header;
            self.forward(now, from, (switch, own, *out), leaving, &header);
        }
    }

    /// Forwards a packet whose header will arrive at a switch at `at`, before that instant: the switch passes nothing on
    /// earlier than its latency after it. Settings of its bridges count that are there when the header is sent. Returns
    /// whether it was one that is just forwarded.
    pub(super) fn pass(&mut self, at: Cycle, id: PortId, switch: usize, packet: PacketId) -> bool {
        let own = self.ports.all[id.index()].number;
        let Packet { header, data, .. } = self.pool.get(packet);
        let header = *header;
        let is_data = header.kind.is_memory() || header.kind.class() == Class::Completion;
        let Junction { bridges, .. } = &self.switches[switch];
        let is_special = own != 0 && self.switches[switch].violates(own, &header)
            || bridges[own].multicast.group(&header).is_some();
        if !is_data
            || is_special
            || header.poisoned
            || is_malformed(&header, data.len(), self.system.payload_bytes)
        {
            return false;
        }
        let Some((number, _)) = self.way(switch, own, &header) else {
            return false;
        };
        self.forward(at, Some(id), (switch, own, number), packet, &header);
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
        let access = &bridges[own].access;
        let next = match next_port(routes, header, own, Some(0)) {
            Some((out, header)) if out != 0 && own != 0 && access.redirects(&header) => Some((0, header)),
            // Its target is below the port of its arrival.
            None if own != 0 && access.forwards_up() => Some((0, *header)),
            next => next,
        };
        next.filter(|(out, _)| passes(*out))
    }

    /// Queues a packet whose header arrives at `now`, through the port `own`, at the port of a switch through which it leaves.
    /// `from` is the port whose room it has.
    fn forward(
        &mut self,
        now: Cycle,
        from: Option<PortId>,
        (switch, own, number): (usize, usize, usize),
        packet: PacketId,
        header: &Header,
    ) {
        let of_switch = &self.ports.of_switches[switch];
        let (arrived, out) = (of_switch[own], of_switch[number]);
        let (coming, leaving) = (
            &self.ports.all[arrived.index()].rate,
            &self.ports.all[out.index()].rate,
        );
        let front = FRONT + 4 * header.header_words() as u64;
        let rest = header.bytes() as u64 + FRAMING - front;
        let latency = self.switches[switch].latency;
        let tail = now + coming.bytes(rest) + latency;
        let earliest = Cycle::new(tail.0.saturating_sub(leaving.bytes(rest + front).0));
        let ready = earliest.max(now + latency);
        self.pool.get(packet).parts.add(Part::Switch, ready.since(now));
        let waiting = Waiting::new(packet, header, ready, from);
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
}

/// The first word of a payload.
fn word_of(data: &[u8]) -> u32 {
    let mut word = [0; 4];
    word.iter_mut().zip(data).for_each(|(to, from)| *to = *from);
    u32::from_le_bytes(word)
}
