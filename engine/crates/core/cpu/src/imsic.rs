//! The incoming MSI controller of a hart: an interrupt file for each level of privilege, and the control registers that
//! lead to them (RISC-V Advanced Interrupt Architecture 1.0, chapters 2, 3 and 5).
//!
//! Priorities of major interrupts are fixed, and no interrupt of the supervisor is virtual: `iprio` and `mvien` read as
//! zero, as the specification allows.

use crate::cause::Interrupt;
use crate::control::{Control, NoAccess};
use rackwright_contract::{Level, HIGHEST_IDENTITY};
use serde::{Deserialize, Serialize};

/// Words of the arrays of a file.
const WORDS: usize = (HIGHEST_IDENTITY as usize + 1) / 64;

/// Numbers of control registers.
mod number {
    pub(super) const SISELECT: u16 = 0x150;
    pub(super) const SIREG: u16 = 0x151;
    pub(super) const STOPEI: u16 = 0x15c;
    pub(super) const STOPI: u16 = 0xdb0;
    pub(super) const MVIEN: u16 = 0x308;
    pub(super) const MVIP: u16 = 0x309;
    pub(super) const MISELECT: u16 = 0x350;
    pub(super) const MIREG: u16 = 0x351;
    pub(super) const MTOPEI: u16 = 0x35c;
    pub(super) const MTOPI: u16 = 0xfb0;
}

/// Numbers of registers behind `miselect` and `siselect`.
mod indirect {
    pub(super) const LAST: u64 = 0xff;
    pub(super) const FIRST_PRIORITY: u64 = 0x30;
    pub(super) const LAST_PRIORITY: u64 = 0x3f;
    pub(super) const DELIVERY: u64 = 0x70;
    pub(super) const THRESHOLD: u64 = 0x72;
    pub(super) const FIRST_PENDING: u64 = 0x80;
    pub(super) const FIRST_ENABLED: u64 = 0xc0;
}

/// The controller.
#[derive(Clone, Default, Debug, Serialize, Deserialize)]
pub(crate) struct Imsic {
    files: [InterruptFile; 2],
    /// The bit for an external interrupt of the supervisor that software writes, beside that of the file (privileged
    /// manual 20211203, section 3.1.9).
    software: bool,
}

/// The interrupts of a level of privilege.
#[derive(Clone, Default, Debug, Serialize, Deserialize)]
struct InterruptFile {
    /// `miselect` or `siselect`.
    select: u64,
    delivers: bool,
    /// Identities from this one on do not interrupt; with 0, all do.
    threshold: u32,
    pending: [u64; WORDS],
    enabled: [u64; WORDS],
}

impl InterruptFile {
    fn receive(&mut self, identity: u32) {
        if (1..=HIGHEST_IDENTITY).contains(&identity) {
            self.pending[identity as usize / 64] |= 1 << (identity % 64);
        }
    }

    /// The interrupt of highest priority, the one with the lowest identity; 0 for none.
    fn top(&self) -> u32 {
        let words = (0..).step_by(64).zip(self.pending.iter().zip(&self.enabled));
        let mut ready = words.map(|(first, (pending, enabled))| (first, pending & enabled));
        let top = ready
            .find(|(_, ready)| *ready != 0)
            .map_or(0, |(first, ready)| first + ready.trailing_zeros());
        if self.threshold == 0 || top < self.threshold {
            top
        } else {
            0
        }
    }

    fn interrupts(&self) -> bool {
        self.delivers && self.top() != 0
    }

    /// The value of `mtopei` or `stopei`: the identity, and the same number as its priority.
    fn top_register(&self) -> u64 {
        let top = u64::from(self.top());
        top << 16 | top
    }

    /// Ends the interrupt that [`InterruptFile::top`] names.
    fn claim(&mut self) {
        let top = self.top();
        self.pending[top as usize / 64] &= !(1 << (top % 64));
    }

    fn read(&self) -> Result<u64, NoAccess> {
        use indirect::*;
        Ok(match self.select {
            FIRST_PRIORITY..=LAST_PRIORITY if self.select % 2 == 0 => 0,
            DELIVERY => self.delivers.into(),
            THRESHOLD => self.threshold.into(),
            // Reserved.
            0x71 | 0x73..FIRST_PENDING => 0,
            FIRST_PENDING..FIRST_ENABLED => word(&self.pending, self.select - FIRST_PENDING)?,
            FIRST_ENABLED..=LAST => word(&self.enabled, self.select - FIRST_ENABLED)?,
            _ => return Err(NoAccess),
        })
    }

    fn write(&mut self, value: u64) -> Result<(), NoAccess> {
        use indirect::*;
        self.read()?;
        match self.select {
            DELIVERY => self.delivers = value & 1 != 0,
            THRESHOLD => self.threshold = value as u32 & HIGHEST_IDENTITY,
            FIRST_PENDING..FIRST_ENABLED => set_word(&mut self.pending, self.select - FIRST_PENDING, value),
            FIRST_ENABLED..=LAST => set_word(&mut self.enabled, self.select - FIRST_ENABLED, value),
            _ => {}
        }
        Ok(())
    }
}

/// The word of an array behind register `number` of it. Registers of 64 bits have even numbers; those beyond the highest
/// identity are zero.
fn word(array: &[u64; WORDS], number: u64) -> Result<u64, NoAccess> {
    if number % 2 != 0 {
        return Err(NoAccess);
    }
    Ok(array.get(number as usize / 2).copied().unwrap_or(0))
}

fn set_word(array: &mut [u64; WORDS], number: u64, value: u64) {
    if let Some(word) = array.get_mut(number as usize / 2) {
        // There is no identity 0.
        *word = if number == 0 { value & !1 } else { value };
    }
}

/// Whether a control register exists only with an incoming MSI controller.
pub(crate) fn is_message_register(register: u16) -> bool {
    use number::*;
    matches!(
        register,
        SISELECT | SIREG | STOPEI | STOPI | MVIEN | MVIP | MISELECT | MIREG | MTOPEI | MTOPI
    )
}

impl Control {
    /// A message-signalled interrupt has arrived for a level of privilege; it has no effect without a controller
    /// ([`Feature::Messages`](crate::Feature)), or if the controller does not have the identity.
    pub fn receive(&mut self, level: Level, identity: u32) {
        if let Some(imsic) = &mut self.imsic {
            imsic.files[level as usize].receive(identity);
            self.show_messages();
        }
    }

    /// Reads a register for which [`is_message_register`] holds.
    pub(crate) fn read_message_register(&self, register: u16) -> Result<u64, NoAccess> {
        let imsic = self.imsic.as_ref().ok_or(NoAccess)?;
        let [machine, supervisor] = &imsic.files;
        let ready = self.pending & self.enabled;
        Ok(match register {
            number::MISELECT => machine.select,
            number::MIREG => machine.read()?,
            number::MTOPEI => machine.top_register(),
            number::MTOPI => top_interrupt(ready & !self.interrupt_delegation),
            number::SISELECT => supervisor.select,
            number::SIREG => supervisor.read()?,
            number::STOPEI => supervisor.top_register(),
            number::STOPI => top_interrupt(ready & self.interrupt_delegation),
            number::MVIP => self.virtual_interrupts(imsic),
            _ => 0,
        })
    }

    /// Writes such a register.
    pub(crate) fn write_message_register(&mut self, register: u16, value: u64) -> Result<(), NoAccess> {
        let has_timer = self.has_supervisor_timer();
        let imsic = self.imsic.as_mut().ok_or(NoAccess)?;
        let [machine, supervisor] = &mut imsic.files;
        match register {
            number::MISELECT => machine.select = value & indirect::LAST,
            number::MIREG => machine.write(value)?,
            number::MTOPEI => machine.claim(),
            number::SISELECT => supervisor.select = value & indirect::LAST,
            number::SIREG => supervisor.write(value)?,
            number::STOPEI => supervisor.claim(),
            number::MVIP => {
                imsic.software = value & Interrupt::SupervisorExternal.bit() != 0;
                let bits = writable_virtual(has_timer);
                self.pending = self.pending & !bits | value & bits;
            }
            _ => {}
        }
        self.show_messages();
        Ok(())
    }

    /// The value that an instruction changes which sets or clears bits of `mip`, which reads as `old`: without the signal
    /// of an interrupt file, which reads as the same bit.
    pub(crate) fn without_signal(&self, old: u64) -> u64 {
        match &self.imsic {
            Some(imsic) if !imsic.software => old & !Interrupt::SupervisorExternal.bit(),
            _ => old,
        }
    }

    /// `mip` has been written: with a controller, software's own bit is kept beside the signal.
    pub(crate) fn keep_software_interrupt(&mut self) {
        if let Some(imsic) = &mut self.imsic {
            imsic.software = self.pending & Interrupt::SupervisorExternal.bit() != 0;
            self.show_messages();
        }
    }

    /// Shows the signals of the interrupt files among pending interrupts.
    fn show_messages(&mut self) {
        let Some(imsic) = &self.imsic else {
            return;
        };
        let [machine, supervisor] = &imsic.files;
        for (interrupt, raised) in [
            (Interrupt::MachineExternal, machine.interrupts()),
            (
                Interrupt::SupervisorExternal,
                imsic.software || supervisor.interrupts(),
            ),
        ] {
            self.pending &= !interrupt.bit();
            self.pending |= if raised { interrupt.bit() } else { 0 };
        }
    }

    /// `mvip`: bits of `mip` that software writes.
    fn virtual_interrupts(&self, imsic: &Imsic) -> u64 {
        let external = if imsic.software {
            Interrupt::SupervisorExternal.bit()
        } else {
            0
        };
        self.pending & writable_virtual(self.has_supervisor_timer()) | external
    }
}

/// Bits of `mvip` that are those of `mip`; the timer's only if the supervisor has none of its own.
fn writable_virtual(has_timer: bool) -> u64 {
    let timer = if has_timer {
        0
    } else {
        Interrupt::SupervisorTimer.bit()
    };
    Interrupt::SupervisorSoftware.bit() | timer
}

/// The value of `mtopi` or `stopi` for these interrupts: the number of the one of highest priority, and 1 for its priority.
fn top_interrupt(ready: u64) -> u64 {
    let mut all = Interrupt::BY_PRIORITY.into_iter();
    let top = all.find(|interrupt| ready & interrupt.bit() != 0);
    top.map_or(0, |interrupt| (interrupt as u64) << 16 | 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::address::Privilege;

    fn control() -> Control {
        let mut control = Control::new(0, Privilege::Machine);
        control.imsic = Some(Box::default());
        control
    }

    fn set(control: &mut Control, select: u64, value: u64) {
        control.write(number::SISELECT, select).unwrap();
        control.write(number::SIREG, value).unwrap();
    }

    fn get(control: &mut Control, select: u64) -> Result<u64, NoAccess> {
        control.write(number::SISELECT, select).unwrap();
        control.read(number::SIREG)
    }

    const EXTERNAL: u64 = Interrupt::SupervisorExternal.bit();

    /// All identities are enabled.
    fn ready() -> Control {
        let mut control = control();
        set(&mut control, indirect::DELIVERY, 1);
        for word in 0..WORDS as u64 {
            set(&mut control, indirect::FIRST_ENABLED + 2 * word, u64::MAX);
        }
        control
    }

    #[test]
    fn messages_are_claimed_by_identity_and_signalled_while_there_are_any() {
        let mut control = ready();
        for identity in [200, 64, 255, 256, 0] {
            control.receive(Level::Supervisor, identity);
        }
        for identity in [64, 200, 255] {
            assert_eq!(control.pending, EXTERNAL);
            assert_eq!(control.read(number::STOPEI), Ok(identity << 16 | identity));
            control.write(number::STOPEI, 0).unwrap();
        }
        assert_eq!((control.pending, control.read(number::STOPEI)), (0, Ok(0)));
        // The other file has got none.
        assert_eq!(control.read(number::MTOPEI), Ok(0));
    }

    #[test]
    fn delivery_threshold_and_enables_keep_messages_back() {
        let mut control = ready();
        control.receive(Level::Supervisor, 70);
        set(&mut control, indirect::THRESHOLD, 70);
        assert_eq!((control.pending, control.read(number::STOPEI)), (0, Ok(0)));
        set(&mut control, indirect::THRESHOLD, 71);
        assert_eq!(control.pending, EXTERNAL);
        set(&mut control, indirect::FIRST_ENABLED + 2, !(1 << 6));
        assert_eq!(control.pending, 0);
        set(&mut control, indirect::FIRST_ENABLED + 2, 1 << 6);
        set(&mut control, indirect::DELIVERY, 0);
        assert_eq!(
            (control.pending, control.read(number::STOPEI)),
            (0, Ok(70 << 16 | 70))
        );
    }

    #[test]
    fn arrays_are_words_of_64_bits_without_identity_0() {
        let mut control = control();
        for first in [indirect::FIRST_PENDING, indirect::FIRST_ENABLED] {
            for (register, value) in [(0, u64::MAX - 1), (6, u64::MAX), (8, 0), (62, 0)] {
                set(&mut control, first + register, u64::MAX);
                assert_eq!(get(&mut control, first + register), Ok(value));
            }
            assert_eq!(get(&mut control, first + 1), Err(NoAccess));
            assert_eq!(control.write(number::SIREG, 1), Err(NoAccess));
        }
        for (select, value) in [
            (0x30, Ok(0)),
            (0x31, Err(NoAccess)),
            (0x71, Ok(0)),
            (0x40, Err(NoAccess)),
        ] {
            assert_eq!(get(&mut control, select), value);
        }
    }

    #[test]
    fn the_top_interrupt_is_that_of_its_level() {
        let mut control = ready();
        control.interrupt_delegation = EXTERNAL | Interrupt::SupervisorSoftware.bit();
        control.enabled = u64::MAX;
        control.receive(Level::Supervisor, 5);
        control.pending |= Interrupt::SupervisorSoftware.bit() | Interrupt::MachineTimer.bit();
        assert_eq!(control.read(number::STOPI), Ok(9 << 16 | 1));
        assert_eq!(control.read(number::MTOPI), Ok(7 << 16 | 1));
        control.write(number::STOPEI, 0).unwrap();
        assert_eq!(control.read(number::STOPI), Ok(1 << 16 | 1));
    }

    #[test]
    fn the_bit_that_software_writes_is_apart_from_the_signal() {
        const MIP: u16 = 0x344;
        let mut control = ready();
        control.receive(Level::Supervisor, 5);
        // Setting another bit of `mip` does not set this one.
        let old = control.read(MIP).unwrap();
        control.write(MIP, control.without_signal(old) | 2).unwrap();
        assert_eq!(control.read(number::MVIP), Ok(2));
        control.write(number::STOPEI, 0).unwrap();
        assert_eq!(control.pending, 2);
        control.write(number::MVIP, EXTERNAL).unwrap();
        assert_eq!(
            (control.pending, control.read(number::MVIP)),
            (EXTERNAL, Ok(EXTERNAL))
        );
        assert_eq!(control.without_signal(EXTERNAL), EXTERNAL);
        control.write(MIP, 0).unwrap();
        assert_eq!(control.pending, 0);
    }

    #[test]
    fn without_a_controller_there_are_no_such_registers() {
        let mut control = Control::new(0, Privilege::Machine);
        control.receive(Level::Machine, 3);
        for register in [number::MISELECT, number::STOPEI, number::MTOPI, number::MVIEN] {
            assert_eq!(control.read(register), Err(NoAccess));
            assert_eq!(control.write(register, 0), Err(NoAccess));
        }
    }
}
