use crate::class::Class;
use crate::credits::Credits;
use crate::events::{LinkPacket, PortId};
use crate::rate::Rate;
use crate::receiver::Receiver;
use crate::transmitter::Transmitter;
use rackwright_device::{decode, encode, RestoreError};
use rackwright_time::fabric::Cycles;
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
    /// Packets of the other end's data link layer that have not arrived yet.
    pub(crate) coming: VecDeque<LinkPacket>,
    /// Packets that arrived without room for them.
    pub(crate) overflows: u64,
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
        let waiting = (&self.link_packets, &self.coming);
        encode(&(&self.transmitter, &self.receiver, waiting, self.overflows))
    }

    /// Restores the state of a port with the same description.
    ///
    /// # Errors
    /// [`RestoreError`] when it is none.
    pub(crate) fn restore(&mut self, state: &[u8]) -> Result<(), RestoreError> {
        let waiting;
        (self.transmitter, self.receiver, waiting, self.overflows) = decode(state, "port")?;
        (self.link_packets, self.coming) = waiting;
        Ok(())
    }

    /// Whether nothing waits here, and all room is free.
    pub(crate) fn is_quiet(&self) -> bool {
        self.transmitter.is_empty() && self.link_packets.is_empty() && self.receiver.is_empty(&self.room)
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
