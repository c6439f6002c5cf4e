use crate::{Datagram, Ecn, Endpoint, Frame, Ipv4, Mac, Message, Told, MESSAGE_BYTES};
use rackwright_schedule::Portable;
use rackwright_state::{Pass, State, StateError};
use std::sync::Arc;

const DATAGRAM: u8 = 0;
const RAW: u8 = 1;
const TOLD: u8 = 2;

impl Portable for Frame {
    fn pack(&self, bytes: &mut Vec<u8>) {
        match self {
            Frame::Datagram(datagram) => {
                DATAGRAM.pack(bytes);
                datagram.pack(bytes);
            }
            Frame::Told(told) => {
                TOLD.pack(bytes);
                told.pack(bytes);
            }
            Frame::Raw(raw) => {
                RAW.pack(bytes);
                (raw.len() as u16).pack(bytes);
                bytes.extend_from_slice(raw);
            }
        }
    }

    fn unpack(bytes: &mut &[u8]) -> Option<Self> {
        match u8::unpack(bytes)? {
            DATAGRAM => Datagram::unpack(bytes).map(Frame::Datagram),
            TOLD => Told::unpack(bytes).map(Arc::new).map(Frame::Told),
            RAW => {
                let length = usize::from(u16::unpack(bytes)?);
                let (own, rest) = bytes.split_at_checked(length)?;
                *bytes = rest;
                Frame::raw(own).ok()
            }
            _ => None,
        }
    }
}

impl Portable for Datagram {
    fn pack(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&self.destination.0);
        bytes.extend_from_slice(&self.source.0);
        for end in [self.from, self.to] {
            bytes.extend_from_slice(&end.address.octets());
            end.port.pack(bytes);
        }
        self.payload.pack(bytes);
        (self.ecn as u8).pack(bytes);
        bytes.extend_from_slice(&self.message.to_bytes());
    }

    fn unpack(bytes: &mut &[u8]) -> Option<Self> {
        Some(Datagram {
            destination: Mac(octets(bytes)?),
            source: Mac(octets(bytes)?),
            from: endpoint(bytes)?,
            to: endpoint(bytes)?,
            payload: u16::unpack(bytes)?,
            ecn: match u8::unpack(bytes)? {
                0 => Ecn::NotCapable,
                1 => Ecn::Capable,
                2 => Ecn::Congested,
                _ => return None,
            },
            message: Message::parse(&octets::<MESSAGE_BYTES>(bytes)?).ok()?.0,
        })
    }
}

pub(crate) fn octets<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (own, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(*own)
}

fn endpoint(bytes: &mut &[u8]) -> Option<Endpoint> {
    let [a, b, c, d] = octets(bytes)?;
    Some(Endpoint {
        address: Ipv4::new(a, b, c, d),
        port: u16::unpack(bytes)?,
    })
}

impl State for Frame {
    fn pass(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        self.pass_packed(by)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Kind;
    use rackwright_dispatch::{Entry, Load, PeerId, Report, ServiceId};

    fn told(kind: Kind) -> Frame {
        let Frame::Datagram(datagram) = datagram(Ecn::NotCapable, false) else {
            unreachable!("a datagram is one")
        };
        let entry = Entry {
            service: ServiceId(3),
            cores: 2,
            load: Load(700),
        };
        let report = Report {
            from: PeerId(1),
            incarnation: 4,
            sequence: 5,
            entries: [entry, entry].into_iter().collect(),
        };
        Frame::Told(Arc::new(match kind {
            Kind::Gossip => Told::gossip(datagram, report),
            _ => Told::redirected(datagram, 1, report),
        }))
    }

    fn datagram(ecn: Ecn, response: bool) -> Frame {
        let end = |last, port| Endpoint {
            address: Ipv4::new(172, 16, 0, last),
            port,
        };
        Frame::Datagram(Datagram {
            destination: Mac::assigned(2),
            source: Mac::assigned(3),
            from: end(3, 4000),
            to: end(2, 11211),
            payload: 100,
            ecn,
            message: Message {
                kind: if response { Kind::Response } else { Kind::Request },
                service: ServiceId(3),
                argument: 16,
                number: u64::MAX - 1,
            },
        })
    }

    #[test]
    fn frames_come_through_whole_or_not_at_all() {
        let frames = [
            datagram(Ecn::NotCapable, false),
            datagram(Ecn::Capable, true),
            datagram(Ecn::Congested, true),
            told(Kind::Gossip),
            told(Kind::Redirected),
            Frame::raw(&[7]).unwrap(),
            Frame::raw(&vec![9; 9600]).unwrap(),
        ];
        for frame in frames {
            let mut bytes = Vec::new();
            frame.pack(&mut bytes);
            assert_eq!(Frame::unpack(&mut bytes.as_slice()), Some(frame));
            assert_eq!(Frame::unpack(&mut &bytes[..bytes.len() - 1]), None);
        }
        assert_eq!(Frame::unpack(&mut [5u8, 1, 2].as_slice()), None);
    }
}
