use std::ops::{Range, RangeInclusive};

/// To which of its ports a switch or the root complex forwards: what is below each port that leads away from the root.
#[derive(Default)]
pub(crate) struct Routes {
    below: Vec<Below>,
}

pub(crate) struct Below {
    /// Number of the port.
    pub(crate) port: usize,
    /// Buses, of which the first is that of the link.
    pub(crate) buses: RangeInclusive<u8>,
    /// Addresses.
    pub(crate) window: Range<u64>,
}

impl Routes {
    pub(crate) fn add(&mut self, port: usize, buses: RangeInclusive<u8>) {
        self.below.push(Below {
            port,
            buses,
            window: 0..0,
        });
    }

    /// The port below which a bus is, and whether it is that of the link itself.
    pub(crate) fn of_bus(&self, bus: u8) -> Option<(usize, bool)> {
        let below = self.below.iter().find(|below| below.buses.contains(&bus))?;
        Some((below.port, *below.buses.start() == bus))
    }

    /// The port below which an address is.
    pub(crate) fn of_address(&self, address: u64) -> Option<usize> {
        let below = self.below.iter().find(|below| below.window.contains(&address))?;
        Some(below.port)
    }

    /// Gives the port with `bus` below it a window, which grows to hold `range`.
    pub(crate) fn widen(&mut self, bus: u8, range: &Range<u64>) {
        if let Some(below) = self.below.iter_mut().find(|below| below.buses.contains(&bus)) {
            let window = &mut below.window;
            *window = if window.is_empty() {
                range.clone()
            } else {
                window.start.min(range.start)..window.end.max(range.end)
            };
        }
    }
}
