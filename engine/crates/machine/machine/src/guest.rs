mod any_machine;
mod build;
mod start;
mod state;

use self::any_machine::AnyMachine;
use crate::checkpoint::{self, Head, SavedTiming};
use crate::error::MachineError;
use crate::parameters::Interrupts;
use crate::pause::Pause;
use rackwright_cpu::CpuModel;
use rackwright_device::{Map, PowerRequest, Tree, UARTS};
use rackwright_memory::GuestMemory;
use rackwright_state::{Pass, StateError};
use rackwright_stats::{Counters, Digest};
use rackwright_time::{Clock, Cycle, Cycles};
pub use start::{Extras, Network};
use std::path::Path;

/// Serial ports by their purpose; the image's init uses them in the same way.
const CONSOLE: usize = 0;
const REQUESTS: usize = 1;

/// The serial ports whose output is shown to users: the console, and standard output and error of a command.
pub const SHOWN: [usize; 3] = [CONSOLE, 2, 3];

/// The state after a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Progress {
    /// The requested cycle is reached, or a hart is stalled for a response that a device does not know yet.
    Running,
    /// The guest has booted and waits for a [`Request`].
    Ready,
    /// All harts wait for input.
    Idle,
    /// The guest was switched off, with the status of the request.
    Off(i32),
}

/// Requests to a booted guest: first any number of preparations, then one of the others.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Request {
    /// A command of the shell, run by root, after which the guest is ready again; off, if it fails.
    Prepare(Vec<u8>),
    /// A shell on the console.
    Console,
    /// A command of the shell, run by root; then off.
    Run(Vec<u8>),
}

/// A machine that boots Linux from an image whose init answers requests.
pub struct Guest {
    machine: Box<dyn AnyMachine>,
    cpu: CpuModel,
    /// The model of the harts, with all parameters; None if their caches are not saved.
    timed_as: Option<String>,
    clock: Clock,
    tick: Cycles,
    /// The hash of the disk's initial contents, if there is a disk.
    disk: Option<u128>,
    interrupts: Interrupts,
    /// The output of the serial ports so far.
    sent: [Vec<u8>; UARTS],
    ready: bool,
    /// The request to send when it is ready.
    next: Option<Request>,
    status: Option<i32>,
}

impl Guest {
    /// Writes a checkpoint of a guest that is ready, for [`Guest::restore`].
    ///
    /// # Errors
    /// [`MachineError`] when units have been used, the state of a part cannot be saved, or the file can't be written.
    pub fn save(&mut self, path: &Path) -> Result<(), MachineError> {
        if self.machine.commands() != 0 {
            return Err(MachineError::UsedUnits);
        }
        let tree = self.machine.bus().pci_mut().tree().map(Tree::save).transpose();
        let tree = tree.map_err(MachineError::TreeCheckpoint)?;
        let timing = self.save_timing().map_err(MachineError::Timing)?;
        let memory = self.machine.memory();
        let base = Map::SERVER.memory;
        let head = Head {
            machine: self.machine.save(),
            timing,
            memory_bytes: memory.end() - base,
            clock_hz: self.clock.hertz(),
            tick_cycles: self.tick.0,
            has_aia: self.interrupts == Interrupts::Aia,
            disk: self.disk,
            tree,
            sent: self.sent.to_vec(),
            pages: memory.pages().map(|(address, _)| address).collect(),
        };
        checkpoint::write(path, &head, memory)
    }

    fn save_timing(&mut self) -> Result<Option<SavedTiming>, StateError> {
        let timed = (self.cpu != CpuModel::Functional).then(|| self.timed_as.clone());
        let Some(of) = timed.flatten() else {
            return Ok(None);
        };
        let mut state = Vec::new();
        self.machine.pass_timing(&mut Pass::Save(&mut state))?;
        Ok(Some(SavedTiming { of, state }))
    }

    /// Runs until `until` or until a decision of the caller is needed.
    ///
    /// # Errors
    /// [`MachineError`] if the guest violates a rule.
    pub fn run(&mut self, until: Cycle) -> Result<Progress, MachineError> {
        loop {
            let pause = self.machine.run(until)?;
            self.collect();
            if let Some(reason) = self.machine.bus().pci().failure() {
                return Err(MachineError::Tree(reason));
            }
            match pause {
                Pause::Reached => return Ok(Progress::Running),
                Pause::Idle => return Ok(Progress::Idle),
                Pause::Line(_) if self.line()? => match self.next.take() {
                    Some(request) => self.request(&request),
                    None => return Ok(Progress::Ready),
                },
                Pause::Line(_) => {}
                Pause::Power(request) => return self.switched(request),
                Pause::Exited(status) => return Ok(Progress::Off(status)),
            }
        }
    }

    /// Sends a request to a guest that is ready.
    pub fn request(&mut self, request: &Request) {
        let line = match request {
            Request::Prepare(command) => {
                self.ready = false;
                format!("prepare {}\n", hexadecimal(command))
            }
            Request::Console => "console\n".to_string(),
            Request::Run(command) => format!("run {}\n", hexadecimal(command)),
        };
        self.machine.bus().serial(REQUESTS).send(line.as_bytes());
    }

    /// Sends a request now, if the guest is ready, or else as soon as it is: [`Guest::run`] does not return for this.
    pub fn request_when_ready(&mut self, request: Request) {
        if self.ready {
            self.request(&request);
        } else {
            self.next = Some(request);
        }
    }

    /// Time of its next event: now, while a hart runs.
    pub fn next_event(&mut self) -> Cycle {
        self.machine.next_event()
    }

    /// Its memory, for other writers.
    pub fn memory(&mut self) -> &mut GuestMemory {
        self.machine.memory_mut()
    }

    /// Types on the console.
    pub fn send(&mut self, bytes: &[u8]) {
        self.machine.bus().serial(CONSOLE).send(bytes);
    }

    /// The output of serial port `uart` so far.
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

    /// Number of harts.
    pub fn harts(&self) -> usize {
        self.machine.harts()
    }

    /// Counts of the events of units, by `unit.event`; empty without units.
    pub fn unit_counters(&self) -> Counters {
        self.machine.unit_counters()
    }

    /// Cycles of RTL that were evaluated, of all units beside its harts.
    pub fn unit_cycles(&self) -> u64 {
        self.machine.unit_cycles()
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
            sent.append(bus.serial(uart).output());
        }
    }

    /// Processes a line from the port of requests; returns whether it makes the guest ready.
    fn line(&mut self) -> Result<bool, MachineError> {
        let sent = self.sent[REQUESTS].trim_ascii_end();
        let line = String::from_utf8_lossy(sent.rsplit(|byte| *byte == b'\n').next().unwrap_or_default());
        if line == "ready" && !self.ready {
            self.ready = true;
            self.forget_unsaved();
            return Ok(true);
        }
        let status = line.strip_prefix("exit ").and_then(|status| status.parse().ok());
        if status.is_none() {
            let line = line.into_owned();
            return Err(MachineError::Answer { line });
        }
        self.status = status;
        Ok(false)
    }

    /// Resets what a checkpoint does not contain, so that a run is the same with and without one.
    fn forget_unsaved(&mut self) {
        self.machine.forget_unsaved();
        if self.cpu == CpuModel::Functional {
            if let Some(tree) = self.machine.bus().pci_mut().tree() {
                tree.forget_unsaved();
            }
        }
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

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
