//! The fields of an external frame that a switch reads.

use crate::ETHERNET_HEADER;

const TYPE_IPV4: [u8; 2] = [0x08, 0x00];
const TCP: u8 = 6;
const UDP: u8 = 17;

/// The IP header and the following bytes, if the frame carries IPv4.
fn ipv4(frame: &[u8]) -> Option<&[u8]> {
    let packet = frame.get(ETHERNET_HEADER..)?;
    let is_ipv4 = frame[12..14] == TYPE_IPV4 && packet.len() >= 20 && packet[0] >> 4 == 4;
    is_ipv4.then_some(packet)
}

/// The addresses and ports of a flow, as [`crate::Datagram::flow`] packs them. Ports are zero for
/// protocols without and for later fragments.
pub(crate) fn flow(frame: &[u8]) -> Option<(u64, u64)> {
    let packet = ipv4(frame)?;
    let word = |at: usize| u32::from_be_bytes(packet[at..at + 4].try_into().expect("four bytes"));
    let addresses = u64::from(word(12)) << 32 | u64::from(word(16));
    let header = usize::from(packet[0] & 15) * 4;
    let whole = u16::from_be_bytes([packet[6], packet[7]]) & 0x1fff == 0;
    let has_ports = whole && matches!(packet[9], TCP | UDP) && packet.len() >= header + 4;
    let ports = if has_ports { u64::from(word(header)) } else { 0 };
    Some((addresses, ports))
}

/// Sets "congestion experienced" if the endpoints support it; returns whether they do.
pub(crate) fn mark_congested(frame: &mut [u8]) -> bool {
    if ipv4(frame).is_none_or(|packet| packet[1] & 3 == 0) {
        return false;
    }
    let packet = &mut frame[ETHERNET_HEADER..];
    let word = |packet: &[u8], at: usize| u16::from_be_bytes([packet[at], packet[at + 1]]);
    let before = word(packet, 0);
    packet[1] |= 3;
    // RFC 1624, equation 3: the sum without the old word and with the new one.
    let mut sum = u32::from(!word(packet, 10)) + u32::from(!before) + u32::from(word(packet, 0));
    sum = (sum & 0xffff) + (sum >> 16);
    sum = (sum & 0xffff) + (sum >> 16);
    packet[10..12].copy_from_slice(&(!(sum as u16)).to_be_bytes());
    true
}
