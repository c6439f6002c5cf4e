use crate::bare::{self, BareMetalRun, BARE_METAL_BYTES};
use crate::error::ServerError;
use crate::program::ProgramRun;
use crate::run::{Progress, Run};
use rackwright_boot::BareMetal;
use rackwright_cpu::{CpuModel, ExecutionEnvironment, Hart, ServerParameters, SharedCode, Timing};
use rackwright_device::{TreeMaker, ACCESS_LATENCY};
use rackwright_machine::{DecodedPrograms, FromHarts, HartChoice};
use rackwright_memory::{ChipMaker, GuestMemory, Hierarchy, SharedHierarchy, MAXIMUM_SHARERS};
use rackwright_process::{Arguments, Environment};
use rackwright_rtl::rocket::RocketDesign;
use rackwright_state::{Pass, State, StateError};
use rackwright_stats::{Counters, Digest};
use rackwright_time::{Clock, Cycle};
use rackwright_trace::Observation;
use rackwright_unit::{observe, AttachedUnit, Attachment, Core, PlacedUnit, RocketCores, Wait};
use std::io;
use std::path::Path;
use std::sync::Arc;

/// Default size of guest memory for Linux programs.
pub const USER_BYTES: u64 = 1 << 33;

/// The parameters of a server.
pub struct ServerConfig<'a> {
    /// The harts' timing model.
    pub cpu: CpuModel,
    /// Rocket in RTL in place of that model, for bare metal alone.
    pub rtl: Option<&'a RocketDesign>,
    /// Number of harts.
    pub harts: usize,
    /// Its timing parameters.
    pub parameters: &'a ServerParameters,
    /// Units beside each of them.
    pub units: &'a [PlacedUnit],
    /// Bytes of guest memory; address space is reserved, memory is taken when it is used.
    pub guest_bytes: u64,
    /// Whether idle units are not clocked.
    pub skip_idle: bool,
    /// Whether to check that idle units are inactive, for which they are clocked.
    pub check_idle: bool,
    /// The destination of the units' signals, as FST: one file each, with the unit's name if there are several. The
    /// designs must have been built with waves.
    pub waves: Option<&'a Path>,
    /// Buses behind a PCI host bridge, for bare metal.
    pub tree: Option<&'a dyn TreeMaker>,
    /// Tiles whose network accesses to memory cross.
    pub chip: Option<&'a dyn ChipMaker>,
}

/// A server that runs one program, from the start to its end.
pub struct Server {
    run: Box<dyn Run>,
    clock: Clock,
}

impl Server {
    /// A server fresh from reset with `file`, a static Linux program or a bare-metal one, in memory. Its harts may be
    /// observed, which does not affect them: digests are equal. Servers with the same `code` share decoded blocks, if
    /// their parameters are the same.
    ///
    /// # Errors
    /// [`ServerError`] when the file is no program for it, or the server cannot be built.
    pub fn start(
        config: &ServerConfig<'_>,
        file: &[u8],
        arguments: &Arguments,
        environment: Environment<'_>,
        (observation, code): (Option<&Observation>, &DecodedPrograms),
    ) -> Result<Server, ServerError> {
        let parameters = config.parameters;
        let clock = parameters.memory.clock;
        let mut hierarchy = Hierarchy::new(parameters.memory.clone())?;
        // A functional hart looks up no tags.
        if config.cpu != CpuModel::Functional || !config.units.is_empty() || config.tree.is_some() {
            hierarchy = hierarchy.populated();
        }
        if let Some(chip) = config.chip {
            hierarchy = hierarchy.on_tiles(chip.make())?;
        }
        let hierarchy = SharedHierarchy::new(hierarchy);
        if !(1..=MAXIMUM_SHARERS).contains(&config.harts) {
            return Err(ServerError::Harts { harts: config.harts });
        }
        if let Some(design) = config.rtl {
            let arguments = &arguments.arguments;
            let run = on_rtl(config, design, hierarchy, (file, arguments), environment.echo)?;
            return Ok(Server { run, clock });
        }
        let harts = config.choice(&hierarchy, observation);
        let start = Start {
            config,
            hierarchy: &hierarchy,
            file,
            arguments,
            environment,
            observation,
        };
        let run = harts.make(code, start)?;
        Ok(Server { run, clock })
    }

    /// Runs to cycle `limit` or the program's end.
    ///
    /// # Errors
    /// [`ServerError`] if the program makes an invalid access, or a unit does not respond.
    pub fn run(&mut self, limit: Cycle) -> Result<Progress, ServerError> {
        self.run.run(limit)
    }

    /// The unit for which the hart is stalled, if it is.
    pub fn wait(&self) -> Option<Wait> {
        self.run.hardware().wait()
    }

    /// The error of a run that has reached the user's limit.
    pub fn limit_reached(&self) -> ServerError {
        ServerError::CycleLimit {
            cycle: self.cycle(),
            wait: self.wait().map(Box::new),
        }
    }

    /// The hart's clock.
    pub fn clock(&self) -> Clock {
        self.clock
    }

    /// Now.
    pub fn cycle(&self) -> Cycle {
        self.run.cycle()
    }

    /// Instructions executed.
    pub fn instructions(&self) -> u64 {
        self.run.hardware().instructions()
    }

    /// The program's standard output, or the console output of bare metal.
    pub fn output(&self) -> Vec<u8> {
        self.run.output()
    }

    /// The program's standard error.
    pub fn error_output(&self) -> Vec<u8> {
        self.run.error_output()
    }

    /// The program's system calls that are not emulated, in the order of their first use.
    pub fn unknown_calls(&self) -> Vec<&'static str> {
        self.run.unknown_calls()
    }

    /// The digest of the run so far.
    pub fn digest(&self) -> Digest {
        let mut digest = Digest::new();
        self.run.digest(&mut digest);
        digest
    }

    /// Counts of caches and of the units' events; a unit's are named `unit.event`.
    pub fn counters(&self) -> Counters {
        self.run.hardware().counters()
    }

    /// Cycles of RTL that were evaluated, of all units together.
    pub fn unit_cycles(&self) -> u64 {
        self.run.hardware().unit_cycles()
    }
}

impl<'a> ServerConfig<'a> {
    /// Its harts.
    pub(crate) fn choice(
        &self,
        hierarchy: &'a SharedHierarchy,
        observation: Option<&'a Observation>,
    ) -> HartChoice<'a> {
        HartChoice {
            cpu: self.cpu,
            parameters: self.parameters,
            harts: self.harts,
            hierarchy,
            observation,
        }
    }
}

/// The parameters of a server, for any timing model.
struct Start<'a> {
    config: &'a ServerConfig<'a>,
    hierarchy: &'a SharedHierarchy,
    file: &'a [u8],
    arguments: &'a Arguments,
    environment: Environment<'a>,
    observation: Option<&'a Observation>,
}

impl FromHarts for Start<'_> {
    type Made = Result<Box<dyn Run>, ServerError>;

    fn make<T>(self, timings: Vec<T>, code: Arc<SharedCode<T::Block>>) -> Self::Made
    where
        T: Timing + Send + 'static,
        T::Block: Send + Sync,
    {
        let bare_metal = BareMetal::recognises(self.file)?;
        let mode = if bare_metal {
            ExecutionEnvironment::BareMetal
        } else {
            ExecutionEnvironment::Program
        };
        let core = |(number, timing)| -> Result<Core<T>, ServerError> {
            let mut units = attach(self.config, self.hierarchy, number)?;
            if let Some(observation) = self.observation {
                observe(&mut units, &observation.units(number), 0);
            }
            let mut hart = Hart::new(number as u64, mode, timing);
            hart.sharing().share_code(code.clone());
            Ok(Core::new(hart, self.hierarchy.clone(), units))
        };
        let cores: Result<Vec<Core<T>>, ServerError> = timings.into_iter().enumerate().map(core).collect();
        let (cores, memory) = (cores?, memory(self.config.guest_bytes)?);
        let (file, arguments) = (self.file, self.arguments);
        if bare_metal {
            let tree = self
                .config
                .tree
                .map(|maker| bare::tree(maker, self.hierarchy))
                .transpose()?;
            let arguments = &arguments.arguments;
            let run = BareMetalRun::start(cores, memory, (file, arguments), tree, self.environment.echo)?;
            return Ok(Box::new(run));
        }
        if self.config.tree.is_some() {
            return Err(ServerError::TreeOfProgram);
        }
        let run = ProgramRun::start(cores, memory, file, arguments, self.environment)?;
        Ok(Box::new(run))
    }
}

impl State for Server {
    fn pass(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        self.run.pass(by)
    }
}

/// A bare-metal program with its arguments on Rocket in RTL.
fn on_rtl(
    config: &ServerConfig<'_>,
    design: &RocketDesign,
    hierarchy: SharedHierarchy,
    program: (&[u8], &[Vec<u8>]),
    echo: bool,
) -> Result<Box<dyn Run>, ServerError> {
    if !BareMetal::recognises(program.0)? {
        return Err(ServerError::NotBareMetal { on: "Rocket in RTL" });
    }
    if config.harts > design.cores() {
        return Err(ServerError::Cores {
            cores: design.cores(),
            harts: config.harts,
        });
    }
    let addresses = BareMetal::MEMORY_BASE..BARE_METAL_BYTES;
    let mut cores = RocketCores::new(design, config.harts, ACCESS_LATENCY, hierarchy, addresses);
    cores.attach(&attachment(config))?;
    let run = BareMetalRun::start(vec![cores], memory(config.guest_bytes)?, program, None, echo)?;
    Ok(Box::new(run))
}

/// The units of each hart.
fn attachment<'a>(config: &ServerConfig<'a>) -> Attachment<'a> {
    Attachment {
        units: config.units,
        skip_idle: config.skip_idle,
        check_idle: config.check_idle,
        waves: config.waves,
        harts: config.harts,
    }
}

/// The units of hart number `hart`.
pub(crate) fn attach(
    config: &ServerConfig<'_>,
    hierarchy: &SharedHierarchy,
    hart: usize,
) -> Result<Vec<AttachedUnit>, ServerError> {
    Ok(attachment(config).attach(&mut *hierarchy.lock(), hart)?)
}

/// The units of hart number `hart` of a server with a link: the first hart's may have streams for it.
pub(crate) fn attach_on_link(
    config: &ServerConfig<'_>,
    hierarchy: &SharedHierarchy,
    hart: usize,
) -> Result<Vec<AttachedUnit>, ServerError> {
    Ok(attachment(config).attach_on_link(&mut *hierarchy.lock(), hart)?)
}

/// Address space that a program may reserve beyond its memory: some programs reserve 64 GiB and use a few pages of it.
const ROOM: u64 = 128 << 30;

/// The memory of a program; without that room if the host does not have this much address space.
fn memory(bytes: u64) -> io::Result<GuestMemory> {
    GuestMemory::with_room(bytes, ROOM).or_else(|_| GuestMemory::new(bytes))
}
