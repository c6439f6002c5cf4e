use crate::error::ServerError;
use crate::harts::Harts;
use crate::server::{Observed, Progress, Run};
use rackwright_cpu::{Cause, Exception, Stop, Timing};
use rackwright_process::{Arguments, Environment, Next, Threads};
use rackwright_stats::{Counters, Digest};
use rackwright_time::{Cycle, Cycles};
use rackwright_unit::{Core, UnitError, Wait};

/// How far harts without caches run ahead of each other: nothing tells how long it takes until others see a write.
const FUNCTIONAL_WINDOW: Cycles = Cycles::new(2_000);

/// A static Linux program on the cores of a server.
///
/// Cores take turns, in the order of their numbers, for windows of time: while several are busy, as long as no line gets
/// from one to another; while one is alone, until something happens that others have to see. What a run does depends
/// neither on the host nor on where it is cut.
pub(crate) struct ProgramRun<T: Timing> {
    machine: Harts<T>,
    /// Which of its cores run a thread.
    busy: Vec<bool>,
    threads: Threads,
    /// How long windows are while several are busy.
    together: Cycles,
    /// Where the current window begins, and where it ends.
    now: Cycle,
    end: Cycle,
    /// Whether the window has not ended yet.
    open: bool,
    /// Whether one core only is busy in it.
    alone: bool,
    /// Whose turn it is.
    turn: usize,
    /// By core: how many instructions `fence.i` there had been anywhere when it last took a thread.
    fences: Vec<u64>,
}

impl<T: Timing> ProgramRun<T> {
    pub(crate) fn start(
        mut machine: Harts<T>,
        file: &[u8],
        arguments: &Arguments,
        environment: Environment<'_>,
    ) -> Result<ProgramRun<T>, ServerError> {
        let cores = machine.cores.len();
        let transfer = machine.cores[0].hart.timing().line_transfer();
        let threads = Threads::load(file, &mut machine.memory, arguments, environment, cores)?;
        Ok(ProgramRun {
            busy: vec![false; cores],
            fences: vec![0; cores],
            together: transfer.unwrap_or(FUNCTIONAL_WINDOW),
            machine,
            threads,
            now: Cycle::ZERO,
            end: Cycle::ZERO,
            open: false,
            alone: false,
            turn: 0,
        })
    }

    /// Opens the next window: who has waited long enough is ready, and free cores take who is. False when nobody can go
    /// on yet: then it is the time at which somebody can.
    fn open_window(&mut self) -> Result<bool, ServerError> {
        self.threads.wake(self.now, &mut self.machine.memory);
        if self.threads.has_signals() {
            self.interrupt();
        }
        for core in 0..self.machine.cores.len() {
            if self.is_over(core) && self.machine.cores[core].stalled().is_none() {
                self.preempt(core);
            }
            if !self.busy[core] {
                self.take(core);
            }
        }
        match self.busy.iter().filter(|busy| **busy).count() {
            0 => {
                let wake = self.threads.next_wake();
                if wake == Cycle::NEVER {
                    let threads = self.threads.count();
                    return Err(ServerError::Deadlock { threads });
                }
                // Nothing happens before, however long that is, so that nobody needs to be asked again until then.
                self.now = wake;
                return Ok(false);
            }
            1 if !self.idle_cores().any(Core::is_unit_busy) && !self.is_held_up() => {
                self.alone = true;
                self.end = self.next_change();
            }
            _ => {
                self.alone = false;
                self.end = self.now + self.together;
            }
        }
        self.turn = 0;
        self.open = true;
        Ok(true)
    }

    /// Whether the thread of a core has had its slice.
    fn is_over(&self, core: usize) -> bool {
        self.busy[core] && self.threads.is_over(core, self.machine.cores[core].hart.cycle())
    }

    /// Whether others wait until a core has the answer of a unit: it goes to the thread that asked.
    fn is_held_up(&self) -> bool {
        let held_up = |core: usize| self.machine.cores[core].stalled().is_some() && self.is_over(core);
        self.threads.has_signals() || (0..self.machine.cores.len()).any(held_up)
    }

    fn idle_cores(&self) -> impl Iterator<Item = &Core<T>> {
        let idle = |(core, busy): (_, &bool)| (!busy).then_some(core);
        self.machine.cores.iter().zip(&self.busy).filter_map(idle)
    }

    /// Ends the window. The units of cores without a thread have gone on, too.
    fn close_window(&mut self) {
        if self.threads.exit().is_some() {
            return;
        }
        self.now = self.now.max(self.end);
        self.open = false;
        for (core, busy) in self.machine.cores.iter_mut().zip(&self.busy) {
            if !busy && core.is_unit_busy() {
                core.advance_to(&mut self.machine.memory, self.now);
            }
        }
    }

    /// When a thread that waits goes on, or one that runs has to give way.
    fn next_change(&self) -> Cycle {
        let over = |core| self.threads.slice_end(core);
        let slices = (0..self.machine.cores.len())
            .filter(|core| self.busy[*core])
            .map(over);
        let first = slices.min().unwrap_or(Cycle::NEVER);
        first.min(self.threads.next_wake())
    }

    /// Has all threads that run take the signals of others; those whose core stands still do when it goes on.
    fn interrupt(&mut self) {
        let mut all = true;
        for (index, core) in self.machine.cores.iter_mut().enumerate() {
            if !self.busy[index] {
                continue;
            }
            if core.stalled().is_some() {
                all = false;
                continue;
            }
            let mut registers = core.hart.registers();
            self.threads
                .interrupt(index, &mut registers, &mut self.machine.memory);
            core.hart.set_registers(&registers);
        }
        if all {
            self.threads.interrupted();
        }
    }

    fn preempt(&mut self, index: usize) {
        let hart = &mut self.machine.cores[index].hart;
        self.threads.preempt(index, &hart.registers(), hart.cycle());
        hart.set_idle();
        self.busy[index] = false;
    }

    /// Has a free core take a thread, if one is ready.
    fn take(&mut self, index: usize) {
        let counts = self.machine.cores.iter().map(|core| core.hart.code_fences());
        let fences: u64 = counts.sum();
        let core = &mut self.machine.cores[index];
        let free = self.now.max(core.hart.cycle());
        let Some(taken) = self.threads.take(index, free, &mut self.machine.memory) else {
            return;
        };
        core.advance_to(&mut self.machine.memory, taken.at);
        core.hart.set_registers(&taken.registers);
        core.hart.forget_reservation();
        // The thread may have executed `fence.i` elsewhere, and comes with what it has written.
        if std::mem::replace(&mut self.fences[index], fences) != fences {
            core.hart.fence_code();
        }
        self.busy[index] = true;
    }

    /// Runs the core whose turn it is. False when `limit` came before the end of the window.
    fn run_core(&mut self, limit: Cycle) -> Result<bool, ServerError> {
        let index = self.turn;
        while self.busy[index] && self.threads.exit().is_none() {
            let until = if self.alone { self.end.min(limit) } else { self.end };
            let stop = match self.machine.run(index, until) {
                Err(ServerError::Unit(error)) if matches!(*error, UnitError::NoUnit { .. }) => {
                    self.no_unit(index, *error)?;
                    continue;
                }
                other => other?,
            };
            match stop {
                Stop::Budget => return Ok(self.machine.cores[index].hart.cycle() >= self.end),
                Stop::EnvironmentCall => self.environment_call(index),
                Stop::Fault(exception) => self.fault(index, &exception)?,
                other => unreachable!("a program cannot stop with {other:?}"),
            }
        }
        Ok(true)
    }

    fn environment_call(&mut self, index: usize) {
        let hart = &mut self.machine.cores[index].hart;
        let now = hart.cycle();
        let mut registers = hart.registers();
        match self
            .threads
            .call(index, &mut registers, &mut self.machine.memory, now)
        {
            Next::Same => hart.set_registers(&registers),
            Next::Other => {
                hart.set_idle();
                self.busy[index] = false;
                self.take(index);
            }
        }
        if self.alone {
            self.end = self.end.min(self.next_change());
            let idle = |core: usize| !self.busy[core] && self.threads.is_ready_for(core);
            if !self.busy[index] || (0..self.machine.cores.len()).any(idle) {
                // The next window is for others.
                self.end = now;
            }
        }
    }

    /// A handler of the program takes the exception, or the run ends.
    fn fault(&mut self, index: usize, exception: &Exception) -> Result<(), ServerError> {
        if self.is_handled(index, exception) {
            return Ok(());
        }
        Err(ServerError::Fault {
            pc: self.machine.cores[index].hart.pc(),
            exception: *exception,
            unknown_calls: self.threads.process().unknown_calls(),
        })
    }

    /// An instruction for a unit that is not there is an illegal one, or ends the run with `error`.
    fn no_unit(&mut self, index: usize, error: UnitError) -> Result<(), ServerError> {
        let exception = Exception {
            cause: Cause::IllegalInstruction,
            value: 0,
        };
        if self.is_handled(index, &exception) {
            return Ok(());
        }
        Err(error.into())
    }

    /// Whether a handler of the program takes the exception.
    fn is_handled(&mut self, index: usize, exception: &Exception) -> bool {
        let hart = &mut self.machine.cores[index].hart;
        let mut registers = hart.registers();
        let memory = &mut self.machine.memory;
        let handled = self.threads.fault(index, exception, &mut registers, memory);
        if handled {
            hart.set_registers(&registers);
        }
        handled
    }
}

impl<T: Timing + Send> Run for ProgramRun<T>
where
    T::Block: Send + Sync,
{
    fn run(&mut self, limit: Cycle) -> Result<Progress, ServerError> {
        loop {
            if let Some(status) = self.threads.exit() {
                return Ok(Progress::Exited(status));
            }
            if !self.open {
                if self.now >= limit {
                    return Ok(Progress::Running);
                }
                if !self.open_window()? {
                    continue;
                }
            }
            while self.turn < self.machine.cores.len() {
                if !self.run_core(limit)? {
                    return Ok(Progress::Running);
                }
                self.turn += 1;
            }
            self.close_window();
        }
    }

    fn machine(&self) -> &dyn Observed {
        self
    }

    fn output(&self) -> Vec<u8> {
        self.threads.process().output()
    }

    fn error_output(&self) -> Vec<u8> {
        self.threads.process().error_output()
    }

    fn unknown_calls(&self) -> Vec<&'static str> {
        self.threads.process().unknown_calls()
    }

    fn digest(&self, digest: &mut Digest) {
        self.machine.digest(digest);
        let process = self.threads.process();
        digest.bytes(&process.consumed_input());
        digest.bytes(&process.output());
        digest.number(self.threads.exit().map_or(u64::MAX, |status| status as u64));
    }
}

impl<T: Timing> Observed for ProgramRun<T> {
    fn cycle(&self) -> Cycle {
        self.now.max(self.machine.cycle())
    }

    fn instructions(&self) -> u64 {
        self.machine.instructions()
    }

    fn counters(&self) -> Counters {
        self.machine.counters()
    }

    fn wait(&self) -> Option<Wait> {
        self.machine.wait()
    }

    fn unit_cycles(&self) -> u64 {
        self.machine.unit_cycles()
    }
}
