use crate::completion::Ended;
use crate::router::{Operation, Range};
use crate::status::Status;

/// The state of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Idle,
    Loading,
    Running,
    /// Waiting for operations in progress.
    Stopping,
    /// The result waits until it is taken.
    Ended,
}

/// The reason why a program cannot continue, and its instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Failure {
    pub status: Status,
    pub index: u32,
}

/// The state of a program in a cycle.
#[derive(Debug, Clone, Copy)]
pub struct Progress {
    /// It has been loaded, with this number of instructions, or cannot be.
    pub loaded: Option<(Status, u32)>,
    pub failure: Option<Failure>,
    pub ended: bool,
    /// The instruction that it is at.
    pub at: u32,
    /// Bytes that it stored.
    pub output_bytes: u64,
    /// No operation is in progress.
    pub quiet: bool,
    /// The result is taken.
    pub taken: bool,
}

/// Runs one program at a time: loads and starts it, stops it if it fails or takes too long, and reports its end.
#[derive(Debug, Clone)]
pub struct Control {
    state: State,
    regions: Vec<Range>,
    result: Ended,
    limit: u64,
    cycles: u64,
}

impl Control {
    pub fn new(regions: usize) -> Control {
        Control {
            state: State::Idle,
            regions: vec![Range::default(); regions],
            result: Ended::default(),
            limit: 0,
            cycles: 0,
        }
    }

    /// Whether it takes an operation.
    pub fn is_idle(&self) -> bool {
        self.state == State::Idle
    }

    /// Operations in progress are aborted.
    pub fn stops(&self) -> bool {
        self.state == State::Stopping
    }

    /// The result of the program, once it has ended.
    pub fn result(&self) -> Option<&Ended> {
        (self.state == State::Ended).then_some(&self.result)
    }

    /// The memory ranges that the program may access.
    pub fn regions(&self) -> &[Range] {
        &self.regions
    }

    /// One cycle: a new operation, and the state of the program. Returns the instructions of a program that starts.
    pub fn cycle(&mut self, operation: Option<Operation>, progress: &Progress) -> Option<u32> {
        let cycles = self.cycles;
        self.cycles += 1;
        match self.state {
            State::Idle => {
                if let Some(operation) = operation {
                    self.begin(operation);
                }
            }
            State::Loading => return self.load(progress.loaded),
            State::Running => self.run(cycles, progress),
            State::Stopping if progress.quiet => {
                self.state = State::Ended;
                self.result.output_bytes = progress.output_bytes;
            }
            State::Ended if progress.taken => self.state = State::Idle,
            _ => {}
        }
        None
    }

    fn begin(&mut self, operation: Operation) {
        self.state = State::Loading;
        self.result = Ended::default();
        self.limit = operation.cycle_limit;
        self.cycles = 0;
        self.regions = operation.regions;
    }

    fn load(&mut self, loaded: Option<(Status, u32)>) -> Option<u32> {
        let (status, instructions) = loaded?;
        let wraps = self.regions[1..].iter().any(Range::wraps);
        if status == Status::Ok && !wraps {
            self.state = State::Running;
            return Some(instructions);
        }
        self.state = State::Ended;
        self.result.status = if status == Status::Ok {
            Status::AccessFault
        } else {
            status
        };
        None
    }

    fn run(&mut self, cycles: u64, progress: &Progress) {
        let late = cycles >= self.limit;
        let end = if let Some(failure) = progress.failure {
            failure
        } else if progress.ended || late {
            let status = if progress.ended {
                Status::Ok
            } else {
                Status::Unsupported
            };
            Failure {
                status,
                index: progress.at,
            }
        } else {
            return;
        };
        self.state = State::Stopping;
        self.result.status = end.status;
        self.result.index = u64::from(end.index);
    }
}
