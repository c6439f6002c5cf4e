use crate::digest::PinDigest;
use crate::observed::Observed;
use crate::wait::Asked;
use rackwright_rtl::MemoryRequest;
use rackwright_time::{unit, Cycle};

/// The recorded transfers at the pins of a unit.
#[derive(Default)]
pub(crate) struct Record {
    pub(crate) digest: PinDigest,
    /// Its last request, and the time.
    pub(crate) asked: Option<(Cycle, Asked)>,
    /// Time of its last input or output.
    pub(crate) moved: unit::Cycle,
    pub(crate) last_request: Option<MemoryRequest>,
    /// Who is told.
    pub(crate) observed: Option<Observed>,
}
