//! The threads of a program, and which of them each hart runs.

mod affinity;
mod calls;
mod clone;
mod descent;
mod frame;
mod futex;
mod information;
mod polling;
mod queue;
mod signals;
mod sigwait;
mod thread;
mod timers;
mod vector_frame;
mod waiting;

use crate::family::{Outcome, FIRST};
use crate::process::{Environment, LoadError, Process};
use crate::Arguments;
pub(crate) use descent::{Sent, SharedWake};
pub(crate) use information::Information;
use rackwright_cpu::Registers;
use rackwright_memory::GuestMemory;
use rackwright_state::{state, Pass, StateError};
use rackwright_time::{Cycle, Cycles, Picosecond};
use signals::Actions;
use std::collections::{BTreeMap, VecDeque};
use thread::{State, Thread, Wait};
pub(crate) use thread::{CALL_NUMBER, FIRST_ARGUMENT};
use timers::Timers;

/// Time until a hart runs a different thread: the call of the scheduler, and the exchange of registers. A stated
/// constant; caches and predictors are modelled beside it.
const SWITCH: Picosecond = Picosecond(1_000_000);

/// Time slice of a thread while others wait for a hart: a tick of a kernel with 250 of them per second.
const SLICE: Picosecond = Picosecond(4_000_000_000);

/// The number of a thread, unique in a run.
pub(crate) type ThreadId = u64;

/// How a hart continues after an environment call or an exception.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Next {
    /// With the same thread, and the current registers.
    Same,
    /// With another one, if [`Threads::take`] has any for it.
    Other,
}

/// A thread for a hart.
#[derive(Clone, Debug)]
pub struct Taken {
    /// Its registers.
    pub registers: Registers,
    /// When it does.
    pub at: Cycle,
}

/// The state of a hart.
#[derive(Clone, Copy, Default, Debug)]
struct Seat {
    runs: Option<ThreadId>,
    /// The thread that it ran last.
    last: Option<ThreadId>,
    /// Until when it runs the present one while others wait.
    slice_end: Cycle,
}

/// The registers that a program begins with.
fn start(process: &Process) -> Registers {
    let mut registers = Registers {
        pc: process.entry(),
        ..Registers::default()
    };
    registers.x[thread::STACK_POINTER] = process.stack_pointer();
    registers
}

/// A program of one or several threads as a kernel sees it, with a run queue that all harts share: first in, first out,
/// for time slices. Deterministic: it depends only on the calls made here, in their order.
pub struct Threads {
    process: Process,
    threads: BTreeMap<ThreadId, Thread>,
    /// Threads that wait for a hart, the one that has waited longest first.
    ready: VecDeque<ThreadId>,
    seats: Vec<Seat>,
    /// [`SWITCH`] and [`SLICE`] on the clock of the harts.
    switch: Cycles,
    slice: Cycles,
    actions: Actions,
    timers: Timers,
    /// The earliest time for which a thread waits.
    next_wake: Cycle,
    /// Number of waits so far.
    waits: u64,
    /// Whether a thread that runs has got a signal from another one.
    attention: bool,
    ended: Option<Outcome>,
}

state!(Seat {
    runs,
    last,
    slice_end
});

impl rackwright_state::State for Threads {
    fn pass(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        self.process.pass(by)?;
        let blank = || Thread::new(Registers::default(), 0, Cycle::ZERO);
        by.map(&mut self.threads, blank)?;
        self.ready.pass(by)?;
        by.each(self.seats.iter_mut())?;
        self.actions.pass(by)?;
        self.timers.pass(by)?;
        self.next_wake.pass(by)?;
        self.waits.pass(by)?;
        self.attention.pass(by)?;
        self.ended.pass(by)
    }
}

impl Threads {
    /// Loads a static program into memory; its first thread is ready for one of `harts` harts.
    ///
    /// # Errors
    /// [`LoadError`] describes an error in the file, or insufficient memory.
    pub fn load(
        file: &[u8],
        memory: &mut GuestMemory,
        arguments: &Arguments,
        environment: Environment<'_>,
        harts: usize,
    ) -> Result<Threads, LoadError> {
        let clock = environment.clock;
        let process = Process::load(file, memory, arguments, environment, harts)?;
        let first = Thread::new(start(&process), affinity::all(harts), Cycle::ZERO);
        let mut seats = vec![Seat::default(); harts];
        // It starts without having been switched to.
        seats[0].last = Some(FIRST);
        Ok(Threads {
            process,
            threads: BTreeMap::from([(FIRST, first)]),
            ready: VecDeque::from([FIRST]),
            seats,
            switch: clock.cycles_of(SWITCH),
            slice: clock.cycles_of(SLICE),
            actions: Actions::default(),
            timers: Timers::default(),
            next_wake: Cycle::NEVER,
            waits: 0,
            attention: false,
            ended: None,
        })
    }

    /// The data that the threads share: files, output, the layout of memory.
    pub fn process(&self) -> &Process {
        &self.process
    }

    /// The outcome of the program.
    pub(crate) fn ended(&self) -> Option<Outcome> {
        self.ended
    }

    /// Whether `hart` runs one of them.
    pub fn runs_on(&self, hart: usize) -> bool {
        self.seats[hart].runs.is_some()
    }

    /// Number of threads.
    pub fn count(&self) -> usize {
        self.threads.len()
    }

    /// Whether a thread waits that `hart` may run.
    pub fn is_ready_for(&self, hart: usize) -> bool {
        self.first_for(hart).is_some()
    }

    /// The earliest time for which a thread waits, or at which a timer expires; [`Cycle::NEVER`] if there is none.
    pub fn next_wake(&self) -> Cycle {
        self.next_wake
    }

    fn refresh_next_wake(&mut self, now: Cycle) {
        let waits = self.threads.values().filter_map(Thread::waits_until).min();
        // Threads that wait for descriptors may wait for timers among them.
        let asks = self
            .threads
            .values()
            .any(|thread| thread.pending_call().is_some());
        let time = self.process.nanoseconds(now);
        let descriptors = asks.then(|| self.process.files.next_timer(time)).flatten();
        let timers = [self.timers.next(), descriptors].into_iter().flatten();
        let timers = timers.map(|time| self.process.cycle_of(time));
        self.next_wake = timers.chain(waits).min().unwrap_or(Cycle::NEVER);
    }

    /// Makes threads ready whose time has come, and processes expired timers.
    pub fn wake(&mut self, now: Cycle, memory: &mut GuestMemory) {
        if now < self.next_wake {
            return;
        }
        let due = |(id, thread): (&ThreadId, &Thread)| {
            let until = thread.waits_until().filter(|until| *until <= now)?;
            Some((*id, until))
        };
        let mut due: Vec<(ThreadId, Cycle)> = self.threads.iter().filter_map(due).collect();
        due.sort_by_key(|&(id, until)| (until, id));
        for (id, until) in due {
            match self.threads[&id].pending_call() {
                Some(_) => self.expire_call(id, until, memory),
                None => self.end_wait(id, thread::Ended::Time, until),
            }
        }
        self.expire_timers(now, memory);
        self.process.activity.note();
        self.retry(now, memory);
        self.refresh_next_wake(now);
    }

    /// The thread that `hart`, free at `now`, runs next.
    pub fn take(&mut self, hart: usize, now: Cycle, memory: &mut GuestMemory) -> Option<Taken> {
        let place = self.first_for(hart)?;
        let id = self.ready.remove(place).expect("the place was just found");
        let thread = self.threads.get_mut(&id).expect("threads that are ready exist");
        let State::Ready { since } = thread.state else {
            unreachable!("the queue holds threads that are ready");
        };
        thread.state = State::Runs;
        let mut registers = thread.registers.clone();
        let seat = &mut self.seats[hart];
        let cost = if seat.last == Some(id) {
            Cycles::new(0)
        } else {
            self.switch
        };
        let at = now.max(since) + cost;
        *seat = Seat {
            runs: Some(id),
            last: Some(id),
            slice_end: at + self.slice,
        };
        self.deliver(id, &mut registers, memory);
        Some(Taken { registers, at })
    }

    /// Whether the thread on `hart` has had its slice at `now` while another one waits.
    pub fn is_over(&self, hart: usize, now: Cycle) -> bool {
        now >= self.slice_end(hart)
    }

    /// The end of the time slice of the thread on `hart`; [`Cycle::NEVER`] while no thread waits for the hart.
    pub fn slice_end(&self, hart: usize) -> Cycle {
        if self.ready.is_empty() || !self.is_ready_for(hart) {
            return Cycle::NEVER;
        }
        self.seats[hart].slice_end
    }

    /// Removes the thread on `hart` from it and queues it after waiting ones.
    pub fn preempt(&mut self, hart: usize, registers: &Registers, now: Cycle) {
        let id = self.leave(hart, registers);
        self.make_ready(id, now);
    }

    /// Whether a running thread has to be interrupted by [`Threads::interrupt`].
    pub fn has_signals(&self) -> bool {
        self.attention
    }

    /// Has the thread on `hart` take the signals that others sent to it.
    pub fn interrupt(&mut self, hart: usize, registers: &mut Registers, memory: &mut GuestMemory) {
        if let Some(id) = self.seats[hart].runs {
            self.deliver(id, registers, memory);
        }
    }

    /// To be called when all harts have been interrupted.
    pub fn interrupted(&mut self) {
        self.attention = false;
    }

    fn first_for(&self, hart: usize) -> Option<usize> {
        let allowed = |id: &ThreadId| self.threads[id].affinity & (1 << hart) != 0;
        // A thread preferably continues on its previous hart: its cache may still be warm, and no switch is needed.
        let before = |id: &ThreadId| self.seats[hart].last == Some(*id) && allowed(id);
        let warm = self
            .ready
            .iter()
            .position(before)
            .filter(|_| self.ready.len() == 1);
        warm.or_else(|| self.ready.iter().position(allowed))
    }

    /// Takes the thread on `hart` from it.
    fn leave(&mut self, hart: usize, registers: &Registers) -> ThreadId {
        let id = self.seats[hart].runs.take().expect("the hart runs a thread");
        self.thread(id).registers = registers.clone();
        id
    }

    /// Puts the thread on `hart` to sleep.
    fn block(&mut self, hart: usize, registers: &Registers, wait: Wait) -> Next {
        let id = self.leave(hart, registers);
        self.thread(id).state = State::Waits(wait);
        self.next_wake = self.next_wake.min(wait.until);
        Next::Other
    }

    fn make_ready(&mut self, id: ThreadId, now: Cycle) {
        self.thread(id).state = State::Ready { since: now };
        self.ready.push_back(id);
    }

    /// Ends the wait of a thread, for the reason `ended`, which it finds in `a0`.
    fn end_wait(&mut self, id: ThreadId, ended: thread::Ended, now: Cycle) {
        self.thread(id).end_wait(ended);
        self.make_ready(id, now);
        self.refresh_next_wake(now);
    }

    fn thread(&mut self, id: ThreadId) -> &mut Thread {
        self.threads.get_mut(&id).expect("the thread lives")
    }

    /// The thread on `hart`.
    fn on(&self, hart: usize) -> ThreadId {
        self.seats[hart].runs.expect("the hart runs a thread")
    }
}
