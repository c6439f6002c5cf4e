use rackwright_boot::BootError;
use std::path::PathBuf;

/// Why a machine cannot be made or cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum MachineError {
    /// Something cannot be booted.
    #[error(transparent)]
    Boot(#[from] BootError),
    /// Guest memory could not be reserved.
    #[error("cannot reserve {bytes} bytes of guest memory: {error}")]
    Reserve {
        /// How many.
        bytes: u64,
        /// What the host said.
        error: std::io::Error,
    },
    /// Impossible memory parameters.
    #[error(transparent)]
    Parameters(#[from] rackwright_memory::ParameterError),
    /// Too few or too many harts.
    #[error("a machine has 1 to {most} harts, not {harts}", most = crate::MAXIMUM_HARTS)]
    Harts {
        /// How many were asked for.
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
        /// What the host said.
        error: std::io::Error,
    },
    /// A checkpoint could not be read.
    #[error("cannot read {}: {error}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the host said.
        error: std::io::Error,
    },
    /// A file that is no checkpoint to go on from.
    #[error("{} {reason}", path.display())]
    Checkpoint {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// Harts whose caches and pipelines would be lost.
    #[error("a checkpoint is written by functional harts; boot with --cpu functional and go on from it with another model")]
    TimedCheckpoint,
    /// Units whose state would be lost.
    #[error("a checkpoint holds no state of units; write it before the first command to one")]
    UsedUnits,
    /// Buses behind the host bridge whose state would be lost.
    #[error("a checkpoint holds no state of a fabric, its links and cards")]
    TreeCheckpoint,
    /// Those cannot be built, or they or another device do not go on.
    #[error("{0}")]
    Tree(String),
    /// A unit cannot be attached, or did what it may not.
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
