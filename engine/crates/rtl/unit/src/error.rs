use rackwright_contract::Command;
use rackwright_rtl::RtlError;
use rackwright_time::unit::Cycle;

/// The reason why units cannot be attached, or a hart cannot continue with them.
#[derive(Debug, thiserror::Error)]
pub enum UnitError {
    /// The unit could not be built or attached.
    #[error(transparent)]
    Rtl(#[from] RtlError),
    /// A unit that may answer to all instructions of an opcode is not alone there.
    #[error(
        "custom-{opcode} cannot be shared by `{other}` and `{unit}`: the manifest of `{unit}` does not say which commands \
         it has"
    )]
    SharedOpcode {
        /// The n of `custom-n`.
        opcode: u8,
        /// Its name.
        unit: String,
        /// That of another unit of the opcode.
        other: String,
    },
    /// More units answer to one opcode than its instructions are enough for.
    #[error("custom-{opcode} has too few instructions for {units}; attach fewer, or some behind registers")]
    FullOpcode {
        /// The n of `custom-n`.
        opcode: u8,
        /// Their names.
        units: String,
    },
    /// All instructions of an opcode lead to a unit that is not beside the hart.
    #[error("custom-{opcode} leads to `{to}` alone; attach `{unit}` behind registers")]
    TakenOpcode {
        /// The n of `custom-n`.
        opcode: u8,
        /// Whose it is.
        to: String,
        /// The other unit that requires it.
        unit: String,
    },
    /// A custom instruction that no attached unit answers to.
    #[error("no attached accelerator answers to custom-{opcode} (at {pc:#x})")]
    NoUnit {
        /// The n of `custom-n`.
        opcode: u8,
        /// Address of the instruction.
        pc: u64,
    },
    /// The unit is idle but owes a register value: it would hang the hart.
    #[error("unit `{unit}` does not answer custom-{} funct {}", command.opcode, command.funct)]
    NoAnswer {
        /// Name of the unit.
        unit: String,
        /// The command that it received.
        command: Command,
    },
    /// The unit is idle, so that the interrupt that a program waits for never occurs.
    #[error("unit `{unit}` is idle and raises no interrupt, for which the program waits")]
    NoInterrupt {
        /// Name of the unit.
        unit: String,
    },
    /// A unit has a port that a hart is not connected to.
    #[error(
        "unit `{unit}` has {ports}, which a server's core does not reach: attach units with a command port or \
         registers, and memory ports (a network interface is the `nic` of a server in a cluster)"
    )]
    Unconnected {
        /// Name of the unit.
        unit: String,
        /// What is left.
        ports: &'static str,
    },
    /// Rocket in RTL does not reach the registers of units.
    #[error("unit `{unit}` has registers, which Rocket in RTL, with addresses of 32 bits, does not reach")]
    Unreached {
        /// Name of the unit.
        unit: String,
    },
    /// Units beside Rocket in RTL have its own port to memory.
    #[error("unit `{unit}` is at the port of Rocket in RTL for other masters, and has no other placement")]
    Placed {
        /// Name of the unit.
        unit: String,
    },
    /// The port of Rocket in RTL for other masters has reads and writes alone.
    #[error(
        "unit `{unit}` waits for writes to memory, or swaps words, which units beside Rocket in RTL cannot"
    )]
    Unseen {
        /// Name of the unit.
        unit: String,
    },
    /// Programs under an operating system have virtual addresses.
    #[error(
        "unit `{unit}` takes physical addresses: it was built without translation, which processes need"
    )]
    Untranslated {
        /// Name of the unit.
        unit: String,
    },
    /// A unit was active although its `idle` output was high.
    #[error("unit `{unit}` did something of its own at {cycle} while its idle output was high")]
    IdleBroken {
        /// Name of the unit.
        unit: String,
        /// When.
        cycle: Cycle,
    },
    /// An assertion of a unit failed, or it ended the simulation in another way.
    #[error("unit `{unit}` stopped at {cycle}: {reason}")]
    Stopped {
        /// Name of the unit.
        unit: String,
        /// When.
        cycle: Cycle,
        /// What it said.
        reason: String,
    },
}
