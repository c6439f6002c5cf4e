use crate::collector::Collector;
use crate::guest::Mapped;
use crate::linux::{KernelError, Linux};
use crate::names::{Names, Place};
use crate::profile::Profile;
use crate::stack::Frame;
use crate::symbols::Symbols;
use rackwright_cpu::Privilege;
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
    finished: Vec<Collector>,
}

/// The stack of a thread that is on no hart.
pub(crate) struct Parked {
    /// The number of the thread.
    pub(crate) number: u64,
    pub(crate) frames: Vec<Frame>,
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

    /// Where `address` lies. Where a `called` function has no name, it is known by its address from now on.
    pub(crate) fn place(&mut self, sight: Sight<'_>, address: u64, called: bool) -> Place {
        let names = &mut self.names;
        match &mut self.software {
            Software::Program { module, symbols } => {
                if called && symbols.is_inside_nameless(address) {
                    symbols.learn(address);
                }
                names.place(module, symbols, address)
            }
            Software::Linux(_) if sight.privilege == Privilege::Machine => Place {
                function: names.number("firmware", "[firmware]"),
                low: 0,
                span: u64::MAX,
                entry: false,
            },
            Software::Linux(linux) => linux.place(names, sight, address, called),
        }
    }
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

    /// Whether a kernel runs, above firmware.
    pub(crate) fn has_kernel(&self) -> bool {
        self.lock().linux().is_some()
    }

    /// What its harts have left, to be called when they are gone.
    pub fn profile(&self) -> Profile {
        let mut shared = self.lock();
        let mut finished = std::mem::take(&mut shared.finished);
        finished.sort_by_key(Collector::hart);
        Profile::of(&shared.names, &shared.threads, &finished)
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn finish(&self, collector: Collector) {
        self.lock().finished.push(collector);
    }
}
