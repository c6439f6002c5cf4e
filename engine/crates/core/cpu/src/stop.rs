use crate::cause::Exception;
use crate::device::DeviceAccess;
use rackwright_contract::Command;

/// Why a hart stopped. It goes on from there when it is run again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stop {
    /// The cycle to run to has come.
    Budget,
    /// A custom instruction was issued in [`crate::Hart::cycle`]. If its `xd` is set, its answer goes to register `rd`.
    Custom(CustomInstruction),
    /// A load or store where there is no memory, to be ended by [`crate::Hart::finish_access`] or
    /// [`crate::Hart::refuse_access`]. For programs only where [`crate::Hart::offer_devices`] says so.
    Device(DeviceAccess),
    /// A program's `ecall`; the hart stands behind it. Only for programs.
    EnvironmentCall,
    /// A prefetch met the entry of a remote page, which lies at this physical address. The hart stands behind it and waits
    /// for nothing. Only for harts that were told to ask.
    Prefetch(u64),
    /// A load or store met the entry of a remote page, which lies at this physical address. To be ended by
    /// [`crate::Hart::finish_walk`] or [`crate::Hart::refuse_walk`]. Only for harts that were told to ask.
    RemotePage(u64),
    /// The supervisor's timer was set: [`crate::Hart::supervisor_timer`]. Only for harts that have one.
    TimerSet,
    /// The supervisor has fenced translations, which units keep too. Only for harts that have units.
    TranslationsFenced,
    /// Nothing to do until an interrupt comes. Only for bare metal.
    WaitForInterrupt,
    /// A program did what it may not, at the address where the hart stands. Only for programs.
    Fault(Exception),
}

/// A custom instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CustomInstruction {
    /// The instruction itself.
    pub word: u32,
    /// What a unit gets of it.
    pub command: Command,
}
