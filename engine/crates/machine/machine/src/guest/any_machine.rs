use crate::checkpoint::SavedMachine;
use crate::machine::{Machine, Pause};
use rackwright_cpu::Timing;
use rackwright_device::Bus;
use rackwright_memory::GuestMemory;
use rackwright_stats::{Counters, Digest};
use rackwright_time::{Cycle, Cycles};
use rackwright_unit::UnitError;

/// A machine, whatever the timing model of its harts.
pub(super) trait AnyMachine: Send {
    fn run(&mut self, until: Cycle) -> Pause;
    fn bus(&mut self) -> &mut Bus;
    fn cycle(&self) -> Cycle;
    fn instructions(&self) -> u64;
    fn harts(&self) -> usize;
    fn digest(&self, digest: &mut Digest);
    fn save(&self) -> SavedMachine;
    fn memory(&self) -> &GuestMemory;
    fn forget_unsaved(&mut self);
    fn failure(&mut self) -> Option<UnitError>;
    fn commands(&self) -> u64;
    fn unit_counters(&self) -> Counters;
    fn unit_cycles(&self) -> u64;
    fn memory_mut(&mut self) -> &mut GuestMemory;
    fn meet_every(&mut self, cycles: Cycles);
    fn next_event(&mut self) -> Cycle;
}

impl<T: Timing + Send> AnyMachine for Machine<T>
where
    T::Block: Send + Sync,
{
    fn run(&mut self, until: Cycle) -> Pause {
        self.run(until)
    }

    fn bus(&mut self) -> &mut Bus {
        self.bus()
    }

    fn cycle(&self) -> Cycle {
        self.cycle()
    }

    fn instructions(&self) -> u64 {
        self.instructions()
    }

    fn harts(&self) -> usize {
        self.harts()
    }

    fn digest(&self, digest: &mut Digest) {
        self.digest(digest);
    }

    fn save(&self) -> SavedMachine {
        self.save()
    }

    fn memory(&self) -> &GuestMemory {
        self.memory()
    }

    fn forget_unsaved(&mut self) {
        self.forget_unsaved();
    }

    fn failure(&mut self) -> Option<UnitError> {
        self.failure()
    }

    fn commands(&self) -> u64 {
        self.commands()
    }

    fn unit_counters(&self) -> Counters {
        self.unit_counters()
    }

    fn unit_cycles(&self) -> u64 {
        self.unit_cycles()
    }

    fn memory_mut(&mut self) -> &mut GuestMemory {
        self.memory_mut()
    }

    fn meet_every(&mut self, cycles: Cycles) {
        self.meet_every(cycles);
    }

    fn next_event(&mut self) -> Cycle {
        self.next_event()
    }
}
