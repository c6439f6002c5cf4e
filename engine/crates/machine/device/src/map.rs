use crate::aplic::DOMAIN;
use crate::pci::LINES;
use rackwright_contract::UNIT_REGISTERS;

/// A range of addresses, and the interrupt source of its device.
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
    /// The place of an absent device.
    const NOWHERE: Place = place(0, 0, 0);

    /// Whether there is a device.
    pub fn is_used(&self) -> bool {
        self.bytes != 0
    }

    /// The offset of `address` in it, if it is inside.
    #[inline]
    pub fn offset(&self, address: u64) -> Option<u64> {
        let offset = address.wrapping_sub(self.base);
        (offset < self.bytes).then_some(offset)
    }
}

/// Why parts cannot be in one machine.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum MapError {
    /// Two parts are in one place.
    #[error("`{first}` is at {first_base:#x} to {first_last:#x}, and `{second}` begins there, at {second_base:#x}")]
    Overlap {
        /// The part with the lower addresses.
        first: String,
        /// Where it begins.
        first_base: u64,
        /// Its last address.
        first_last: u64,
        /// The other one.
        second: String,
        /// Where that begins.
        second_base: u64,
    },
    /// Two parts have one interrupt.
    #[error("`{first}` and `{second}` both have the interrupt {source_number}")]
    Interrupt {
        /// The part that was there first.
        first: String,
        /// The other one.
        second: String,
        /// Number of the interrupt at the PLIC.
        source_number: u32,
    },
    /// A part has an interrupt that leads nowhere.
    #[error("`{part}` has the interrupt {source_number}; there are {there}")]
    NoInterrupt {
        /// Its name.
        part: String,
        /// Number of the interrupt.
        source_number: u32,
        /// Which ones there are.
        there: String,
    },
}

/// Checks that no two of these parts overlap, and none shares an interrupt with another.
///
/// # Errors
/// [`MapError`] with the names of the first two that do.
pub fn check_places<'a>(parts: impl IntoIterator<Item = (&'a str, Place)>) -> Result<(), MapError> {
    let mut parts: Vec<(&str, Place)> = parts.into_iter().collect();
    for (index, (second, place)) in parts.iter().enumerate() {
        let before = &parts[..index];
        let same = before
            .iter()
            .find(|(_, other)| place.source != 0 && other.source == place.source);
        if let Some((first, _)) = same {
            return Err(MapError::Interrupt {
                first: first.to_string(),
                second: second.to_string(),
                source_number: place.source,
            });
        }
    }
    parts.retain(|(_, place)| place.is_used());
    parts.sort_by_key(|(_, place)| place.base);
    for pair in parts.windows(2) {
        let [(first, lower), (second, upper)] = [pair[0], pair[1]];
        let last = lower.base + (lower.bytes - 1);
        if last >= upper.base {
            return Err(MapError::Overlap {
                first: first.to_string(),
                first_base: lower.base,
                first_last: last,
                second: second.to_string(),
                second_base: upper.base,
            });
        }
    }
    Ok(())
}

/// Number of serial ports of a server.
pub const UARTS: usize = 4;

/// The addresses of the devices of a machine. A device with an empty range is absent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Map {
    /// The power switch.
    pub power: Place,
    /// Software interrupts and timers.
    pub aclint: Place,
    /// The interrupt controller.
    pub plic: Place,
    /// The one that has its place beside interrupt files: it sends messages.
    pub aplic: Place,
    /// The pages of the harts' interrupt files for message-signalled interrupts: of machine, and of supervisor level.
    pub messages: [Place; 2],
    /// The serial ports: console, requests, and standard output and error of the requested command.
    pub uarts: [Place; UARTS],
    /// The PCI Express host bridge.
    pub pci: PciMap,
    /// The interface for output and exit of bare metal.
    pub host: Place,
    /// Where memory begins.
    pub memory: u64,
}

/// The addresses of the PCI Express host bridge.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PciMap {
    /// Configuration space by the enhanced access mechanism, of one bus, or of all 256.
    pub configuration: Place,
    /// The windows that it forwards to functions: one below 4 GiB, and one for ranges with addresses of 64 bits.
    pub windows: [Place; 2],
    /// Interrupt sources of the legacy lines: that of pin A of device n is the one at n modulo 4, and so on for further pins.
    pub sources: [u32; LINES],
}

const fn place(base: u64, bytes: u64, source: u32) -> Place {
    Place { base, bytes, source }
}

impl Map {
    /// The map of a server that boots Linux; many RISC-V boards use these addresses.
    pub const SERVER: Map = Map {
        power: place(0x10_0000, 0x1000, 0),
        aclint: place(0x200_0000, 0x1_0000, 0),
        plic: place(0xc00_0000, 0x60_0000, 0),
        aplic: Place::NOWHERE,
        messages: [Place::NOWHERE; 2],
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

    /// The same with room for a tree of buses behind the PCI host bridge.
    pub const fn with_tree(self) -> Map {
        Map {
            pci: PciMap {
                configuration: place(0x3000_0000, 1 << 28, 0),
                windows: [place(0x4000_0000, 0x4000_0000, 0), place(1 << 41, 1 << 40, 0)],
                sources: self.pci.sources,
            },
            ..self
        }
    }

    /// The same with interrupt files for up to 64 harts.
    pub const fn with_messages(self) -> Map {
        Map {
            messages: [place(0x2400_0000, 64 << 12, 0), place(0x2800_0000, 64 << 12, 0)],
            ..self
        }
    }

    /// The same with the Advanced Interrupt Architecture: a controller that turns the interrupts of wires into messages has
    /// the place of the PLIC.
    pub const fn with_aia(self) -> Map {
        Map {
            plic: Place::NOWHERE,
            aplic: place(0xc00_0000, 2 * DOMAIN, 0),
            ..self.with_messages()
        }
    }

    /// The map of a machine without devices.
    pub const NOTHING: Map = Map {
        power: Place::NOWHERE,
        aclint: Place::NOWHERE,
        plic: Place::NOWHERE,
        aplic: Place::NOWHERE,
        messages: [Place::NOWHERE; 2],
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

    /// Other resources in use: the addresses of memory and of the registers of units, and the interrupts of the PCI
    /// bus.
    pub(crate) fn further(&self) -> Vec<(&'static str, Place)> {
        let mut further = vec![("registers of units", place(UNIT_REGISTERS, UNIT_REGISTERS, 0))];
        if self.memory != 0 {
            further.push(("memory", place(self.memory, UNIT_REGISTERS - self.memory, 0)));
        }
        if self.pci.configuration.is_used() {
            let lines = [
                "PCI interrupt A",
                "PCI interrupt B",
                "PCI interrupt C",
                "PCI interrupt D",
            ];
            let sources = lines.into_iter().zip(self.pci.sources);
            further.extend(sources.map(|(name, source)| (name, place(0, 0, source))));
        }
        further
    }

    /// The places that are used, by name, in the order of their addresses.
    pub fn places(&self) -> Vec<(&'static str, Place)> {
        let [console, requests, output, errors] = self.uarts;
        let [low, high] = self.pci.windows;
        let [machine, supervisor] = self.messages;
        let mut places = vec![
            ("power", self.power),
            ("aclint", self.aclint),
            ("plic", self.plic),
            ("aplic", self.aplic),
            ("interrupt files of machine level", machine),
            ("interrupt files of supervisor level", supervisor),
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
        let maps = [Map::SERVER, Map::SERVER.with_aia(), Map::BARE_METAL];
        for map in maps
            .into_iter()
            .chain(maps.map(|map| map.with_tree().with_messages()))
        {
            let places = map.places();
            for pair in places.windows(2) {
                assert!(pair[0].1.base + pair[0].1.bytes <= pair[1].1.base, "{pair:?}");
            }
            assert!(places.iter().all(|(_, place)| place.offset(map.memory).is_none()));
            check_places(places).unwrap();
        }
    }

    #[test]
    fn parts_in_one_place_or_on_one_interrupt_are_told_with_both_names() {
        let told = |parts: [(&'static str, Place); 2]| check_places(parts).unwrap_err().to_string();
        let uart = Map::SERVER.uarts[0];
        assert_eq!(
            told([("crc", place(uart.base - 8, 16, 1)), ("uart", uart)]),
            "`crc` is at 0xffffff8 to 0x10000007, and `uart` begins there, at 0x10000000"
        );
        assert_eq!(
            told([("uart", uart), ("crc", place(0x1100_0000, 16, uart.source))]),
            "`uart` and `crc` both have the interrupt 10"
        );
        let apart = [
            ("crc", place(uart.base - 8, 8, 1)),
            ("dma", place(0, 8, 0)),
            ("uart", uart),
        ];
        assert_eq!(check_places(apart), Ok(()));
    }

    #[test]
    fn bare_metal_has_timers_and_the_host() {
        let names: Vec<&str> = Map::BARE_METAL.places().iter().map(|(name, _)| *name).collect();
        assert_eq!(names, ["aclint", "host interface"]);
    }
}
