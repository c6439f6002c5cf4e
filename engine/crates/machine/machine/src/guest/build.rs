use super::any_machine::AnyMachine;
use super::REQUESTS;
use crate::checkpoint::SavedMachine;
use crate::choice::{FromHarts, HartChoice};
use crate::code::DecodedPrograms;
use crate::error::MachineError;
use crate::machine::Machine;
use crate::processor::Processor;
use rackwright_boot::Entry;
use rackwright_cpu::{SharedCode, Timing};
use rackwright_device::{Block, Disk, Endpoint, Entropy, Map, Tree, Virtio};
use rackwright_memory::GuestMemory;
use rackwright_time::Clock;
use rackwright_unit::Attachment;
use std::sync::Arc;

/// The initial state of a machine.
pub(super) enum Start<'a> {
    Reset {
        entry: Entry,
        /// Whether harts have vector units.
        vector: bool,
    },
    Saved(&'a SavedMachine),
}

/// The parts of a machine.
pub(super) struct Parts<'a> {
    pub(super) harts: HartChoice<'a>,
    pub(super) memory: GuestMemory,
    pub(super) map: Map,
    pub(super) functions: Vec<Box<dyn Endpoint>>,
    /// The buses behind its PCI host bridge, in addition to the functions.
    pub(super) tree: Option<Box<dyn Tree>>,
    pub(super) attachment: Attachment<'a>,
    pub(super) start: Start<'a>,
}

impl Parts<'_> {
    /// The machine, whose harts share `code` with others.
    pub(super) fn build(self, code: &DecodedPrograms) -> Result<Box<dyn AnyMachine>, MachineError> {
        let harts = self.harts;
        harts.make(code, self)
    }
}

impl FromHarts for Parts<'_> {
    type Made = Result<Box<dyn AnyMachine>, MachineError>;

    fn make<T>(self, timings: Vec<T>, code: Arc<SharedCode<T::Block>>) -> Self::Made
    where
        T: Timing + Send + 'static,
        T::Block: Send + Sync,
    {
        let tick = self.harts.parameters.memory.tick;
        let takes_messages = self.map.aplic.is_used();
        let mut machine = match self.start {
            Start::Reset { entry, vector } => {
                let mut machine = Machine::new(timings, self.memory, self.map, &entry, tick);
                if vector {
                    machine.offer_vector();
                }
                if takes_messages {
                    let cores = machine.hardware_mut().cores.iter_mut();
                    cores.for_each(Processor::offer_messages);
                }
                self.functions
                    .into_iter()
                    .for_each(|function| machine.hardware_mut().bus.pci_mut().attach(function));
                machine
            }
            Start::Saved(saved) => {
                Machine::restore(timings, self.memory, self.map, self.functions, tick, saved)?
            }
        };
        if let Some(tree) = self.tree {
            machine.hardware_mut().bus.pci_mut().attach_tree(tree);
        }
        if self.attachment.interrupts() {
            machine.hardware_mut().bus.pci_mut().attach_tiles();
        }
        machine.share_code(&code);
        let HartChoice { harts, hierarchy, .. } = self.harts;
        machine.attach(
            hierarchy,
            &Attachment {
                harts,
                ..self.attachment
            },
        )?;
        if let Some(observation) = self.harts.observation {
            machine.observe_units(observation);
        }
        machine.watch(REQUESTS);
        Ok(Box::new(machine))
    }
}

/// The functions on the PCI bus of a server whose harts have the clock `clock`, in the order of their places.
pub(super) fn functions(clock: Clock, seed: u64, disk: Option<Disk>) -> Vec<Box<dyn Endpoint>> {
    let mut functions: Vec<Box<dyn Endpoint>> = vec![Box::new(Virtio::new(Entropy::new(seed)))];
    if let Some(disk) = disk {
        functions.push(Box::new(Virtio::new(Block::new(disk, clock))));
    }
    functions
}
