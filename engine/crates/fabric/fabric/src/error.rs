use rackwright_memory::{GuestFault, ParameterError};
use rackwright_rtl::RtlError;
use rackwright_time::unit::Cycle;
use thiserror::Error;

/// Why a fabric cannot be built, or does not go on.
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
    /// Software touches memory that is not there.
    #[error(transparent)]
    Fault(#[from] GuestFault),
    /// A description that names what is not there, or says what cannot be.
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
    /// A card did not say how much room it has.
    #[error("card {card}: it advertises no credits after its reset")]
    NoCredits {
        /// Its name.
        card: String,
    },
    /// Nobody completes a request of the host.
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
    /// A card cannot what the fabric is set to.
    #[error("card {card}: {reason}")]
    Card {
        /// Its name.
        card: String,
        /// What it cannot.
        reason: String,
    },
    /// A run does not come to its end.
    #[error("{what} has not ended after {milliseconds} ms")]
    Unfinished {
        /// Which.
        what: String,
        /// Simulated time.
        milliseconds: u64,
    },
    /// Data is not what it should be.
    #[error("{what} is wrong: {found:#x} instead of {expected:#x}")]
    Wrong {
        /// Which data.
        what: String,
        /// What there is.
        found: u64,
        /// What there should be.
        expected: u64,
    },
}
