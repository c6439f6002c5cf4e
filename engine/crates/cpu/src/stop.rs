use crate::address::Privilege;
use crate::cause::Exception;
use crate::device::DeviceAccess;

/// Why a hart stopped. It goes on from there when it is run again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stop {
    /// The cycle to run to has come.
    Budget,
    /// A custom instruction was issued in [`crate::Hart::cycle`]. If its `xd` is set, its answer goes to register `rd`.
    Custom(CustomCommand),
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

/// A custom instruction, as an accelerator gets it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CustomCommand {
    /// The n of `custom-n`: 0 to 3.
    pub opcode: u8,
    /// The instruction itself.
    pub word: u32,
    /// The seven bits that tell commands apart.
    pub funct: u8,
    /// Value of the first source register; zero when the instruction does not read it.
    pub rs1: u64,
    /// Value of the second source register; zero when the instruction does not read it.
    pub rs2: u64,
    /// Number of the destination register.
    pub rd: u8,
    /// Whether the program waits for a value in `rd`.
    pub xd: bool,
}

/// What decides how the addresses of a command are translated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CommandContext {
    /// The register `satp`.
    pub satp: u64,
    /// The mode in which the hart does loads and stores.
    pub privilege: Privilege,
    /// `mstatus.SUM`: the supervisor may use the pages of programs.
    pub user_memory: bool,
    /// `mstatus.MXR`: executable pages may be read.
    pub executable_readable: bool,
}
