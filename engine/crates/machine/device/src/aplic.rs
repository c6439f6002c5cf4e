use crate::device::{decode, encode, Device, RestoreError};
use rackwright_time::Cycle;
use serde::{Deserialize, Serialize};

/// Bytes of the registers of a domain.
pub(crate) const DOMAIN: u64 = 0x4000;

/// Places of the registers (RISC-V Advanced Interrupt Architecture 1.0, section 4.5).
mod register {
    pub(super) const DOMAIN_CONFIGURATION: u64 = 0x0000;
    pub(super) const SOURCE_CONFIGURATION: u64 = 0x0004;
    pub(super) const SOURCE_CONFIGURATION_END: u64 = 0x1000;
    pub(super) const ADDRESSES: u64 = 0x1bc0;
    pub(super) const ADDRESSES_END: u64 = 0x1bd0;
    pub(super) const SET_PENDING: u64 = 0x1c00;
    pub(super) const SET_PENDING_NUMBER: u64 = 0x1cdc;
    pub(super) const CLEAR_PENDING: u64 = 0x1d00;
    pub(super) const CLEAR_PENDING_NUMBER: u64 = 0x1ddc;
    pub(super) const SET_ENABLED: u64 = 0x1e00;
    pub(super) const SET_ENABLED_NUMBER: u64 = 0x1edc;
    pub(super) const CLEAR_ENABLED: u64 = 0x1f00;
    pub(super) const CLEAR_ENABLED_NUMBER: u64 = 0x1fdc;
    pub(super) const SET_PENDING_LITTLE_ENDIAN: u64 = 0x2000;
    pub(super) const GENERATE: u64 = 0x3000;
    pub(super) const TARGET: u64 = 0x3004;
    pub(super) const END: u64 = 0x4000;
}

/// Bits of the configuration of a domain: what it always shows, with delivery by messages only, and the enable.
const CONFIGURATION: u32 = 0x8000_0000 | 1 << 2;
const INTERRUPT_ENABLE: u32 = 1 << 8;
/// The bit of a source's configuration by which the root delegates it to its child.
const DELEGATED: u32 = 1 << 10;
/// The lock of the addresses of messages.
const LOCKED: u32 = 1 << 31;
/// Writable bits of the four registers for addresses.
const ADDRESS_BITS: [u32; 4] = [u32::MAX, 0x9f77_ffff, u32::MAX, 0x0070_0fff];
/// Fields of a target: hart, and identity of the interrupt. There are no guests.
const TARGET_BITS: u32 = 0xfffc_07ff;

/// How a source's wire is understood.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
enum Mode {
    #[default]
    Inactive = 0,
    /// Its wire is ignored.
    Detached = 1,
    RisingEdge = 4,
    FallingEdge = 5,
    High = 6,
    Low = 7,
}

impl Mode {
    /// Reserved values are inactive.
    fn of(value: u32) -> Mode {
        let all = [
            Mode::Detached,
            Mode::RisingEdge,
            Mode::FallingEdge,
            Mode::High,
            Mode::Low,
        ];
        let found = all.into_iter().find(|mode| *mode as u32 == value & 7);
        found.unwrap_or_default()
    }

    /// Whether the wire asserts an interrupt.
    fn rectified(self, high: bool) -> bool {
        match self {
            Mode::Inactive | Mode::Detached => false,
            Mode::RisingEdge | Mode::High => high,
            Mode::FallingEdge | Mode::Low => !high,
        }
    }

    fn is_level(self) -> bool {
        matches!(self, Mode::High | Mode::Low)
    }
}

#[derive(Clone, Default, Serialize, Deserialize)]
struct Source {
    mode: Mode,
    target: u32,
    pending: bool,
    enabled: bool,
}

/// The registers of a domain.
#[derive(Clone, Serialize, Deserialize)]
struct Domain {
    enabled: bool,
    /// Of source n in place n; source 0 does not exist.
    sources: Vec<Source>,
    /// The last message that software has had generated.
    generated: u32,
}

#[derive(Clone, Serialize, Deserialize)]
struct State {
    /// The root, of machine level, and its child, of supervisor level.
    domains: [Domain; 2],
    /// Sources that the root has delegated to its child.
    delegated: u32,
    /// Sources whose wire is high.
    high: u32,
    /// Where messages go: a base and its upper part with the places of hart numbers, for machine and supervisor level.
    addresses: [u32; 4],
}

/// The advanced platform-level interrupt controller (RISC-V Advanced Interrupt Architecture 1.0, chapter 4): it turns the
/// interrupts of up to 31 wires into messages, by a domain of machine level and one of supervisor level below it.
pub struct Aplic {
    state: State,
    /// Messages that nobody has taken yet: addresses and data.
    sent: Vec<(u64, u32)>,
}

impl Aplic {
    /// Number of sources, including source 0, which does not exist.
    pub const SOURCES: u32 = 32;

    /// A controller after reset.
    pub(crate) fn new() -> Aplic {
        let domain = || Domain {
            enabled: false,
            sources: vec![Source::default(); Aplic::SOURCES as usize],
            generated: 0,
        };
        Aplic {
            state: State {
                domains: [domain(), domain()],
                delegated: 0,
                high: 0,
                addresses: [0; 4],
            },
            sent: Vec::new(),
        }
    }

    /// Shows the wire of `source`, 1 to 31.
    pub(crate) fn set_line(&mut self, source: u32, high: bool) {
        let bit = 1 << source & !1;
        let before = self.state.high;
        if high == (before & bit != 0) || bit == 0 {
            return;
        }
        self.state.high = before ^ bit;
        let domain = self.domain_of(source);
        let place = &mut self.state.domains[domain].sources[source as usize];
        place.change(place.mode, !high, high);
        self.forward(domain);
    }

    /// Messages that have been sent since the last call, in order.
    pub(crate) fn take_messages(&mut self) -> Vec<(u64, u32)> {
        std::mem::take(&mut self.sent)
    }

    fn domain_of(&self, source: u32) -> usize {
        (self.state.delegated >> source & 1) as usize
    }

    /// Whether a domain has a source: another domain sees zeros in its place.
    fn has(&self, domain: usize, source: u32) -> bool {
        (1..Aplic::SOURCES).contains(&source) && self.domain_of(source) == domain
    }

    /// Sends the messages of all sources of a domain that are pending and enabled.
    fn forward(&mut self, domain: usize) {
        if !self.state.domains[domain].enabled {
            return;
        }
        for source in 1..Aplic::SOURCES as usize {
            let place = &mut self.state.domains[domain].sources[source];
            if place.pending && place.enabled {
                place.pending = false;
                let target = place.target;
                self.send(domain, target);
            }
        }
    }

    /// Sends a message to a target: the hart's interrupt file has the place of its number in the address (section 4.9.1).
    fn send(&mut self, domain: usize, target: u32) {
        let hart = u64::from(target >> 18);
        let [_, machine_high, ..] = self.state.addresses;
        let [low, high] = [2 * domain, 2 * domain + 1].map(|place| self.state.addresses[place]);
        let field = |word: u32, shift: u32, bits: u32| u64::from(word >> shift & ((1 << bits) - 1));
        let (width, group_width) = (field(machine_high, 12, 4), field(machine_high, 16, 3));
        let (shift, group_shift) = (field(high, 20, 3), field(machine_high, 24, 5) + 12);
        let group = hart >> width & ((1 << group_width) - 1);
        let within = hart & ((1 << width) - 1);
        let page = field(high, 0, 12) << 32 | u64::from(low) | group << group_shift | within << shift;
        self.sent.push((page << 12, target & 0x7ff));
    }

    /// The bits of all sources of a domain.
    fn bits(&self, domain: usize, of: impl Fn(usize, &Source) -> bool) -> u32 {
        let sources = self.state.domains[domain].sources.iter().enumerate();
        sources.fold(0, |bits, (number, source)| {
            bits | u32::from(of(number, source)) << number
        })
    }

    /// Does the same to all sources of a domain whose bits are set.
    fn each(&mut self, domain: usize, bits: u32, act: impl Fn(&mut Source, bool)) {
        for number in (1..Aplic::SOURCES).filter(|number| bits >> number & 1 != 0) {
            if self.has(domain, number) {
                let high = self.state.high >> number & 1 != 0;
                let source = &mut self.state.domains[domain].sources[number as usize];
                if source.mode != Mode::Inactive {
                    act(source, high);
                }
            }
        }
    }

    fn configure(&mut self, domain: usize, source: u32, value: u32) {
        let is_of_root = domain == 0 && (1..Aplic::SOURCES).contains(&source);
        if !is_of_root && !self.has(domain, source) {
            return;
        }
        let high = self.state.high >> source & 1 != 0;
        if domain == 0 {
            let bit = 1 << source;
            let delegates = value & DELEGATED != 0;
            if delegates != (self.state.delegated & bit != 0) {
                self.state.delegated ^= bit;
                for domain in &mut self.state.domains {
                    domain.sources[source as usize] = Source::default();
                }
            }
            if delegates {
                return;
            }
        }
        let mode = if value & DELEGATED != 0 {
            Mode::Inactive
        } else {
            Mode::of(value)
        };
        self.state.domains[domain].sources[source as usize].change(mode, high, high);
    }

    fn configuration(&self, domain: usize, source: u32) -> u32 {
        if self.has(domain, source) {
            self.state.domains[domain].sources[source as usize].mode as u32
        } else if domain == 0 && self.domain_of(source) != 0 {
            DELEGATED
        } else {
            0
        }
    }

    fn set_address(&mut self, place: usize, value: u32) {
        if self.state.addresses[1] & LOCKED == 0 {
            self.state.addresses[place] = value & ADDRESS_BITS[place];
        }
    }
}

impl Source {
    /// The mode or the wire changes.
    fn change(&mut self, mode: Mode, was_high: bool, high: bool) {
        let before = self.mode.rectified(was_high);
        self.mode = mode;
        let after = mode.rectified(high);
        if mode == Mode::Inactive {
            *self = Source::default();
        } else if after && !before {
            self.pending = true;
        } else if !after && mode.is_level() {
            self.pending = false;
        }
    }

    /// Software sets the pending bit: of a level, only while it is asserted (section 4.7).
    fn set_pending(&mut self, high: bool) {
        self.pending |= !self.mode.is_level() || self.mode.rectified(high);
    }
}

/// The number of the source whose register is at `offset` from the first one.
fn number(offset: u64) -> u32 {
    (offset / 4) as u32 + 1
}

/// A bit for a number, none for one that is none.
fn bit(number: u64) -> u32 {
    if number < Aplic::SOURCES.into() {
        1 << number
    } else {
        0
    }
}

impl Device for Aplic {
    fn read(&mut self, offset: u64, bytes: u8, _: Cycle) -> Option<u64> {
        use register::*;
        if bytes != 4 || offset % 4 != 0 {
            return None;
        }
        let (domain, offset) = ((offset / DOMAIN) as usize, offset % DOMAIN);
        let of = self.state.domains.get(domain)?;
        let value = match offset {
            DOMAIN_CONFIGURATION => CONFIGURATION | if of.enabled { INTERRUPT_ENABLE } else { 0 },
            SOURCE_CONFIGURATION..SOURCE_CONFIGURATION_END => {
                self.configuration(domain, number(offset - SOURCE_CONFIGURATION))
            }
            ADDRESSES..ADDRESSES_END if domain == 0 => {
                self.state.addresses[((offset - ADDRESSES) / 4) as usize]
            }
            SET_PENDING => self.bits(domain, |_, source| source.pending),
            CLEAR_PENDING => {
                let high = self.state.high;
                self.bits(domain, |number, source| {
                    source.mode.rectified(high >> number & 1 != 0)
                })
            }
            SET_ENABLED => self.bits(domain, |_, source| source.enabled),
            GENERATE => of.generated,
            TARGET..END => {
                let source = of.sources.get(number(offset - TARGET) as usize);
                source.map_or(0, |source| source.target)
            }
            _ => 0,
        };
        Some(value.into())
    }

    fn write(&mut self, offset: u64, bytes: u8, value: u64, _: Cycle) -> bool {
        use register::*;
        if bytes != 4 || offset % 4 != 0 {
            return false;
        }
        let (domain, offset) = ((offset / DOMAIN) as usize, offset % DOMAIN);
        let Some(of) = self.state.domains.get_mut(domain) else {
            return false;
        };
        let word = value as u32;
        match offset {
            DOMAIN_CONFIGURATION => of.enabled = word & INTERRUPT_ENABLE != 0,
            SOURCE_CONFIGURATION..SOURCE_CONFIGURATION_END => {
                self.configure(domain, number(offset - SOURCE_CONFIGURATION), word);
            }
            ADDRESSES..ADDRESSES_END if domain == 0 => {
                self.set_address(((offset - ADDRESSES) / 4) as usize, word);
            }
            SET_PENDING => self.each(domain, word, Source::set_pending),
            SET_PENDING_NUMBER | SET_PENDING_LITTLE_ENDIAN => {
                self.each(domain, bit(value), Source::set_pending);
            }
            CLEAR_PENDING => self.each(domain, word, |source, _| source.pending = false),
            CLEAR_PENDING_NUMBER => self.each(domain, bit(value), |source, _| source.pending = false),
            SET_ENABLED => self.each(domain, word, |source, _| source.enabled = true),
            SET_ENABLED_NUMBER => self.each(domain, bit(value), |source, _| source.enabled = true),
            CLEAR_ENABLED => self.each(domain, word, |source, _| source.enabled = false),
            CLEAR_ENABLED_NUMBER => self.each(domain, bit(value), |source, _| source.enabled = false),
            GENERATE => {
                of.generated = word & TARGET_BITS;
                self.send(domain, word);
            }
            TARGET..END => {
                let source = number(offset - TARGET);
                if source < Aplic::SOURCES {
                    self.each(domain, 1 << source, |place, _| place.target = word & TARGET_BITS);
                }
            }
            _ => {}
        }
        self.forward(domain);
        true
    }

    fn save(&self) -> Vec<u8> {
        encode(&self.state)
    }

    fn restore(&mut self, state: &[u8]) -> Result<(), RestoreError> {
        let device = "APLIC";
        let state: State = decode(state, device)?;
        let sources = |state: &State| state.domains.each_ref().map(|domain| domain.sources.len());
        if sources(&state) != sources(&self.state) {
            return Err(RestoreError { device });
        }
        self.state = state;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SUPERVISOR: u64 = DOMAIN;
    const MACHINE_FILES: u32 = 0x2400_0000;
    const SUPERVISOR_FILES: u32 = 0x2800_0000;

    fn set(aplic: &mut Aplic, offset: u64, value: u32) {
        assert!(aplic.write(offset, 4, value.into(), Cycle::ZERO));
    }

    fn get(aplic: &mut Aplic, offset: u64) -> u32 {
        aplic.read(offset, 4, Cycle::ZERO).unwrap() as u32
    }

    /// As firmware leaves it, and a kernel begins: all sources are the child's, there are two harts.
    fn ready() -> Aplic {
        let mut aplic = Aplic::new();
        for source in 1..Aplic::SOURCES {
            set(&mut aplic, u64::from(4 * source), DELEGATED);
        }
        for (place, value) in [
            (0, MACHINE_FILES >> 12),
            (4, 1 << 12),
            (8, SUPERVISOR_FILES >> 12),
        ] {
            set(&mut aplic, register::ADDRESSES + place, value);
        }
        set(&mut aplic, SUPERVISOR, INTERRUPT_ENABLE);
        aplic
    }

    /// Has a source interrupt hart 1 with identity 40.
    fn enable(aplic: &mut Aplic, source: u32, mode: Mode) {
        set(aplic, SUPERVISOR + u64::from(4 * source), mode as u32);
        set(
            aplic,
            SUPERVISOR + register::TARGET - 4 + u64::from(4 * source),
            1 << 18 | 40,
        );
        set(aplic, SUPERVISOR + register::SET_ENABLED_NUMBER, source);
    }

    const SENT: (u64, u32) = (SUPERVISOR_FILES as u64 + 0x1000, 40);

    #[test]
    fn a_level_is_forwarded_once_and_again_when_software_asks() {
        let mut aplic = ready();
        enable(&mut aplic, 10, Mode::High);
        aplic.set_line(10, true);
        aplic.set_line(10, true);
        assert_eq!(aplic.take_messages(), [SENT]);
        set(&mut aplic, SUPERVISOR + register::SET_PENDING_LITTLE_ENDIAN, 10);
        assert_eq!(aplic.take_messages(), [SENT]);
        assert_eq!(get(&mut aplic, SUPERVISOR + register::CLEAR_PENDING), 1 << 10);
        aplic.set_line(10, false);
        set(&mut aplic, SUPERVISOR + register::SET_PENDING_LITTLE_ENDIAN, 10);
        assert_eq!(aplic.take_messages(), []);
    }

    #[test]
    fn each_mode_understands_its_wire() {
        // What is sent when the wire rises, and then falls; the low level and the falling edge are not asserted before.
        for (mode, rises, falls) in [
            (Mode::RisingEdge, 1, 0),
            (Mode::High, 1, 0),
            (Mode::FallingEdge, 0, 1),
            (Mode::Low, 0, 1),
            (Mode::Detached, 0, 0),
        ] {
            let mut aplic = ready();
            aplic.set_line(3, true);
            aplic.set_line(3, false);
            enable(&mut aplic, 3, mode);
            aplic.take_messages();
            aplic.set_line(3, true);
            assert_eq!(aplic.take_messages().len(), rises, "{mode:?}");
            aplic.set_line(3, false);
            assert_eq!(aplic.take_messages().len(), falls, "{mode:?}");
        }
    }

    #[test]
    fn a_source_waits_for_both_enables() {
        let mut aplic = ready();
        enable(&mut aplic, 5, Mode::RisingEdge);
        set(&mut aplic, SUPERVISOR, 0);
        aplic.set_line(5, true);
        set(&mut aplic, SUPERVISOR + register::CLEAR_ENABLED, 1 << 5);
        set(&mut aplic, SUPERVISOR, INTERRUPT_ENABLE);
        assert_eq!(get(&mut aplic, SUPERVISOR + register::SET_PENDING), 1 << 5);
        assert_eq!(aplic.take_messages(), []);
        set(&mut aplic, SUPERVISOR + register::SET_ENABLED, 1 << 5);
        assert_eq!(aplic.take_messages(), [SENT]);
        assert_eq!(get(&mut aplic, SUPERVISOR), CONFIGURATION | INTERRUPT_ENABLE);
    }

    #[test]
    fn a_domain_has_only_its_own_sources() {
        let mut aplic = ready();
        enable(&mut aplic, 7, Mode::Detached);
        set(&mut aplic, 4 * 7, Mode::Detached as u32);
        // The root has taken it back.
        assert_eq!(get(&mut aplic, SUPERVISOR + 4 * 7), 0);
        assert_eq!(get(&mut aplic, SUPERVISOR + register::SET_ENABLED), 0);
        set(&mut aplic, SUPERVISOR + 4 * 7, Mode::High as u32);
        assert_eq!(get(&mut aplic, SUPERVISOR + 4 * 7), 0);
        assert_eq!((get(&mut aplic, 4 * 7), get(&mut aplic, 4 * 8)), (1, DELEGATED));
        // It goes to machine level from there.
        set(&mut aplic, 0, INTERRUPT_ENABLE);
        set(&mut aplic, register::TARGET + 4 * 6, 1 << 18 | 9);
        set(&mut aplic, register::SET_ENABLED, 1 << 7);
        set(&mut aplic, register::SET_PENDING_NUMBER, 7);
        assert_eq!(aplic.take_messages(), [(u64::from(MACHINE_FILES) + 0x1000, 9)]);
        // A leaf cannot delegate.
        set(&mut aplic, SUPERVISOR + 4 * 8, DELEGATED);
        assert_eq!(get(&mut aplic, SUPERVISOR + 4 * 8), 0);
    }

    #[test]
    fn locked_addresses_stay_and_states_come_back() {
        let mut aplic = ready();
        set(&mut aplic, register::ADDRESSES + 4, LOCKED | 1 << 12);
        set(&mut aplic, register::ADDRESSES + 8, 0);
        assert_eq!(get(&mut aplic, register::ADDRESSES + 8), SUPERVISOR_FILES >> 12);
        set(&mut aplic, SUPERVISOR + register::GENERATE, 1 << 18 | 40);
        assert_eq!(aplic.take_messages(), [SENT]);
        let mut other = Aplic::new();
        other.restore(&aplic.save()).unwrap();
        assert_eq!(other.save(), aplic.save());
        assert!(other.restore(&[1, 2]).is_err());
        assert_eq!(other.read(2 * DOMAIN, 4, Cycle::ZERO), None);
        assert!(!other.write(0, 8, 0, Cycle::ZERO) && !other.write(2, 2, 0, Cycle::ZERO));
    }
}
