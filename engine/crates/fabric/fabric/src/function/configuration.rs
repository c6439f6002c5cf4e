use crate::aer::{ErrorLog, Fault, Reporter, Severity};
use crate::codec::words_of;
use crate::function::device_control::DeviceControl;
use crate::packet::{Header, Id};
use serde::{Deserialize, Serialize};

/// The identity of a function.
#[derive(Clone, Copy, Default)]
pub(super) struct Identity {
    /// The number of the device, and that of the vendor, which no vendor has.
    pub(super) numbers: u32,
    /// Logarithms of the sizes of its windows, registers and memory; 0 for none.
    pub(super) windows: [u32; 2],
    /// Interrupts that it sends as messages; the table of those is in the upper half of the first window.
    pub(super) vectors: u32,
    /// Whether it has the legacy interrupt A.
    pub(super) interrupts: bool,
}

/// Memory of 64 bits that can be prefetched.
const WINDOW_KIND: u32 = 0xc;
const CLASS: u32 = 0x12_0000;
const CAPABILITIES: u32 = 0x40;
/// Of the PCI Express capability: an endpoint of version 2; payloads of 512 bytes, tags of eight bits, errors by their role.
const CAPABILITY: u32 = 0x0002_0010;
const DEVICE: u32 = 2 | 1 << 5 | 1 << 15;
/// The capability of MSI-X, the last one, with the places of table and pending bits.
const MESSAGES: u32 = 0x80;
const MESSAGE_CAPABILITY: u32 = 0x0011;
/// Where the table is in the first window, and where its pending bits are.
const TABLE: u64 = 0x800;
const PENDING: u32 = 0xc00;
/// Bits of message control: all messages are held back; messages are sent.
const HELD_BACK: u32 = 1 << 30;
const SENT: u32 = 1 << 31;
const COMMAND_BITS: u32 = 0x0546;
/// Of the command register: the legacy interrupt is disabled; of the status register: it is raised; the pin of A.
const NO_INTERRUPT: u32 = 1 << 10;
const RAISED: u32 = 1 << 19;
const PIN: u32 = 1 << 8;
const CONTROL_BITS: u32 = 0x79ff;
/// Number of the first word of the extended capabilities: error reporting.
const ERRORS: u64 = 0x40;

/// The configuration space of a function (PCI Express 5.0, 7.5.1.2, 7.5.3, 7.7.2 and 7.8.4). Absent words read as 0.
#[derive(Serialize, Deserialize)]
pub(super) struct Configuration {
    #[serde(skip)]
    identity: Identity,
    pub(super) id: Id,
    command: u32,
    cache_line: u32,
    line: u32,
    control: u32,
    messages: u32,
    bases: [u64; 2],
    errors: ErrorLog,
    /// Whether the function raises its legacy interrupt, disabled or not.
    pub(super) raised: bool,
}

impl Configuration {
    /// That of a function that has just left reset.
    pub(super) fn new(identity: Identity) -> Configuration {
        Configuration {
            identity,
            id: Id::default(),
            command: 0,
            cache_line: 0,
            line: 0,
            // Relaxed ordering, extended tags, no snooping, payloads of 128 bytes, reads of 512 (7.5.3.4).
            control: 0x2910,
            messages: 0,
            bases: [0; 2],
            errors: ErrorLog::new(Reporter::Function),
            raised: false,
        }
    }

    /// The same, restored from a saved state, with its identity.
    pub(super) fn with_identity(self, identity: Identity) -> Configuration {
        Configuration { identity, ..self }
    }

    /// The number of the window whose address a word is a half of, and the logarithm of its size.
    fn window(&self, word: u64) -> Option<(usize, u32)> {
        let window = (word.checked_sub(4)? / 2) as usize;
        let bits = *self.identity.windows.get(window)?;
        (bits != 0).then_some((window, bits))
    }

    pub(super) fn read(&self, word: u64) -> u32 {
        match word {
            0x0 | 0xb => self.identity.numbers,
            0x1 => 0x10 << 16 | self.command | if self.raised { RAISED } else { 0 },
            0x2 => CLASS << 8 | 1,
            0x3 => self.cache_line,
            0x4..=0x7 => self.window(word).map_or(0, |(window, _)| {
                let base = self.bases[window];
                if word % 2 == 0 {
                    base as u32 | WINDOW_KIND
                } else {
                    (base >> 32) as u32
                }
            }),
            0xd => CAPABILITIES,
            0xf => self.line | if self.identity.interrupts { PIN } else { 0 },
            0x10 if self.identity.vectors != 0 => CAPABILITY | MESSAGES << 8,
            0x10 => CAPABILITY,
            0x11 => DEVICE,
            0x12 => self.control | self.errors.device_status << 16,
            0x20..=0x22 if self.identity.vectors == 0 => 0,
            0x20 => self.messages | (self.identity.vectors - 1) << 16 | MESSAGE_CAPABILITY,
            0x21 => TABLE as u32,
            0x22 => PENDING,
            ERRORS.. => self.errors.read(word - ERRORS),
            _ => 0,
        }
    }

    /// Writes the bytes of a word that `enables` chooses. A function takes its number from each write that reaches it.
    pub(super) fn write(&mut self, word: u64, enables: u8, data: u32, id: Id) {
        self.id = id;
        let mask = (0..4).filter(|bit| enables >> bit & 1 != 0);
        let mask = mask.fold(0_u32, |mask, byte| mask | 0xff << (8 * byte));
        let change = |old: u32| data & mask | old & !mask;
        match word {
            0x1 => self.command = change(self.command) & COMMAND_BITS,
            0x3 => self.cache_line = change(self.cache_line) & 0xff,
            0x4..=0x7 => {
                let Some((window, bits)) = self.window(word) else {
                    return;
                };
                let base = &mut self.bases[window];
                let (low, high) = (*base as u32, (*base >> 32) as u32);
                let (low, high) = if word % 2 == 0 {
                    (change(low), high)
                } else {
                    (low, change(high))
                };
                // Bits below the size are 0, in the upper word too if it is of more than 4 GiB.
                *base = (u64::from(high) << 32 | u64::from(low)) & !((1 << bits) - 1);
            }
            0xf => self.line = change(self.line) & 0xff,
            0x12 => {
                self.control = change(self.control) & CONTROL_BITS;
                self.errors.device_status &= !((data & mask) >> 16);
            }
            ERRORS.. => self.errors.write(word - ERRORS, mask, data),
            0x20 if self.identity.vectors != 0 => {
                self.messages = change(self.messages) & (SENT | HELD_BACK);
            }
            _ => {}
        }
    }

    /// Whether its legacy interrupt is not disabled.
    pub(super) fn may_interrupt(&self) -> bool {
        self.command & NO_INTERRUPT == 0
    }

    /// Whether requests to memory are accepted.
    pub(super) fn is_memory_enabled(&self) -> bool {
        self.command & 2 != 0
    }

    pub(super) fn is_master(&self) -> bool {
        self.command & 4 != 0
    }

    /// Whether interrupts are sent as messages, and whether they may be sent now.
    pub(super) fn has_messages_enabled(&self) -> bool {
        self.messages & SENT != 0
    }

    pub(super) fn may_send_messages(&self) -> bool {
        self.messages & (SENT | HELD_BACK) == SENT && self.is_master()
    }

    /// The offset in the table of messages of an address in the first window.
    pub(super) fn in_table(&self, address: u64) -> Option<u64> {
        let offset = (address & 0xfff).checked_sub(TABLE)?;
        (self.identity.vectors != 0).then_some(offset)
    }

    /// Whether an address is in the window of this number.
    pub(super) fn is_within(&self, window: usize, address: u64) -> bool {
        let bits = self.identity.windows[window];
        bits != 0 && self.is_memory_enabled() && address >> bits == self.bases[window] >> bits
    }

    /// The function has found an error in a packet: gives what the root complex is to be told of it.
    pub(super) fn detect(&mut self, fault: Fault, header: &Header) -> Option<Severity> {
        let advisory = fault.is_advisory(header.kind.class());
        self.errors
            .detect(fault, words_of(header), advisory, self.control)
    }

    /// What software allows.
    pub(super) fn allowed(&self) -> DeviceControl {
        DeviceControl(self.control)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_beyond_four_gibibytes_have_fixed_bits_in_both_words() {
        let mut configuration = Configuration::new(Identity {
            windows: [12, 33],
            ..Identity::default()
        });
        for word in 4..8 {
            configuration.write(word, 0xf, u32::MAX, Id(0x100));
        }
        let words: Vec<u32> = (4..8).map(|word| configuration.read(word)).collect();
        assert_eq!(words, [0xffff_f00c, u32::MAX, 0xc, 0xffff_fffe]);
        configuration.write(7, 0xf, 0x203, Id(0x100));
        configuration.write(1, 0xf, 2, Id(0x100));
        assert!(configuration.is_within(1, 0x203_ffff_ffff) && configuration.is_within(1, 0x202_0000_0000));
        assert!(!configuration.is_within(1, 0x204_0000_0000));
    }
}
