use rackwright_boot::BootError;
use std::path::PathBuf;

/// The reason why a machine cannot be built or cannot continue.
#[derive(Debug, thiserror::Error)]
pub enum MachineError {
    /// Booting is impossible.
    #[error(transparent)]
    Boot(#[from] BootError),
    /// Guest memory could not be reserved.
    #[error("cannot reserve {bytes} bytes of guest memory: {error}")]
    Reserve {
        /// How many.
        bytes: u64,
        /// The error of the host.
        error: std::io::Error,
    },
    /// Impossible memory parameters.
    #[error(transparent)]
    Parameters(#[from] rackwright_memory::ParameterError),
    /// Too few or too many harts.
    #[error("a machine has 1 to {most} harts, not {harts}", most = crate::MAXIMUM_HARTS)]
    Harts {
        /// The requested number.
        harts: usize,
    },
    /// There is no such model.
    #[error(transparent)]
    Cpu(#[from] rackwright_cpu::UnknownCpu),
    /// A checkpoint could not be written.
    #[error("cannot write {}: {error}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The error of the host.
        error: std::io::Error,
    },
    /// A checkpoint could not be read.
    #[error("cannot read {}: {error}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The error of the host.
        error: std::io::Error,
    },
    /// A file that is not a valid checkpoint.
    #[error("{} {reason}", path.display())]
    Checkpoint {
        /// The file.
        path: PathBuf,
        /// The error in it.
        reason: &'static str,
    },
    /// The caches or pipelines of the harts cannot be saved.
    #[error("a checkpoint cannot hold the caches and pipelines of the harts: {0}")]
    Timing(rackwright_state::StateError),
    /// Units whose state would be lost.
    #[error("a checkpoint holds no state of units; write it before the first command to one")]
    UsedUnits,
    /// Buses behind the host bridge, whose state would be lost.
    #[error("a checkpoint cannot hold this fabric: {0}")]
    TreeCheckpoint(String),
    /// Those cannot be built, or they or another device do not go on.
    #[error("{0}")]
    Tree(String),
    /// A unit cannot be attached, or has violated a rule.
    #[error(transparent)]
    Unit(#[from] rackwright_unit::UnitError),
    /// The devices of a checkpoint are damaged.
    #[error(transparent)]
    Devices(#[from] rackwright_device::RestoreError),
    /// The guest was switched off before it was ready.
    #[error("the guest was switched off before it was ready; its console ends with: {console}")]
    EndedEarly {
        /// The last line of the console.
        console: String,
    },
    /// The guest sent a line that makes no sense.
    #[error("the guest answered {line:?} to a request; is its init the one of the image?")]
    Answer {
        /// What it sent.
        line: String,
    },
}
