use crate::checkpoint::{self, reserve, Checkpoint, Head, SavedMachine};
use crate::code::Code;
use crate::error::MachineError;
use crate::machine::{Machine, Pause};
use crate::parameters::{CpuModel, MachineParameters, TICK};
use rackwright_boot::{Entry, Hardware, Software};
use rackwright_cpu::{Boom, BoomParameters, Functional, Rocket, RocketParameters, SharedCode, Timing};
use rackwright_device::{Block, Bus, Disk, Endpoint, Entropy, Map, PowerRequest, Virtio, UARTS};
use rackwright_memory::{GuestMemory, Hierarchy, HierarchyParameters, SharedHierarchy};
use rackwright_stats::{Counters, Digest};
use rackwright_time::{Clock, Cycle, Cycles};
use rackwright_trace::Observation;
use rackwright_unit::{Attachment, UnitError};
use std::path::Path;
use std::sync::Arc;

/// Serial ports by what they are for; the image's init uses them in the same way.
const CONSOLE: usize = 0;
const REQUESTS: usize = 1;

/// The serial ports whose output a user may want to see: the console, and standard output and error of a command.
pub const SHOWN: [usize; 3] = [CONSOLE, 2, 3];

/// How a run goes on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Progress {
    /// The cycle asked for is reached.
    Running,
    /// The guest has booted and waits for a [`Request`].
    Ready,
    /// All harts wait for input.
    Idle,
    /// A hart stands still until somebody has the value of its load: [`Guest::finish_read`].
    Reads,
    /// The guest was switched off; the status is that of what was requested.
    Off(i32),
}

/// What a booted guest may be asked to do: first any number of preparations, then one of the others.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Request {
    /// A command of the shell, run by root, after which the guest is ready again; off, if it fails.
    Prepare(Vec<u8>),
    /// A shell on the console.
    Console,
    /// A command of the shell, run by root; then off.
    Run(Vec<u8>),
}

/// What a machine may have beside harts, memory and the devices that all have.
#[derive(Default)]
pub struct Extras<'a> {
    /// A disk.
    pub disk: Option<Disk>,
    /// Units beside its harts.
    pub attachment: Attachment<'a>,
    /// Who looks at its harts, which changes nothing.
    pub observation: Option<&'a Observation>,
}

/// How a machine has a network card, which is run by somebody else.
pub struct Network<'a> {
    /// The card, a function on its bus.
    pub card: Box<dyn Endpoint>,
    /// Caches of harts and card, and code that other machines have decoded too.
    pub shared: (&'a SharedHierarchy, &'a Code),
    /// Harts and the card meet at least so often, in cycles that divide the 2000 of a tick of time.
    pub every: Cycles,
}

/// A machine that boots Linux from an image whose init answers requests.
pub struct Guest {
    machine: Box<dyn AnyMachine>,
    cpu: CpuModel,
    clock: Clock,
    /// What tells the content that the disk had at the start from others, if there is a disk.
    disk: Option<u128>,
    /// Everything that came out of the serial ports.
    sent: [Vec<u8>; UARTS],
    ready: bool,
    status: Option<i32>,
}

/// A machine, whatever the timing model of its harts.
trait AnyMachine: Send {
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
    fn memory_mut(&mut self) -> &mut GuestMemory;
    fn meet_every(&mut self, cycles: Cycles);
    fn finish_read(&mut self, value: u64, at: Cycle);
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

    fn memory_mut(&mut self) -> &mut GuestMemory {
        self.memory_mut()
    }

    fn meet_every(&mut self, cycles: Cycles) {
        self.meet_every(cycles);
    }

    fn finish_read(&mut self, value: u64, at: Cycle) {
        self.finish_read(value, at);
    }

    fn next_event(&mut self) -> Cycle {
        self.next_event()
    }
}

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
        let hierarchy = Hierarchy::new(HierarchyParameters::server()).map(SharedHierarchy::new)?;
        let shared = (&hierarchy, &Code::default());
        Guest::with_card(parameters, software, extras, shared, None)
    }

    /// The same with a network card behind the other functions.
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
        shared: (&SharedHierarchy, &Code),
        card: Option<Box<dyn Endpoint>>,
    ) -> Result<Guest, MachineError> {
        parameters.check()?;
        let clock = HierarchyParameters::server().clock;
        let hardware = Hardware {
            map: &Map::SERVER,
            harts: parameters.harts,
            memory_bytes: parameters.memory_bytes,
            time_base: Clock::new(clock.hertz() / TICK.0).expect("the clock is faster than its ticks"),
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
        let mut functions = functions(parameters.seed, extras.disk);
        functions.extend(card);
        let machine = build(
            (parameters.cpu, extras.observation),
            parameters.harts,
            memory,
            functions,
            &extras.attachment,
            &start,
            shared,
        )?;
        Ok(Guest {
            machine,
            cpu: parameters.cpu,
            clock,
            disk,
            sent: Default::default(),
            ready: false,
            status: None,
        })
    }

    /// A machine that goes on from a checkpoint, with harts of the model `cpu`: it is ready. Its disk must
    /// have the content that it had when the machine was started; what was written since is in the checkpoint.
    ///
    /// # Errors
    /// [`MachineError`] when the disk is another one, or the machine cannot be built.
    pub fn restore(
        checkpoint: &Checkpoint,
        cpu: CpuModel,
        extras: Extras<'_>,
    ) -> Result<Guest, MachineError> {
        let hierarchy = Hierarchy::new(HierarchyParameters::server()).map(SharedHierarchy::new)?;
        let shared = (&hierarchy, &Code::default());
        Guest::go_on(checkpoint, cpu, extras, shared)
    }

    /// The same with random numbers of its own from `seed` on and a network card, which software has to look for.
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
        bus.reseed(seed);
        bus.attach(network.card);
        guest.machine.meet_every(network.every);
        Ok(guest)
    }

    fn go_on(
        checkpoint: &Checkpoint,
        cpu: CpuModel,
        extras: Extras<'_>,
        shared: (&SharedHierarchy, &Code),
    ) -> Result<Guest, MachineError> {
        let head = &checkpoint.head;
        let content = extras.disk.as_ref().map(Disk::digest);
        if let Some(reason) = differs(head.disk, content) {
            let path = checkpoint.path.clone();
            return Err(MachineError::Checkpoint { path, reason });
        }
        let mut sent: [Vec<u8>; UARTS] = Default::default();
        sent.iter_mut()
            .zip(&head.sent)
            .for_each(|(place, saved)| place.clone_from(saved));
        let machine = build(
            (cpu, extras.observation),
            head.machine.harts.len(),
            checkpoint.memory()?,
            // Random numbers go on with the saved state.
            functions(0, extras.disk),
            &extras.attachment,
            &Start::Saved(&head.machine),
            shared,
        )?;
        Ok(Guest {
            machine,
            cpu,
            clock: HierarchyParameters::server().clock,
            disk: content,
            sent,
            ready: true,
            status: None,
        })
    }

    /// Writes a checkpoint of a guest that is ready, to go on from with [`Guest::restore`].
    ///
    /// # Errors
    /// [`MachineError`] when the harts have caches or pipelines that would be lost, or the file can't be written.
    pub fn save(&self, path: &Path) -> Result<(), MachineError> {
        if self.cpu != CpuModel::Functional {
            return Err(MachineError::TimedCheckpoint);
        }
        if self.machine.commands() != 0 {
            return Err(MachineError::UsedUnits);
        }
        let memory = self.machine.memory();
        let base = Map::SERVER.memory;
        let head = Head {
            machine: self.machine.save(),
            memory_bytes: memory.end() - base,
            disk: self.disk,
            sent: self.sent.to_vec(),
            pages: checkpoint::used_pages(memory, base),
        };
        checkpoint::write(path, &head, memory)
    }

    /// Runs until `until` has come or something is to be decided outside.
    ///
    /// # Errors
    /// [`MachineError`] when the guest does what it should not.
    pub fn run(&mut self, until: Cycle) -> Result<Progress, MachineError> {
        let pause = self.machine.run(until);
        self.collect();
        match pause {
            Pause::Reached => Ok(Progress::Running),
            Pause::Idle => Ok(Progress::Idle),
            Pause::Reads => Ok(Progress::Reads),
            Pause::Line(_) => self.line(),
            Pause::Power(request) => self.switched(request),
            Pause::Failed => {
                let failure = self.machine.failure();
                Err(failure.expect("a machine says why it failed").into())
            }
        }
    }

    /// Asks a guest that is ready.
    pub fn request(&mut self, request: &Request) {
        let line = match request {
            Request::Prepare(command) => {
                self.ready = false;
                format!("prepare {}\n", hexadecimal(command))
            }
            Request::Console => "console\n".to_string(),
            Request::Run(command) => format!("run {}\n", hexadecimal(command)),
        };
        self.machine.bus().send(REQUESTS, line.as_bytes());
    }

    /// Ends the load for which a hart stands still: it goes on at `at` with `value`.
    pub fn finish_read(&mut self, value: u64, at: Cycle) {
        self.machine.finish_read(value, at);
    }

    /// When something happens in it next: now, while a hart runs.
    pub fn next_event(&mut self) -> Cycle {
        self.machine.next_event()
    }

    /// Its memory, for who else writes it.
    pub fn memory(&mut self) -> &mut GuestMemory {
        self.machine.memory_mut()
    }

    /// Types on the console.
    pub fn send(&mut self, bytes: &[u8]) {
        self.machine.bus().send(CONSOLE, bytes);
    }

    /// Everything that came out of serial port `uart` so far.
    pub fn output(&self, uart: usize) -> &[u8] {
        &self.sent[uart]
    }

    /// The harts' clock.
    pub fn clock(&self) -> Clock {
        self.clock
    }

    /// Now.
    pub fn cycle(&self) -> Cycle {
        self.machine.cycle()
    }

    /// Instructions executed, of all harts.
    pub fn instructions(&self) -> u64 {
        self.machine.instructions()
    }

    /// How many harts there are.
    pub fn harts(&self) -> usize {
        self.machine.harts()
    }

    /// Counts of the events of units, by `unit.event`; empty without units.
    pub fn unit_counters(&self) -> Counters {
        self.machine.unit_counters()
    }

    /// The digest of the run so far.
    pub fn digest(&self) -> Digest {
        let mut digest = Digest::new();
        self.machine.digest(&mut digest);
        self.sent.iter().for_each(|sent| digest.bytes(sent));
        self.disk
            .iter()
            .for_each(|disk| digest.bytes(&disk.to_le_bytes()));
        digest
    }

    fn collect(&mut self) {
        let bus = self.machine.bus();
        for (uart, sent) in self.sent.iter_mut().enumerate() {
            sent.append(bus.sent(uart));
        }
    }

    /// A line came through the port of requests.
    fn line(&mut self) -> Result<Progress, MachineError> {
        let sent = self.sent[REQUESTS].trim_ascii_end();
        let line = String::from_utf8_lossy(sent.rsplit(|byte| *byte == b'\n').next().unwrap_or_default());
        if line == "ready" && !self.ready {
            self.ready = true;
            self.machine.forget_unsaved();
            return Ok(Progress::Ready);
        }
        let status = line.strip_prefix("exit ").and_then(|status| status.parse().ok());
        if status.is_none() {
            let line = line.into_owned();
            return Err(MachineError::Answer { line });
        }
        self.status = status;
        Ok(Progress::Running)
    }

    fn switched(&mut self, request: PowerRequest) -> Result<Progress, MachineError> {
        if !self.ready && self.status.is_none() {
            let console = self.sent[CONSOLE].trim_ascii_end();
            let last = console.rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
            let console = String::from_utf8_lossy(last).trim_end().to_string();
            return Err(MachineError::EndedEarly { console });
        }
        Ok(Progress::Off(match request {
            PowerRequest::Off(0) | PowerRequest::Reset => self.status.unwrap_or(0),
            PowerRequest::Off(status) => status.into(),
        }))
    }
}

/// Where a machine starts from.
enum Start<'a> {
    Reset {
        entry: Entry,
        /// Whether harts have vector units.
        vector: bool,
    },
    Saved(&'a SavedMachine),
}

fn build(
    (cpu, observation): (CpuModel, Option<&Observation>),
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
                let rocket = |_| Rocket::new(RocketParameters::measured(), hierarchy);
                with.machine(each.map(rocket).collect(), &code.rocket)
            }
            Some(observation) => {
                let rocket = |_| Rocket::explained(RocketParameters::measured(), hierarchy);
                with.observed(each.map(rocket).collect(), observation)
            }
        },
        CpuModel::Boom => match observation {
            None => {
                let boom = |_| Boom::new(BoomParameters::large(), hierarchy);
                with.machine(each.map(boom).collect(), &code.boom)
            }
            Some(observation) => {
                let boom = |_| Boom::explained(BoomParameters::large(), hierarchy);
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
fn functions(seed: u64, disk: Option<Disk>) -> Vec<Box<dyn Endpoint>> {
    let mut functions: Vec<Box<dyn Endpoint>> = vec![Box::new(Virtio::new(Entropy::new(seed)))];
    if let Some(disk) = disk {
        functions.push(Box::new(Virtio::new(Block::new(disk))));
    }
    functions
}

/// Why a machine that had one disk does not go on with another.
fn differs(saved: Option<u128>, given: Option<u128>) -> Option<&'static str> {
    match (saved, given) {
        (Some(_), None) => Some("is of a machine with a disk, which is needed to go on"),
        (None, Some(_)) => Some("is of a machine without a disk"),
        (Some(saved), Some(given)) if saved != given => Some("is of a machine with another disk"),
        _ => None,
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
