use rackwright_memory::ParameterError;
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
    /// The unit is quiescent but owes a register value: it would hang the hart.
    #[error("unit `{unit}` does not answer custom-{} funct {}", command.opcode, command.funct)]
    NoAnswer {
        /// Name of the unit.
        unit: String,
        /// What it was asked.
        command: Command,
    },
    /// The limit that the user gave.
    #[error("stopped at {cycle}: the limit of cycles is reached")]
    CycleLimit {
        /// When.
        cycle: Cycle,
    },
}
