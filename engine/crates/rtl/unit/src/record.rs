use crate::digest::PinDigest;
use crate::observed::Observed;
use crate::wait::Asked;
use rackwright_rtl::MemoryRequest;
use rackwright_time::{unit, Cycle};

/// What is kept of what has crossed the pins of a unit.
#[derive(Default)]
pub(crate) struct Record {
    pub(crate) digest: PinDigest,
    /// What it was asked last, and when.
    pub(crate) asked: Option<(Cycle, Asked)>,
    /// When it last took or gave anything.
    pub(crate) moved: unit::Cycle,
    pub(crate) last_request: Option<MemoryRequest>,
    /// Who is told.
    pub(crate) observed: Option<Observed>,
}
