use rackwright_memory::{GuestFault, ParameterError};
use rackwright_rtl::RtlError;
use rackwright_time::unit::Cycle;
use thiserror::Error;

/// The reason why a fabric cannot be built, or cannot continue.
#[derive(Debug, Error)]
pub enum FabricError {
    /// The hierarchy cannot have these parameters.
    #[error(transparent)]
    Parameters(#[from] ParameterError),
    /// A card's design.
    #[error(transparent)]
    Rtl(#[from] RtlError),
    /// The host's memory cannot be reserved.
    #[error("the memory of the host cannot be reserved: {0}")]
    Memory(#[from] std::io::Error),
    /// Software accesses memory that does not exist.
    #[error(transparent)]
    Fault(#[from] GuestFault),
    /// A description that refers to missing parts, or is invalid.
    #[error("{0}")]
    Description(String),
    /// A design without a stream that functions have.
    #[error("the unit `{unit}` has no stream `{stream}`, as functions of PCI Express have")]
    NoFunction {
        /// Its name.
        unit: String,
        /// The stream.
        stream: &'static str,
    },
    /// An assertion of a card failed.
    #[error("card {card}: it stopped at cycle {}: {reason}", .cycle.0)]
    Stopped {
        /// Its name.
        card: String,
        /// When, in its own cycles.
        cycle: Cycle,
        /// Why.
        reason: String,
    },
    /// A card did not advertise its credits.
    #[error("card {card}: it advertises no credits after its reset")]
    NoCredits {
        /// Its name.
        card: String,
    },
    /// A request of the host has no completion.
    #[error("the host waits for a completion from {from} that does not come")]
    NoCompletion {
        /// What was asked.
        from: String,
    },
    /// A request of the host is refused.
    #[error("{from} is not served: unsupported request")]
    Refused {
        /// What was asked.
        from: String,
    },
    /// A card does not support the fabric's settings.
    #[error("card {card}: {reason}")]
    Card {
        /// Its name.
        card: String,
        /// What it cannot.
        reason: String,
    },
    /// A run does not end.
    #[error("{what} has not ended after {milliseconds} ms")]
    Unfinished {
        /// Which.
        what: String,
        /// Simulated time.
        milliseconds: u64,
    },
    /// Data are wrong.
    #[error("{what} is wrong: {found:#x} instead of {expected:#x}")]
    Wrong {
        /// Which data.
        what: String,
        /// What there is.
        found: u64,
        /// The expected data.
        expected: u64,
    },
}
