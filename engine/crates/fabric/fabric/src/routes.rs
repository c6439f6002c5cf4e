use crate::bridge::Bridge;
use std::ops::{Range, RangeInclusive};

/// To which of its ports a switch or the root complex forwards: what is below each port that leads away from the root, as its
/// bridge says.
#[derive(Default)]
pub(crate) struct Routes {
    below: Vec<Below>,
}

struct Below {
    /// Number of the port.
    port: usize,
    /// Buses, of which the first is that of the link.
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
