use crate::access_control::AccessControl;
use crate::aer::{ErrorLog, Fault, Reporter, Severity};
use crate::msi::Msi;
use crate::multicast::Multicast;
use crate::packet::Id;
use crate::rate::Rate;
use rackwright_device::{decode, encode, RestoreError};
use serde::{Deserialize, Serialize};
use std::ops::{Range, RangeInclusive};

/// The kind of port of a bridge, as in its capability (7.5.3.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BridgeKind {
    /// Of the root complex.
    RootPort = 4,
    /// Of a switch, towards the root.
    Upstream = 5,
    /// Of a switch, away from it.
    Downstream = 6,
}

impl BridgeKind {
    /// The kind with that number in the capability.
    pub(crate) fn of(number: u32) -> Option<BridgeKind> {
        let all = [BridgeKind::RootPort, BridgeKind::Upstream, BridgeKind::Downstream];
        all.into_iter().find(|kind| *kind as u32 == number)
    }

    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            BridgeKind::RootPort => "root port",
            BridgeKind::Upstream => "upstream port",
            BridgeKind::Downstream => "downstream port",
        }
    }
}

/// The vendor's number is that of our functions; a bridge between two buses.
const IDENTITY: u32 = 0x0010_5257;
const CLASS: u32 = 0x06_0400;
const HEADER: u32 = 1 << 16;
const CAPABILITIES: u32 = 0x40;
/// Memory, bus master, parity, system errors, no legacy interrupts; and the part of them that a bridge forwards.
const COMMAND_BITS: u32 = 0x0546;
const BRIDGE_CONTROL_BITS: u32 = 0x0043;
const CONTROL_BITS: u32 = 0x79ff;
/// Of the bridge control register.
const FORWARDS_ERRORS: u32 = 2 << 16;
/// The first extended capability, in words.
const EXTENDED: u64 = 0x40;
/// Those behind it: access control of ports above links, multicast of ports of switches.
const ACCESS: u64 = 0x50;
const ACCESS_END: u64 = ACCESS + AccessControl::WORDS - 1;
const MULTICAST: u64 = 0x54;
const MULTICAST_END: u64 = MULTICAST + Multicast::WORDS - 1;
const MEMORY: u32 = 2;
const MASTER: u32 = 4;
/// Of the PCI Express capability: version 2; payloads of 512 bytes, tags of eight bits, errors by their role.
const CAPABILITY: u32 = 0x0002_0010;
/// The words of the capability of interrupts, which root ports have after it.
const INTERRUPTS: u64 = 0x20;
const INTERRUPTS_END: u64 = INTERRUPTS + Msi::WORDS - 1;
const DEVICE: u32 = 2 | 1 << 5 | 1 << 15;
/// The data link layer reports whether the link is up (7.5.3.6); it is.
const REPORTS_ACTIVE: u32 = 1 << 20;
const ACTIVE: u32 = 1 << 29;
/// Bases and limits of windows have a granularity of 1 MiB; prefetchable ones have 64 bits (7.5.1.3.8, 7.5.1.3.9).
const WINDOW_BITS: u32 = 0xfff0_fff0;
const WIDE: u32 = 0x0001_0001;
const WINDOW: u64 = 1 << 20;

/// The configuration space of a port of the root complex or of a switch: a header of type 1 (7.5.1.3) and the
/// capability of PCI Express; of root ports also that of interrupts. Absent words, up to 4 KiB, read as 0: among them
/// those of windows of ports. The extended capabilities are those for errors, access control and multicast.
pub(crate) struct Bridge {
    kind: BridgeKind,
    number: u32,
    rate: Rate,
    command: u32,
    cache_line: u32,
    buses: u32,
    windows: Windows,
    line: u32,
    control: u32,
    pub(crate) errors: ErrorLog,
    /// Of ports above links; of ports of switches.
    pub(crate) access: AccessControl,
    pub(crate) multicast: Multicast,
    /// Of root ports, the only ones with interrupts.
    interrupts: Option<Msi>,
    /// Whether there is an error to interrupt for; only the first has it interrupt.
    interrupting: bool,
}

/// The addresses behind a bridge: of registers, and of prefetchable memory with the high words of its limits.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
struct Windows {
    memory: u32,
    prefetchable: u32,
    high: [u32; 2],
}

/// Command, cache line, buses, windows, and line, as saved.
type Settings = (u32, u32, u32, Windows, u32);

impl Bridge {
    /// That of a port with a link of so much, in the state after reset.
    pub(crate) fn new(kind: BridgeKind, number: usize, rate: Rate) -> Bridge {
        Bridge {
            kind,
            number: number as u32,
            rate,
            command: 0,
            cache_line: 0,
            buses: 0,
            windows: Windows::default(),
            line: 0,
            // As of functions: no snooping and relaxed ordering are allowed, reads of 512 bytes.
            control: 0x2810,
            errors: ErrorLog::new(match kind {
                BridgeKind::RootPort => Reporter::RootPort,
                BridgeKind::Upstream | BridgeKind::Downstream => Reporter::Port,
            }),
            access: AccessControl::default(),
            multicast: Multicast::default(),
            interrupts: (kind == BridgeKind::RootPort).then(Msi::default),
            interrupting: false,
        }
    }

    /// What software has written, and the errors, for [`Bridge::restore`].
    pub(crate) fn save(&self) -> Vec<u8> {
        let settings = (self.command, self.cache_line, self.buses, self.windows, self.line);
        let interrupts = (&self.interrupts, self.interrupting);
        let services = (&self.access, &self.multicast);
        encode(&(settings, self.control, &self.errors, interrupts, services))
    }

    /// Restores such a state, of a bridge of the same kind.
    ///
    /// # Errors
    /// [`RestoreError`] when it is none.
    pub(crate) fn restore(&mut self, state: &[u8]) -> Result<(), RestoreError> {
        let (settings, interrupts): (Settings, (Option<Msi>, bool));
        let (control, errors): (u32, ErrorLog);
        (
            settings,
            control,
            errors,
            interrupts,
            (self.access, self.multicast),
        ) = decode(state, "bridge")?;
        (self.command, self.cache_line, self.buses, self.windows, self.line) = settings;
        (self.control, self.errors) = (control, errors);
        (self.interrupts, self.interrupting) = interrupts;
        Ok(())
    }

    /// A word of its configuration space.
    pub(crate) fn read(&self, word: u64) -> u32 {
        let (generation, lanes) = (self.rate.generation(), self.rate.lanes());
        let reports = self.kind != BridgeKind::Upstream;
        match word {
            0x0 => IDENTITY,
            0x1 => 0x10 << 16 | self.command,
            0x2 => CLASS << 8 | 1,
            0x3 => HEADER | self.cache_line,
            0x6 => self.buses,
            0x8 => self.windows.memory,
            0x9 => self.windows.prefetchable | WIDE,
            0xa => self.windows.high[0],
            0xb => self.windows.high[1],
            0xd => CAPABILITIES,
            0xf => self.line,
            0x10 if self.interrupts.is_some() => {
                CAPABILITY | (self.kind as u32) << 20 | (4 * INTERRUPTS as u32) << 8
            }
            0x10 => CAPABILITY | (self.kind as u32) << 20,
            0x11 => DEVICE,
            0x12 => self.errors.device_status << 16 | self.control,
            0x13 => self.number << 24 | lanes << 4 | generation | if reports { REPORTS_ACTIVE } else { 0 },
            0x14 => (lanes << 4 | generation) << 16 | if reports { ACTIVE } else { 0 },
            // The supported speeds of the link, and the target speed (7.5.3.18, 7.5.3.19).
            0x1b => ((1 << generation) - 1) << 1,
            0x1c => generation,
            INTERRUPTS..=INTERRUPTS_END => {
                let interrupts = self.interrupts.as_ref();
                interrupts.map_or(0, |interrupts| interrupts.read(word - INTERRUPTS))
            }
            ACCESS if self.has_multicast() && self.has_access() => {
                self.access.read(0) | (MULTICAST as u32) << 22
            }
            ACCESS..=ACCESS_END if self.has_access() => self.access.read(word - ACCESS),
            MULTICAST..=MULTICAST_END if self.has_multicast() => self.multicast.read(word - MULTICAST),
            EXTENDED.. => {
                let next = if word == EXTENDED {
                    self.behind_errors() << 22
                } else {
                    0
                };
                self.errors.read(word - EXTENDED) | next
            }
            _ => 0,
        }
    }

    /// Writes the bytes of a word that `enables` chooses.
    pub(crate) fn write(&mut self, word: u64, enables: u8, data: u32) {
        let chosen = (0..4).filter(|bit| enables >> bit & 1 != 0);
        let mask = chosen.fold(0_u32, |mask, byte| mask | 0xff << (8 * byte));
        let set = |register: &mut u32, bits: u32| {
            *register = (data & mask | *register & !mask) & bits;
        };
        match word {
            0x1 => set(&mut self.command, COMMAND_BITS),
            0x3 => set(&mut self.cache_line, 0xff),
            0x6 => set(&mut self.buses, 0x00ff_ffff),
            0x8 => set(&mut self.windows.memory, WINDOW_BITS),
            0x9 => set(&mut self.windows.prefetchable, WINDOW_BITS),
            0xa => set(&mut self.windows.high[0], u32::MAX),
            0xb => set(&mut self.windows.high[1], u32::MAX),
            0xf => set(&mut self.line, BRIDGE_CONTROL_BITS << 16 | 0xff),
            0x12 => {
                set(&mut self.control, CONTROL_BITS);
                self.errors.device_status &= !((data & mask) >> 16);
            }
            INTERRUPTS..=INTERRUPTS_END => {
                if let Some(interrupts) = &mut self.interrupts {
                    interrupts.write(word - INTERRUPTS, mask, data);
                }
            }
            ACCESS..=ACCESS_END if self.has_access() => self.access.write(word - ACCESS, mask, data),
            MULTICAST..=MULTICAST_END if self.has_multicast() => {
                self.multicast.write(word - MULTICAST, mask, data);
            }
            EXTENDED.. => self.errors.write(word - EXTENDED, mask, data),
            _ => {}
        }
    }

    fn has_access(&self) -> bool {
        self.kind != BridgeKind::Upstream
    }

    fn has_multicast(&self) -> bool {
        self.kind != BridgeKind::RootPort
    }

    /// The word of the capability after that for errors.
    fn behind_errors(&self) -> u32 {
        (if self.has_access() { ACCESS } else { MULTICAST }) as u32
    }

    /// An error has been detected at its port in a packet with this header, of which a completion tells if it is `advisory`.
    /// Gives what the root complex is to be told.
    pub(crate) fn note(&mut self, fault: Fault, header: [u32; 4], advisory: bool) -> Option<Severity> {
        self.errors.detect(fault, header, advisory, self.control)
    }

    /// The message by which it interrupts now, if it does: address and data. It is sent once for all errors that software
    /// has not cleared (6.2.4.1.2).
    pub(crate) fn interrupt(&mut self) -> Option<(u64, u32)> {
        let interrupts = self.errors.interrupts();
        let begins = !std::mem::replace(&mut self.interrupting, interrupts) && interrupts;
        let message = self.interrupts.as_ref().filter(|_| begins && self.is_master());
        message.and_then(Msi::message)
    }

    /// Whether messages of errors from below it go on (7.5.1.3.13).
    pub(crate) fn forwards_errors(&self) -> bool {
        self.line & FORWARDS_ERRORS != 0
    }

    /// Its own number: on the bus above it, the device of its port; the upstream port of a switch is alone there.
    pub(crate) fn id(&self) -> Id {
        let device = match self.kind {
            BridgeKind::RootPort => self.number,
            BridgeKind::Upstream => 0,
            BridgeKind::Downstream => self.number - 1,
        };
        Id::new(self.buses as u8, device as u8)
    }

    /// Whether it forwards requests to memory upwards (7.5.1.1.3).
    pub(crate) fn is_master(&self) -> bool {
        self.command & MASTER != 0
    }

    /// The bus right below it; 0 before software has numbered it.
    pub(crate) fn secondary(&self) -> u8 {
        (self.buses >> 8) as u8
    }

    /// The buses below it.
    pub(crate) fn buses(&self) -> RangeInclusive<u8> {
        match self.secondary() {
            0 => RangeInclusive::new(1, 0),
            secondary => secondary..=(self.buses >> 16) as u8,
        }
    }

    /// The addresses that it forwards downwards.
    pub(crate) fn windows(&self) -> [Range<u64>; 2] {
        if self.command & MEMORY == 0 {
            return [0..0, 0..0];
        }
        let window = |register: u32, high: [u32; 2]| {
            let base = u64::from(high[0]) << 32 | u64::from(register & 0xfff0) << 16;
            let limit = u64::from(high[1]) << 32 | u64::from(register & 0xfff0_0000);
            base..(limit + WINDOW).max(base)
        };
        [
            window(self.windows.memory, [0; 2]),
            window(self.windows.prefetchable, self.windows.high),
        ]
    }
}

/// The words of the registers of a window; of none, whose limit is below its base.
pub(crate) fn window_words(window: &Range<u64>) -> [u32; 3] {
    if window.is_empty() {
        return [0x0000_fff0, 0, 0];
    }
    let last = window.end - WINDOW;
    let low = (window.start >> 16 & 0xfff0) as u32 | (last as u32 & 0xfff0_0000);
    [low, (window.start >> 32) as u32, (last >> 32) as u32]
}

/// A bridge as software has found and set it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FoundBridge {
    /// Bus, device and function.
    pub id: Id,
    /// Which port it is.
    pub kind: BridgeKind,
    /// The buses below it, the first of which is its own secondary bus.
    pub buses: RangeInclusive<u8>,
    /// The addresses below it; empty without any.
    pub window: Range<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bridge() -> Bridge {
        Bridge::new(BridgeKind::Downstream, 3, Rate::new(4, 8).unwrap())
    }

    #[test]
    fn a_window_is_what_its_registers_say() {
        let mut bridge = bridge();
        assert_eq!(bridge.windows(), [0..0, 0..0]);
        let wanted = 0x123_4560_0000..0x124_0000_0000;
        let words = window_words(&wanted);
        for (word, data) in [
            (0x8, window_words(&(0..0))[0]),
            (0x9, words[0]),
            (0xa, words[1]),
            (0xb, words[2]),
        ] {
            bridge.write(word, 0xf, data);
        }
        assert!(bridge.windows().iter().all(Range::is_empty));
        bridge.write(0x1, 0x3, MEMORY);
        assert!(bridge.windows()[0].is_empty());
        assert_eq!(bridge.windows()[1], wanted);
    }

    #[test]
    fn a_root_port_interrupts_once_for_all_errors_that_are_not_cleared() {
        let mut port = Bridge::new(BridgeKind::RootPort, 0, Rate::new(4, 8).unwrap());
        let next = port.read(0x10) >> 8 & 0xff;
        assert_eq!(port.read(u64::from(next) / 4), 0x0080_0005);
        let mut set = |word, data| port.write(word, 0xf, data);
        for (word, data) in [(0x21, 0x2800_1000), (0x22, 1), (0x23, 0x21), (0x4b, 2)] {
            set(word, data);
        }
        port.errors.tell(Severity::NonFatal, 1);
        // Its interrupts, and its writes of memory, are not enabled.
        assert_eq!(port.interrupt(), None);
        for (word, data) in [(0x20, 1 << 16), (0x1, MASTER), (0x4c, u32::MAX)] {
            port.write(word, 0xf, data);
        }
        assert_eq!(port.interrupt(), None);
        port.errors.tell(Severity::Correctable, 1);
        assert_eq!(port.interrupt(), None);
        port.errors.tell(Severity::NonFatal, 1);
        assert_eq!(port.interrupt(), Some((0x1_2800_1000, 0x21)));
        port.errors.tell(Severity::NonFatal, 2);
        assert_eq!(port.interrupt(), None);
    }

    #[test]
    fn only_what_may_be_written_is() {
        let mut bridge = bridge();
        let before: Vec<u32> = (0..1024).map(|word| bridge.read(word)).collect();
        for word in 0..1024 {
            bridge.write(word, 0xf, u32::MAX);
        }
        let changed = |word: &u64| bridge.read(*word) != before[*word as usize];
        let writable: Vec<u64> = (0..1024).filter(changed).collect();
        assert_eq!(
            writable,
            [0x1, 0x3, 0x6, 0x8, 0x9, 0xa, 0xb, 0xf, 0x12, 0x42, 0x43, 0x51]
                .into_iter()
                .chain(0x55..0x60)
                .collect::<Vec<_>>()
        );
        assert_eq!((bridge.read(0x3), bridge.read(0x9)), (0x0001_00ff, 0xfff1_fff1));
        bridge.write(0x6, 0x2, 0x0000_0500);
        assert_eq!((bridge.read(0x6), bridge.secondary()), (0x00ff_05ff, 5));
        assert_eq!(bridge.read(0x13) & 0xfff, 8 << 4 | 4);
    }
}
