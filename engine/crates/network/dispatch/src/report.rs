use crate::{Load, PeerId, ServiceId};
use arrayvec::ArrayVec;

/// Maximum number of services of one dispatcher: their loads fit into one message.
pub const MAX_SERVICES: usize = 16;

/// A dispatcher's report on its rack.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Report {
    /// Who says it.
    pub from: PeerId,
    /// Which life of the dispatcher: higher each time it starts.
    pub incarnation: u32,
    /// Which of its messages in that life.
    pub sequence: u32,
    /// A line for each service that both sides have.
    pub entries: ArrayVec<Entry, MAX_SERVICES>,
}

/// The load of a rack's replicas of one service.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Entry {
    /// Which service.
    pub service: ServiceId,
    /// Cores of its replicas that are alive; zero when none is.
    pub cores: u16,
    /// Outstanding requests for each core.
    pub load: Load,
}
