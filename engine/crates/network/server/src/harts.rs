use crate::error::ServerError;
use crate::server::Observed;
use rackwright_cpu::{Stop, Timing};
use rackwright_memory::GuestMemory;
use rackwright_stats::{Counters, Digest};
use rackwright_time::{unit, Cycle};
use rackwright_unit::{counters, AttachedUnit, Core, Wait};

/// Cores that share a memory.
pub(crate) struct Harts<T: Timing> {
    pub(crate) cores: Vec<Core<T>>,
    pub(crate) memory: GuestMemory,
    /// By core: another has run since it did.
    others_ran: Vec<bool>,
}

impl<T: Timing> Harts<T> {
    pub(crate) fn new(cores: Vec<Core<T>>, memory: GuestMemory) -> Harts<T> {
        Harts {
            others_ran: vec![false; cores.len()],
            cores,
            memory,
        }
    }

    /// Runs core `index` until cycle `limit` or until something happens that is not between the hart and its units.
    pub(crate) fn run(&mut self, index: usize, limit: Cycle) -> Result<Stop, ServerError> {
        if std::mem::take(&mut self.others_ran[index]) {
            self.cores[index].hart.check_reservation();
        }
        for (other, ran) in self.others_ran.iter_mut().enumerate() {
            *ran |= other != index;
        }
        Ok(self.cores[index].run(&mut self.memory, limit)?)
    }

    /// Ends the stall of a core: its hart goes on at `at` with `value`.
    pub(crate) fn answer(&mut self, index: usize, at: Cycle, value: u64) {
        self.cores[index].answer(&mut self.memory, at, value);
    }

    /// Lets time pass to `cycle`, for a hart that waits.
    pub(crate) fn advance_to(&mut self, index: usize, cycle: Cycle) {
        self.cores[index].advance_to(&mut self.memory, cycle);
    }

    /// Advances a unit that is not one of the cores' by a window, up to the cycle `until` of its own clock.
    pub(crate) fn advance_other(&mut self, unit: &mut AttachedUnit, until: unit::Cycle) {
        self.cores[0].advance_other(&mut self.memory, unit, until);
    }

    /// Adds what happened so far to a digest.
    pub(crate) fn digest(&self, digest: &mut Digest) {
        self.cores.iter().for_each(|core| core.digest(digest));
        digest.contents(self.memory.contents());
    }
}

impl<T: Timing> Observed for Harts<T> {
    fn instructions(&self) -> u64 {
        let retired = self.cores.iter().map(|core| core.hart.instructions_retired());
        retired.sum()
    }

    fn counters(&self) -> Counters {
        counters(&self.cores)
    }

    fn unit_cycles(&self) -> u64 {
        self.cores.iter().map(Core::unit_cycles).sum()
    }

    fn wait(&self) -> Option<Wait> {
        self.cores.iter().find_map(Core::wait)
    }
}
