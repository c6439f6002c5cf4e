use crate::error::ServerError;
use rackwright_cpu::{Stop, Timing};
use rackwright_memory::GuestMemory;
use rackwright_stats::Digest;
use rackwright_time::Cycle;
use rackwright_unit::{Core, Wait};

/// A core and its memory.
pub(crate) struct Machine<T: Timing> {
    pub(crate) core: Core<T>,
    pub(crate) memory: GuestMemory,
}

impl<T: Timing> Machine<T> {
    pub(crate) fn new(core: Core<T>, memory: GuestMemory) -> Machine<T> {
        Machine { core, memory }
    }

    /// Runs until cycle `limit` or until something happens that is not between the hart and its units.
    pub(crate) fn run(&mut self, limit: Cycle) -> Result<Stop, ServerError> {
        Ok(self.core.run(&mut self.memory, limit)?)
    }

    /// Lets time pass to `cycle`, for a hart that waits.
    pub(crate) fn advance_to(&mut self, cycle: Cycle) {
        self.core.advance_to(&mut self.memory, cycle);
    }

    /// Adds what happened so far to a digest.
    pub(crate) fn digest(&self, digest: &mut Digest) {
        self.core.digest(digest);
    }

    /// The unit that the hart stands still for.
    pub(crate) fn wait(&self) -> Option<Wait> {
        self.core.wait()
    }
}
