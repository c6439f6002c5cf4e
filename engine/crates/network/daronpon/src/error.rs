use rackwright_dispatch::ConfigurationError;
use rackwright_rtl::RtlError;
use rackwright_time::unit::Cycle;

/// Why there is no dispatcher in RTL.
#[derive(Debug, thiserror::Error)]
pub enum DaronponError {
    /// Of no policy.
    #[error(transparent)]
    Configuration(#[from] ConfigurationError),
    /// It cannot be created.
    #[error(transparent)]
    Rtl(#[from] RtlError),
    /// Another unit.
    #[error("the unit `{0}` is no dispatcher; `daronpon` is")]
    OtherUnit(String),
    /// More than its tables hold.
    #[error("the dispatcher in RTL has room for {room} {what}, not {wanted}; elaborate it with {what}={wanted} or more")]
    Room {
        /// Entries of the table.
        room: u64,
        /// The limited property: the name of the parameter.
        what: &'static str,
        /// The rack's value.
        wanted: usize,
    },
    /// Its table of flights determines the requests that can be counted, so that it must have the configured size.
    #[error("the dispatcher in RTL counts {flights} requests under way, not {tracked}; `tracked` and `flights` have to agree")]
    Tracked {
        /// Of the unit.
        flights: u64,
        /// Of the configuration.
        tracked: usize,
    },
    /// A feature of the model only.
    #[error("the dispatcher in RTL has no {0}; fidelity \"model\" has")]
    NotBuilt(&'static str),
    /// It neither sent output nor became idle.
    #[error("the dispatcher in RTL did not come to rest in {0} cycles")]
    Stuck(u64),
    /// One of its assertions failed, or it ended the simulation in another way.
    #[error("the dispatcher in RTL stopped at {cycle}: {reason}")]
    Stopped {
        /// When.
        cycle: Cycle,
        /// What it said.
        reason: String,
    },
}
