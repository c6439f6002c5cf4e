use super::any_machine::AnyMachine;
use super::REQUESTS;
use crate::checkpoint::SavedMachine;
use crate::code::Code;
use crate::error::MachineError;
use crate::machine::Machine;
use rackwright_boot::Entry;
use rackwright_cpu::{Boom, CpuModel, Functional, Rocket, ServerParameters, SharedCode, Timing};
use rackwright_device::{Block, Disk, Endpoint, Entropy, Map, Virtio};
use rackwright_memory::{GuestMemory, SharedHierarchy};
use rackwright_trace::Observation;
use rackwright_unit::Attachment;
use std::sync::Arc;

/// Where a machine starts from.
pub(super) enum Start<'a> {
    Reset {
        entry: Entry,
        /// Whether harts have vector units.
        vector: bool,
    },
    Saved(&'a SavedMachine),
}

pub(super) fn build(
    (cpu, parameters, observation): (CpuModel, &ServerParameters, Option<&Observation>),
    harts: usize,
    memory: GuestMemory,
    functions: Vec<Box<dyn Endpoint>>,
    attachment: &Attachment<'_>,
    start: &Start<'_>,
    (hierarchy, code): (&SharedHierarchy, &Code),
) -> Result<Box<dyn AnyMachine>, MachineError> {
    let each = 0..harts;
    let with = With {
        memory,
        functions,
        start,
        observation,
        hierarchy,
        attachment: &Attachment { harts, ..*attachment },
    };
    match cpu {
        CpuModel::Functional => with.harts(vec![Functional::default(); harts], &code.functional),
        CpuModel::Rocket => match observation {
            None => {
                let rocket = |_| Rocket::new(parameters.rocket.clone(), hierarchy);
                with.machine(each.map(rocket).collect(), &code.rocket)
            }
            Some(observation) => {
                let rocket = |_| Rocket::explained(parameters.rocket.clone(), hierarchy);
                with.observed(each.map(rocket).collect(), observation)
            }
        },
        CpuModel::Boom => match observation {
            None => {
                let boom = |_| Boom::new(parameters.boom.clone(), hierarchy);
                with.machine(each.map(boom).collect(), &code.boom)
            }
            Some(observation) => {
                let boom = |_| Boom::explained(parameters.boom.clone(), hierarchy);
                with.observed(each.map(boom).collect(), observation)
            }
        },
    }
}

/// What a machine is made of, beside its harts.
struct With<'a> {
    memory: GuestMemory,
    functions: Vec<Box<dyn Endpoint>>,
    start: &'a Start<'a>,
    observation: Option<&'a Observation>,
    hierarchy: &'a SharedHierarchy,
    attachment: &'a Attachment<'a>,
}

impl With<'_> {
    fn harts<T>(
        self,
        timings: Vec<T>,
        code: &Arc<SharedCode<T::Block>>,
    ) -> Result<Box<dyn AnyMachine>, MachineError>
    where
        T: Timing + Send + 'static,
        T::Block: Send + Sync,
    {
        match self.observation {
            None => self.machine(timings, code),
            Some(observation) => self.observed(timings, observation),
        }
    }

    fn observed<T>(
        self,
        timings: Vec<T>,
        observation: &Observation,
    ) -> Result<Box<dyn AnyMachine>, MachineError>
    where
        T: Timing + Send + 'static,
        T::Block: Send + Sync,
    {
        let timings = timings.into_iter().enumerate();
        let probe = |(hart, timing)| observation.probe(timing, hart, self.hierarchy);
        let probed = timings.map(probe).collect();
        self.machine(probed, &Arc::default())
    }

    fn machine<T>(
        self,
        timings: Vec<T>,
        code: &Arc<SharedCode<T::Block>>,
    ) -> Result<Box<dyn AnyMachine>, MachineError>
    where
        T: Timing + Send + 'static,
        T::Block: Send + Sync,
    {
        let mut machine = match self.start {
            Start::Reset { entry, vector } => {
                let mut machine = Machine::new(timings, self.memory, Map::SERVER, entry);
                if *vector {
                    machine.offer_vector();
                }
                self.functions
                    .into_iter()
                    .for_each(|function| machine.bus().attach(function));
                machine
            }
            Start::Saved(saved) => {
                Machine::restore(timings, self.memory, Map::SERVER, self.functions, saved)?
            }
        };
        machine.share_code(code);
        machine.attach(self.hierarchy, self.attachment)?;
        if let Some(observation) = self.observation {
            machine.publish(observation);
        }
        machine.watch(REQUESTS);
        Ok(Box::new(machine))
    }
}

/// The functions on the PCI bus of a server, in the order of their places.
pub(super) fn functions(seed: u64, disk: Option<Disk>) -> Vec<Box<dyn Endpoint>> {
    let mut functions: Vec<Box<dyn Endpoint>> = vec![Box::new(Virtio::new(Entropy::new(seed)))];
    if let Some(disk) = disk {
        functions.push(Box::new(Virtio::new(Block::new(disk))));
    }
    functions
}
