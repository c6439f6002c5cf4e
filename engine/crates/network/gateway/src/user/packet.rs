use crate::user::cable::HEADER;
use crate::user::{on_network, GATEWAY_MAC, HOST, NAMES};
use smoltcp::phy::ChecksumCapabilities;
use smoltcp::wire::{
    ArpOperation, ArpPacket, ArpRepr, EthernetAddress, EthernetFrame, EthernetProtocol, EthernetRepr,
    IpAddress, IpProtocol, Ipv4Packet, Ipv4Repr, TcpPacket, UdpPacket, UdpRepr,
};
use std::net::{Ipv4Addr, SocketAddrV4};

/// The port on which a server of DHCP listens.
const DHCP_SERVER: u16 = 67;

/// A frame of the guest, by its receiver.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Packet<'a> {
    /// For the members of the network.
    Local,
    /// For the DHCP server.
    Dhcp(&'a [u8]),
    /// For a connection, or the first of one.
    Tcp {
        from: SocketAddrV4,
        to: SocketAddrV4,
        opens: bool,
    },
    /// A datagram.
    Udp {
        from: SocketAddrV4,
        to: SocketAddrV4,
        content: &'a [u8],
    },
}

/// The contents of `frame`; `None` if they are unknown or not allowed.
pub(crate) fn read(frame: &[u8]) -> Option<Packet<'_>> {
    let ethernet = EthernetFrame::new_checked(frame).ok()?;
    let own = [EthernetAddress(GATEWAY_MAC), EthernetAddress::BROADCAST];
    if !own.contains(&ethernet.dst_addr()) || !ethernet.src_addr().is_unicast() {
        return None;
    }
    // Slices of the frame, which outlive the parser of its header.
    let content = &frame[HEADER..];
    match ethernet.ethertype() {
        EthernetProtocol::Arp => for_us(content).then_some(Packet::Local),
        EthernetProtocol::Ipv4 => internet(content),
        _ => None,
    }
}

/// Whether a hardware address on the network is requested or announced.
fn for_us(content: &[u8]) -> bool {
    let parsed = ArpPacket::new_checked(content).and_then(|packet| ArpRepr::parse(&packet));
    let Ok(ArpRepr::EthernetIpv4 {
        operation,
        target_protocol_addr,
        ..
    }) = parsed
    else {
        return false;
    };
    operation != ArpOperation::Unknown(0) && [HOST, NAMES].contains(&target_protocol_addr)
}

fn internet(content: &[u8]) -> Option<Packet<'_>> {
    let packet = Ipv4Packet::new_checked(content).ok()?;
    let header = Ipv4Repr::parse(&packet, &ChecksumCapabilities::default()).ok()?;
    if packet.more_frags() || packet.frag_offset() != 0 {
        return None;
    }
    let inside = content.get(usize::from(packet.header_len())..usize::from(packet.total_len()))?;
    let (source, target) = (header.src_addr, header.dst_addr);
    if header.next_header == IpProtocol::Udp {
        return datagram(inside, source, target);
    }
    if !is_guest(source) {
        return None;
    }
    match header.next_header {
        IpProtocol::Icmp => [HOST, NAMES].contains(&target).then_some(Packet::Local),
        IpProtocol::Tcp => {
            let segment = TcpPacket::new_checked(inside).ok()?;
            let right = segment.verify_checksum(&IpAddress::Ipv4(source), &IpAddress::Ipv4(target));
            right.then(|| Packet::Tcp {
                from: SocketAddrV4::new(source, segment.src_port()),
                to: SocketAddrV4::new(target, segment.dst_port()),
                opens: segment.syn() && !segment.ack() && !segment.rst() && !segment.fin(),
            })
        }
        _ => None,
    }
}

fn datagram(inside: &[u8], source: Ipv4Addr, target: Ipv4Addr) -> Option<Packet<'_>> {
    let packet = UdpPacket::new_checked(inside).ok()?;
    let ends = (IpAddress::Ipv4(source), IpAddress::Ipv4(target));
    let header = UdpRepr::parse(&packet, &ends.0, &ends.1, &ChecksumCapabilities::default()).ok()?;
    let content = &inside[header.header_len()..usize::from(packet.len())];
    if header.dst_port == DHCP_SERVER {
        return [HOST, Ipv4Addr::BROADCAST]
            .contains(&target)
            .then_some(Packet::Dhcp(content));
    }
    is_guest(source).then(|| Packet::Udp {
        from: SocketAddrV4::new(source, header.src_port),
        to: SocketAddrV4::new(target, header.dst_port),
        content,
    })
}

/// Whether a guest may have the address: one of the network that is not in use.
fn is_guest(address: Ipv4Addr) -> bool {
    let last = address.octets()[3];
    on_network(address) && ![HOST, NAMES].contains(&address) && last != 0 && last != 255
}

/// A frame with a datagram to the guest, or to all while it has no address.
pub(crate) fn udp_frame(
    mac: EthernetAddress,
    (from, to): (SocketAddrV4, SocketAddrV4),
    length: usize,
    fill: impl FnOnce(&mut [u8]),
) -> Vec<u8> {
    let checksums = ChecksumCapabilities::default();
    let udp = UdpRepr {
        src_port: from.port(),
        dst_port: to.port(),
    };
    let internet = Ipv4Repr {
        src_addr: *from.ip(),
        dst_addr: *to.ip(),
        next_header: IpProtocol::Udp,
        payload_len: udp.header_len() + length,
        hop_limit: 64,
    };
    let mut bytes = vec![0; HEADER + internet.buffer_len() + internet.payload_len];
    let mut ethernet = EthernetFrame::new_unchecked(&mut bytes[..]);
    let header = EthernetRepr {
        src_addr: EthernetAddress(GATEWAY_MAC),
        dst_addr: mac,
        ethertype: EthernetProtocol::Ipv4,
    };
    header.emit(&mut ethernet);
    let mut packet = Ipv4Packet::new_unchecked(ethernet.payload_mut());
    internet.emit(&mut packet, &checksums);
    let mut datagram = UdpPacket::new_unchecked(packet.payload_mut());
    let ends = (IpAddress::Ipv4(*from.ip()), IpAddress::Ipv4(*to.ip()));
    udp.emit(&mut datagram, &ends.0, &ends.1, length, fill, &checksums);
    bytes
}

/// The sender of a parsed frame.
pub(crate) fn sender(frame: &[u8]) -> EthernetAddress {
    EthernetFrame::new_unchecked(frame).src_addr()
}
