use crate::driver::{Access, Space};
use crate::error::FabricError;
use crate::fabric::Fabric;
use crate::packet::Id;
use crate::port::Place;
use std::ops::Range;

/// Where windows of cards begin: above the memory of any host.
const WINDOWS: u64 = 1 << 40;
/// The windows of what is below a bridge are multiples of this (7.5.1.3.8).
const BRIDGE_WINDOW: u64 = 1 << 20;
/// Numbers of words of the configuration space, as software finds them (7.5.1, 7.5.3).
mod word {
    pub(super) const IDENTITY: u16 = 0;
    pub(super) const COMMAND: u16 = 1;
    pub(super) const CLASS: u16 = 2;
    pub(super) const FIRST_BAR: u16 = 4;
    pub(super) const CAPABILITIES: u16 = 13;
}
/// Base address registers of a header of type 0.
const BARS: u16 = 6;
/// The capability of PCI Express, and its registers in words from its begin.
const PCI_EXPRESS: u32 = 0x10;
const DEVICE_CAPABILITIES: u16 = 1;
const DEVICE_CONTROL: u16 = 2;
/// Bits of the device control register.
const EXTENDED_TAGS: u32 = 1 << 8;
const RELAXED_AND_NO_SNOOP: u32 = 1 << 4 | 1 << 11;
/// Memory and bus master, in the command register.
const ENABLED: u32 = 6;

/// A window of a card, as software has placed it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Window {
    /// Number of its base address register.
    pub bar: u16,
    /// Its addresses.
    pub range: Range<u64>,
    /// Whether reads of it change nothing.
    pub prefetchable: bool,
}

/// A card as software has found it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Found {
    /// Number of the card in the description.
    pub card: usize,
    /// Bus, device and function.
    pub id: Id,
    /// Vendor and device.
    pub identity: (u16, u16),
    /// Class code of 24 bits.
    pub class_code: u32,
    /// Its windows.
    pub windows: Vec<Window>,
}

impl Fabric {
    /// Numbers the buses, finds the cards, places their windows, and switches them on, as the firmware of a server does: what
    /// concerns cards, by packets of configuration.
    ///
    /// # Errors
    /// [`FabricError`] when a card does not answer, or cannot what the fabric is set to.
    pub fn enumerate(&mut self) -> Result<Vec<Found>, FabricError> {
        let cards = self.number_buses();
        let mut next = WINDOWS;
        let mut all = Vec::new();
        for (card, bus) in cards {
            let found = self.configure(card, Id::new(bus, 0), &mut next)?;
            for window in &found.windows {
                self.root_routes.widen(bus, &window.range);
                for routes in &mut self.switch_routes {
                    routes.widen(bus, &window.range);
                }
            }
            next = next.next_multiple_of(BRIDGE_WINDOW);
            all.push(found);
        }
        Ok(all)
    }

    /// Numbers the buses, depth first; gives the cards with theirs.
    fn number_buses(&mut self) -> Vec<(usize, u8)> {
        let mut cards = Vec::new();
        let mut next = 1;
        for number in 0..self.ports.of_root.len() {
            let first = next;
            let other = self.ports.all[self.ports.of_root[number].index()].other;
            self.number_below(other.index(), &mut next, &mut cards);
            self.root_routes.add(number, first..=next - 1);
        }
        cards
    }

    /// Numbers the bus of the link to a port, and those below; `next` is the first number that is free.
    fn number_below(&mut self, port: usize, next: &mut u8, cards: &mut Vec<(usize, u8)>) {
        let bus = *next;
        *next += 1;
        match self.ports.all[port].place {
            Place::Card(card) => cards.push((card, bus)),
            Place::Root => {}
            Place::Switch(switch) => {
                // The bus inside the switch, on which its other ports are.
                *next += 1;
                for number in 1..self.ports.of_switches[switch].len() {
                    let first = *next;
                    let other = self.ports.all[self.ports.of_switches[switch][number].index()].other;
                    self.number_below(other.index(), next, cards);
                    self.switch_routes[switch].add(number, first..=*next - 1);
                }
            }
        }
    }

    fn configure(&mut self, card: usize, id: Id, next: &mut u64) -> Result<Found, FabricError> {
        let identity = self.configuration(id, word::IDENTITY, None)?;
        let class = self.configuration(id, word::CLASS, None)?;
        let mut windows = Vec::new();
        let mut bar = 0;
        while bar < BARS {
            let (window, registers) = self.place(id, bar, next)?;
            windows.extend(window);
            bar += registers;
        }
        self.set_limits(card, id)?;
        self.configuration(id, word::COMMAND, Some(ENABLED))?;
        Ok(Found {
            card,
            id,
            identity: (identity as u16, (identity >> 16) as u16),
            class_code: class >> 8,
            windows,
        })
    }

    /// Finds out what a base address register is for, and places its window; tells how many registers it takes.
    fn place(&mut self, id: Id, bar: u16, next: &mut u64) -> Result<(Option<Window>, u16), FabricError> {
        let register = word::FIRST_BAR + bar;
        self.configuration(id, register, Some(u32::MAX))?;
        let low = self.configuration(id, register, None)?;
        // Registers of 32 bits, and ports, would need a window below 4 GiB; cards here have none.
        if low & 7 != 4 {
            return Ok((None, 1));
        }
        self.configuration(id, register + 1, Some(u32::MAX))?;
        let high = self.configuration(id, register + 1, None)?;
        let size = (!(u64::from(high) << 32 | u64::from(low & !0xf))).wrapping_add(1);
        let first = next.next_multiple_of(size);
        *next = first + size;
        self.configuration(id, register, Some(first as u32))?;
        self.configuration(id, register + 1, Some((first >> 32) as u32))?;
        let window = Window {
            bar,
            range: first..first + size,
            prefetchable: low & 8 != 0,
        };
        Ok((Some(window), 2))
    }

    /// Sets the longest payload and the longest read request.
    fn set_limits(&mut self, card: usize, id: Id) -> Result<(), FabricError> {
        let fail = |fabric: &Fabric, reason: String| FabricError::Card {
            card: fabric.cards[card].name.clone(),
            reason,
        };
        let mut place = self.configuration(id, word::CAPABILITIES, None)? & 0xfc;
        let capability = loop {
            if place == 0 {
                return Err(fail(self, "it has no capability of PCI Express".to_string()));
            }
            let header = self.configuration(id, place as u16 / 4, None)?;
            if header & 0xff == PCI_EXPRESS {
                break place as u16 / 4;
            }
            place = header >> 8 & 0xfc;
        };
        let able = self.configuration(id, capability + DEVICE_CAPABILITIES, None)?;
        let (payload, read) = (self.system.payload_bytes, self.system.read_request_bytes);
        let most = 128 << (able & 7);
        if payload > most {
            return Err(fail(
                self,
                format!("payloads of {payload} bytes are more than its {most}"),
            ));
        }
        let tags = if able & 1 << 5 != 0 { EXTENDED_TAGS } else { 0 };
        let control = RELAXED_AND_NO_SNOOP | tags | code(payload) << 5 | code(read) << 12;
        self.configuration(id, capability + DEVICE_CONTROL, Some(control))?;
        Ok(())
    }

    /// Reads a word of the configuration space of a card, or writes it.
    fn configuration(&mut self, id: Id, word: u16, write: Option<u32>) -> Result<u32, FabricError> {
        let access = Access {
            space: Space::Configuration(id),
            address: 4 * u64::from(word),
            bytes: 4,
        };
        let answer = self.access(access, write.map(u64::from))?;
        Ok(answer.map_or(0, |answer| answer.data as u32))
    }
}

/// How the specification encodes a length from 128 to 4096 bytes (7.5.3.4).
fn code(bytes: u32) -> u32 {
    (bytes / 128).trailing_zeros()
}
