use crate::{Ipv4, Mac, Place};
use etherparse::{IpEcn, IpHeaders, NetSlice, PacketBuilder, SlicedPacket, TransportSlice};
use rackwright_dispatch::{wire, ServiceId};
use rackwright_link::Trail;

/// Bytes of a datagram's frame before its payload: Ethernet, IPv4 and UDP headers.
pub const HEADER_BYTES: usize = 14 + 20 + 8;
/// Bytes of a payload that its [`Message`] takes.
pub const MESSAGE_BYTES: usize = wire::HEADER_BYTES;
/// The largest payload: with its headers it fills the largest frame.
pub const LARGEST_PAYLOAD: usize = crate::LARGEST_FRAME - HEADER_BYTES;

const TIME_TO_LIVE: u8 = 64;

/// One end of a flow.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Endpoint {
    /// The Internet address.
    pub address: Ipv4,
    /// The UDP port.
    pub port: u16,
}

/// Explicit congestion notification, as two bits of the Internet header (RFC 3168).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Ecn {
    /// The ends do not understand it.
    #[default]
    NotCapable,
    /// The ends understand it.
    Capable,
    /// A switch on the path was congested.
    Congested,
}

/// The message of a traffic model in a datagram: the header that clients, services and dispatchers share. The rest of
/// the payload is zeros.
pub use rackwright_dispatch::wire::{Header as Message, Kind};

/// A UDP datagram over IPv4, stored as numbers: its bytes are generated only on demand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Datagram {
    /// The receiver's hardware address.
    pub destination: Mac,
    /// The sender's hardware address.
    pub source: Mac,
    /// The sender.
    pub from: Endpoint,
    /// The receiver.
    pub to: Endpoint,
    /// Bytes of payload, [`MESSAGE_BYTES`] to [`LARGEST_PAYLOAD`].
    pub payload: u16,
    /// Congestion notification.
    pub ecn: Ecn,
    /// What it says.
    pub message: Message,
}

/// Why bytes are not a datagram of a traffic model.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Foreign {
    /// Not UDP over IPv4 over Ethernet, or truncated.
    #[error("not a whole UDP datagram over IPv4")]
    NotUdp,
    /// A header or the data were damaged.
    #[error("wrong checksum")]
    Checksum,
    /// The payload is in another format.
    #[error("not a message of a traffic model")]
    NotAMessage,
}

impl Datagram {
    /// Bytes of the frame.
    #[inline]
    pub fn frame_bytes(&self) -> usize {
        HEADER_BYTES + usize::from(self.payload)
    }

    /// A message of a switch's own. It has no source address: responses to it are accepted from any sender.
    pub fn own(kind: Kind, to: &Place) -> Datagram {
        let nobody = Endpoint {
            address: Ipv4::UNSPECIFIED,
            port: 0,
        };
        Datagram {
            destination: to.mac,
            source: Mac::default(),
            from: nobody,
            to: to.endpoint,
            payload: MESSAGE_BYTES as u16,
            ecn: Ecn::NotCapable,
            message: Message {
                kind,
                service: ServiceId(0),
                argument: 0,
                number: 0,
            },
        }
    }

    /// The frame, with checksums.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.with_payload(&self.payload_bytes())
    }

    /// The frame with a payload of the length in its header.
    pub fn with_payload(&self, payload: &[u8]) -> Vec<u8> {
        let addresses = (self.from.address.octets(), self.to.address.octets());
        let mut header = etherparse::Ipv4Header::new(
            0,
            TIME_TO_LIVE,
            etherparse::IpNumber::UDP,
            addresses.0,
            addresses.1,
        )
        .expect("an empty payload fits");
        header.ecn = match self.ecn {
            Ecn::NotCapable => IpEcn::ZERO,
            Ecn::Capable => IpEcn::TWO,
            Ecn::Congested => IpEcn::THREE,
        };
        let builder = PacketBuilder::ethernet2(self.source.0, self.destination.0)
            .ip(IpHeaders::Ipv4(header, Default::default()))
            .udp(self.from.port, self.to.port);
        let mut bytes = Vec::with_capacity(self.frame_bytes());
        builder
            .write(&mut bytes, payload)
            .expect("a datagram fits into a packet");
        bytes
    }

    /// Reads a frame back.
    ///
    /// # Errors
    /// [`Foreign`] if it is anything but a datagram of [`Datagram::to_bytes`].
    pub fn parse(bytes: &[u8]) -> Result<Datagram, Foreign> {
        let packet = SlicedPacket::from_ethernet(bytes).map_err(|_| Foreign::NotUdp)?;
        let (Some(link), Some(NetSlice::Ipv4(ip)), Some(TransportSlice::Udp(udp))) = (
            packet.link.and_then(|link| link.to_header()),
            packet.net,
            packet.transport,
        ) else {
            return Err(Foreign::NotUdp);
        };
        let ethernet = link.ethernet2().ok_or(Foreign::NotUdp)?;
        let header = ip.header().to_header();
        let checksum = udp
            .to_header()
            .calc_checksum_ipv4(&header, udp.payload())
            .map_err(|_| Foreign::NotUdp)?;
        if !is_intact(ip.header().slice()) || checksum != udp.checksum() {
            return Err(Foreign::Checksum);
        }
        Ok(Datagram {
            destination: Mac(ethernet.destination),
            source: Mac(ethernet.source),
            from: Endpoint {
                address: header.source.into(),
                port: udp.source_port(),
            },
            to: Endpoint {
                address: header.destination.into(),
                port: udp.destination_port(),
            },
            payload: u16::try_from(udp.payload().len()).map_err(|_| Foreign::NotUdp)?,
            ecn: match header.ecn.value() {
                0 => Ecn::NotCapable,
                3 => Ecn::Congested,
                _ => Ecn::Capable,
            },
            message: parse(udp.payload())?,
        })
    }

    fn payload_bytes(&self) -> Vec<u8> {
        let mut payload = vec![0; usize::from(self.payload)];
        payload[..MESSAGE_BYTES].copy_from_slice(&self.message.to_bytes());
        payload
    }

    /// Adds its contents to the trail of a link.
    #[inline]
    pub(crate) fn leave(&self, trail: &mut Trail) {
        let (addresses, ports) = self.flow();
        let rest = u64::from(self.payload) << 32
            | u64::from(self.message.argument) << 16
            | (self.ecn as u64) << 8
            | self.message.kind as u64;
        let service = u64::from(self.message.service.0) << 48;
        trail.add(addresses, ports << 32 ^ self.destination.bits());
        trail.add(self.message.number ^ service, rest ^ self.source.bits() << 16);
    }

    /// The identity of a flow, whose datagrams must stay in order: five numbers, as two words.
    #[inline]
    pub(crate) fn flow(&self) -> (u64, u64) {
        let addresses = u64::from(self.from.address.to_bits()) << 32 | u64::from(self.to.address.to_bits());
        let ports = u64::from(self.from.port) << 16 | u64::from(self.to.port);
        (addresses, ports)
    }
}

/// Whether the words of an Internet header, its checksum included, add up to all ones (RFC 1071).
/// Reserved bits count too, which a header parsed into fields would have lost.
fn is_intact(header: &[u8]) -> bool {
    let words = header
        .chunks_exact(2)
        .map(|word| u32::from(u16::from_be_bytes([word[0], word[1]])));
    let sum: u32 = words.sum();
    (sum & 0xffff) + (sum >> 16) == 0xffff
}

fn parse(payload: &[u8]) -> Result<Message, Foreign> {
    let (message, _) = Message::parse(payload).map_err(|_| Foreign::NotAMessage)?;
    Ok(message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use proptest::test_runner::RngSeed;

    fn datagram(payload: u16, number: u64, ecn: Ecn) -> Datagram {
        Datagram {
            destination: Mac::assigned(2),
            source: Mac::assigned(3),
            from: Endpoint {
                address: Ipv4::new(172, 16, 0, 3),
                port: 4000,
            },
            to: Endpoint {
                address: Ipv4::new(172, 16, 0, 2),
                port: 11211,
            },
            payload,
            ecn,
            message: Message {
                kind: if number % 2 == 0 {
                    Kind::Response
                } else {
                    Kind::Request
                },
                service: ServiceId(payload),
                argument: payload,
                number,
            },
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            cases: 256,
            rng_seed: RngSeed::Fixed(14),
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        #[test]
        fn datagrams_survive_as_bytes(
            payload in MESSAGE_BYTES as u16..=LARGEST_PAYLOAD as u16,
            number: u64,
            ecn in prop_oneof![Just(Ecn::NotCapable), Just(Ecn::Capable), Just(Ecn::Congested)],
        ) {
            let sent = datagram(payload, number, ecn);
            let bytes = sent.to_bytes();
            prop_assert_eq!(bytes.len(), sent.frame_bytes());
            prop_assert_eq!(Datagram::parse(&bytes), Ok(sent));
        }

        #[test]
        fn any_bytes_are_judged(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            prop_assert!(Datagram::parse(&bytes).is_err());
        }

        #[test]
        fn every_damaged_bit_behind_the_addresses_is_noticed(bit in 8 * 14..8 * 100_usize) {
            let mut bytes = datagram(58, 9, Ecn::Capable).to_bytes();
            bytes[bit / 8] ^= 1 << (bit % 8);
            prop_assert!(Datagram::parse(&bytes).is_err());
        }
    }
}
