use crate::user::MTU;
use smoltcp::phy::{Device, DeviceCapabilities, Medium, RxToken, TxToken};
use smoltcp::time::Instant;
use std::collections::VecDeque;

/// Bytes of Ethernet's header.
pub(crate) const HEADER: usize = 14;

/// Both ends of a cable: frames to the members of the network, and to the guest.
#[derive(Default)]
pub(crate) struct Cable {
    pub(crate) to_network: VecDeque<Vec<u8>>,
    pub(crate) to_guest: VecDeque<Vec<u8>>,
}

pub(crate) struct Taken(Vec<u8>);

pub(crate) struct Place<'a>(&'a mut VecDeque<Vec<u8>>);

impl RxToken for Taken {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, take: F) -> R {
        take(&self.0)
    }
}

impl TxToken for Place<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, length: usize, fill: F) -> R {
        let mut frame = vec![0; length];
        let result = fill(&mut frame);
        self.0.push_back(frame);
        result
    }
}

impl Device for Cable {
    type RxToken<'a> = Taken;
    type TxToken<'a> = Place<'a>;

    fn receive(&mut self, _now: Instant) -> Option<(Taken, Place<'_>)> {
        let frame = self.to_network.pop_front()?;
        Some((Taken(frame), Place(&mut self.to_guest)))
    }

    fn transmit(&mut self, _now: Instant) -> Option<Place<'_>> {
        Some(Place(&mut self.to_guest))
    }

    fn capabilities(&self) -> DeviceCapabilities {
        let mut capabilities = DeviceCapabilities::default();
        capabilities.medium = Medium::Ethernet;
        capabilities.max_transmission_unit = HEADER + MTU;
        capabilities
    }
}
