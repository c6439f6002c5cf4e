//! Ethernet frames that contain one complete datagram of UDP over IPv4.

use crate::checksum::Sum;
use std::net::{Ipv4Addr, SocketAddrV4};

/// Bytes of the headers of Ethernet, IPv4 and UDP together.
pub(crate) const HEADER_BYTES: usize = 42;

/// Offsets of the fields of a frame.
pub(crate) const TYPE: usize = 12;
pub(crate) const VERSION: usize = 14;
pub(crate) const TOTAL: usize = 16;
pub(crate) const FRAGMENT: usize = 20;
pub(crate) const PROTOCOL: usize = 23;
pub(crate) const SOURCE: usize = 26;
pub(crate) const DESTINATION: usize = 30;
pub(crate) const SOURCE_PORT: usize = 34;
pub(crate) const DESTINATION_PORT: usize = 36;
pub(crate) const LENGTH: usize = 38;
pub(crate) const CHECKSUM: usize = 40;

/// Bytes of Ethernet's header, and with that of IPv4.
const ETHERNET: usize = 14;
const IPV4: usize = 34;

/// The bytes after the fragment field of an outgoing datagram: the time to live and the protocol.
const TIME_TO_LIVE: u8 = 64;
const UDP: u8 = 17;

/// The machine that sent a frame, or a router on its path: its Ethernet address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Neighbor(pub [u8; 6]);

/// The addresses for sending a datagram.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Route {
    /// The address of this machine that it is sent from.
    pub from: SocketAddrV4,
    /// Whom it is for.
    pub to: SocketAddrV4,
    /// The next hop.
    pub neighbor: Neighbor,
}

/// A datagram that arrived in a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Arrived<'a> {
    /// Who sent it.
    pub from: SocketAddrV4,
    /// Whom it is for.
    pub to: SocketAddrV4,
    /// Who brought it.
    pub neighbor: Neighbor,
    /// Its contents.
    pub bytes: &'a [u8],
}

impl Arrived<'_> {
    /// The way back.
    pub fn back(&self) -> Route {
        Route {
            from: self.to,
            to: self.from,
            neighbor: self.neighbor,
        }
    }
}

/// A frame that is broken, or of another kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Malformed;

fn number(frame: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([frame[at], frame[at + 1]])
}

fn address(frame: &[u8], at: usize, port: usize) -> SocketAddrV4 {
    let host = Ipv4Addr::new(frame[at], frame[at + 1], frame[at + 2], frame[at + 3]);
    SocketAddrV4::new(host, number(frame, port))
}

/// The sum of the pseudo header: both addresses, the protocol and the length.
fn pseudo_header(frame: &[u8]) -> Sum {
    Sum::default()
        .with(&frame[SOURCE..SOURCE_PORT])
        .with_number(UDP.into())
        .with_number(number(frame, LENGTH))
}

/// Whether an address that begins with this byte can be that of another machine: the kernel accepts no others either.
fn is_answerable(first: u8) -> bool {
    !matches!(first, 0 | 127 | 224..)
}

/// The datagram in a frame.
pub(crate) fn parse(frame: &[u8]) -> Result<Arrived<'_>, Malformed> {
    let is_known = frame.len() >= HEADER_BYTES
        && frame[TYPE..=VERSION] == [8, 0, 0x45]
        && number(frame, FRAGMENT) & 0x3fff == 0
        && frame[PROTOCOL] == UDP
        && is_answerable(frame[SOURCE]);
    if !is_known {
        return Err(Malformed);
    }
    let (total, length) = (
        usize::from(number(frame, TOTAL)),
        usize::from(number(frame, LENGTH)),
    );
    // Ethernet fills up short frames.
    let is_whole = total <= frame.len() - ETHERNET && (8..=total.saturating_sub(20)).contains(&length);
    if !is_whole || Sum::default().with(&frame[ETHERNET..IPV4]).folded() != 0xffff {
        return Err(Malformed);
    }
    if !is_checked(frame, length) {
        return Err(Malformed);
    }
    let mut neighbor = [0; 6];
    neighbor.copy_from_slice(&frame[6..12]);
    Ok(Arrived {
        from: address(frame, SOURCE, SOURCE_PORT),
        to: address(frame, DESTINATION, DESTINATION_PORT),
        neighbor: Neighbor(neighbor),
        bytes: &frame[HEADER_BYTES..IPV4 + length],
    })
}

/// Whether the checksum of UDP is correct, absent, or unfinished.
///
/// A sender on the same machine, or on its host, leaves the checksum to a network card, which a frame between two
/// virtual interfaces never passes: the field then has only the sum of the pseudo header. Such a frame was on no wire,
/// and the kernel believes it too. The cost is that a frame damaged on a wire is accepted for two of 65,536 values of
/// this field instead of one.
fn is_checked(frame: &[u8], length: usize) -> bool {
    let found = number(frame, CHECKSUM);
    let pseudo = pseudo_header(frame);
    found == 0
        || found == pseudo.folded()
        || pseudo.with(&frame[SOURCE_PORT..IPV4 + length]).folded() == 0xffff
}

/// The length of the frame with a datagram of `datagram` bytes.
pub(crate) fn frame_bytes(datagram: usize) -> usize {
    HEADER_BYTES + datagram
}

/// Writes the headers of a frame before its contents, which are in place already; `frame` has the length of the frame.
pub(crate) fn build(frame: &mut [u8], own: [u8; 6], route: &Route) {
    let length = frame.len() - IPV4;
    frame[..6].copy_from_slice(&route.neighbor.0);
    frame[6..12].copy_from_slice(&own);
    frame[TYPE..TOTAL].copy_from_slice(&[8, 0, 0x45, 0]);
    frame[TOTAL..TOTAL + 2].copy_from_slice(&((length + 20) as u16).to_be_bytes());
    // Without an identification, because it must not be fragmented.
    frame[TOTAL + 2..TOTAL + 10].copy_from_slice(&[0, 0, 0x40, 0, TIME_TO_LIVE, UDP, 0, 0]);
    frame[SOURCE..DESTINATION].copy_from_slice(&route.from.ip().octets());
    frame[DESTINATION..SOURCE_PORT].copy_from_slice(&route.to.ip().octets());
    let checksum = !Sum::default().with(&frame[ETHERNET..IPV4]).folded();
    frame[TOTAL + 8..TOTAL + 10].copy_from_slice(&checksum.to_be_bytes());
    frame[SOURCE_PORT..DESTINATION_PORT].copy_from_slice(&route.from.port().to_be_bytes());
    frame[DESTINATION_PORT..LENGTH].copy_from_slice(&route.to.port().to_be_bytes());
    frame[LENGTH..CHECKSUM].copy_from_slice(&(length as u16).to_be_bytes());
    frame[CHECKSUM..HEADER_BYTES].copy_from_slice(&[0, 0]);
    let sum = pseudo_header(frame).with(&frame[SOURCE_PORT..]).folded();
    // Zero would mean that there is none.
    let checksum = if sum == 0xffff { sum } else { !sum };
    frame[CHECKSUM..HEADER_BYTES].copy_from_slice(&checksum.to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const OWN: [u8; 6] = [2, 0, 0, 0, 0, 9];

    fn built(route: &Route, bytes: &[u8]) -> Vec<u8> {
        let mut frame = vec![0; frame_bytes(bytes.len())];
        frame[HEADER_BYTES..].copy_from_slice(bytes);
        build(&mut frame, OWN, route);
        frame
    }

    fn route() -> Route {
        Route {
            from: "10.1.2.3:9000".parse().unwrap(),
            to: "10.1.2.4:5000".parse().unwrap(),
            neighbor: Neighbor([2, 0, 0, 0, 0, 7]),
        }
    }

    #[test]
    fn a_frame_is_as_the_standards_say() {
        let frame = built(&route(), b"hello");
        let expected = [
            2, 0, 0, 0, 0, 7, 2, 0, 0, 0, 0, 9, 8, 0, 0x45, 0, 0, 33, 0, 0, 0x40, 0, 64, 17, 0x22, 0xc4, 10,
            1, 2, 3, 10, 1, 2, 4, 0x23, 0x28, 0x13, 0x88, 0, 13,
        ];
        assert_eq!(frame[..CHECKSUM], expected);
        assert_eq!(frame[HEADER_BYTES..], *b"hello");
        assert_eq!(frame[CHECKSUM..HEADER_BYTES], [0x6d, 0x49]);
    }

    proptest! {
        #[test]
        fn what_is_built_is_found_again(
            hosts in any::<[u32; 2]>(), ports in any::<[u16; 2]>(), mac in any::<[u8; 6]>(),
            bytes in proptest::collection::vec(any::<u8>(), 0..1500),
        ) {
            let [from, to] = [0, 1].map(|at| SocketAddrV4::new((hosts[at] % (100 << 24) + (1 << 24)).into(), ports[at]));
            let route = Route { from, to, neighbor: Neighbor(mac) };
            let mut frame = built(&route, &bytes);
            // Ethernet fills up short frames.
            frame.resize(frame.len().max(60), 0xee);
            let arrived = Arrived { from, to, neighbor: Neighbor(OWN), bytes: &bytes };
            prop_assert_eq!(parse(&frame), Ok(arrived));
            prop_assert_eq!(arrived.back(), Route { from: to, to: from, neighbor: Neighbor(OWN) });
            prop_assert_ne!(&frame[CHECKSUM..HEADER_BYTES], &[0, 0]);
        }

        #[test]
        fn one_wrong_bit_is_noticed(
            bytes in proptest::collection::vec(any::<u8>(), 1..100), place in any::<proptest::sample::Index>(), bit in 0..8,
        ) {
            let mut frame = built(&route(), &bytes);
            let at = ETHERNET + place.index(frame.len() - ETHERNET);
            frame[at] ^= 1_u8 << bit;
            // Both of these are believed, and a wrong bit can lead there.
            let believed = [0, pseudo_header(&frame).folded()];
            prop_assert!(parse(&frame).is_err() || believed.contains(&number(&frame, CHECKSUM)));
        }

        #[test]
        fn nothing_is_read_that_is_not_there(frame in proptest::collection::vec(any::<u8>(), 0..100)) {
            let _ = parse(&frame);
        }

        #[test]
        fn lengths_that_lie_are_refused(total in any::<u16>(), length in any::<u16>()) {
            let mut frame = built(&route(), b"hello");
            frame[TOTAL..TOTAL + 2].copy_from_slice(&total.to_be_bytes());
            frame[TOTAL + 8..TOTAL + 10].copy_from_slice(&[0, 0]);
            let checksum = !Sum::default().with(&frame[ETHERNET..IPV4]).folded();
            frame[TOTAL + 8..TOTAL + 10].copy_from_slice(&checksum.to_be_bytes());
            frame[LENGTH..CHECKSUM].copy_from_slice(&length.to_be_bytes());
            // Without a checksum, only the lengths themselves can be checked.
            frame[CHECKSUM..HEADER_BYTES].copy_from_slice(&[0, 0]);
            let possible = (28..=33).contains(&total) && (8..=total - 20).contains(&length);
            prop_assert_eq!(parse(&frame).is_ok(), possible);
        }
    }

    #[test]
    fn an_unfinished_checksum_and_none_are_believed() {
        let mut frame = built(&route(), b"hello");
        for checksum in [pseudo_header(&frame).folded(), 0] {
            frame[CHECKSUM..HEADER_BYTES].copy_from_slice(&checksum.to_be_bytes());
            assert_eq!(parse(&frame).map(|arrived| arrived.bytes), Ok(&b"hello"[..]));
        }
    }
}
