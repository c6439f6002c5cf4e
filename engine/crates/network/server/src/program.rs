use crate::error::ServerError;
use crate::run::{Observed, Progress, Run};
use rackwright_cpu::{Cause, Exception, Stop, Timing};
use rackwright_device::{Bus, Map};
use rackwright_machine::{Hardware, Machine, Pause, Turn, Window, Workload};
use rackwright_memory::GuestMemory;
use rackwright_process::{Arguments, Environment, Next, Threads};
use rackwright_stats::Digest;
use rackwright_time::{Cycle, Cycles};
use rackwright_unit::{Core, UnitError};

/// How far harts without caches run ahead of each other: nothing tells how long it takes until others see a write.
const FUNCTIONAL_WINDOW: Cycles = Cycles::new(2_000);

/// A static Linux program and the emulated kernel that it runs on.
///
/// Windows last, while several harts are busy, as long as no line gets from one to another; while one is alone, until
/// something happens that others have to see. What a run does depends neither on the host nor on where it is cut.
pub(crate) struct Program {
    threads: Threads,
    /// Which harts run a thread.
    busy: Vec<bool>,
    /// How long windows are while several are busy.
    together: Cycles,
    /// Where the current window begins, and where it ends.
    now: Cycle,
    end: Cycle,
    /// Whether one hart only is busy in it.
    alone: bool,
    /// By hart: how many instructions `fence.i` there had been anywhere when it last took a thread.
    fences: Vec<u64>,
}

impl Program {
    /// Puts the program in `file` into the memory of `hardware`.
    ///
    /// # Errors
    /// [`ServerError`] when the file is no program for it.
    fn load<T: Timing>(
        hardware: &mut Hardware<T>,
        file: &[u8],
        arguments: &Arguments,
        environment: Environment<'_>,
    ) -> Result<Program, ServerError> {
        let harts = hardware.cores.len();
        let transfer = hardware.hart(0).timing().line_transfer();
        let threads = Threads::load(file, &mut hardware.memory, arguments, environment, harts)?;
        Ok(Program {
            threads,
            busy: vec![false; harts],
            fences: vec![0; harts],
            together: transfer.unwrap_or(FUNCTIONAL_WINDOW),
            now: Cycle::ZERO,
            end: Cycle::ZERO,
            alone: false,
        })
    }

    /// Has harts take threads, and opens a window if any hart has one. Without, time passes to where a thread goes on.
    fn try_open<T: Timing>(&mut self, hardware: &mut Hardware<T>) -> Result<bool, ServerError> {
        self.threads.wake(self.now, &mut hardware.memory);
        if self.threads.has_signals() {
            self.interrupt(hardware);
        }
        for hart in 0..hardware.cores.len() {
            if self.is_over(hardware, hart) && hardware.cores[hart].stalled().is_none() {
                self.preempt(hardware, hart);
            }
            if !self.busy[hart] {
                self.take(hardware, hart);
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
            1 if !self.is_idle_unit_busy(hardware) && !self.is_held_up(hardware) => {
                self.alone = true;
                self.end = self.next_change();
            }
            _ => {
                self.alone = false;
                self.end = self.now + self.together;
            }
        }
        Ok(true)
    }

    /// Whether the thread of a hart has had its slice.
    fn is_over<T: Timing>(&self, hardware: &Hardware<T>, hart: usize) -> bool {
        self.busy[hart] && self.threads.is_over(hart, hardware.cores[hart].hart.cycle())
    }

    /// Whether others wait until a hart has the answer of a unit: it goes to the thread that asked.
    fn is_held_up<T: Timing>(&self, hardware: &Hardware<T>) -> bool {
        let mut cores = hardware.cores.iter().enumerate();
        self.threads.has_signals()
            || cores.any(|(hart, core)| core.stalled().is_some() && self.is_over(hardware, hart))
    }

    /// Whether a unit beside a hart without a thread does something.
    fn is_idle_unit_busy<T: Timing>(&self, hardware: &Hardware<T>) -> bool {
        let mut harts = hardware.cores.iter().zip(&self.busy);
        harts.any(|(core, busy)| !busy && core.is_unit_busy())
    }

    /// When a thread that waits goes on, or one that runs has to give way.
    fn next_change(&self) -> Cycle {
        let busy = (0..self.busy.len()).filter(|hart| self.busy[*hart]);
        let first = busy.map(|hart| self.threads.slice_end(hart)).min();
        first.unwrap_or(Cycle::NEVER).min(self.threads.next_wake())
    }

    /// Has all threads that run take the signals of others; those whose hart is stalled do when it goes on.
    fn interrupt<T: Timing>(&mut self, hardware: &mut Hardware<T>) {
        let Hardware { cores, memory, .. } = hardware;
        let mut all = true;
        for (hart, core) in cores.iter_mut().enumerate() {
            if !self.busy[hart] {
                continue;
            }
            if core.stalled().is_some() {
                all = false;
                continue;
            }
            let mut registers = core.hart.registers();
            self.threads.interrupt(hart, &mut registers, memory);
            core.hart.set_registers(&registers);
        }
        if all {
            self.threads.interrupted();
        }
    }

    fn preempt<T: Timing>(&mut self, hardware: &mut Hardware<T>, index: usize) {
        let hart = hardware.hart(index);
        self.threads.preempt(index, &hart.registers(), hart.cycle());
        hart.set_idle();
        self.busy[index] = false;
    }

    /// Has a free hart take a thread, if one is ready.
    fn take<T: Timing>(&mut self, hardware: &mut Hardware<T>, index: usize) {
        let counts = hardware.cores.iter().map(|core| core.hart.code_fences());
        let fences: u64 = counts.sum();
        let Hardware { cores, memory, .. } = hardware;
        let core = &mut cores[index];
        let free = self.now.max(core.hart.cycle());
        let Some(taken) = self.threads.take(index, free, memory) else {
            return;
        };
        core.advance_to(memory, taken.at);
        core.hart.set_registers(&taken.registers);
        core.hart.forget_reservation();
        // The thread may have executed `fence.i` elsewhere, and comes with what it has written.
        if std::mem::replace(&mut self.fences[index], fences) != fences {
            core.hart.fence_code();
        }
        self.busy[index] = true;
    }

    fn environment_call<T: Timing>(&mut self, hardware: &mut Hardware<T>, index: usize) {
        let Hardware { cores, memory, .. } = hardware;
        let hart = &mut cores[index].hart;
        let now = hart.cycle();
        let mut registers = hart.registers();
        match self.threads.call(index, &mut registers, memory, now) {
            Next::Same => hart.set_registers(&registers),
            Next::Other => {
                hart.set_idle();
                self.busy[index] = false;
                self.take(hardware, index);
            }
        }
        if self.alone {
            self.end = self.end.min(self.next_change());
            let idle = |hart: usize| !self.busy[hart] && self.threads.is_ready_for(hart);
            if !self.busy[index] || (0..self.busy.len()).any(idle) {
                // The next window is for others.
                self.end = now;
            }
        }
    }

    /// A handler of the program takes the exception, or the run ends.
    fn fault<T: Timing>(
        &mut self,
        hardware: &mut Hardware<T>,
        index: usize,
        exception: &Exception,
    ) -> Result<(), ServerError> {
        if self.is_handled(hardware, index, exception) {
            return Ok(());
        }
        Err(ServerError::Fault {
            pc: hardware.hart(index).pc(),
            exception: *exception,
            unknown_calls: self.threads.process().unknown_calls(),
        })
    }

    /// An instruction for a unit that is not there is an illegal one, or ends the run with `error`.
    fn no_unit<T: Timing>(
        &mut self,
        hardware: &mut Hardware<T>,
        index: usize,
        error: UnitError,
    ) -> Result<(), ServerError> {
        let exception = Exception {
            cause: Cause::IllegalInstruction,
            value: 0,
        };
        if self.is_handled(hardware, index, &exception) {
            return Ok(());
        }
        Err(error.into())
    }

    /// Whether a handler of the program takes the exception.
    fn is_handled<T: Timing>(
        &mut self,
        hardware: &mut Hardware<T>,
        index: usize,
        exception: &Exception,
    ) -> bool {
        let Hardware { cores, memory, .. } = hardware;
        let hart = &mut cores[index].hart;
        let mut registers = hart.registers();
        let handled = self.threads.fault(index, exception, &mut registers, memory);
        if handled {
            hart.set_registers(&registers);
        }
        handled
    }
}

impl<T: Timing> Workload<T> for Program {
    type Time = Cycle;
    type Error = ServerError;

    fn resume(&mut self, _hardware: &mut Hardware<T>, _window: &Window) -> Option<Pause> {
        self.threads.exit().map(Pause::Exited)
    }

    fn open(&mut self, hardware: &mut Hardware<T>, until: Cycle) -> Result<Option<Pause>, ServerError> {
        while self.now < until {
            if self.try_open(hardware)? {
                return Ok(None);
            }
        }
        Ok(Some(Pause::Reached))
    }

    #[inline]
    fn limit(&mut self, _hardware: &mut Hardware<T>, hart: usize, until: Cycle) -> Option<Cycle> {
        if !self.busy[hart] || self.threads.exit().is_some() {
            return None;
        }
        Some(if self.alone { self.end.min(until) } else { self.end })
    }

    #[inline]
    fn stopped(
        &mut self,
        hardware: &mut Hardware<T>,
        window: &mut Window,
        stop: Result<Stop, UnitError>,
    ) -> Result<Turn, ServerError> {
        let hart = window.turn;
        match stop {
            Ok(Stop::Budget) if hardware.hart(hart).cycle() >= self.end => return Ok(Turn::Over),
            Ok(Stop::Budget) => return Ok(Turn::Paused(Pause::Reached)),
            Ok(Stop::EnvironmentCall) => self.environment_call(hardware, hart),
            Ok(Stop::Fault(exception)) => self.fault(hardware, hart, &exception)?,
            Ok(other) => unreachable!("a program cannot stop with {other:?}"),
            Err(error @ UnitError::NoUnit { .. }) => self.no_unit(hardware, hart, error)?,
            Err(error) => return Err(error.into()),
        }
        Ok(Turn::On)
    }

    /// The units of harts without a thread have gone on, too.
    fn close(&mut self, hardware: &mut Hardware<T>, _until: Cycle) {
        if self.threads.exit().is_some() {
            return;
        }
        self.now = self.now.max(self.end);
        let Hardware { cores, memory, .. } = hardware;
        for (core, busy) in cores.iter_mut().zip(&self.busy) {
            if !busy && core.is_unit_busy() {
                core.advance_to(memory, self.now);
            }
        }
    }
}

/// A static Linux program on a machine of its own.
pub(crate) struct ProgramRun<T: Timing> {
    machine: Machine<T, Program>,
}

impl<T: Timing> ProgramRun<T> {
    /// A machine of `cores` with the program in `file`.
    ///
    /// # Errors
    /// [`ServerError`] when the file is no program for it.
    pub(crate) fn start(
        cores: Vec<Core<T>>,
        memory: GuestMemory,
        file: &[u8],
        arguments: &Arguments,
        environment: Environment<'_>,
    ) -> Result<ProgramRun<T>, ServerError> {
        let bus = Bus::new(Map::NOTHING, cores.len(), FUNCTIONAL_WINDOW);
        let mut hardware = Hardware::new(cores, memory, bus);
        let program = Program::load(&mut hardware, file, arguments, environment)?;
        Ok(ProgramRun {
            machine: Machine::with(hardware, program),
        })
    }

    fn threads(&self) -> &Threads {
        &self.machine.workload().threads
    }
}

impl<T: Timing + Send> Run for ProgramRun<T>
where
    T::Block: Send + Sync,
{
    fn run(&mut self, limit: Cycle) -> Result<Progress, ServerError> {
        match self.machine.run(limit)? {
            Pause::Exited(status) => Ok(Progress::Exited(status)),
            _ => Ok(Progress::Running),
        }
    }

    fn cycle(&self) -> Cycle {
        self.machine.workload().now.max(self.machine.hardware().cycle())
    }

    fn hardware(&self) -> &dyn Observed {
        self.machine.hardware()
    }

    fn output(&self) -> Vec<u8> {
        self.threads().process().output()
    }

    fn error_output(&self) -> Vec<u8> {
        self.threads().process().error_output()
    }

    fn unknown_calls(&self) -> Vec<&'static str> {
        self.threads().process().unknown_calls()
    }

    fn digest(&self, digest: &mut Digest) {
        self.machine.hardware().digest(digest);
        let process = self.threads().process();
        digest.bytes(&process.consumed_input());
        digest.bytes(&process.output());
        digest.number(self.threads().exit().map_or(u64::MAX, |status| status as u64));
    }
}
