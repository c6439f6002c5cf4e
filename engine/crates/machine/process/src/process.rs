use crate::activity::Activity;
use crate::family::{Family, ProcessId, FIRST};
use crate::files::Files;
use crate::input::Input;
use crate::layout::Layout;
use crate::locks::Locks;
use crate::log::UnknownCalls;
use crate::saved::{pass_files, Surroundings};
use crate::segments::{Segment, Segments};
use crate::signal_file::PendingSignals;
use crate::sockets::Network;
use crate::stack;
use rackwright_boot::{load_program, ElfError, Image};
use rackwright_memory::{GuestFault, GuestMemory};
use rackwright_state::{Pass, State, StateError};
use rackwright_time::{Clock, Cycle};
use rand_chacha::rand_core::{RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The parameters with which a program is started.
#[derive(Clone, Debug, Default)]
pub struct Arguments {
    /// Its arguments; the first is its name.
    pub arguments: Vec<Vec<u8>>,
    /// Its environment, as `NAME=value`.
    pub environment: Vec<Vec<u8>>,
}

/// The environment of a process.
#[derive(Clone, Debug)]
pub struct Environment<'a> {
    /// Its standard input.
    pub input: Input,
    /// Whether its output is also passed on immediately.
    pub echo: bool,
    /// The folder below which it may change files of the host; none: it may only read.
    pub write_folder: Option<&'a Path>,
    /// The hart's clock, the source of its time.
    pub clock: Clock,
}

/// Why a program cannot be started.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The file is no program for this machine.
    #[error(transparent)]
    Elf(#[from] ElfError),
    /// Memory is too small for the stack and the arguments.
    #[error("guest memory is too small: {0}")]
    Memory(#[from] GuestFault),
    /// The folder for writing does not exist.
    #[error("the folder for the program's files: {0}")]
    Folder(#[from] io::Error),
}

/// Where the first thread of a program starts.
#[derive(Clone, Copy)]
struct Start {
    entry: u64,
    stack_pointer: u64,
}

/// A running program as a kernel sees it.
pub struct Process {
    start: Start,
    clock: Clock,
    pub(crate) layout: Layout,
    pub(crate) files: Files,
    network: Arc<Mutex<Network>>,
    pub(crate) unknown: UnknownCalls,
    pub(crate) random: ChaCha8Rng,
    /// The events of descriptors and signals.
    pub(crate) activity: Activity,
    pub(crate) signals: PendingSignals,
    pub(crate) shared: SharedMemory,
    pub(crate) locks: Locks,
    /// The current folder, if it is not the simulator's.
    pub(crate) folder: Option<PathBuf>,
    pub(crate) own: OwnFile,
    /// Its number, and the other processes.
    pub(crate) id: ProcessId,
    pub(crate) family: Family,
}

/// The segments of shared memory of System V.
#[derive(Clone, Default)]
pub(crate) struct SharedMemory {
    pub(crate) segments: Segments,
    /// Those that the process has attached, by their addresses.
    pub(crate) attached: BTreeMap<u64, Arc<Segment>>,
}

/// A program's data about itself.
#[derive(Clone, Debug)]
pub(crate) struct OwnFile {
    /// The file from which it was loaded, and the path reported to it: its name, so that a run does not depend on the
    /// program's folder.
    pub(crate) bytes: Arc<[u8]>,
    pub(crate) path: PathBuf,
    /// Its arguments and environment, each ended by a zero.
    pub(crate) arguments: Vec<u8>,
    pub(crate) environment: Vec<u8>,
    /// The name of its threads.
    pub(crate) name: Vec<u8>,
    pub(crate) harts: usize,
    /// Whether the program has been replaced by another one.
    is_replaced: bool,
}

/// A program that replaces that of a process.
pub(crate) struct Program {
    pub(crate) file: Arc<[u8]>,
    pub(crate) path: PathBuf,
    pub(crate) given: Arguments,
}

impl Program {
    /// The name of its threads: its file's name.
    fn name(&self) -> Vec<u8> {
        let name = self.path.file_name().map_or(&[][..], OsStrExt::as_bytes);
        name.iter().copied().take(LONGEST_NAME).collect()
    }
}

/// The longest name of a thread.
pub(crate) const LONGEST_NAME: usize = 15;

impl OwnFile {
    fn new(file: impl Into<Arc<[u8]>>, given: &Arguments, harts: usize) -> OwnFile {
        let name = given.arguments.first().cloned().unwrap_or_default();
        let path = Path::new("/").join(OsStr::from_bytes(&name));
        let ended = |strings: &[Vec<u8>]| -> Vec<u8> {
            let ended = strings.iter().map(|string| [string.as_slice(), &[0]].concat());
            ended.flatten().collect()
        };
        OwnFile {
            bytes: file.into(),
            path,
            arguments: ended(&given.arguments),
            environment: ended(&given.environment),
            name: name.into_iter().take(LONGEST_NAME).collect(),
            harts,
            is_replaced: false,
        }
    }
}

/// The random numbers of programs are the same in every run.
const SEED: u64 = 0x7261_636b;

/// The wall clock at the start of every run: 2026-01-01 00:00 UTC. A run must not depend on the host's.
pub(crate) const EPOCH_SECONDS: u64 = 1_767_225_600;
pub(crate) const EPOCH_NANOSECONDS: u64 = EPOCH_SECONDS * 1_000_000_000;

/// Without what does not change, and what is in memory.
impl State for Process {
    fn pass(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        let unsaved = |reason: &str| Err(StateError::Unsaved(format!("a program {reason} cannot be saved")));
        if self.own.is_replaced {
            return unsaved("that has replaced another one");
        }
        if !self.shared.segments.is_empty() {
            return unsaved("with shared memory of System V");
        }
        if !self.locks.is_empty() {
            return unsaved("with locks of files");
        }
        self.layout.pass(by)?;
        let around = Surroundings {
            activity: &self.activity,
            signals: &self.signals,
        };
        pass_files(&mut self.files, &around, by)?;
        self.unknown.pass(by)?;
        pass_random(&mut self.random, by)?;
        self.activity.pass(by)?;
        self.signals.pass(by)?;
        let mut folder = self.folder.take().map(path_bytes);
        folder.pass(by)?;
        self.folder = folder.map(path_of);
        self.own.name.pass(by)?;
        self.family.pass(by)
    }
}

/// Passes the state of a generator of random numbers.
pub(crate) fn pass_random(random: &mut ChaCha8Rng, by: &mut Pass<'_>) -> Result<(), StateError> {
    let (mut seed, mut stream, mut place) = (random.get_seed(), random.get_stream(), random.get_word_pos());
    seed.pass(by)?;
    stream.pass(by)?;
    place.pass(by)?;
    *random = ChaCha8Rng::from_seed(seed);
    random.set_stream(stream);
    random.set_word_pos(place);
    Ok(())
}

/// A path as bytes, and back.
pub(crate) fn path_bytes(path: PathBuf) -> Vec<u8> {
    path.into_os_string().into_vec()
}

/// The inverse of [`path_bytes`].
pub(crate) fn path_of(bytes: Vec<u8>) -> PathBuf {
    OsString::from_vec(bytes).into()
}

impl Process {
    /// Loads a static program into memory and prepares its start.
    ///
    /// # Errors
    /// [`LoadError`] describes an error in the file, or insufficient memory.
    pub fn load(
        file: &[u8],
        memory: &mut GuestMemory,
        arguments: &Arguments,
        environment: Environment<'_>,
        harts: usize,
    ) -> Result<Process, LoadError> {
        let image: Image = load_program(file, memory)?;
        let layout = Layout::new(image.end, memory)?;
        let mut random = ChaCha8Rng::seed_from_u64(SEED);
        let mut seed = [0; 16];
        random.fill_bytes(&mut seed);
        let (top, strings) = (layout.stack_top(), (&arguments.arguments, &arguments.environment));
        let stack_pointer = stack::build(memory, top, &image, strings.0, strings.1, seed)?;
        Ok(Process {
            start: Start {
                entry: image.entry,
                stack_pointer,
            },
            clock: environment.clock,
            layout,
            files: Files::new(environment.input, environment.echo, environment.write_folder)?,
            network: Arc::default(),
            unknown: UnknownCalls::default(),
            random,
            activity: Activity::default(),
            signals: PendingSignals::default(),
            shared: SharedMemory::default(),
            locks: Locks::default(),
            folder: None,
            own: OwnFile::new(file, arguments, harts),
            id: FIRST,
            family: Family::default(),
        })
    }

    /// A child that has a copy of all that is not shared, but not of memory.
    pub(crate) fn fork(&self, id: ProcessId) -> Process {
        Process {
            start: self.start,
            clock: self.clock,
            layout: self.layout.clone(),
            files: self.files.clone(),
            network: self.network.clone(),
            unknown: self.unknown.clone(),
            random: ChaCha8Rng::seed_from_u64(SEED + id),
            activity: self.activity.fork(),
            signals: self.signals.clone(),
            shared: self.shared.clone(),
            locks: self.locks.clone(),
            folder: self.folder.clone(),
            own: self.own.clone(),
            id,
            family: self.family.clone(),
        }
    }

    /// Loads another program into `memory`, which is new, and continues with it; open descriptors remain open.
    ///
    /// # Errors
    /// [`LoadError`] if the file is not a program for this machine, or does not fit: then nothing has changed.
    pub(crate) fn execute(&mut self, program: &Program, memory: &mut GuestMemory) -> Result<(), LoadError> {
        let image = load_program(&program.file, memory)?;
        let layout = Layout::new(image.end, memory)?;
        let mut seed = [0; 16];
        self.random.fill_bytes(&mut seed);
        let strings = (&program.given.arguments, &program.given.environment);
        self.start.stack_pointer =
            stack::build(memory, layout.stack_top(), &image, strings.0, strings.1, seed)?;
        self.start.entry = image.entry;
        self.layout = layout;
        self.closing(Files::close_on_exec);
        self.shared.attached.clear();
        self.own = OwnFile {
            path: program.path.clone(),
            name: program.name(),
            is_replaced: true,
            ..OwnFile::new(program.file.clone(), &program.given, self.own.harts)
        };
        Ok(())
    }

    /// The names of sockets, which all processes share.
    pub(crate) fn names(&self) -> MutexGuard<'_, Network> {
        self.network.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Address of the first instruction.
    pub fn entry(&self) -> u64 {
        self.start.entry
    }

    /// The initial value of the stack pointer.
    pub fn stack_pointer(&self) -> u64 {
        self.start.stack_pointer
    }

    /// All standard output so far.
    pub fn output(&self) -> Vec<u8> {
        self.files.output(1)
    }

    /// All standard error so far.
    pub fn error_output(&self) -> Vec<u8> {
        self.files.output(2)
    }

    /// All bytes read from standard input so far.
    pub fn consumed_input(&self) -> Vec<u8> {
        self.files.consumed_input()
    }

    /// Names of the system calls that were made and are not emulated, in the order of their first use.
    pub fn unknown_calls(&self) -> Vec<&'static str> {
        self.unknown.names()
    }

    /// Seconds and nanoseconds of simulated time at `now`, from the start of the run.
    pub(crate) fn uptime(&self, now: Cycle) -> (u64, u64) {
        let nanoseconds = self.clock.instant(now).0 / 1000;
        (nanoseconds / 1_000_000_000, nanoseconds % 1_000_000_000)
    }

    /// Nanoseconds of simulated time at `now`, from the start of the run.
    pub(crate) fn nanoseconds(&self, now: Cycle) -> u64 {
        self.clock.instant(now).0 / 1000
    }

    /// The first cycle in which this number of nanoseconds have passed since the start of the run.
    pub(crate) fn cycle_of(&self, nanoseconds: u64) -> Cycle {
        self.cycle_at(nanoseconds / 1_000_000_000, nanoseconds % 1_000_000_000)
    }

    /// The first cycle in which so much simulated time has passed since the start of the run.
    pub(crate) fn cycle_at(&self, seconds: u64, nanoseconds: u64) -> Cycle {
        let elapsed = u128::from(seconds) * 1_000_000_000 + u128::from(nanoseconds);
        let cycles = (elapsed * u128::from(self.clock.hertz())).div_ceil(1_000_000_000);
        Cycle::new(u64::try_from(cycles).unwrap_or(u64::MAX))
    }

    /// The same as the wall clock shows it.
    pub(crate) fn wall_time(&self, now: Cycle) -> (u64, u64) {
        let (seconds, nanoseconds) = self.uptime(now);
        (EPOCH_SECONDS + seconds, nanoseconds)
    }
}
