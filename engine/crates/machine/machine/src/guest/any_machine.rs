use crate::checkpoint::SavedMachine;
use crate::machine::Machine;
use crate::pause::Pause;
use crate::privileged::Privileged;
use rackwright_cpu::Timing;
use rackwright_device::Bus;
use rackwright_memory::GuestMemory;
use rackwright_state::{Pass, StateError};
use rackwright_stats::{Counters, Digest};
use rackwright_time::{Cycle, Cycles};
use rackwright_unit::{Core, UnitError};

/// A machine that has booted a kernel, with harts of any timing model.
pub(super) trait AnyMachine: Send {
    fn run(&mut self, until: Cycle) -> Result<Pause, UnitError>;
    fn bus(&mut self) -> &mut Bus;
    fn cycle(&self) -> Cycle;
    fn instructions(&self) -> u64;
    fn harts(&self) -> usize;
    fn digest(&self, digest: &mut Digest);
    fn save(&self) -> SavedMachine;
    fn pass(&mut self, by: &mut Pass<'_>) -> Result<(), StateError>;
    fn pass_timing(&mut self, by: &mut Pass<'_>) -> Result<(), StateError>;
    fn memory(&self) -> &GuestMemory;
    fn forget_unsaved(&mut self);
    fn commands(&self) -> u64;
    fn unit_counters(&self) -> Counters;
    fn unit_cycles(&self) -> u64;
    fn memory_mut(&mut self) -> &mut GuestMemory;
    fn meet_every(&mut self, cycles: Cycles);
    fn next_event(&mut self) -> Cycle;
}

impl<T: Timing + Send> AnyMachine for Machine<Core<T>, Privileged>
where
    T::Block: Send + Sync,
{
    fn run(&mut self, until: Cycle) -> Result<Pause, UnitError> {
        self.run(until)
    }

    fn bus(&mut self) -> &mut Bus {
        &mut self.hardware_mut().bus
    }

    fn cycle(&self) -> Cycle {
        self.cycle()
    }

    fn instructions(&self) -> u64 {
        self.hardware().instructions()
    }

    fn harts(&self) -> usize {
        self.hardware().cores.len()
    }

    fn digest(&self, digest: &mut Digest) {
        self.digest(digest);
    }

    fn save(&self) -> SavedMachine {
        self.save()
    }

    fn pass(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        self.pass(by)
    }

    fn pass_timing(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        self.pass_timing(by)
    }

    fn memory(&self) -> &GuestMemory {
        &self.hardware().memory
    }

    fn forget_unsaved(&mut self) {
        self.forget_unsaved();
    }

    fn commands(&self) -> u64 {
        self.hardware().commands()
    }

    fn unit_counters(&self) -> Counters {
        self.hardware().unit_counters()
    }

    fn unit_cycles(&self) -> u64 {
        self.hardware().unit_cycles()
    }

    fn memory_mut(&mut self) -> &mut GuestMemory {
        &mut self.hardware_mut().memory
    }

    fn meet_every(&mut self, cycles: Cycles) {
        self.meet_every(cycles);
    }

    fn next_event(&mut self) -> Cycle {
        self.next_event()
    }
}
