use crate::device::{decode, encode, RestoreError};
use etherparse::{
    ArpEthIpv4Packet, ArpOperation, Icmpv4Slice, Icmpv4Type, IpHeaders, Ipv4Slice, LinkSlice, NetSlice,
    PacketBuilder, SlicedPacket, TransportSlice,
};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// The address of Ethernet that answers for all addresses of IPv4.
const OWN: [u8; 6] = [0x02, 0, 0, 0, 0, 1];
/// Answers that wait for buffers, at most; later ones are lost.
const MOST: usize = 256;

/// The other end of a network card's cable: a host that has every address of IPv4, and answers ARP and echo requests.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct Neighbour {
    answers: VecDeque<Vec<u8>>,
}

impl Neighbour {
    /// Takes a frame; returns whether it has one more answer.
    pub(super) fn take(&mut self, frame: &[u8]) -> bool {
        match answer(frame).filter(|_| self.answers.len() < MOST) {
            Some(answer) => self.answers.push_back(answer),
            None => return false,
        }
        true
    }

    /// The next answer.
    pub(super) fn give(&mut self) -> Option<Vec<u8>> {
        self.answers.pop_front()
    }

    /// The last answer finds no buffer.
    pub(super) fn lose(&mut self) {
        self.answers.pop_back();
    }

    pub(super) fn save(&self) -> Vec<u8> {
        encode(self)
    }

    pub(super) fn restore(&mut self, state: &[u8]) -> Result<(), RestoreError> {
        *self = decode(state, "network card")?;
        Ok(())
    }
}

/// The answer to a frame, if it gets one.
fn answer(frame: &[u8]) -> Option<Vec<u8>> {
    let packet = SlicedPacket::from_ethernet(frame).ok()?;
    let Some(LinkSlice::Ethernet2(link)) = &packet.link else {
        return None;
    };
    let sender = link.source();
    match (packet.net?, packet.transport) {
        _ if !packet.link_exts.is_empty() => None,
        (NetSlice::Arp(arp), _) => reply(sender, &arp.to_packet().try_into().ok()?),
        (NetSlice::Ipv4(ip), Some(TransportSlice::Icmpv4(icmp))) => echo(sender, &ip, &icmp),
        _ => None,
    }
}

/// The reply to a request for an Ethernet address.
fn reply(sender: [u8; 6], asked: &ArpEthIpv4Packet) -> Option<Vec<u8>> {
    // Somebody who asks for his own address wants no answer (RFC 5227).
    let wants_none = asked.sender_ipv4 == asked.target_ipv4 || asked.sender_ipv4 == [0; 4];
    if asked.operation != ArpOperation::REQUEST || wants_none {
        return None;
    }
    let reply = ArpEthIpv4Packet {
        operation: ArpOperation::REPLY,
        sender_mac: OWN,
        sender_ipv4: asked.target_ipv4,
        target_mac: asked.sender_mac,
        target_ipv4: asked.sender_ipv4,
    };
    let mut frame = Vec::new();
    let builder = PacketBuilder::ethernet2(OWN, sender).arp(reply.into());
    builder.write(&mut frame).ok().map(|()| frame)
}

/// The reply to an echo request in a whole packet.
fn echo(sender: [u8; 6], ip: &Ipv4Slice<'_>, icmp: &Icmpv4Slice<'_>) -> Option<Vec<u8>> {
    let Icmpv4Type::EchoRequest(echo) = icmp.icmp_type() else {
        return None;
    };
    let mut header = ip.header().to_header();
    (header.source, header.destination) = (header.destination, header.source);
    let mut frame = Vec::new();
    let builder = PacketBuilder::ethernet2(OWN, sender)
        .ip(IpHeaders::Ipv4(header, Default::default()))
        .icmpv4_echo_reply(echo.id, echo.seq);
    builder.write(&mut frame, icmp.payload()).ok().map(|()| frame)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOST: [u8; 6] = [2, 0x52, 0, 0, 0, 9];
    const ETHERNET: usize = 14;
    const IPV4: usize = 20;

    fn answer_of(frame: &[u8]) -> Option<Vec<u8>> {
        let mut neighbour = Neighbour::default();
        assert_eq!(neighbour.take(frame), neighbour.answers.len() == 1);
        let mut other = Neighbour::default();
        other.restore(&neighbour.save()).unwrap();
        other.give()
    }

    /// Of ARP: who it is for, its operation, sender and target.
    fn arp(to: [u8; 6], operation: u8, sender: ([u8; 6], [u8; 4]), target: ([u8; 6], [u8; 4])) -> Vec<u8> {
        let parts: [&[u8]; 7] = [
            &to,
            &sender.0,
            &[8, 6, 0, 1, 8, 0, 6, 4, 0, operation],
            &sender.0,
            &sender.1,
            &target.0,
            &target.1,
        ];
        parts.concat()
    }

    #[test]
    fn a_request_for_an_address_is_answered() {
        let (own, other) = ([10, 0, 0, 2], [10, 0, 0, 1]);
        let request = |target| arp([0xff; 6], 1, (HOST, own), ([0; 6], target));
        assert_eq!(
            answer_of(&request(other)),
            Some(arp(HOST, 2, (OWN, other), (HOST, own)))
        );
        assert_eq!(answer_of(&request(own)), None);
        assert_eq!(
            answer_of(&arp(OWN, 2, (HOST, own), (OWN, other))),
            None,
            "a reply"
        );
        let whole = request(other);
        assert!((0..whole.len()).all(|bytes| answer_of(&whole[..bytes]).is_none()));
    }

    #[test]
    fn an_echo_request_comes_back_with_its_data() {
        let mut frame = Vec::new();
        PacketBuilder::ethernet2(HOST, OWN)
            .ipv4([10, 0, 0, 2], [10, 0, 0, 1], 64)
            .icmpv4_echo_request(7, 1)
            .write(&mut frame, b"hello")
            .unwrap();
        // Short frames are padded.
        frame.resize(60, 0);
        let reply = answer_of(&frame).unwrap();
        assert_eq!((&reply[..6], reply.len()), (&HOST[..], ETHERNET + 33));
        assert_eq!(reply[ETHERNET + 12..][..8], [10, 0, 0, 1, 10, 0, 0, 2]);
        let icmp = Icmpv4Slice::from_slice(&reply[ETHERNET + IPV4..]).unwrap();
        let header = icmp.header();
        assert!(matches!(header.icmp_type, Icmpv4Type::EchoReply(echo) if (echo.id, echo.seq) == (7, 1)));
        assert_eq!(icmp.payload(), b"hello");
        assert_eq!(header.checksum, header.icmp_type.calc_checksum(b"hello"));
        for (place, wrong) in [
            (ETHERNET, 0x55),
            (ETHERNET + 6, 0x20),
            (ETHERNET + 9, 17),
            (ETHERNET + IPV4, 0),
        ] {
            let mut other = frame.clone();
            other[place] = wrong;
            assert_eq!(answer_of(&other), None, "{place}");
        }
        frame[ETHERNET + 2] = 1;
        assert_eq!(answer_of(&frame), None, "it is longer than its frame");
    }

    #[test]
    fn answers_without_room_are_lost() {
        let mut neighbour = Neighbour::default();
        let frame = arp(OWN, 1, (HOST, [10, 0, 0, 2]), ([0; 6], [10, 0, 0, 1]));
        let taken = (0..2 * MOST).filter(|_| neighbour.take(&frame)).count();
        assert_eq!(taken, MOST);
    }
}
