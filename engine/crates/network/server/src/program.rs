mod state;

use crate::error::ServerError;
use crate::run::{Observed, Progress, Run};
use rackwright_cpu::{Cause, Exception, Stop, Timing};
use rackwright_device::{Bus, Map};
use rackwright_machine::{Hardware, Machine, Pause, Turn, Window, Workload};
use rackwright_memory::GuestMemory;
use rackwright_process::{Arguments, Environment, Next, Processes};
use rackwright_state::{Pass, State, StateError};
use rackwright_stats::Digest;
use rackwright_time::{Cycle, Cycles};
use rackwright_unit::{Core, UnitError};

/// How far harts without caches run ahead of each other: without caches, the delay until others observe a write is
/// undefined.
const FUNCTIONAL_WINDOW: Cycles = Cycles::new(2_000);

/// A static Linux program and the emulated kernel that it runs on.
///
/// While several harts are busy, windows are as short as the transfer of a line between them; while one runs alone,
/// they last until an event that others have to observe. The results of a run depend neither on the host nor on the
/// division into runs.
pub(crate) struct Program {
    processes: Processes,
    /// Which harts run a thread.
    busy: Vec<bool>,
    /// Length of windows while several harts are busy.
    together: Cycles,
    /// The beginning and the end of the current window.
    now: Cycle,
    end: Cycle,
    /// Whether one hart only is busy in it.
    alone: bool,
    /// By hart: the number of `fence.i` instructions of all harts when it last took a thread.
    fences: Vec<u64>,
}

impl Program {
    /// Loads the program in `file` into the memory of `hardware`.
    ///
    /// # Errors
    /// [`ServerError`] when the file is no program for it.
    fn load<T: Timing>(
        hardware: &mut Hardware<Core<T>>,
        file: &[u8],
        arguments: &Arguments,
        environment: Environment<'_>,
    ) -> Result<Program, ServerError> {
        let harts = hardware.cores.len();
        let transfer = hardware.hart(0).timing().line_transfer();
        let processes = Processes::load(file, &mut hardware.memory, arguments, environment, harts)?;
        Ok(Program {
            processes,
            busy: vec![false; harts],
            fences: vec![0; harts],
            together: transfer.unwrap_or(FUNCTIONAL_WINDOW),
            now: Cycle::ZERO,
            end: Cycle::ZERO,
            alone: false,
        })
    }

    /// Has harts take threads, and opens a window if any hart has one. If there is none, time advances to the point at
    /// which a thread continues.
    fn try_open<T: Timing>(&mut self, hardware: &mut Hardware<Core<T>>) -> Result<bool, ServerError> {
        let is_held = self.processes.is_several() && !self.choose(hardware);
        self.processes.resident_mut().wake(self.now, &mut hardware.memory);
        if self.processes.resident().has_signals() {
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
                self.pass_time(hardware, is_held)?;
                return Ok(false);
            }
            1 if !is_held && !self.is_idle_unit_busy(hardware) && !self.is_held_up(hardware) => {
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

    /// Has time pass while no hart has a thread.
    fn pass_time<T: Timing>(
        &mut self,
        hardware: &mut Hardware<Core<T>>,
        is_held: bool,
    ) -> Result<(), ServerError> {
        if is_held {
            self.now += self.together;
            self.advance_idle_units(hardware);
            return Ok(());
        }
        if self.processes.is_several() && self.processes.next(self.now, &mut hardware.memory).is_some() {
            // A process ended before its start, and the next one follows without delay.
            return Ok(());
        }
        let wake = self.processes.next_wake();
        if wake == Cycle::NEVER {
            if self.processes.exit().is_none() && !self.processes.give_up() {
                let threads = self.processes.count();
                return Err(ServerError::Deadlock { threads });
            }
            return Ok(());
        }
        // There is no earlier event, so that no further check is needed until then.
        self.now = self.now.max(wake);
        Ok(())
    }

    /// Has the process have the harts whose turn it is. False while it has to wait: a unit may still use the memory of
    /// the process that has them.
    fn choose<T: Timing>(&mut self, hardware: &mut Hardware<Core<T>>) -> bool {
        self.clear_ended(hardware);
        let Some(next) = self.processes.next(self.now, &mut hardware.memory) else {
            return true;
        };
        let mut cores = hardware.cores.iter();
        if cores.any(|core| core.stalled().is_some() || core.is_unit_busy()) {
            return false;
        }
        for hart in 0..hardware.cores.len() {
            if self.busy[hart] {
                self.preempt(hardware, hart);
            }
        }
        self.processes.switch(next, &mut hardware.memory, self.now);
        true
    }

    /// Has the end of a process, if it has ended, take effect.
    fn settle<T: Timing>(&mut self, hardware: &mut Hardware<Core<T>>, now: Cycle) {
        if self.processes.is_several() {
            self.processes.settle(&mut hardware.memory, now);
            self.clear_ended(hardware);
        }
    }

    /// Takes harts from threads that have ended with their process, or with its program.
    fn clear_ended<T: Timing>(&mut self, hardware: &mut Hardware<Core<T>>) {
        for (hart, core) in hardware.cores.iter_mut().enumerate() {
            let has_ended = self.busy[hart] && !self.processes.resident().runs_on(hart);
            if has_ended && core.stalled().is_none() {
                core.hart.thread().set_idle();
                self.busy[hart] = false;
            }
        }
    }

    /// Whether the thread of a hart has had its slice.
    fn is_over<T: Timing>(&self, hardware: &Hardware<Core<T>>, hart: usize) -> bool {
        self.busy[hart]
            && self
                .processes
                .resident()
                .is_over(hart, hardware.cores[hart].hart.cycle())
    }

    /// Whether others wait until a hart has the response of a unit, which belongs to the thread that sent the request.
    fn is_held_up<T: Timing>(&self, hardware: &Hardware<Core<T>>) -> bool {
        let mut cores = hardware.cores.iter().enumerate();
        self.processes.resident().has_signals()
            || cores.any(|(hart, core)| core.stalled().is_some() && self.is_over(hardware, hart))
    }

    /// Whether a unit beside a hart without a thread is active.
    fn is_idle_unit_busy<T: Timing>(&self, hardware: &Hardware<Core<T>>) -> bool {
        let mut harts = hardware.cores.iter().zip(&self.busy);
        harts.any(|(core, busy)| !busy && core.is_unit_busy())
    }

    /// Advances units beside harts without a thread to the current time.
    fn advance_idle_units<T: Timing>(&self, hardware: &mut Hardware<Core<T>>) {
        let Hardware { cores, memory, .. } = hardware;
        for (core, busy) in cores.iter_mut().zip(&self.busy) {
            if !busy && core.is_unit_busy() {
                core.advance_to(memory, self.now);
            }
        }
    }

    /// Time at which a waiting thread continues, or a running one is preempted.
    fn next_change(&self) -> Cycle {
        let busy = (0..self.busy.len()).filter(|hart| self.busy[*hart]);
        let first = busy.map(|hart| self.processes.resident().slice_end(hart)).min();
        let wake = self.processes.resident().next_wake();
        first
            .unwrap_or(Cycle::NEVER)
            .min(wake)
            .min(self.processes.slice_end())
    }

    /// Delivers signals to all running threads; threads whose hart is stalled receive them when it continues.
    fn interrupt<T: Timing>(&mut self, hardware: &mut Hardware<Core<T>>) {
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
            self.processes
                .resident_mut()
                .interrupt(hart, &mut registers, memory);
            core.hart.thread().set_registers(&registers);
        }
        if all {
            self.processes.resident_mut().interrupted();
        }
        self.settle(hardware, self.now);
    }

    fn preempt<T: Timing>(&mut self, hardware: &mut Hardware<Core<T>>, index: usize) {
        let hart = hardware.hart(index);
        self.processes
            .resident_mut()
            .preempt(index, &hart.registers(), hart.cycle());
        hart.thread().set_idle();
        self.busy[index] = false;
    }

    /// Has a free hart take a thread, if one is ready.
    fn take<T: Timing>(&mut self, hardware: &mut Hardware<Core<T>>, index: usize) {
        let counts = hardware
            .cores
            .iter_mut()
            .map(|core| core.hart.sharing().code_fences());
        let fences: u64 = counts.sum();
        let Hardware { cores, memory, .. } = hardware;
        let core = &mut cores[index];
        let free = self.now.max(core.hart.cycle());
        let Some(taken) = self.processes.resident_mut().take(index, free, memory) else {
            return;
        };
        core.advance_to(memory, taken.at);
        core.hart.thread().set_registers(&taken.registers);
        core.hart.thread().forget_reservation();
        // The thread may have executed `fence.i` on another hart, and brings its writes.
        if std::mem::replace(&mut self.fences[index], fences) != fences {
            core.hart.sharing().fence_code();
        }
        self.busy[index] = true;
        self.settle(hardware, taken.at);
    }

    fn environment_call<T: Timing>(&mut self, hardware: &mut Hardware<Core<T>>, index: usize) {
        let Hardware { cores, memory, .. } = hardware;
        let hart = &mut cores[index].hart;
        let now = hart.cycle();
        let mut registers = hart.registers();
        if !self.processes.resident().runs_on(index) {
            // Its process has ended while a unit held it up.
            hart.thread().set_idle();
            self.busy[index] = false;
            return;
        }
        match self.processes.call(index, &mut registers, memory, now) {
            Next::Same => hart.thread().set_registers(&registers),
            Next::Other => {
                hart.thread().set_idle();
                self.busy[index] = false;
                self.settle(hardware, now);
                self.clear_ended(hardware);
                self.take(hardware, index);
            }
        }
        self.settle(hardware, now);
        if self.alone {
            self.end = self.end.min(self.next_change());
            let idle = |hart: usize| !self.busy[hart] && self.processes.resident().is_ready_for(hart);
            if !self.busy[index] || (0..self.busy.len()).any(idle) {
                // The next window is for others.
                self.end = now;
            }
        }
    }

    /// A handler of the program takes the exception, or the run ends.
    fn fault<T: Timing>(
        &mut self,
        hardware: &mut Hardware<Core<T>>,
        index: usize,
        exception: &Exception,
    ) -> Result<(), ServerError> {
        if self.is_handled(hardware, index, exception) {
            return Ok(());
        }
        Err(ServerError::Fault {
            pc: hardware.hart(index).state().pc(),
            exception: *exception,
            unknown_calls: self.processes.process().unknown_calls(),
        })
    }

    /// An instruction for a missing unit is an illegal one, or ends the run with `error`.
    fn no_unit<T: Timing>(
        &mut self,
        hardware: &mut Hardware<Core<T>>,
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
        hardware: &mut Hardware<Core<T>>,
        index: usize,
        exception: &Exception,
    ) -> bool {
        let Hardware { cores, memory, .. } = hardware;
        let hart = &mut cores[index].hart;
        let mut registers = hart.registers();
        let handled = self.processes.fault(index, exception, &mut registers, memory);
        let now = hart.cycle();
        if handled {
            hart.thread().set_registers(&registers);
        }
        self.settle(hardware, now);
        handled
    }
}

impl<T: Timing> Workload<Core<T>> for Program {
    type Time = Cycle;
    type Error = ServerError;

    fn resume(&mut self, _hardware: &mut Hardware<Core<T>>, _window: &Window) -> Option<Pause> {
        self.processes.exit().map(Pause::Exited)
    }

    fn open(&mut self, hardware: &mut Hardware<Core<T>>, until: Cycle) -> Result<Option<Pause>, ServerError> {
        while self.now < until {
            if self.try_open(hardware)? {
                return Ok(None);
            }
            if let Some(status) = self.processes.exit() {
                return Ok(Some(Pause::Exited(status)));
            }
        }
        Ok(Some(Pause::Reached))
    }

    #[inline]
    fn limit(&mut self, _hardware: &mut Hardware<Core<T>>, hart: usize, until: Cycle) -> Option<Cycle> {
        if !self.busy[hart] || self.processes.exit().is_some() {
            return None;
        }
        Some(if self.alone { self.end.min(until) } else { self.end })
    }

    #[inline]
    fn stopped(
        &mut self,
        hardware: &mut Hardware<Core<T>>,
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

    /// The units of harts without a thread have advanced, too.
    fn close(&mut self, hardware: &mut Hardware<Core<T>>, _until: Cycle) {
        if self.processes.exit().is_some() {
            return;
        }
        self.now = self.now.max(self.end);
        self.advance_idle_units(hardware);
    }
}

/// A static Linux program on a machine of its own.
pub(crate) struct ProgramRun<T: Timing> {
    machine: Machine<Core<T>, Program>,
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

    fn processes(&self) -> &Processes {
        &self.machine.workload().processes
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
        self.processes().process().output()
    }

    fn error_output(&self) -> Vec<u8> {
        self.processes().process().error_output()
    }

    fn unknown_calls(&self) -> Vec<&'static str> {
        self.processes().process().unknown_calls()
    }

    fn pass(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        State::pass(self, by)
    }

    fn digest(&self, digest: &mut Digest) {
        self.machine.hardware().digest(digest);
        let process = self.processes().process();
        digest.bytes(&process.consumed_input());
        digest.bytes(&process.output());
        digest.number(self.processes().exit().map_or(u64::MAX, |status| status as u64));
    }
}
