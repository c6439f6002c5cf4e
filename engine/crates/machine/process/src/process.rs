use crate::files::Files;
use crate::input::Input;
use crate::layout::Layout;
use crate::log::UnknownCalls;
use crate::stack;
use rackwright_boot::{load_program, ElfError, Image};
use rackwright_memory::{GuestFault, GuestMemory};
use rackwright_time::{Clock, Cycle};
use rand_chacha::rand_core::{RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::io;
use std::path::Path;

/// What a program is started with.
#[derive(Clone, Debug, Default)]
pub struct Arguments {
    /// Its arguments; the first is its name.
    pub arguments: Vec<Vec<u8>>,
    /// Its environment, as `NAME=value`.
    pub environment: Vec<Vec<u8>>,
}

/// What surrounds a process.
#[derive(Clone, Debug)]
pub struct Environment<'a> {
    /// What it reads from standard input.
    pub input: Input,
    /// Whether its output is passed on as it comes, beside being kept.
    pub echo: bool,
    /// The folder below which it may change files of the host; none: it may only read.
    pub write_folder: Option<&'a Path>,
    /// The hart's clock, from which it gets its time.
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

/// A running program as a kernel sees it.
pub struct Process {
    entry: u64,
    stack_pointer: u64,
    clock: Clock,
    pub(crate) layout: Layout,
    pub(crate) files: Files,
    pub(crate) unknown: UnknownCalls,
    pub(crate) random: ChaCha8Rng,
}

/// Random numbers given to programs are the same in every run.
const SEED: u64 = 0x7261_636b;

/// The wall clock at the start of every run: 2026-01-01 00:00 UTC. A run must not depend on the host's.
pub(crate) const EPOCH_SECONDS: u64 = 1_767_225_600;

impl Process {
    /// Puts a static program into memory and prepares its start.
    ///
    /// # Errors
    /// [`LoadError`] says what is wrong with the file or too small.
    pub fn load(
        file: &[u8],
        memory: &mut GuestMemory,
        arguments: &Arguments,
        environment: Environment<'_>,
    ) -> Result<Process, LoadError> {
        let image: Image = load_program(file, memory)?;
        let layout = Layout::new(image.end, memory)?;
        let mut random = ChaCha8Rng::seed_from_u64(SEED);
        let mut seed = [0; 16];
        random.fill_bytes(&mut seed);
        let (top, strings) = (layout.stack_top(), (&arguments.arguments, &arguments.environment));
        let stack_pointer = stack::build(memory, top, &image, strings.0, strings.1, seed)?;
        Ok(Process {
            entry: image.entry,
            stack_pointer,
            clock: environment.clock,
            layout,
            files: Files::new(environment.input, environment.echo, environment.write_folder)?,
            unknown: UnknownCalls::default(),
            random,
        })
    }

    /// Address of the first instruction.
    pub fn entry(&self) -> u64 {
        self.entry
    }

    /// What the stack pointer holds at the start.
    pub fn stack_pointer(&self) -> u64 {
        self.stack_pointer
    }

    /// Everything written to standard output so far.
    pub fn output(&self) -> Vec<u8> {
        self.files.output(1)
    }

    /// Everything written to standard error so far.
    pub fn error_output(&self) -> Vec<u8> {
        self.files.output(2)
    }

    /// Everything read from standard input so far.
    pub fn consumed_input(&self) -> Vec<u8> {
        self.files.consumed_input()
    }

    /// Numbers of the system calls that were made and are not emulated.
    pub fn unknown_calls(&self) -> &[u64] {
        self.unknown.numbers()
    }

    /// Seconds and nanoseconds of simulated time at `now`, from the start of the run.
    pub(crate) fn uptime(&self, now: Cycle) -> (u64, u64) {
        let nanoseconds = self.clock.instant(now).0 / 1000;
        (nanoseconds / 1_000_000_000, nanoseconds % 1_000_000_000)
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
