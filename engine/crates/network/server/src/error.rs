use rackwright_boot::ElfError;
use rackwright_cpu::Exception;
use rackwright_machine::MachineError;
use rackwright_memory::{GuestFault, ParameterError, MAXIMUM_SHARERS};
use rackwright_process::LoadError;
use rackwright_rtl::RtlError;
use rackwright_time::{unit, Clock, Cycle};
use rackwright_unit::{UnitError, Wait};

/// The reason why a server or a bench cannot be built, or cannot continue.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// The unit could not be built.
    #[error(transparent)]
    Rtl(#[from] RtlError),
    /// A unit could not be attached, or has violated a rule.
    #[error(transparent)]
    Unit(Box<UnitError>),
    /// A server that boots Linux could not be built.
    #[error(transparent)]
    Machine(Box<MachineError>),
    /// Buses behind a PCI host bridge could not be built, or cannot continue.
    #[error("{0}")]
    Tree(String),
    /// Programs cannot use them.
    #[error("a fabric is for bare metal and kernels: a program of Linux reaches no PCI bus")]
    TreeOfProgram,
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
    #[error(transparent)]
    Cpu(#[from] rackwright_cpu::UnknownCpu),
    /// The program made an invalid access.
    #[error("the program failed at {pc:#x}: {:?} (value {:#x}){}", exception.cause, exception.value, unknown(unknown_calls))]
    Fault {
        /// Address of the instruction.
        pc: u64,
        /// What it did.
        exception: Exception,
        /// Earlier system calls that are not emulated.
        unknown_calls: Vec<&'static str>,
    },
    /// The hart waits for an interrupt that is never raised.
    #[error("the program waits for an interrupt that never comes (at {pc:#x})")]
    WaitsForEver {
        /// Where it waits.
        pc: u64,
    },
    /// No thread can continue.
    #[error("all {threads} threads of the program wait, and nothing will wake them")]
    Deadlock {
        /// Number of threads.
        threads: usize,
    },
    /// No such number of harts.
    #[error("a server has 1 to {MAXIMUM_SHARERS} harts, not {harts}")]
    Harts {
        /// The requested number.
        harts: usize,
    },
    /// The design has fewer cores.
    #[error("Rocket in RTL was compiled with {cores} cores, which are too few for {harts} harts")]
    Cores {
        /// The cores of the design.
        cores: usize,
        /// The requested number.
        harts: usize,
    },
    /// The arguments of a bare-metal program are too long.
    #[error("the arguments of a bare-metal program take 4096 bytes at most, not {bytes}")]
    Arguments {
        /// The space that they need.
        bytes: usize,
    },
    /// Only bare-metal programs run there.
    #[error("{on} runs bare-metal programs; this is one for Linux")]
    NotBareMetal {
        /// The machine that was requested for it.
        on: &'static str,
    },
    /// Only programs of Linux run there.
    #[error("a server whose workload is a program of Linux has a bare-metal one; say Server(program=…)")]
    NotUserMode,
    /// The network interface does not answer when its registers are set up.
    #[error("unit `{unit}` has not answered a register access within {cycles} cycles after reset")]
    SilentNic {
        /// Name of the unit.
        unit: String,
        /// How long the caller has waited.
        cycles: unit::Cycles,
    },
    /// A unit on a link can't run at a part of the link's clock.
    #[error("unit `{unit}`, of {bytes} bytes per cycle, can't keep step with a link of {} Hz", clock.hertz())]
    LinkClock {
        /// Name of the unit.
        unit: String,
        /// Bytes per cycle that it accepts.
        bytes: u32,
        /// The link's clock.
        clock: Clock,
    },
    /// The user's limit.
    #[error("stopped at {cycle}: the limit of cycles is reached{}", awaited(wait))]
    CycleLimit {
        /// When.
        cycle: Cycle,
        /// The unit that was waited for.
        wait: Option<Box<Wait>>,
    },
}

impl From<UnitError> for ServerError {
    fn from(error: UnitError) -> ServerError {
        ServerError::Unit(Box::new(error))
    }
}

impl From<MachineError> for ServerError {
    fn from(error: MachineError) -> ServerError {
        ServerError::Machine(Box::new(error))
    }
}

fn awaited(wait: &Option<Box<Wait>>) -> String {
    wait.as_ref()
        .map_or_else(String::new, |wait| format!("; it {wait}"))
}

fn unknown(calls: &[&str]) -> String {
    if calls.is_empty() {
        return String::new();
    }
    format!(
        "; system calls it used that are not emulated: {}",
        calls.join(", ")
    )
}
