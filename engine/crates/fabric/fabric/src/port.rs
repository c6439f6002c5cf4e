use crate::class::Class;
use crate::credits::Credits;
use crate::events::{Event, Events, LinkPacket, PortId};
use crate::rate::Rate;
use crate::receiver::Receiver;
use crate::transmitter::Transmitter;
use rackwright_device::{decode, encode, RestoreError};
use rackwright_time::fabric::{Cycle, Cycles};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// The part behind a port.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Place {
    /// The root complex.
    Root,
    /// The switch of this number.
    Switch(usize),
    /// The card of this number.
    Card(usize),
}

/// One end of a link.
pub(crate) struct Port {
    pub(crate) name: String,
    pub(crate) place: Place,
    /// Its number among the ports of its place.
    pub(crate) number: usize,
    pub(crate) other: PortId,
    pub(crate) rate: Rate,
    pub(crate) delay: Cycles,
    /// Maximum time for which acknowledgements and updates may wait.
    pub(crate) limit: Cycles,
    pub(crate) transmitter: Transmitter,
    pub(crate) receiver: Receiver,
    /// The room behind it.
    pub(crate) room: Credits,
    /// Packets that the data link layer has to send, before any other packet.
    pub(crate) link_packets: VecDeque<LinkPacket>,
    /// Packets of the other end's data link layer that nobody has asked for yet, in the order of their arrivals.
    pub(crate) coming: VecDeque<Coming>,
    /// The last instants for which an event has been scheduled: that the wire is free, and that a packet of the data
    /// link layer has arrived.
    pub(crate) awaited: Awaited,
    /// Packets that arrived without room for them.
    pub(crate) overflows: u64,
}

/// A packet of the data link layer, and its arrival.
#[derive(Serialize, Deserialize)]
pub(crate) struct Coming {
    #[serde(with = "crate::saved::instant")]
    pub(crate) at: Cycle,
    pub(crate) packet: LinkPacket,
}

#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Awaited {
    #[serde(with = "crate::saved::instant")]
    wire: Cycle,
    #[serde(with = "crate::saved::instant")]
    link: Cycle,
}

/// Bytes around a packet of the transaction layer: framing and sequence number, four, and the check, four (3.5.3, 4.2.1,
/// 4.2.2.3); with 8b/10b a symbol at either end and two bytes of sequence number.
pub(crate) const FRAMING: u64 = 8;
/// Bytes of a packet of the data link layer, with its framing.
pub(crate) const LINK_PACKET: u64 = 8;
/// Bytes in front of a packet.
pub(crate) const FRONT: u64 = 4;

impl Port {
    /// Its state, without what its description fixes.
    pub(crate) fn save(&self) -> Vec<u8> {
        let waiting = (&self.link_packets, &self.coming, &self.awaited);
        encode(&(&self.transmitter, &self.receiver, waiting, self.overflows))
    }

    /// Restores the state of a port with the same description.
    ///
    /// # Errors
    /// [`RestoreError`] when it is none.
    pub(crate) fn restore(&mut self, state: &[u8]) -> Result<(), RestoreError> {
        let waiting;
        (self.transmitter, self.receiver, waiting, self.overflows) = decode(state, "port")?;
        (self.link_packets, self.coming, self.awaited) = waiting;
        Ok(())
    }

    /// Whether nothing waits here, and all room is free, when all that is coming has arrived.
    pub(crate) fn is_quiet(&self) -> bool {
        let acknowledged = self.coming.iter().rev().find_map(|coming| match coming.packet {
            LinkPacket::Acknowledge(before) => Some(before),
            LinkPacket::Update(..) => None,
        });
        self.link_packets.is_empty()
            && self.transmitter.is_empty(acknowledged)
            && self.receiver.is_empty(&self.room)
    }

    /// Whether something waits for the wire.
    pub(crate) fn is_waiting(&self) -> bool {
        !self.link_packets.is_empty() || self.transmitter.is_waiting()
    }

    /// Has an event at the end of the transfer on the wire, unless there is one.
    pub(crate) fn await_wire(&mut self, id: PortId, events: &mut Events) {
        if self.will_end() {
            events.at(self.transmitter.wire, Event::Wire(id));
        }
    }

    /// The end of the transfer on the wire is to have an event; returns whether it has none yet.
    pub(crate) fn will_end(&mut self) -> bool {
        let wire = self.transmitter.wire;
        std::mem::replace(&mut self.awaited.wire, wire) < wire
    }

    /// Has an event when a packet may leave that is ready at `ready`: not before the wire is free.
    pub(crate) fn await_ready(&mut self, id: PortId, ready: Cycle, events: &mut Events) {
        if ready > self.transmitter.wire {
            events.at(ready, Event::Ready(id));
        } else {
            self.await_wire(id, events);
        }
    }

    /// Has an event at the arrival of the next packet of the data link layer, if packets wait for one.
    pub(crate) fn await_link_packet(&mut self, id: PortId, events: &mut Events) {
        let Some(next) = self.coming.front().filter(|_| self.transmitter.lacks) else {
            return;
        };
        if std::mem::replace(&mut self.awaited.link, next.at) < next.at {
            events.at(next.at, Event::Link(id));
        }
    }

    /// Takes packets of the data link layer that have arrived.
    pub(crate) fn hear(&mut self, now: Cycle) {
        while self.coming.front().is_some_and(|coming| coming.at <= now) {
            match self.coming.pop_front().map(|coming| coming.packet) {
                Some(LinkPacket::Acknowledge(before)) => self.transmitter.acknowledge(before),
                Some(LinkPacket::Update(class, limit)) => self.transmitter.grant(class, limit),
                None => {}
            }
        }
    }

    /// Queues an update of credits before other packets, if one is due.
    pub(crate) fn tell(&mut self, class: Class) -> bool {
        let Some(limit) = self.receiver.update(class) else {
            return false;
        };
        self.link_packets.push_back(LinkPacket::Update(class, limit));
        true
    }
}
