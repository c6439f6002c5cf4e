use crate::user::packet::udp_frame;
use crate::user::{GUEST, HOST, NAMES, PREFIX};
use smoltcp::wire::{DhcpMessageType, DhcpPacket, DhcpRepr, EthernetAddress};
use std::net::{Ipv4Addr, SocketAddrV4};

const SERVER: SocketAddrV4 = SocketAddrV4::new(HOST, 67);
/// To all: a client may not have an address yet.
const CLIENT: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::BROADCAST, 68);
/// Seconds for which an address is lent: a day.
const LEASE: u32 = 86_400;
const MASK: Ipv4Addr = Ipv4Addr::from_bits(u32::MAX << (32 - PREFIX));

/// The response to a client's message (RFC 2131, section 4.3), if it requires one. There is one address to assign, and
/// one guest.
pub(crate) fn answer(message: &[u8]) -> Option<Vec<u8>> {
    let packet = DhcpPacket::new_checked(message).ok()?;
    let asked = DhcpRepr::parse(&packet).ok()?;
    if asked.server_identifier.is_some_and(|server| server != HOST) {
        return None;
    }
    let kind = match asked.message_type {
        DhcpMessageType::Discover => DhcpMessageType::Offer,
        DhcpMessageType::Request if wanted(&asked) == GUEST => DhcpMessageType::Ack,
        DhcpMessageType::Request => DhcpMessageType::Nak,
        _ => return None,
    };
    let given = lease(kind, &asked);
    let frame = udp_frame(
        EthernetAddress::BROADCAST,
        (SERVER, CLIENT),
        given.buffer_len(),
        |bytes| {
            given
                .emit(&mut DhcpPacket::new_unchecked(bytes))
                .expect("the buffer is as long as the message says");
        },
    );
    Some(frame)
}

/// The address that a client requests, or has and wants to keep.
fn wanted(asked: &DhcpRepr<'_>) -> Ipv4Addr {
    asked.requested_ip.unwrap_or(asked.client_ip)
}

fn lease<'a>(kind: DhcpMessageType, asked: &DhcpRepr<'_>) -> DhcpRepr<'a> {
    let gives = kind != DhcpMessageType::Nak;
    let names = || [NAMES].into_iter().collect();
    DhcpRepr {
        message_type: kind,
        transaction_id: asked.transaction_id,
        secs: 0,
        client_hardware_address: asked.client_hardware_address,
        client_ip: Ipv4Addr::UNSPECIFIED,
        your_ip: if gives { GUEST } else { Ipv4Addr::UNSPECIFIED },
        server_ip: Ipv4Addr::UNSPECIFIED,
        router: gives.then_some(HOST),
        subnet_mask: gives.then_some(MASK),
        relay_agent_ip: Ipv4Addr::UNSPECIFIED,
        broadcast: true,
        requested_ip: None,
        client_identifier: None,
        server_identifier: Some(HOST),
        parameter_request_list: None,
        dns_servers: gives.then(names),
        max_size: None,
        lease_duration: gives.then_some(LEASE),
        renew_duration: None,
        rebind_duration: None,
        additional_options: &[],
    }
}
