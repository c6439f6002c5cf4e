use super::build::{functions, Parts, Start};
use super::Guest;
use crate::checkpoint::{reserve, Checkpoint};
use crate::choice::HartChoice;
use crate::code::DecodedPrograms;
use crate::error::MachineError;
use crate::parameters::{Interrupts, MachineParameters};
use rackwright_boot::{Hardware, Software};
use rackwright_cpu::{CpuModel, ServerParameters};
use rackwright_device::{Disk, Endpoint, Map, Tree, TreeMaker, UARTS};
use rackwright_memory::{ChipMaker, Hierarchy, HierarchyParameters, SharedHierarchy};
use rackwright_state::Pass;
use rackwright_time::{Clock, Cycles};
use rackwright_trace::Observation;
use rackwright_unit::Attachment;
use std::ops::Range;

/// Optional parts of a machine, in addition to harts, memory and the devices that all machines have.
#[derive(Default)]
pub struct Extras<'a> {
    /// A disk.
    pub disk: Option<Disk>,
    /// Units beside its harts.
    pub attachment: Attachment<'a>,
    /// The observer of its harts, which does not affect them.
    pub observation: Option<&'a Observation>,
    /// Buses behind its PCI host bridge; for a checkpoint, those that it was started with.
    pub tree: Option<&'a dyn TreeMaker>,
    /// Its interrupt controllers; a checkpoint has those that it was started with.
    pub interrupts: Interrupts,
    /// The parameters of its timing, if they are not the default ones.
    pub parameters: Option<&'a ServerParameters>,
    /// Tiles whose network accesses to memory cross, for a machine without network card and tree.
    pub chip: Option<&'a dyn ChipMaker>,
}

impl Extras<'_> {
    /// The parameters of its timing.
    pub fn parameters(&self) -> ServerParameters {
        self.parameters.cloned().unwrap_or_default()
    }

    fn hierarchy(&self) -> Result<SharedHierarchy, MachineError> {
        let mut hierarchy = Hierarchy::new(self.parameters().memory)?;
        if let Some(chip) = self.chip {
            hierarchy = hierarchy.on_tiles(chip.make())?;
        }
        Ok(SharedHierarchy::new(hierarchy))
    }
}

/// A network card of a machine, which another model runs.
pub struct Network<'a> {
    /// The card, a function on its bus.
    pub card: Box<dyn Endpoint>,
    /// Caches of harts and card, and code that other machines have decoded too.
    pub shared: (&'a SharedHierarchy, &'a DecodedPrograms),
    /// Harts and the card are synchronised at least this often, in cycles that divide the 2000 of their windows.
    pub every: Cycles,
}

/// Construction of guests.
impl Guest {
    /// A machine fresh from reset with `software` in memory.
    ///
    /// # Errors
    /// [`MachineError`] when it cannot be built, or the software cannot be booted.
    pub fn start(
        parameters: &MachineParameters,
        software: &Software<'_>,
        extras: Extras<'_>,
    ) -> Result<Guest, MachineError> {
        let hierarchy = extras.hierarchy()?;
        let shared = (&hierarchy, &DecodedPrograms::default());
        Guest::with_card(parameters, software, extras, shared, None)
    }

    /// The same with a network card after the other functions.
    ///
    /// # Errors
    /// As [`Guest::start`].
    pub fn start_networked(
        parameters: &MachineParameters,
        software: &Software<'_>,
        extras: Extras<'_>,
        network: Network<'_>,
    ) -> Result<Guest, MachineError> {
        let card = Some(network.card);
        let mut guest = Guest::with_card(parameters, software, extras, network.shared, card)?;
        guest.machine.meet_every(network.every);
        Ok(guest)
    }

    fn with_card(
        parameters: &MachineParameters,
        software: &Software<'_>,
        extras: Extras<'_>,
        shared: (&SharedHierarchy, &DecodedPrograms),
        card: Option<Box<dyn Endpoint>>,
    ) -> Result<Guest, MachineError> {
        parameters.check()?;
        let server = extras.parameters();
        let clock = server.memory.clock;
        let map = with_tree(map_of(extras.interrupts), extras.tree);
        let hardware = Hardware {
            map: &map,
            harts: parameters.harts,
            memory_bytes: parameters.memory_bytes,
            time_base: Clock::new(clock.hertz() / server.memory.tick.0)
                .expect("the clock is faster than its ticks"),
            seed: parameters.seed,
            vector: parameters.vector,
        };
        let mut memory = reserve(parameters.memory_bytes)?;
        let entry = software.load(&mut memory, &hardware)?;
        let start = Start::Reset {
            entry,
            vector: parameters.vector,
        };
        let disk = extras.disk.as_ref().map(Disk::digest);
        let mut functions = functions(clock, parameters.seed, extras.disk);
        functions.extend(card);
        let (hierarchy, code) = shared;
        let tree = make_tree(extras.tree, hierarchy, map.memory..memory.end(), &map)?;
        let parts = Parts {
            harts: HartChoice {
                cpu: parameters.cpu,
                parameters: &server,
                harts: parameters.harts,
                hierarchy,
                observation: extras.observation,
            },
            memory,
            map,
            functions,
            tree,
            attachment: extras.attachment,
            start,
        };
        Ok(Guest {
            machine: parts.build(code)?,
            timed_as: timed_as(parameters.cpu, &server, extras.chip),
            cpu: parameters.cpu,
            clock,
            tick: server.memory.tick,
            disk,
            interrupts: extras.interrupts,
            sent: Default::default(),
            ready: false,
            next: None,
            status: None,
        })
    }

    /// A machine that continues from a checkpoint, with harts of the model `cpu`: it is ready. Its disk must have the
    /// contents that it had when the machine was started; later writes are in the checkpoint.
    ///
    /// # Errors
    /// [`MachineError`] when the disk is another one, or the machine cannot be built.
    pub fn restore(
        checkpoint: &Checkpoint,
        cpu: CpuModel,
        extras: Extras<'_>,
    ) -> Result<Guest, MachineError> {
        let hierarchy = extras.hierarchy()?;
        let shared = (&hierarchy, &DecodedPrograms::default());
        Guest::go_on(checkpoint, cpu, extras, shared)
    }

    /// The same with its own random numbers from `seed` on and a network card, for which software has to search.
    ///
    /// # Errors
    /// As [`Guest::restore`].
    pub fn restore_networked(
        checkpoint: &Checkpoint,
        (cpu, seed): (CpuModel, u64),
        extras: Extras<'_>,
        network: Network<'_>,
    ) -> Result<Guest, MachineError> {
        let mut guest = Guest::go_on(checkpoint, cpu, extras, network.shared)?;
        let bus = guest.machine.bus();
        bus.pci_mut().reseed(seed);
        bus.pci_mut().attach(network.card);
        guest.machine.meet_every(network.every);
        Ok(guest)
    }

    fn go_on(
        checkpoint: &Checkpoint,
        cpu: CpuModel,
        extras: Extras<'_>,
        shared: (&SharedHierarchy, &DecodedPrograms),
    ) -> Result<Guest, MachineError> {
        let head = &checkpoint.head;
        let mut server = extras.parameters();
        let content = extras.disk.as_ref().map(Disk::digest);
        let other_clock = (head.clock_hz != server.memory.clock.hertz())
            .then_some("is of a machine whose harts have another clock; boot one with this clock-hz");
        let saved_tick = Cycles::new(head.tick_cycles);
        let other_tick = ![HierarchyParameters::server().tick, saved_tick].contains(&server.memory.tick);
        let other_tick =
            other_tick.then_some("is of a machine with another tick of time; boot one with this tick-cycles");
        // Software was told the tick, and has set its timers accordingly.
        server.memory.tick = saved_tick;
        let other_tree = match (head.tree.is_some(), extras.tree.is_some()) {
            (true, false) => Some("is of a machine with a fabric; give it again with --fabric"),
            (false, true) => Some("is of a machine without a fabric"),
            _ => None,
        };
        let other = differs(head.disk, content)
            .or(other_clock)
            .or(other_tick)
            .or(other_tree);
        if let Some(reason) = other {
            let path = checkpoint.path.clone();
            return Err(MachineError::Checkpoint { path, reason });
        }
        let mut sent: [Vec<u8>; UARTS] = Default::default();
        sent.iter_mut()
            .zip(&head.sent)
            .for_each(|(place, saved)| place.clone_from(saved));
        let (hierarchy, code) = shared;
        let map = with_tree(map_of(head.interrupts()), extras.tree);
        let memory = checkpoint.memory()?;
        let mut tree = make_tree(extras.tree, hierarchy, map.memory..memory.end(), &map)?;
        if let (Some(tree), Some(state)) = (&mut tree, &head.tree) {
            tree.restore(state)?;
        }
        let parts = Parts {
            harts: HartChoice {
                cpu,
                parameters: &server,
                harts: head.machine.harts.len(),
                hierarchy,
                observation: extras.observation,
            },
            memory,
            map,
            tree,
            // Random numbers continue from the saved state.
            functions: functions(server.memory.clock, 0, extras.disk),
            attachment: extras.attachment,
            start: Start::Saved(&head.machine),
        };
        let mut machine = parts.build(code)?;
        let timed_as = timed_as(cpu, &server, extras.chip);
        let saved = head.timing.as_ref();
        if let Some(timing) = saved.filter(|timing| timed_as.as_ref() == Some(&timing.of)) {
            let read = machine.pass_timing(&mut Pass::Restore(&timing.state));
            read.map_err(MachineError::Timing)?;
        }
        Ok(Guest {
            machine,
            cpu,
            timed_as,
            clock: server.memory.clock,
            tick: server.memory.tick,
            disk: content,
            interrupts: head.interrupts(),
            sent,
            ready: true,
            next: None,
            status: None,
        })
    }
}

/// What the caches and pipelines of harts depend on, in words; None on tiles, where slices of L2 depend on the mesh too.
fn timed_as(cpu: CpuModel, server: &ServerParameters, chip: Option<&dyn ChipMaker>) -> Option<String> {
    chip.is_none().then(|| format!("{cpu:?} {server:?}"))
}

/// The addresses of a server with these interrupt controllers.
fn map_of(interrupts: Interrupts) -> Map {
    match interrupts {
        Interrupts::Plic => Map::SERVER,
        Interrupts::Aia => Map::SERVER.with_aia(),
    }
}

/// The same, with the addresses of a tree if there is one.
fn with_tree(map: Map, tree: Option<&dyn TreeMaker>) -> Map {
    match tree {
        Some(_) => map.with_tree(),
        None => map,
    }
}

/// The buses behind the host bridge of a machine with these caches, and with memory at these addresses.
fn make_tree(
    maker: Option<&dyn TreeMaker>,
    hierarchy: &SharedHierarchy,
    memory: Range<u64>,
    map: &Map,
) -> Result<Option<Box<dyn Tree>>, MachineError> {
    let tree = maker.map(|maker| maker.make(hierarchy, memory, map.messages));
    tree.transpose()
        .map_err(|error| MachineError::Tree(error.to_string()))
}

/// The reason why a machine that had one disk cannot continue with another.
fn differs(saved: Option<u128>, given: Option<u128>) -> Option<&'static str> {
    match (saved, given) {
        (Some(_), None) => Some("is of a machine with a disk, which is needed to go on"),
        (None, Some(_)) => Some("is of a machine without a disk"),
        (Some(saved), Some(given)) if saved != given => Some("is of a machine with another disk"),
        _ => None,
    }
}
