use rackwright_cpu::Exception;
use rackwright_linux::{ElfError, LoadError};
use rackwright_memory::{GuestFault, ParameterError};
use rackwright_rtl::{Command, RtlError};
use rackwright_time::Cycle;

/// Why a server or a bench cannot be built, or cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// The unit could not be built or attached.
    #[error(transparent)]
    Unit(#[from] RtlError),
    /// Impossible memory parameters.
    #[error(transparent)]
    Parameters(#[from] ParameterError),
    /// Guest memory could not be reserved.
    #[error("cannot reserve guest memory: {0}")]
    Reserve(#[from] std::io::Error),
    /// The file is no program for this machine.
    #[error(transparent)]
    Elf(#[from] ElfError),
    /// The program could not be started.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// Guest memory is smaller than a bare-metal program needs.
    #[error("guest memory is too small: {0}")]
    Memory(#[from] GuestFault),
    /// There is no such model.
    #[error("no core model {name}; there are functional, rocket, boom")]
    UnknownCpu {
        /// What was asked for.
        name: String,
    },
    /// Two units would answer the same instruction.
    #[error("{} and {} both answer to custom-{opcode}; attach one of them", units[0], units[1])]
    SharedOpcode {
        /// The n of `custom-n`.
        opcode: u8,
        /// Their names.
        units: [String; 2],
    },
    /// A custom instruction that no attached unit answers to.
    #[error("no attached accelerator answers to custom-{opcode} (before address {pc:#x})")]
    NoUnit {
        /// The n of `custom-n`.
        opcode: u8,
        /// Where the hart stands.
        pc: u64,
    },
    /// The program did what it may not.
    #[error("the program failed at {pc:#x}: {:?} (value {:#x}){}", exception.cause, exception.value, unknown(unknown_calls))]
    Fault {
        /// Address of the instruction.
        pc: u64,
        /// What it did.
        exception: Exception,
        /// System calls it made before that are not emulated.
        unknown_calls: Vec<u64>,
    },
    /// The hart waits for an interrupt that nothing will raise.
    #[error("the program waits for an interrupt that never comes (at {pc:#x})")]
    WaitsForEver {
        /// Where it waits.
        pc: u64,
    },
    /// The unit is quiescent but owes a register value: it would hang the hart.
    #[error("unit `{unit}` does not answer custom-{} funct {}", command.opcode, command.funct)]
    NoAnswer {
        /// Name of the unit.
        unit: String,
        /// What it was asked.
        command: Command,
    },
    /// More than a bare-metal program can be told.
    #[error("the arguments of a bare-metal program take 4096 bytes at most, not {bytes}")]
    Arguments {
        /// What they would take.
        bytes: usize,
    },
    /// Only bare-metal programs run on servers in a network.
    #[error("a server in a network runs bare-metal programs; this is one for Linux")]
    NotBareMetal,
    /// The limit that the user gave.
    #[error("stopped at {cycle}: the limit of cycles is reached")]
    CycleLimit {
        /// When.
        cycle: Cycle,
    },
}

fn unknown(calls: &[u64]) -> String {
    if calls.is_empty() {
        return String::new();
    }
    format!("; system calls it used that are not emulated: {calls:?}")
}
