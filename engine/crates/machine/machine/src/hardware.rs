use crate::processor::Processor;
use rackwright_contract::Message;
use rackwright_cpu::{Hart, Stop, Timing};
use rackwright_device::{Bus, LineOfTiles};
use rackwright_memory::GuestMemory;
use rackwright_stats::{Counters, Digest};
use rackwright_time::{unit, Cycle};
use rackwright_unit::{AttachedUnit, Core, Stall, UnitError, Wait};

/// The parts of a machine: processors with the units beside them, the memory that they share, and devices.
pub struct Hardware<C> {
    /// The processors, in the order of their harts' numbers, each with its units.
    pub cores: Vec<C>,
    /// The memory.
    pub memory: GuestMemory,
    /// The devices.
    pub bus: Bus,
    /// By processor: others may have written memory since it ran.
    pub(crate) others_ran: Vec<bool>,
    /// The units of the first processor are those of all: each has them in its turn.
    pub(crate) shares_units: bool,
}

impl<C: Processor> Hardware<C> {
    /// Puts them together.
    pub fn new(cores: Vec<C>, memory: GuestMemory, bus: Bus) -> Hardware<C> {
        Hardware {
            others_ran: vec![false; cores.len()],
            shares_units: false,
            cores,
            memory,
            bus,
        }
    }

    /// Runs a hart until cycle `limit`, or until an event that does not concern only the hart and its units.
    ///
    /// # Errors
    /// [`UnitError`] when a unit does not answer, or breaks a rule.
    #[inline]
    pub(crate) fn run(&mut self, index: usize, limit: Cycle) -> Result<Stop, UnitError> {
        if std::mem::take(&mut self.others_ran[index]) {
            self.cores[index].check_reservation();
        }
        for (other, ran) in self.others_ran.iter_mut().enumerate() {
            *ran |= other != index;
        }
        if index == 0 || !self.shares_units {
            return self.cores[index].run(&mut self.memory, limit);
        }
        self.lend_units(index);
        let stop = self.cores[index].run(&mut self.memory, limit);
        self.lend_units(index);
        stop
    }

    /// Shows devices the interrupt line of the units that harts share, as it is at `cycle`.
    #[inline]
    pub(crate) fn show_line(&mut self, cycle: Cycle) {
        if self.shares_units {
            if let Some(high) = self.cores[0].shared_line(cycle) {
                LineOfTiles(&mut self.bus).drive(high);
            }
        }
    }

    /// Exchanges the units of the first processor with those of another.
    fn lend_units(&mut self, index: usize) {
        let (first, others) = self.cores.split_at_mut(index);
        first[0].lend_units(&mut others[0]);
    }

    /// Ensures that hart `index` reads no time before that read by earlier harts.
    #[inline]
    pub(crate) fn follow_time(&mut self, index: usize) {
        let before = index.checked_sub(1).unwrap_or(self.cores.len() - 1);
        let time = self.cores[before].latest_time();
        self.cores[index].follow_time(time);
    }

    /// Lets a hart that is stalled for an access continue, if a device knows the response; returns whether it does.
    pub(crate) fn finish_access(&mut self, index: usize) -> bool {
        let Some(Stall::Access(ticket)) = self.cores[index].stalled() else {
            return true;
        };
        let Some((value, at)) = self.bus.answered(ticket, &mut self.memory) else {
            return false;
        };
        // To respond, the device may have advanced, and may have written memory.
        self.note_writes(index);
        self.deliver_messages();
        self.answer(index, at, value);
        true
    }

    /// Delivers the message-signalled interrupts that have arrived to their harts.
    #[inline]
    pub(crate) fn deliver_messages(&mut self) {
        for Message {
            hart,
            level,
            identity,
        } in self.bus.take_messages()
        {
            self.cores[hart].receive(level, identity);
        }
    }

    /// Records that a device may have written memory since hart `index` ran.
    pub(crate) fn note_writes(&mut self, index: usize) {
        self.others_ran[index] = true;
    }

    /// Ends the stall of a hart, which continues at `at` with `value`.
    pub fn answer(&mut self, index: usize, at: Cycle, value: u64) {
        self.cores[index].answer(&mut self.memory, at, value);
    }

    /// The cycle that the hart has reached that is ahead of all others.
    pub fn cycle(&self) -> Cycle {
        let cycles = self.cores.iter().map(C::cycle);
        cycles.fold(Cycle::ZERO, Cycle::max)
    }

    /// Instructions executed by all harts.
    pub fn instructions(&self) -> u64 {
        let retired = self.cores.iter().map(C::instructions);
        retired.sum()
    }

    /// Number of commands from harts to units so far.
    pub fn commands(&self) -> u64 {
        self.cores.iter().map(C::commands).sum()
    }

    /// Cycles of RTL that were evaluated, of the units of all harts.
    pub fn unit_cycles(&self) -> u64 {
        self.cores.iter().map(C::unit_cycles).sum()
    }

    /// Counts of the events of units, each added up over all harts; none without units.
    pub fn unit_counters(&self) -> Counters {
        C::unit_counters(&self.cores)
    }

    /// The same, appended to those of the caches.
    pub fn counters(&self) -> Counters {
        C::counters(&self.cores)
    }

    /// The unit that a hart is stalled for, if one is.
    pub fn wait(&self) -> Option<Wait> {
        self.cores.iter().find_map(C::wait)
    }

    /// Adds the state of harts, units and memory to a digest.
    pub fn digest(&self, digest: &mut Digest) {
        self.cores.iter().for_each(|core| core.digest(digest));
        digest.contents(self.memory.contents());
    }
}

impl<T: Timing> Hardware<Core<T>> {
    /// Hart number `index`.
    pub fn hart(&mut self, index: usize) -> &mut Hart<T> {
        &mut self.cores[index].hart
    }

    /// Advances time to `cycle`, for a waiting hart.
    pub fn advance_to(&mut self, index: usize, cycle: Cycle) {
        self.cores[index].advance_to(&mut self.memory, cycle);
    }

    /// Advances the units of a stalled hart to `cycle`, up to which they have received the writes that they watch.
    pub fn advance_watching_units(&mut self, index: usize, cycle: Cycle) {
        self.cores[index].advance_watching_units(&mut self.memory, cycle);
    }

    /// Advances a unit that is beside no hart by a window, up to the cycle `until` of its own clock.
    pub fn advance_other(&mut self, unit: &mut AttachedUnit, until: unit::Cycle) {
        self.cores[0].advance_other(&mut self.memory, unit, until);
    }
}
