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
    /// The instants of its scheduled events.
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

#[derive(Serialize, Deserialize)]
pub(crate) struct Awaited {
    /// The first one at which it may send; later ones that were scheduled before have no effect.
    #[serde(with = "crate::saved::instant")]
    wake: Cycle,
    /// The last arrival of a packet of the data link layer.
    #[serde(with = "crate::saved::instant")]
    link: Cycle,
}

impl Default for Awaited {
    fn default() -> Awaited {
        Awaited {
            wake: Cycle::NEVER,
            link: Cycle::ZERO,
        }
    }
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

    /// Has an event when a packet that is ready at `ready` may leave, not before the wire is free, unless there is an
    /// earlier one.
    pub(crate) fn await_ready(&mut self, id: PortId, ready: Cycle, events: &mut Events) {
        let at = ready.max(self.transmitter.wire);
        if self.will_wake(at) {
            events.at(at, Event::Wake(id));
        }
    }

    /// An event at `at` is to wake it; returns whether no earlier one does.
    pub(crate) fn will_wake(&mut self, at: Cycle) -> bool {
        let is_first = at < self.awaited.wake;
        self.awaited.wake = self.awaited.wake.min(at);
        is_first
    }

    /// An event that may wake it happens; returns whether it does.
    pub(crate) fn wakes(&mut self, now: Cycle) -> bool {
        let wakes = self.awaited.wake == now;
        if wakes {
            self.awaited.wake = Cycle::NEVER;
        }
        wakes
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
