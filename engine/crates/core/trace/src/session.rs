use crate::collector::{task_on, Collector};
use crate::counters::UnitEvents;
use crate::guest::Mapped;
use crate::linux::{module_of, KernelError, Linux, KERNEL};
use crate::names::{called, Chains, Names, Place};
use crate::observation::SettingsError;
use crate::profile::Profile;
use crate::stack::Frame;
use crate::symbols::Symbols;
use crate::trace_file::TraceFile;
use crate::trigger::Trigger;
use crate::watch::{Armed, Watch};
use rackwright_cpu::{Privilege, View};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A thread of the software, as it is told apart.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Thread {
    pub(crate) process: String,
    pub(crate) process_number: u64,
    pub(crate) name: String,
    pub(crate) number: u64,
}

/// What the harts of a machine have in common while they are observed.
#[derive(Default)]
pub(crate) struct Shared {
    pub(crate) names: Names,
    pub(crate) threads: Vec<Thread>,
    /// The stacks of threads that are on no hart, by what describes them.
    pub(crate) parked: HashMap<u64, Parked>,
    software: Software,
    finished: Vec<(Collector, Vec<u64>)>,
    watch: Option<Arc<Watch>>,
    trace: Option<Arc<TraceFile>>,
    /// The counters that samples have.
    counters: Vec<String>,
    /// What the units beside each hart say, and the names of their events.
    units: HashMap<usize, UnitEvents>,
    unit_events: Vec<String>,
}

/// The stack of a thread that is on no hart.
pub(crate) struct Parked {
    /// The number of the thread.
    pub(crate) number: u64,
    pub(crate) frames: Vec<Frame>,
}

impl Parked {
    /// Its calls are not known any more.
    pub(crate) fn forget(&mut self) {
        self.frames.clear();
    }
}

/// What runs, and where its functions are.
pub(crate) enum Software {
    /// One program alone.
    Program {
        /// Its name.
        module: String,
        symbols: Symbols,
    },
    /// A kernel and programs, above firmware.
    Linux(Box<Linux>),
}

impl Default for Software {
    fn default() -> Software {
        Software::Program {
            module: String::new(),
            symbols: Symbols::default(),
        }
    }
}

/// An address as code of some context sees it.
#[derive(Clone, Copy)]
pub(crate) struct Sight<'a> {
    pub(crate) guest: Mapped<'a>,
    pub(crate) privilege: Privilege,
    /// What describes the memory of the task that runs.
    pub(crate) memory: u64,
}

impl Shared {
    /// The number of a thread.
    pub(crate) fn thread(&mut self, thread: &Thread) -> u32 {
        let known = self.threads.iter().position(|each| each == thread);
        let number = known.unwrap_or_else(|| {
            self.threads.push(thread.clone());
            self.threads.len() - 1
        });
        number as u32
    }

    /// The number of a further thread of the only process.
    pub(crate) fn new_thread(&mut self) -> u32 {
        let number = self.threads.len() as u64 + 1;
        let process = self.threads[0].process.clone();
        self.thread(&Thread {
            name: process.clone(),
            process,
            process_number: 1,
            number,
        })
    }

    /// The kernel, if there is one.
    pub(crate) fn linux(&self) -> Option<&Linux> {
        match &self.software {
            Software::Linux(linux) => Some(linux),
            Software::Program { .. } => None,
        }
    }

    /// Where the function `name` begins, of `file` or of what is always there.
    fn function(&self, file: Option<&str>, name: &str) -> Result<Armed, SettingsError> {
        let (module, symbols) = match (&self.software, file) {
            (Software::Program { module, symbols }, None) => (module.as_str(), symbols),
            (Software::Linux(linux), None) => ("the kernel", linux.kernel()),
            (Software::Linux(linux), Some(file)) => return linux.function(file, name),
            (Software::Program { module, symbols }, Some(file)) if file == module => (file, symbols),
            (Software::Program { module, .. }, Some(file)) => {
                let known = std::iter::once(module.as_str());
                return Err(SettingsError::unknown("file of the program", file, known));
            }
        };
        let found = symbols.iter().find(|symbol| called(&symbol.name, name));
        let unknown = || {
            let known = symbols.iter().map(|symbol| symbol.name.as_str());
            SettingsError::unknown(&format!("function of {module}"), name, known)
        };
        found
            .map(|symbol| Armed::Address(symbol.start))
            .ok_or_else(unknown)
    }

    /// Where `address` lies. Where a `called` function has no name, it is known by its address from now on.
    pub(crate) fn place(&mut self, sight: Sight<'_>, address: u64, called: bool) -> Place {
        let names = &mut self.names;
        match &mut self.software {
            Software::Program { symbols, .. } if !symbols.has_code(address) => {
                match handler_return(sight.guest, address) {
                    Some(start) => names.of_kernel(start, HANDLER_RETURN_BYTES),
                    None => names.made_at_run_time(address),
                }
            }
            Software::Program { module, symbols } => {
                if called && symbols.is_inside_nameless(address) {
                    symbols.learn(address);
                }
                names.place(module, symbols, address)
            }
            Software::Linux(_) if sight.privilege == Privilege::Machine => {
                Place::plain(names.number("firmware", "[firmware]"), 0, u64::MAX)
            }
            Software::Linux(linux) => linux.place(names, sight, address, called),
        }
    }
}

/// Bytes of the code by which a signal's handler returns: a constant and a system call.
const HANDLER_RETURN_BYTES: u64 = 8;

/// Where the code begins by which handlers return, if `address` is in it. An emulated kernel gives programs nothing else.
fn handler_return(guest: Mapped<'_>, address: u64) -> Option<u64> {
    const CODE: [u32; 2] = [0x08b0_0893, 0x0000_0073]; // li a7, 139; ecall
    let begins = |start: &u64| {
        guest.half(*start) == Some(CODE[0]) && guest.half(start.wrapping_add(4)) == Some(CODE[1])
    };
    [address, address.wrapping_sub(4)].into_iter().find(begins)
}

/// The observation of a machine, from its start until all its harts are gone.
#[derive(Clone, Default)]
pub struct Session {
    shared: Arc<Mutex<Shared>>,
}

impl Session {
    /// Observes a machine on which nothing runs but one program, `module`, with these symbols.
    pub fn of_program(module: &str, symbols: Symbols) -> Session {
        let shared = Shared {
            threads: vec![Thread {
                process: module.to_string(),
                process_number: 1,
                name: module.to_string(),
                number: 1,
            }],
            software: Software::Program {
                module: module.to_string(),
                symbols,
            },
            ..Shared::default()
        };
        Session {
            shared: Arc::new(Mutex::new(shared)),
        }
    }

    /// Observes a machine that boots the Linux kernel in `kernel`, which lies at `physical` in its memory, with `files` as its
    /// initial file system.
    ///
    /// # Errors
    /// [`KernelError`] when the kernel does not say what is needed of it.
    pub fn of_linux(kernel: &[u8], physical: u64, files: &[u8]) -> Result<Session, KernelError> {
        let linux = Linux::new(kernel, physical, files)?;
        let shared = Shared {
            threads: vec![Thread {
                process: "boot".to_string(),
                process_number: 0,
                name: "boot".to_string(),
                number: 0,
            }],
            software: Software::Linux(Box::new(linux)),
            ..Shared::default()
        };
        Ok(Session {
            shared: Arc::new(Mutex::new(shared)),
        })
    }

    /// The chains of inlined functions that its names have.
    pub(crate) fn chains(&self) -> Chains {
        self.lock().names.chains()
    }

    /// Whether a kernel runs, above firmware.
    pub(crate) fn has_kernel(&self) -> bool {
        self.lock().linux().is_some()
    }

    /// What its harts have left, to be called when they are gone.
    pub fn profile(&self) -> Profile {
        let mut shared = self.lock();
        let mut finished = std::mem::take(&mut shared.finished);
        finished.sort_by_key(|(collector, _)| collector.hart());
        let fired = shared.watch.as_ref().map_or([0; 2], |watch| watch.fired());
        let counters = std::mem::take(&mut shared.counters);
        let trace = shared.trace.take().map(|file| file.finish());
        let units = std::mem::take(&mut shared.units);
        let mut profile = Profile::of(&shared.names, &shared.threads, finished, (counters, fired));
        for hart in &mut profile.harts {
            if let Some(events) = units.get(&hart.hart) {
                hart.keep_work(events.work(), &shared.unit_events);
            }
        }
        Profile { trace, ..profile }
    }

    /// Keeps what the profile says of triggers and counters.
    pub(crate) fn keep(&self, watch: Arc<Watch>, counters: Vec<String>, unit_events: Vec<String>) {
        let mut shared = self.lock();
        shared.unit_events = unit_events;
        shared.watch = Some(watch);
        shared.counters = counters;
    }

    /// Keeps what the units beside a hart say.
    pub(crate) fn keep_units(&self, hart: usize, events: UnitEvents) {
        self.lock().units.insert(hart, events);
    }

    /// Keeps the trace, which is complete when there is a profile.
    pub(crate) fn keep_trace(&self, file: Arc<TraceFile>) {
        self.lock().trace = Some(file);
    }

    /// Where a trigger may happen.
    pub(crate) fn arm(&self, trigger: &Trigger) -> Result<Armed, SettingsError> {
        let shared = self.lock();
        Ok(match trigger {
            Trigger::Cycle(cycle) => Armed::Cycle(*cycle),
            Trigger::Instructions(count) => Armed::Instructions(*count),
            Trigger::Address(address) => Armed::Address(*address),
            Trigger::Word(word) => Armed::Word(*word),
            Trigger::Process(name) if shared.linux().is_none() => {
                return Err(SettingsError::Process { name: name.clone() });
            }
            Trigger::Process(name) => Armed::Process(name.clone()),
            Trigger::Function { file, name } => shared.function(file.as_deref(), name)?,
            Trigger::Counter { .. } | Trigger::Event(_) => Armed::Never,
        })
    }

    /// Whether the function of a file begins at `address`, as the hart of `view` sees it.
    pub(crate) fn is_function(&self, view: View<'_>, address: u64, (file, name): (&str, &str)) -> bool {
        let mut shared = self.lock();
        let guest = Mapped::of(view);
        let task = shared.linux().and_then(|linux| linux.task(guest, task_on(view)));
        let sight = Sight {
            guest,
            privilege: Privilege::User,
            memory: task.map_or(0, |task| task.memory),
        };
        let place = shared.place(sight, address, false);
        let (module, found) = shared.names.name(place.function);
        place.entry && module == module_of(file) && called(found, name)
    }

    /// Whether the task on the hart of `view`, or its process, has this name.
    pub(crate) fn runs_process(&self, view: View<'_>, name: &str) -> bool {
        let shared = self.lock();
        let task = task_on(view);
        let found = shared.linux().filter(|_| task >= KERNEL);
        let found = found.and_then(|linux| linux.task(Mapped::of(view), task));
        found.is_some_and(|task| task.thread.process == name || task.thread.name == name)
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn finish(&self, collector: Collector, samples: Vec<u64>) {
        self.lock().finished.push((collector, samples));
    }
}
