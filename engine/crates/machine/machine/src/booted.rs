use crate::checkpoint::SavedMachine;
use crate::error::MachineError;
use crate::hardware::Hardware;
use crate::machine::Machine;
use crate::parameters::Windows;
use crate::privileged::{waits, Privileged};
use crate::processor::Processor;
use rackwright_boot::Entry;
use rackwright_cpu::{ExecutionEnvironment, Feature, Hart, SavedHart, SharedCode, Timing};
use rackwright_device::{Bus, Endpoint, Map, RestoreError};
use rackwright_memory::{GuestMemory, SharedHierarchy};
use rackwright_state::{Pass, State, StateError};
use rackwright_stats::Digest;
use rackwright_time::{Cycle, Cycles};
use rackwright_trace::Observation;
use rackwright_unit::{observe, Attachment, Core, Stall, UnitError};
use std::sync::Arc;

/// A machine with a bare-metal program, or with a kernel.
impl<C: Processor> Machine<C, Privileged> {
    /// A machine with a bare-metal program in its memory, whose time ticks every `tick`. Its first hart is at the
    /// program's entry; others wait for a software interrupt.
    pub fn bare_metal(mut hardware: Hardware<C>, tick: Cycles) -> Machine<C, Privileged> {
        let windows = Windows::of_bare_metal(&hardware.cores, tick, hardware.bus.acts());
        for core in &mut hardware.cores[1..] {
            core.stall(Stall::Start);
        }
        Machine::with(hardware, Privileged::new(windows))
    }

    /// The cycle that all harts have reached.
    pub fn cycle(&self) -> Cycle {
        self.workload.now
    }

    /// Adds the state of harts, memory and devices to a digest.
    pub fn digest(&self, digest: &mut Digest) {
        self.hardware.digest(digest);
        digest.cycle(self.workload.now);
        self.hardware.bus.digest(digest);
    }
}

/// A machine that boots a kernel.
impl<T: Timing> Machine<Core<T>, Privileged> {
    /// A machine with a hart for each of `timings`, which all start at `entry`, and whose time ticks every `tick`.
    pub fn new(
        timings: Vec<T>,
        memory: GuestMemory,
        map: Map,
        entry: &Entry,
        tick: Cycles,
    ) -> Machine<Core<T>, Privileged> {
        let workload = Privileged::new(Windows::of_kernel(&timings));
        let bus = Bus::new(map, timings.len(), tick);
        let start = |(index, timing)| Core::alone(start(index, timing, entry, tick));
        let cores = timings.into_iter().enumerate().map(start).collect();
        Machine::with(Hardware::new(cores, memory, bus), workload)
    }

    /// A machine that continues from the state of another one, with a hart for each of `timings` and the same PCI
    /// functions.
    ///
    /// # Errors
    /// [`MachineError`] if the saved state does not fit.
    pub(crate) fn restore(
        timings: Vec<T>,
        memory: GuestMemory,
        map: Map,
        functions: Vec<Box<dyn Endpoint>>,
        tick: Cycles,
        saved: &SavedMachine,
    ) -> Result<Machine<Core<T>, Privileged>, MachineError> {
        let nowhere = Entry {
            pc: 0,
            device_tree: 0,
            information: 0,
        };
        let mut machine = Machine::new(timings, memory, map, &nowhere, tick);
        let bus = &mut machine.hardware.bus;
        functions
            .into_iter()
            .for_each(|function| bus.pci_mut().attach(function));
        machine.set_state(saved)?;
        Ok(machine)
    }

    /// Sets the state of harts and devices to that of a machine with as many.
    ///
    /// # Errors
    /// [`RestoreError`] if it does not fit.
    pub(crate) fn set_state(&mut self, saved: &SavedMachine) -> Result<(), RestoreError> {
        let Hardware {
            cores,
            bus,
            others_ran,
            ..
        } = &mut self.hardware;
        if saved.harts.len() != cores.len() || saved.others_ran.len() != cores.len() {
            return Err(RestoreError { device: "machine" });
        }
        bus.restore(&saved.bus)?;
        others_ran.clone_from(&saved.others_ran);
        for (core, (hart, waiting)) in cores.iter_mut().zip(&saved.harts) {
            hart.restore(&mut core.hart);
            core.resume();
            if *waiting {
                core.stall(Stall::Interrupt);
            }
        }
        self.window.turn = saved.turn as usize;
        self.window.open = self.window.turn > 0;
        self.workload.now = Cycle::new(saved.now);
        self.workload.end = Cycle::new(saved.end);
        Ok(())
    }

    /// Passes harts and devices. The pending access of a hart is in no device's state.
    pub(crate) fn pass(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        let is_pending = |core: &Core<T>| matches!(core.stalled(), Some(Stall::Access(_)));
        if self.hardware.cores.iter().any(is_pending) || self.window.open {
            return Err(StateError::Busy);
        }
        self.hardware.pass(by)?;
        self.workload.now.pass(by)?;
        self.workload.end.pass(by)
    }

    /// Passes the caches and pipelines of the harts, and the caches that they share.
    pub(crate) fn pass_timing(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        let cores = &mut self.hardware.cores;
        let hierarchy = cores[0].hierarchy();
        hierarchy.expect("units have been attached").lock().pass(by)?;
        cores
            .iter_mut()
            .try_for_each(|core| core.hart.thread().pass_timing(by))
    }

    /// Has all harts have vector units.
    pub(crate) fn offer_vector(&mut self) {
        for core in &mut self.hardware.cores {
            core.hart.offer(Feature::Vector);
        }
    }

    /// Has all harts use code that others have decoded, and others theirs.
    pub(crate) fn share_code(&mut self, code: &Arc<SharedCode<T::Block>>) {
        for core in &mut self.hardware.cores {
            core.hart.sharing().share_code(code.clone());
        }
    }

    /// Attaches units to each hart, or, if they are those of a machine, to all harts together. Commands of processes have
    /// virtual addresses, which units must translate.
    ///
    /// # Errors
    /// [`UnitError`] when they do not, or cannot be attached.
    pub fn attach(
        &mut self,
        hierarchy: &SharedHierarchy,
        attachment: &Attachment<'_>,
    ) -> Result<(), UnitError> {
        attachment.require_translation()?;
        if attachment.is_shared() {
            let units = attachment.attach(&mut *hierarchy.lock(), 0)?;
            let cores = &mut self.hardware.cores;
            cores
                .iter_mut()
                .for_each(|core| core.share(hierarchy.clone(), &units));
            cores[0].units = units;
            self.hardware.shares_units = true;
            return Ok(());
        }
        for (index, core) in self.hardware.cores.iter_mut().enumerate() {
            let units = attachment.attach(&mut *hierarchy.lock(), index)?;
            core.attach(hierarchy.clone(), units);
        }
        Ok(())
    }

    /// Reports the events of the units beside its harts to `observation`.
    pub(crate) fn observe_units(&mut self, observation: &Observation) {
        for (index, core) in self.hardware.cores.iter_mut().enumerate() {
            observe(&mut core.units, &observation.units(index), 0);
        }
    }

    /// The state of harts and devices.
    pub(crate) fn save(&self) -> SavedMachine {
        let save = |core: &Core<T>| (SavedHart::of(&core.hart), waits(core));
        SavedMachine {
            harts: self.hardware.cores.iter().map(save).collect(),
            others_ran: self.hardware.others_ran.clone(),
            bus: self.hardware.bus.save(),
            now: self.workload.now.0,
            turn: self.window.turn as u64,
            end: self.workload.end.0,
        }
    }

    /// Resets the state of harts that a checkpoint does not contain.
    pub(crate) fn forget_unsaved(&mut self) {
        let cores = self.hardware.cores.iter_mut();
        cores.for_each(|core| core.hart.forget_unsaved());
    }

    /// Has runs end at each end of a line that the guest sends through serial port `uart`.
    pub fn watch(&mut self, uart: usize) {
        self.workload.watched = Some(uart);
    }

    /// Synchronises harts and devices at least every `cycles` cycles, which divide their windows: for a machine with a
    /// part that is run by another model.
    pub(crate) fn meet_every(&mut self, cycles: Cycles) {
        self.workload.windows.limit(cycles);
    }

    /// Time of the next event: now, while a hart runs.
    pub(crate) fn next_event(&mut self) -> Cycle {
        let now = self.workload.now;
        if self.window.open {
            return now;
        }
        Privileged::idle_until(&mut self.hardware).unwrap_or(now)
    }
}

fn start<T: Timing>(index: usize, timing: T, entry: &Entry, tick: Cycles) -> Hart<T> {
    let mut hart = Hart::new(index as u64, ExecutionEnvironment::BareMetal, timing);
    hart.counters_mut().set_cycles_per_tick(tick.0);
    hart.offer(Feature::SupervisorTimer);
    hart.state_mut().set_pc(entry.pc);
    for (register, value) in [
        (10, index as u64),
        (11, entry.device_tree),
        (12, entry.information),
    ] {
        hart.state_mut().write_register(register, value);
    }
    hart
}
