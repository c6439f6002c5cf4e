use crate::bridge::{window_words, BridgeKind, FoundBridge};
use crate::driver::{Access, Space};
use crate::error::FabricError;
use crate::fabric::Fabric;
use crate::packet::Id;
use crate::port::Place;
use crate::rejected::Rejected;
use std::ops::{Range, RangeInclusive};

/// The address from which windows of cards are placed: above the memory of any host.
const WINDOWS: u64 = 1 << 40;
/// The windows below a bridge are multiples of this (7.5.1.3.8).
const BRIDGE_WINDOW: u64 = 1 << 20;
/// Numbers of words of the configuration space, as software finds them (7.5.1, 7.5.3).
mod word {
    pub(super) const IDENTITY: u16 = 0;
    pub(super) const COMMAND: u16 = 1;
    pub(super) const CLASS: u16 = 2;
    pub(super) const HEADER: u16 = 3;
    pub(super) const BUSES: u16 = 6;
    pub(super) const MEMORY: u16 = 8;
    pub(super) const PREFETCHABLE: u16 = 9;
    pub(super) const FIRST_BAR: u16 = 4;
    pub(super) const CAPABILITIES: u16 = 13;
}
/// The type of the header of a bridge.
const BRIDGE: u32 = 1;
/// Devices on a bus.
const DEVICES: u8 = 32;
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
    /// Whether reads of it have no side effects.
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

/// A function found by software: a bridge with the functions below it, or a card.
struct Seen {
    id: Id,
    bridge: Option<(BridgeKind, RangeInclusive<u8>, Vec<Seen>)>,
}

impl Fabric {
    /// Numbers the buses, finds bridges and cards, places their windows, and enables them, like the firmware of a
    /// server: functions below links by packets of configuration.
    ///
    /// # Errors
    /// [`FabricError`] if a card does not respond, or does not support the fabric's settings.
    pub fn enumerate(&mut self) -> Result<Vec<Found>, FabricError> {
        let seen = self.scan(0, DEVICES, &mut 1)?;
        let (mut next, mut all) = (WINDOWS, Vec::new());
        self.place_all(&seen, &mut next, &mut all)?;
        // Accesses to absent functions are not errors.
        self.rejected = Rejected::default();
        Ok(all)
    }

    /// The bridges that software has found, in the order of their numbers.
    pub fn bridges(&self) -> &[FoundBridge] {
        &self.bridges
    }

    /// Finds the functions on a bus, and numbers the buses below, depth first; `next` is the first free number.
    fn scan(&mut self, bus: u8, devices: u8, next: &mut u8) -> Result<Vec<Seen>, FabricError> {
        let mut all = Vec::new();
        for device in 0..devices {
            let id = Id::new(bus, device);
            let Some(header) = self.probe(id)? else {
                continue;
            };
            let mut seen = Seen { id, bridge: None };
            if header == BRIDGE {
                let secondary = *next;
                let many = || FabricError::Description("the fabric has more than 255 buses".to_string());
                *next = next.checked_add(1).ok_or_else(many)?;
                self.number(id, secondary, u8::MAX)?;
                let kind = self.kind_of(id)?;
                // Below a link there is one device; inside a switch, one for each of its ports.
                let devices = if kind == BridgeKind::Upstream { DEVICES } else { 1 };
                let below = self.scan(secondary, devices, next)?;
                self.number(id, secondary, *next - 1)?;
                seen.bridge = Some((kind, secondary..=*next - 1, below));
            }
            all.push(seen);
        }
        Ok(all)
    }

    /// The header type of a function; none if there is no function.
    fn probe(&mut self, id: Id) -> Result<Option<u32>, FabricError> {
        match self.configuration(id, word::HEADER, None) {
            Ok(header) => Ok(Some(header >> 16 & 0x7f)),
            Err(FabricError::Refused { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn number(&mut self, id: Id, secondary: u8, subordinate: u8) -> Result<(), FabricError> {
        let buses = [id.bus(), secondary, subordinate, 0];
        self.configuration(id, word::BUSES, Some(u32::from_le_bytes(buses)))?;
        Ok(())
    }

    fn kind_of(&mut self, id: Id) -> Result<BridgeKind, FabricError> {
        let capability = self.capability(id)?;
        let header = match capability {
            Some(place) => self.configuration(id, place, None)?,
            None => 0,
        };
        let unknown = || FabricError::Description(format!("the bridge {id} is no port of PCI Express"));
        BridgeKind::of(header >> 20 & 0xf).ok_or_else(unknown)
    }

    /// Places the windows of the functions found, from `next` on, and enables the functions: a bridge after all
    /// functions below it.
    fn place_all(&mut self, seen: &[Seen], next: &mut u64, all: &mut Vec<Found>) -> Result<(), FabricError> {
        for each in seen {
            let Some((kind, buses, below)) = &each.bridge else {
                let number = self.card_at(each.id.bus());
                let missing = || FabricError::Description(format!("no card is at {}", each.id));
                let found = self.configure(number.ok_or_else(missing)?, each.id, next)?;
                all.push(found);
                continue;
            };
            *next = next.next_multiple_of(BRIDGE_WINDOW);
            let (first, place) = (*next, self.bridges.len());
            self.bridges.push(FoundBridge {
                id: each.id,
                kind: *kind,
                buses: buses.clone(),
                window: first..first,
            });
            self.place_all(below, next, all)?;
            *next = next.next_multiple_of(BRIDGE_WINDOW);
            let window = first..*next;
            let [low, base, limit] = window_words(&window);
            let [closed, ..] = window_words(&(0..0));
            let payload = code(self.system.payload_bytes) << 5;
            let settings = [
                (word::MEMORY, closed),
                (word::PREFETCHABLE, low),
                (word::PREFETCHABLE + 1, base),
                (word::PREFETCHABLE + 2, limit),
                (word::COMMAND, ENABLED),
            ];
            for (register, value) in settings {
                self.configuration(each.id, register, Some(value))?;
            }
            if let Some(place) = self.capability(each.id)? {
                let control = RELAXED_AND_NO_SNOOP | payload;
                self.configuration(each.id, place + DEVICE_CONTROL, Some(control))?;
            }
            self.bridges[place].window = window;
        }
        Ok(())
    }

    /// The card on a bus, by the description: software knows its number only.
    fn card_at(&self, bus: u8) -> Option<usize> {
        let (number, _) = self.root.routes.of_bus(bus)?;
        let mut port = self.ports.of_root[number];
        loop {
            let below = self.ports.all[port.index()].other;
            match self.ports.all[below.index()].place {
                Place::Card(card) => return Some(card),
                Place::Root => return None,
                Place::Switch(switch) => {
                    let (number, _) = self.switches[switch].routes.of_bus(bus)?;
                    port = self.ports.of_switches[switch][number];
                }
            }
        }
    }

    /// The position of a function's PCI Express capability, in words.
    fn capability(&mut self, id: Id) -> Result<Option<u16>, FabricError> {
        let mut place = self.configuration(id, word::CAPABILITIES, None)? & 0xfc;
        while place != 0 {
            let header = self.configuration(id, place as u16 / 4, None)?;
            if header & 0xff == PCI_EXPRESS {
                return Ok(Some(place as u16 / 4));
            }
            place = header >> 8 & 0xfc;
        }
        Ok(None)
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

    /// Determines the kind of a base address register, and places its window; returns the number of registers that it
    /// uses.
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
        let Some(capability) = self.capability(id)? else {
            return Err(fail(self, "it has no capability of PCI Express".to_string()));
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

/// The specification's encoding of a length from 128 to 4096 bytes (7.5.3.4).
fn code(bytes: u32) -> u32 {
    (bytes / 128).trailing_zeros()
}
