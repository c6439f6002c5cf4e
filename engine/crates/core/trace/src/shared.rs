use crate::guest::Mapped;
use crate::linux::Linux;
use crate::names::{called, Chains, Names, Place};
use crate::settings_error::SettingsError;
use crate::sight::Sight;
use crate::stack::Frame;
use crate::symbols::Symbols;
use crate::thread::Thread;
use crate::watch::Armed;
use rackwright_cpu::Privilege;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The data that the harts of a machine share while they are observed.
#[derive(Default)]
pub(crate) struct Shared {
    pub(crate) names: Names,
    pub(crate) threads: Vec<Thread>,
    /// The stacks of threads that are on no hart, by the address of their description.
    pub(crate) parked: HashMap<u64, Parked>,
    pub(crate) software: Software,
}

/// The same, as owned by each of them.
#[derive(Clone, Default)]
pub(crate) struct Common(Arc<Mutex<Shared>>);

impl Common {
    /// Of harts that have this in common.
    pub(crate) fn of(shared: Shared) -> Common {
        Common(Arc::new(Mutex::new(shared)))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Shared> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The chains of inlined functions that its names have.
    pub(crate) fn chains(&self) -> Chains {
        self.lock().names.chains()
    }

    /// Whether a kernel runs, above firmware.
    pub(crate) fn has_kernel(&self) -> bool {
        self.lock().linux().is_some()
    }
}

/// The stack of a thread that is on no hart.
pub(crate) struct Parked {
    /// The number of the thread.
    pub(crate) number: u64,
    pub(crate) frames: Vec<Frame>,
}

impl Parked {
    /// Its calls are unknown from now on.
    pub(crate) fn forget(&mut self) {
        self.frames.clear();
    }
}

/// The software, and the addresses of its functions.
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

    /// The address of the function `name`, in `file` or in files that are always loaded.
    pub(crate) fn function(&self, file: Option<&str>, name: &str) -> Result<Armed, SettingsError> {
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

    /// Where `address` lies. A `called` function without a name is known by its address from now on.
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

/// The start of the code by which handlers return, if `address` is in it. An emulated kernel provides no other code to
/// programs.
fn handler_return(guest: Mapped<'_>, address: u64) -> Option<u64> {
    const CODE: [u32; 2] = [0x08b0_0893, 0x0000_0073]; // li a7, 139; ecall
    let begins = |start: &u64| {
        guest.half(*start) == Some(CODE[0]) && guest.half(start.wrapping_add(4)) == Some(CODE[1])
    };
    [address, address.wrapping_sub(4)].into_iter().find(begins)
}
