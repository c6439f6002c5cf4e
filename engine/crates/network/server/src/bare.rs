use crate::boot::BootInformation;
use crate::error::ServerError;
use crate::run::{Observed, Progress, Run};
use rackwright_boot::BareMetal;
use rackwright_device::{Bus, HostInterface, Map, Tree, TreeMaker};
use rackwright_machine::{Hardware, Machine, Pause, Privileged, Processor};
use rackwright_memory::{GuestMemory, Protection, SharedHierarchy};
use rackwright_stats::Digest;
use rackwright_time::{Cycle, Cycles};

/// Bytes of memory that a bare-metal program finds, from [`BareMetal::MEMORY_BASE`] on.
const MEMORY_BYTES: u64 = 256 << 20;

/// Size of guest memory for bare metal: its memory ends here.
pub const BARE_METAL_BYTES: u64 = BareMetal::MEMORY_BASE + MEMORY_BYTES;

/// Cycles of a hart in a tick of its register `time` and of `mtime`: 10 MHz at 2 GHz.
const TICK: Cycles = Cycles::new(200);

/// The devices of bare metal on `harts` harts.
pub(crate) fn devices(harts: usize) -> Bus {
    Bus::new(Map::BARE_METAL, harts, TICK)
}

/// The addresses of bare metal with a tree of buses, whose cards send messages.
const WITH_TREE: Map = Map::BARE_METAL.with_tree().with_messages();

/// The tree of buses of a bare-metal machine with these caches.
pub(crate) fn tree(maker: &dyn TreeMaker, hierarchy: &SharedHierarchy) -> Result<Box<dyn Tree>, ServerError> {
    let memory = BareMetal::MEMORY_BASE..BARE_METAL_BYTES;
    let made = maker.make(hierarchy, memory, WITH_TREE.messages);
    made.map_err(|error| ServerError::Tree(error.to_string()))
}

/// Loads a bare-metal program and its boot information into memory, all of which it may use; returns its entry point.
pub(crate) fn load(
    file: &[u8],
    memory: &mut GuestMemory,
    information: &BootInformation<'_>,
) -> Result<u64, ServerError> {
    let program = BareMetal::load(file, memory)?;
    memory.protect(BareMetal::MEMORY_BASE, MEMORY_BYTES, Protection::ALL)?;
    information.store(memory, BARE_METAL_BYTES)?;
    Ok(program.entry)
}

/// Has processor number `number` begin at `entry`, and have the time of the devices.
pub(crate) fn reset<C: Processor>(core: &mut C, number: usize, entry: u64) {
    core.start_at(number, entry, TICK);
}

/// A bare-metal program on a machine of its own.
pub(crate) struct BareMetalRun<C> {
    machine: Machine<C, Privileged>,
}

impl<C: Processor> BareMetalRun<C> {
    /// A machine with a program and its arguments, which starts on the first of `cores`, and with `tree` behind a PCI
    /// host bridge.
    ///
    /// # Errors
    /// [`ServerError`] when the program or its arguments do not fit into `memory`.
    pub(crate) fn start(
        mut cores: Vec<C>,
        mut memory: GuestMemory,
        (file, arguments): (&[u8], &[Vec<u8>]),
        tree: Option<Box<dyn Tree>>,
        echo: bool,
    ) -> Result<BareMetalRun<C>, ServerError> {
        let information = BootInformation {
            arguments,
            ..BootInformation::default()
        };
        let entry = load(file, &mut memory, &information)?;
        for (number, core) in cores.iter_mut().enumerate() {
            reset(core, number, entry);
        }
        let mut bus = match tree {
            None => devices(cores.len()),
            Some(tree) => {
                let mut bus = Bus::new(WITH_TREE, cores.len(), TICK);
                bus.pci_mut().attach_tree(tree);
                cores.iter_mut().for_each(Processor::offer_messages);
                bus
            }
        };
        if echo {
            bus.host.echo();
        }
        Ok(BareMetalRun {
            machine: Machine::bare_metal(Hardware::new(cores, memory, bus), TICK),
        })
    }

    fn host(&self) -> &HostInterface {
        &self.machine.hardware().bus.host
    }
}

impl<C: Processor + Send> Run for BareMetalRun<C> {
    fn run(&mut self, limit: Cycle) -> Result<Progress, ServerError> {
        if let Some(status) = self.host().exit() {
            return Ok(Progress::Exited(status));
        }
        let pause = self.machine.run(limit)?;
        if let Some(reason) = self.machine.hardware().bus.pci().failure() {
            return Err(ServerError::Tree(reason));
        }
        match pause {
            Pause::Reached => Ok(Progress::Running),
            Pause::Exited(status) => Ok(Progress::Exited(status)),
            Pause::Idle => Err(ServerError::WaitsForEver {
                pc: self.machine.hardware().cores[0].pc(),
            }),
            other => {
                unreachable!("a machine without serial ports and a power switch cannot stop with {other:?}")
            }
        }
    }

    fn cycle(&self) -> Cycle {
        // The time of waiting harts does not advance.
        self.machine.cycle().max(self.machine.hardware().cycle())
    }

    fn hardware(&self) -> &dyn Observed {
        self.machine.hardware()
    }

    fn output(&self) -> Vec<u8> {
        self.host().console().to_vec()
    }

    fn error_output(&self) -> Vec<u8> {
        Vec::new()
    }

    fn digest(&self, digest: &mut Digest) {
        self.machine.hardware().digest(digest);
        digest.bytes(self.host().console());
        digest.number(self.host().exit().map_or(u64::MAX, |status| status as u64));
        self.machine.hardware().bus.pci().digest_unsaved(digest);
    }
}
