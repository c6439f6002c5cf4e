use rackwright_time::Cycle;

/// Causes of exceptions, with their encoding.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)] // the names are those of the manual
pub enum Cause {
    FetchMisaligned = 0,
    FetchAccessFault = 1,
    IllegalInstruction = 2,
    Breakpoint = 3,
    LoadMisaligned = 4,
    LoadAccessFault = 5,
    StoreMisaligned = 6,
    StoreAccessFault = 7,
    CallFromUser = 8,
    CallFromSupervisor = 9,
    CallFromMachine = 11,
    FetchPageFault = 12,
    LoadPageFault = 13,
    StorePageFault = 15,
}

impl Cause {
    pub(crate) fn is_page_fault(self) -> bool {
        matches!(
            self,
            Cause::FetchPageFault | Cause::LoadPageFault | Cause::StorePageFault
        )
    }
}

/// When a hart took a page fault, or left the supervisor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fault {
    /// The cycle in which the trap of one begins.
    Taken(Cycle),
    /// The cycle of an `sret`.
    Left(Cycle),
}

/// A synchronous exception.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Exception {
    /// What happened.
    pub cause: Cause,
    /// The address or instruction concerned, as `mtval` shows it.
    pub value: u64,
}

impl Exception {
    pub(crate) fn illegal(word: u32) -> Exception {
        Exception {
            cause: Cause::IllegalInstruction,
            value: word.into(),
        }
    }
}

/// Interrupts, with their place in `mip`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)] // the names are those of the manual
pub enum Interrupt {
    SupervisorSoftware = 1,
    MachineSoftware = 3,
    SupervisorTimer = 5,
    MachineTimer = 7,
    SupervisorExternal = 9,
    MachineExternal = 11,
}

impl Interrupt {
    pub(crate) const fn bit(self) -> u64 {
        1 << self as u32
    }

    /// Whether it comes from an interrupt controller.
    pub(crate) fn is_external(self) -> bool {
        matches!(self, Interrupt::SupervisorExternal | Interrupt::MachineExternal)
    }

    /// Highest priority first.
    pub(crate) const BY_PRIORITY: [Interrupt; 6] = [
        Interrupt::MachineExternal,
        Interrupt::MachineSoftware,
        Interrupt::MachineTimer,
        Interrupt::SupervisorExternal,
        Interrupt::SupervisorSoftware,
        Interrupt::SupervisorTimer,
    ];
}
