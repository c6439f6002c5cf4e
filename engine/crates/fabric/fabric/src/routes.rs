use crate::bridge::Bridge;
use std::ops::{Range, RangeInclusive};

/// The forwarding of a switch or the root complex to its ports: the addresses below each downstream port, as in its
/// bridge.
#[derive(Default)]
pub(crate) struct Routes {
    below: Vec<Below>,
}

struct Below {
    /// Number of the port.
    port: usize,
    /// Buses, the first of which is that of the link.
    buses: RangeInclusive<u8>,
    /// Addresses.
    windows: [Range<u64>; 2],
}

impl Routes {
    /// The bridge of a port has been set.
    pub(crate) fn set(&mut self, port: usize, bridge: &Bridge) {
        self.below.retain(|below| below.port != port);
        self.below.push(Below {
            port,
            buses: bridge.buses(),
            windows: bridge.windows(),
        });
    }

    /// The port below which a bus is, and whether it is that of the link itself.
    pub(crate) fn of_bus(&self, bus: u8) -> Option<(usize, bool)> {
        let below = self.below.iter().find(|below| below.buses.contains(&bus))?;
        Some((below.port, *below.buses.start() == bus))
    }

    /// The port below which an address is.
    pub(crate) fn of_address(&self, address: u64) -> Option<usize> {
        let contains = |below: &&Below| below.windows.iter().any(|window| window.contains(&address));
        Some(self.below.iter().find(contains)?.port)
    }
}
