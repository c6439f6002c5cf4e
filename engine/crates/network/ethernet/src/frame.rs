use crate::{raw, Datagram, Ecn, Mac, Told};
use rackwright_link::Trail;
use rackwright_schedule::Item;
use rackwright_time::Network;
use std::sync::Arc;

/// Bytes of the Ethernet header: two addresses and a type.
pub const ETHERNET_HEADER: usize = 14;
/// The largest frame of any model, in bytes: a jumbo frame.
pub const LARGEST_FRAME: usize = 9600;

/// A frame, without preamble and frame check sequence.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Frame {
    /// A datagram of a traffic model.
    Datagram(Datagram),
    /// A message of one dispatching switch to another.
    Told(Arc<Told>),
    /// Any bytes, as a NIC sends them.
    Raw(Arc<[u8]>),
}

/// Bytes that cannot be sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum FrameError {
    /// Nothing to send.
    #[error("a frame has at least one byte")]
    Empty,
    /// More than 16 bits can count.
    #[error("a frame of {0} bytes cannot be sent; 65535 is the limit of every port")]
    TooLong(usize),
}

impl Frame {
    /// A frame with these bytes. Runts and giants are frames too: switches drop and count them.
    ///
    /// # Errors
    /// [`FrameError`] when there are none or more than 65535.
    pub fn raw(bytes: &[u8]) -> Result<Frame, FrameError> {
        match bytes.len() {
            0 => Err(FrameError::Empty),
            1..=0xffff => Ok(Frame::Raw(bytes.into())),
            length => Err(FrameError::TooLong(length)),
        }
    }

    /// The frame with these bytes: a message, stored as numbers, if they are one.
    pub fn from_bytes(bytes: &[u8]) -> Frame {
        match (Told::parse(bytes), Datagram::parse(bytes)) {
            (Some(told), _) => Frame::Told(Arc::new(told)),
            (None, Ok(datagram)) => Frame::Datagram(datagram),
            (None, Err(_)) => Frame::Raw(bytes.into()),
        }
    }

    /// Its length in bytes.
    #[inline]
    pub fn length(&self) -> usize {
        match self {
            Frame::Datagram(datagram) => datagram.frame_bytes(),
            Frame::Told(told) => told.datagram.frame_bytes(),
            Frame::Raw(bytes) => bytes.len(),
        }
    }

    /// Its bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        match self {
            Frame::Datagram(datagram) => datagram.to_bytes(),
            Frame::Told(told) => told.to_bytes(),
            Frame::Raw(bytes) => bytes.to_vec(),
        }
    }

    /// The receiver; none for a runt.
    #[inline]
    pub fn destination(&self) -> Option<Mac> {
        match self {
            Frame::Datagram(datagram) => Some(datagram.destination),
            Frame::Told(told) => Some(told.datagram.destination),
            Frame::Raw(bytes) if bytes.len() < ETHERNET_HEADER => None,
            Frame::Raw(bytes) => bytes.first_chunk().map(|mac| Mac(*mac)),
        }
    }

    /// The datagram that it is, or that its bytes are.
    pub fn datagram(&self) -> Option<Datagram> {
        match self {
            Frame::Datagram(datagram) => Some(*datagram),
            Frame::Told(told) => Some(told.datagram),
            Frame::Raw(bytes) => Datagram::parse(bytes).ok(),
        }
    }

    /// A number that is equal for all frames of one flow, and for another `seed` another.
    #[inline]
    pub fn flow(&self, seed: u64) -> u64 {
        let mut hash = Trail::new();
        hash.add(seed, 0);
        match self {
            Frame::Datagram(datagram) => {
                let (addresses, ports) = datagram.flow();
                hash.add(addresses, ports);
            }
            Frame::Told(told) => {
                let (addresses, ports) = told.datagram.flow();
                hash.add(addresses, ports);
            }
            Frame::Raw(bytes) => match raw::flow(bytes) {
                Some((addresses, ports)) => hash.add(addresses, ports),
                None => hash.bytes(&bytes[..bytes.len().min(ETHERNET_HEADER)]),
            },
        }
        hash.value()
    }

    /// Sets a congestion mark; returns whether its endpoints support that.
    pub fn mark_congested(&mut self) -> bool {
        match self {
            Frame::Datagram(datagram) if datagram.ecn == Ecn::NotCapable => false,
            Frame::Datagram(datagram) => {
                datagram.ecn = Ecn::Congested;
                true
            }
            // Switches would not slow down.
            Frame::Told(_) => false,
            Frame::Raw(bytes) => raw::mark_congested(Arc::make_mut(bytes)),
        }
    }
}

impl Item for Frame {
    type Clock = Network;

    #[inline]
    fn leave(&self, trail: &mut Trail) {
        match self {
            Frame::Datagram(datagram) => datagram.leave(trail),
            Frame::Told(told) => told.leave(trail),
            Frame::Raw(bytes) => trail.bytes(bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Endpoint, Ipv4, Kind, Message};
    use rackwright_dispatch::ServiceId;

    fn datagram(ecn: Ecn) -> Frame {
        Frame::Datagram(Datagram {
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
            payload: 100,
            ecn,
            message: Message {
                kind: Kind::Request,
                service: ServiceId(0),
                argument: 16,
                number: 1,
            },
        })
    }

    #[test]
    fn a_datagram_and_its_bytes_are_treated_alike() {
        for ecn in [Ecn::NotCapable, Ecn::Capable] {
            let mut frame = datagram(ecn);
            let mut raw = Frame::raw(&frame.to_bytes()).unwrap();
            assert_eq!(frame.flow(5), raw.flow(5));
            assert_ne!(frame.flow(5), frame.flow(6));
            assert_eq!(frame.destination(), raw.destination());
            assert_eq!(frame.mark_congested(), raw.mark_congested());
            assert_eq!(frame.to_bytes(), raw.to_bytes(), "checksum included");
        }
    }

    #[test]
    fn frames_that_no_port_counts_are_refused() {
        assert_eq!(Frame::raw(&[]), Err(FrameError::Empty));
        assert_eq!(Frame::raw(&vec![0; 70_000]), Err(FrameError::TooLong(70_000)));
        assert_eq!(Frame::raw(&[1, 2, 3]).unwrap().destination(), None);
    }
}
