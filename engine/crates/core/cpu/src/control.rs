//! Control and status registers (privileged manual 20211203, chapters 2 to 4).

use crate::address::Privilege;
use crate::cause::Interrupt;
use crate::imsic::{is_message_register, Imsic};
use serde::{Deserialize, Serialize};

/// Bits of `mstatus`.
pub(crate) mod status {
    pub(crate) const SIE: u64 = 1 << 1;
    pub(crate) const MIE: u64 = 1 << 3;
    pub(crate) const SPIE: u64 = 1 << 5;
    pub(crate) const MPIE: u64 = 1 << 7;
    pub(crate) const SPP: u64 = 1 << 8;
    pub(crate) const VS: u64 = 3 << 9;
    pub(crate) const MPP: u64 = 3 << 11;
    pub(crate) const FS: u64 = 3 << 13;
    /// The state of extensions for programs: read-only.
    pub(crate) const XS: u64 = 3 << 15;
    pub(crate) const MPRV: u64 = 1 << 17;
    pub(crate) const SUM: u64 = 1 << 18;
    pub(crate) const MXR: u64 = 1 << 19;
    pub(crate) const TVM: u64 = 1 << 20;
    pub(crate) const TW: u64 = 1 << 21;
    pub(crate) const TSR: u64 = 1 << 22;
    /// 64 bits for programs, and for the supervisor.
    pub(crate) const XL: u64 = 2 << 32 | 2 << 34;
    pub(crate) const SD: u64 = 1 << 63;
    pub(crate) const SUPERVISOR: u64 = SIE | SPIE | SPP | FS | SUM | MXR;
    pub(crate) const WRITABLE: u64 = SUPERVISOR | MIE | MPIE | MPP | MPRV | TVM | TW | TSR;
}

/// Numbers of control registers.
pub(crate) mod number {
    pub(crate) const FFLAGS: u16 = 0x001;
    pub(crate) const FRM: u16 = 0x002;
    pub(crate) const FCSR: u16 = 0x003;
    pub(crate) const VSTART: u16 = 0x008;
    pub(crate) const VXSAT: u16 = 0x009;
    pub(crate) const VXRM: u16 = 0x00a;
    pub(crate) const VCSR: u16 = 0x00f;
    pub(crate) const SATP: u16 = 0x180;
    pub(crate) const STIMECMP: u16 = 0x14d;
    pub(crate) const MENVCFG: u16 = 0x30a;
    pub(crate) const MIP: u16 = 0x344;
    pub(crate) const MCYCLE: u16 = 0xb00;
    pub(crate) const MINSTRET: u16 = 0xb02;
    pub(crate) const CYCLE: u16 = 0xc00;
    pub(crate) const TIME: u16 = 0xc01;
    pub(crate) const INSTRET: u16 = 0xc02;
    pub(crate) const VL: u16 = 0xc20;
    pub(crate) const VTYPE: u16 = 0xc21;
    pub(crate) const VLENB: u16 = 0xc22;

    /// Whether it belongs to the vector unit.
    pub(crate) fn is_vector(number: u16) -> bool {
        matches!(number, VSTART | VXSAT | VXRM | VCSR | VL | VTYPE | VLENB)
    }
}

/// RV64IMAFDC with supervisor and user mode.
const MISA: u64 = 2 << 62
    | letter(b'I')
    | letter(b'M')
    | letter(b'A')
    | letter(b'F')
    | letter(b'D')
    | letter(b'C')
    | letter(b'S')
    | letter(b'U');

const fn letter(name: u8) -> u64 {
    1 << (name - b'A')
}

/// Interrupts that belong to the supervisor.
const SUPERVISOR_INTERRUPTS: u64 = Interrupt::SupervisorSoftware.bit()
    | Interrupt::SupervisorTimer.bit()
    | Interrupt::SupervisorExternal.bit();
const ALL_INTERRUPTS: u64 = SUPERVISOR_INTERRUPTS
    | Interrupt::MachineSoftware.bit()
    | Interrupt::MachineTimer.bit()
    | Interrupt::MachineExternal.bit();
/// Exceptions that may be delegated: all except those from machine mode.
const DELEGABLE: u64 = 0xb3ff;
/// The counters that exist, and those that read as zero.
const COUNTERS: std::ops::RangeInclusive<u16> = 0..=31;

/// Bits of `menvcfg`: the supervisor has a timer of its own (Sstc); fences order device accesses too, as all do here.
mod environment {
    pub(super) const TIMER: u64 = 1 << 63;
    pub(super) const FENCES: u64 = 1;
}

/// The state saved by a trap, for one of the two modes that handle traps.
#[derive(Clone, Copy, Default, Debug, Serialize, Deserialize)]
pub(crate) struct TrapRegisters {
    pub(crate) vector: u64,
    pub(crate) scratch: u64,
    pub(crate) pc: u64,
    pub(crate) cause: u64,
    pub(crate) value: u64,
    pub(crate) counters: u64,
}

/// The extensions that software finds.
#[derive(Clone, Copy, Default, Debug, Serialize, Deserialize)]
pub(crate) struct Offers {
    /// Whether the firmware may give the supervisor a timer (Sstc).
    pub(crate) timer: bool,
    /// Whether there is a vector unit.
    pub(crate) vector: bool,
    /// Whether there are units: a property of the machine, not of its software.
    #[serde(skip)]
    pub(crate) custom: bool,
}

/// The control registers other than those of floating point, and the interrupts that they show.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Control {
    pub(crate) privilege: Privilege,
    pub(crate) status: u64,
    pub(crate) enabled: u64,
    pub(crate) pending: u64,
    pub(crate) exception_delegation: u64,
    pub(crate) interrupt_delegation: u64,
    pub(crate) machine: TrapRegisters,
    pub(crate) supervisor: TrapRegisters,
    pub(crate) satp: u64,
    /// When the supervisor's own timer is raised, in ticks of `time`.
    pub(crate) timer: u64,
    environment: u64,
    pub(crate) offers: Offers,
    /// The controller of message-signalled interrupts, if there is one.
    pub(crate) imsic: Option<Box<Imsic>>,
    hart: u64,
}

/// The instructions that are legal in addition to those that always are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Legal {
    pub(crate) float: bool,
    pub(crate) vector: bool,
}

/// No such register, or not in this mode.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct NoAccess;

impl Control {
    pub(crate) fn new(hart: u64, privilege: Privilege) -> Control {
        Control {
            privilege,
            status: 0,
            enabled: 0,
            pending: 0,
            exception_delegation: 0,
            interrupt_delegation: 0,
            machine: TrapRegisters::default(),
            supervisor: TrapRegisters::default(),
            satp: 0,
            timer: u64::MAX,
            environment: 0,
            offers: Offers::default(),
            imsic: None,
            hart,
        }
    }

    /// Whether it has a vector unit.
    pub fn has_vector(&self) -> bool {
        self.offers.vector
    }

    /// Raises or lowers an interrupt line. A controller of message-signalled interrupts has the place of those for
    /// external interrupts, which then have no effect.
    #[inline]
    pub fn set_interrupt(&mut self, interrupt: Interrupt, raised: bool) {
        if self.imsic.is_some() && interrupt.is_external() {
            return;
        }
        if raised {
            self.pending |= interrupt.bit();
        } else {
            self.pending &= !interrupt.bit();
        }
    }

    /// Whether the line for external interrupts of machine level ends a wait.
    pub fn takes_external(&self) -> bool {
        self.imsic.is_none() && self.enabled & Interrupt::MachineExternal.bit() != 0
    }

    /// Whether an enabled interrupt is pending, so that a wait ends.
    #[inline]
    pub fn is_interrupted(&self) -> bool {
        self.pending & self.enabled != 0
    }

    pub(crate) fn float_enabled(&self) -> bool {
        self.status & status::FS != 0
    }

    pub(crate) fn vector_enabled(&self) -> bool {
        self.status & status::VS != 0
    }

    /// The instructions that are legal because registers of theirs may be used.
    pub(crate) fn legal(&self) -> Legal {
        Legal {
            float: self.float_enabled(),
            vector: self.vector_enabled(),
        }
    }

    /// Bits of the status register that exist because of extensions.
    fn extension_bits(&self) -> u64 {
        if self.offers.vector {
            status::VS
        } else {
            0
        }
    }

    /// The status register as read: registers are always dirty if they may be used at all, and so is the state of
    /// units. As in Rocket with RoCC, units cannot be turned off.
    fn read_status(&self) -> u64 {
        let float = if self.float_enabled() {
            status::FS | status::SD
        } else {
            0
        };
        let vector = if self.vector_enabled() {
            status::VS | status::SD
        } else {
            0
        };
        let custom = if self.offers.custom {
            status::XS | status::SD
        } else {
            0
        };
        self.status | float | vector | custom | status::XL
    }

    /// Whether the mode may use register `number`, for writing too with `write`.
    pub(crate) fn check(&self, number: u16, write: bool) -> Result<(), NoAccess> {
        let needed = number >> 8 & 3;
        let counter = matches!(number, 0xc00..=0xc1f) && !self.counter_enabled(number & 31);
        let guarded_satp = number == number::SATP
            && self.privilege == Privilege::Supervisor
            && self.status & status::TVM != 0;
        let timer = number == number::STIMECMP && !self.may_use_timer();
        let float = number <= number::FCSR && !self.float_enabled();
        let vector = number::is_vector(number) && !self.vector_enabled();
        let read_only = write && number >> 10 == 3;
        if (self.privilege as u16) < needed
            || counter
            || guarded_satp
            || timer
            || float
            || vector
            || read_only
        {
            return Err(NoAccess);
        }
        Ok(())
    }

    /// `misa`.
    fn extensions(&self) -> u64 {
        let custom = if self.offers.custom { letter(b'X') } else { 0 };
        let vector = if self.offers.vector { letter(b'V') } else { 0 };
        MISA | custom | vector
    }

    /// Whether the supervisor has a timer of its own.
    pub(crate) fn has_supervisor_timer(&self) -> bool {
        self.environment & environment::TIMER != 0
    }

    fn may_use_timer(&self) -> bool {
        let granted = self.has_supervisor_timer() && self.counter_enabled(1);
        self.offers.timer && (self.privilege == Privilege::Machine || granted)
    }

    fn counter_enabled(&self, counter: u16) -> bool {
        let bit = 1 << counter;
        match self.privilege {
            Privilege::Machine => true,
            Privilege::Supervisor => self.machine.counters & bit != 0,
            Privilege::User => self.machine.counters & self.supervisor.counters & bit != 0,
        }
    }

    /// Allows programs to read all counters.
    pub(crate) fn open_counters(&mut self) {
        self.machine.counters = u64::MAX;
        self.supervisor.counters = u64::MAX;
    }

    /// The value of a register that is not a running counter.
    pub(crate) fn read(&self, number: u16) -> Result<u64, NoAccess> {
        let (machine, supervisor) = (&self.machine, &self.supervisor);
        Ok(match number {
            0x100 => {
                let shown = status::SUPERVISOR | status::VS | status::XS | status::SD | status::XL & 3 << 32;
                self.read_status() & shown
            }
            0x104 => self.enabled & self.interrupt_delegation,
            0x105 => supervisor.vector,
            0x106 => supervisor.counters & 0xffff_ffff,
            0x140 => supervisor.scratch,
            0x141 => supervisor.pc,
            0x142 => supervisor.cause,
            0x143 => supervisor.value,
            0x144 => self.pending & self.interrupt_delegation,
            number::STIMECMP => self.timer,
            number::SATP => self.satp,
            number::MENVCFG => self.environment,
            0x300 => self.read_status(),
            0x301 => self.extensions(),
            0x302 => self.exception_delegation,
            0x303 => self.interrupt_delegation,
            0x304 => self.enabled,
            0x305 => machine.vector,
            0x306 => machine.counters & 0xffff_ffff,
            0x340 => machine.scratch,
            0x341 => machine.pc,
            0x342 => machine.cause,
            0x343 => machine.value,
            number::MIP => self.pending,
            0xf14 => self.hart,
            _ if reads_as_zero(number) => 0,
            _ if is_message_register(number) => self.read_message_register(number)?,
            _ => return Err(NoAccess),
        })
    }

    /// Writes a register that is not a running counter; bits that cannot be changed stay.
    pub(crate) fn write(&mut self, number: u16, value: u64) -> Result<(), NoAccess> {
        let delegated = self.interrupt_delegation;
        match number {
            0x100 => self.set_status(value, status::SUPERVISOR | self.extension_bits()),
            0x104 => self.enabled = merge(self.enabled, value, delegated),
            0x105 => self.supervisor.vector = vector(value),
            0x106 => self.supervisor.counters = value,
            0x140 => self.supervisor.scratch = value,
            0x141 => self.supervisor.pc = value & !1,
            0x142 => self.supervisor.cause = value,
            0x143 => self.supervisor.value = value,
            0x144 => {
                let mask = Interrupt::SupervisorSoftware.bit() & delegated;
                self.pending = merge(self.pending, value, mask);
            }
            number::STIMECMP => self.timer = value,
            number::SATP if matches!(value >> 60, 0 | 8 | 9) => self.satp = value,
            number::MENVCFG => {
                let timer = if self.offers.timer { environment::TIMER } else { 0 };
                self.environment = value & (timer | environment::FENCES);
            }
            0x300 => self.set_status(value, status::WRITABLE | self.extension_bits()),
            0x302 => self.exception_delegation = value & DELEGABLE,
            0x303 => self.interrupt_delegation = value & SUPERVISOR_INTERRUPTS,
            0x304 => self.enabled = value & ALL_INTERRUPTS,
            0x305 => self.machine.vector = vector(value),
            0x306 => self.machine.counters = value,
            0x340 => self.machine.scratch = value,
            0x341 => self.machine.pc = value & !1,
            0x342 => self.machine.cause = value,
            0x343 => self.machine.value = value,
            number::MIP => {
                let timer = if self.has_supervisor_timer() {
                    Interrupt::SupervisorTimer.bit()
                } else {
                    0
                };
                self.pending = merge(self.pending, value, SUPERVISOR_INTERRUPTS & !timer);
                self.keep_software_interrupt();
            }
            number::SATP | 0x301 => {}
            _ if reads_as_zero(number) => {}
            _ if is_message_register(number) => self.write_message_register(number, value)?,
            _ => return Err(NoAccess),
        }
        Ok(())
    }

    fn set_status(&mut self, value: u64, mask: u64) {
        let previous = self.status & status::MPP;
        self.status = merge(self.status, value, mask);
        if self.status & status::MPP == 2 << 11 {
            self.status = merge(self.status, previous, status::MPP);
        }
    }
}

fn merge(old: u64, new: u64, mask: u64) -> u64 {
    old & !mask | new & mask
}

/// Trap vectors: direct or vectored.
fn vector(value: u64) -> u64 {
    value & !2
}

/// Registers that exist but read as zero here: identification, event selectors, event counters, protected regions
/// beyond the existing ones, environment configuration of the supervisor, inhibition of counters, triggers (none).
fn reads_as_zero(number: u16) -> bool {
    let event_counter = |base: u16| COUNTERS.contains(&number.wrapping_sub(base));
    matches!(number, 0xf11..=0xf13 | 0xf15 | 0x320..=0x33f | 0x3a4 | 0x3a6 | 0x3a8 | 0x3aa | 0x3ac | 0x3ae | 0x3c0..=0x3ef | 0x10a | 0x7a0..=0x7a5)
        || event_counter(0xb00)
        || event_counter(0xc00)
}
