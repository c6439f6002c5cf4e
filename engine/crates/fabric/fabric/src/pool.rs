use crate::packet::{Header, Id, Kind};
use crate::parts::Parts;
use serde::{Deserialize, Serialize};

/// Identifies a packet in flight.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct PacketId(u32);

impl PacketId {
    #[cfg(test)]
    pub(crate) fn numbered(number: u32) -> PacketId {
        PacketId(number)
    }
}

/// A packet in flight: its fields, its payload, and its time in each part.
#[derive(Serialize, Deserialize)]
pub(crate) struct Packet {
    pub(crate) header: Header,
    pub(crate) data: Vec<u8>,
    pub(crate) parts: Parts,
}

/// The packets in flight. The slots of arrived packets, and their memory, are reused.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Pool {
    packets: Vec<Packet>,
    free: Vec<PacketId>,
}

impl Pool {
    /// A place for a packet with `header` and no data yet.
    pub(crate) fn take(&mut self, header: Header) -> PacketId {
        let Some(id) = self.free.pop() else {
            self.packets.push(Packet {
                header,
                data: Vec::new(),
                parts: Parts::default(),
            });
            return PacketId((self.packets.len() - 1) as u32);
        };
        let packet = self.get(id);
        packet.header = header;
        packet.parts = Parts::default();
        packet.data.clear();
        id
    }

    pub(crate) fn get(&mut self, id: PacketId) -> &mut Packet {
        &mut self.packets[id.0 as usize]
    }

    /// Another packet with the same contents.
    pub(crate) fn copy(&mut self, id: PacketId) -> PacketId {
        let Packet { header, parts, .. } = self.packets[id.0 as usize];
        let data = self.packets[id.0 as usize].data.clone();
        let copy = self.take(header);
        let packet = self.get(copy);
        (packet.data, packet.parts) = (data, parts);
        copy
    }

    /// The packet has reached its destination.
    pub(crate) fn free(&mut self, id: PacketId) {
        debug_assert!(!self.free.contains(&id), "a packet is freed twice");
        self.free.push(id);
    }

    /// Packets under way.
    pub(crate) fn used(&self) -> usize {
        self.packets.len() - self.free.len()
    }
}

/// The contents of a slot before its first packet.
impl Default for Header {
    fn default() -> Header {
        Header::new(Kind::MemoryRead, Id::default(), 0)
    }
}
