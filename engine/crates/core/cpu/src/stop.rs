use crate::cause::Exception;
use crate::device::DeviceAccess;
use rackwright_contract::Command;

/// Why a hart stopped. It continues from there in the next run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stop {
    /// The requested cycle is reached.
    Budget,
    /// A custom instruction was issued in [`crate::Hart::cycle`]. If its `xd` is set, the response is for register
    /// `rd`.
    Custom(CustomInstruction),
    /// A load or store to an address without memory, to be completed by [`crate::Reply::finish_access`] or
    /// [`crate::Reply::refuse_access`]. For programs, only at the addresses of [`crate::Feature::Devices`].
    Device(DeviceAccess),
    /// A program's `ecall`; the hart is after it. Only for programs.
    EnvironmentCall,
    /// A prefetch has found the entry of a remote page, at this physical address. The hart is after it and does not
    /// wait. Only for harts that request remote pages.
    Prefetch(u64),
    /// A load or store has found the entry of a remote page, at this physical address. To be ended by
    /// [`crate::Reply::end_walk`]. Only for harts that request remote pages.
    RemotePage(u64),
    /// The supervisor's timer was set: [`crate::Hart::supervisor_timer`]. Only for harts that have one.
    TimerSet,
    /// The supervisor has fenced translations, which units keep too. Only for harts that have units.
    TranslationsFenced,
    /// The hart is idle until an interrupt occurs. Only for bare metal.
    WaitForInterrupt,
    /// A program has raised an exception at the hart's current address. Only for programs.
    Fault(Exception),
}

/// A custom instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CustomInstruction {
    /// The instruction itself.
    pub word: u32,
    /// The command for the unit.
    pub command: Command,
}
