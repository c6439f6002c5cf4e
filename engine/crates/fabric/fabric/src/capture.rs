use crate::crc::link_check;
use crate::pool::Packet;
use rackwright_time::fabric::Cycle;

/// A packet as transferred over a link.
#[derive(Clone, Debug)]
pub struct Captured {
    /// When its first byte left, in picoseconds.
    pub picosecond: u64,
    /// Number of the port that it left.
    pub port: u16,
    /// Its sequence number.
    pub sequence: u16,
    /// The check of the data link layer.
    pub check: u32,
    /// Its bytes in the transaction layer.
    pub bytes: Vec<u8>,
}

impl Captured {
    pub(crate) fn of(at: Cycle, port: u16, sequence: u64, packet: &Packet) -> Captured {
        let mut bytes = Vec::with_capacity(packet.header.bytes());
        crate::codec::encode(&packet.header, &mut bytes);
        bytes.extend(&packet.data);
        let sequence = (sequence & 0xfff) as u16;
        Captured {
            picosecond: at.0 / 1024,
            port,
            sequence,
            check: link_check(sequence, &bytes),
            bytes,
        }
    }
}
