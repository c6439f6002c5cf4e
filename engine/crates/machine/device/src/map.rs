/// A range of addresses, and the interrupt source of what lies there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    /// First address.
    pub base: u64,
    /// How many bytes.
    pub bytes: u64,
    /// Number of its interrupt at the PLIC; 0 for none.
    pub source: u32,
}

impl Place {
    /// The place of what is not there.
    const NOWHERE: Place = place(0, 0, 0);

    /// Whether anything lies there.
    pub(crate) fn is_used(&self) -> bool {
        self.bytes != 0
    }

    /// Where in it `address` lies, if it does.
    #[inline]
    pub fn offset(&self, address: u64) -> Option<u64> {
        let offset = address.wrapping_sub(self.base);
        (offset < self.bytes).then_some(offset)
    }
}

/// How many serial ports a server has.
pub const UARTS: usize = 4;

/// Where the devices of a machine lie. A device whose place has no bytes is not there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Map {
    /// The power switch.
    pub power: Place,
    /// Software interrupts and timers.
    pub aclint: Place,
    /// The interrupt controller.
    pub plic: Place,
    /// The serial ports: console, requests, and standard output and error of what was requested.
    pub uarts: [Place; UARTS],
    /// The PCI Express host bridge.
    pub pci: PciMap,
    /// How bare metal prints and ends.
    pub host: Place,
    /// Where memory begins.
    pub memory: u64,
}

/// Where the PCI Express host bridge lies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PciMap {
    /// Configuration space of its one bus, by the enhanced access mechanism.
    pub configuration: Place,
    /// What it passes on to functions: a window below 4 GiB, and one for ranges with addresses of 64 bits.
    pub windows: [Place; 2],
    /// Interrupt sources of the four legacy lines: that of pin A of device n is the one at n modulo 4.
    pub sources: [u32; 4],
}

const fn place(base: u64, bytes: u64, source: u32) -> Place {
    Place { base, bytes, source }
}

impl Map {
    /// The map of a server that boots Linux; the places are those that many RISC-V boards use.
    pub const SERVER: Map = Map {
        power: place(0x10_0000, 0x1000, 0),
        aclint: place(0x200_0000, 0x1_0000, 0),
        plic: place(0xc00_0000, 0x60_0000, 0),
        uarts: [
            place(0x1000_0000, 0x100, 10),
            place(0x1000_1000, 0x100, 11),
            place(0x1000_2000, 0x100, 12),
            place(0x1000_3000, 0x100, 13),
        ],
        pci: PciMap {
            configuration: place(0x3000_0000, 1 << 20, 0),
            windows: [place(0x4000_0000, 0x4000_0000, 0), place(1 << 41, 1 << 36, 0)],
            sources: [20, 21, 22, 23],
        },
        host: Place::NOWHERE,
        memory: 0x8000_0000,
    };

    /// The map of a machine without devices.
    pub const NOTHING: Map = Map {
        power: Place::NOWHERE,
        aclint: Place::NOWHERE,
        plic: Place::NOWHERE,
        uarts: [Place::NOWHERE; UARTS],
        pci: PciMap {
            configuration: Place::NOWHERE,
            windows: [Place::NOWHERE; 2],
            sources: [0; 4],
        },
        host: Place::NOWHERE,
        memory: 0,
    };

    /// The map of a machine that runs bare metal (`software/bare-metal/README.md`).
    pub const BARE_METAL: Map = Map {
        aclint: place(0x200_0000, 0x1_0000, 0),
        host: place(0x1000_1000, 16, 0),
        memory: 0x8000_0000,
        ..Map::NOTHING
    };

    /// The places that are used, by name, in the order of their addresses.
    pub fn places(&self) -> Vec<(&'static str, Place)> {
        let [console, requests, output, errors] = self.uarts;
        let [low, high] = self.pci.windows;
        let mut places = vec![
            ("power", self.power),
            ("aclint", self.aclint),
            ("plic", self.plic),
            ("uart console", console),
            ("uart requests", requests),
            ("uart output", output),
            ("uart errors", errors),
            ("pci configuration", self.pci.configuration),
            ("pci window", low),
            ("pci high window", high),
            ("host interface", self.host),
        ];
        places.retain(|(_, place)| place.is_used());
        places.sort_by_key(|(_, place)| place.base);
        places
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_apart_and_below_or_above_memory() {
        for map in [Map::SERVER, Map::BARE_METAL] {
            let places = map.places();
            for pair in places.windows(2) {
                assert!(pair[0].1.base + pair[0].1.bytes <= pair[1].1.base, "{pair:?}");
            }
            assert!(places.iter().all(|(_, place)| place.offset(map.memory).is_none()));
        }
    }

    #[test]
    fn bare_metal_has_timers_and_the_host() {
        let names: Vec<&str> = Map::BARE_METAL.places().iter().map(|(name, _)| *name).collect();
        assert_eq!(names, ["aclint", "host interface"]);
    }
}
