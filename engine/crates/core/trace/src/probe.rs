use crate::classes::{BlockClasses, Classes};
use crate::collector::Collector;
use crate::recorded::RecordedCode;
use crate::sampler::{Sampler, Sampling};
use crate::session::Session;
use crate::stalls::Reasons;
use crate::trace_file::TraceFile;
use crate::tracer::Tracer;
use crate::watch::{Armed, Marks, Phase, Watch};
use rackwright_cpu::{BlockInstruction, BlockRun, Instruction, Operation, Registers, Timing, Trap, View};
use rackwright_state::{Pass, StateError};
use rackwright_time::{Cycle, Cycles};
use std::sync::Arc;

/// The end of a block that is executed completely.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum End {
    /// No effect on the stack, unless it leads to another function.
    Plain,
    Call,
    Return,
    /// A return from a trap.
    Resume,
}

/// A block of the model `T`, and its effect on the call stack. Members used after each block come first, next to the
/// first members of the model's block.
#[repr(C, align(64))]
pub struct ProbedBlock<B> {
    /// Whether triggers are checked after each run of it: it has marks, or the process may be another one then.
    checked: bool,
    end: End,
    instructions: u32,
    timing: B,
    /// Address after the last instruction.
    next: u64,
    classes: BlockClasses,
    marks: Option<Box<Marks>>,
    /// Its code in a trace, if there is one.
    code: Option<Arc<RecordedCode>>,
}

/// A timing model under observation. Takes exactly the time that `T` does.
pub struct Probed<T: Timing> {
    timing: T,
    collector: Option<Collector>,
    traced: Traced,
    watch: Arc<Watch>,
    /// The number of changes of the watch that this hart has processed.
    changes: u32,
    /// Whether it is observed at present.
    on: bool,
    alarm: Alarm,
    instructions: u64,
    /// Whether instructions are counted by class.
    counts_classes: bool,
    classes: Classes,
    follows_processes: bool,
    session: Session,
    sampler: Sampler,
    resumption: Resumption,
}

/// The trace of the machine, if there is one.
struct Traced {
    file: Option<Arc<TraceFile>>,
    /// The writer of this hart's part, if it is observed.
    writer: Option<Tracer>,
}

/// When triggers and counters are checked next.
struct Alarm {
    cycle: u64,
    instructions: u64,
}

/// Whether the hart continues from another run, so that the time before is not its own.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Resumption {
    /// It does not, or the running thread has been determined.
    None,
    /// It will, once it is told the time.
    Awaited,
    /// It has, and the running thread has not been determined yet.
    Done,
}

impl<T: Timing> Probed<T> {
    /// Observes hart number `hart`, with the model `timing`; or only checks triggers on it, if it is not `observed`.
    pub(crate) fn new(
        timing: T,
        (hart, observed): (usize, bool),
        session: Session,
        (watch, trace): (Arc<Watch>, Option<Arc<TraceFile>>),
        sampling: Sampling,
        resumes: bool,
    ) -> Probed<T> {
        let collector = observed.then(|| Collector::new(hart, session.common(), T::ACCOUNTS.stalls));
        let writer = trace
            .clone()
            .filter(|_| observed)
            .map(|file| Tracer::new(hart, file));
        let mut probed = Probed {
            timing,
            collector,
            traced: Traced { file: trace, writer },
            changes: 0,
            on: false,
            alarm: Alarm {
                cycle: 0,
                instructions: 0,
            },
            instructions: 0,
            counts_classes: false,
            classes: Classes::default(),
            follows_processes: watch.follows_processes(),
            session,
            sampler: Sampler::new(sampling),
            resumption: if resumes {
                Resumption::Awaited
            } else {
                Resumption::None
            },
            watch,
        };
        if probed.watch.phase() == Phase::On {
            probed.begin(None, 0);
            probed.changes = probed.watch.changes();
        }
        probed.set_alarms();
        probed
    }

    /// Adds the block to the trace.
    #[inline(never)]
    fn trace(&mut self, block: &ProbedBlock<T::Block>, run: &BlockRun<'_>, view: View<'_>, now: u64) {
        if let (Some(tracer), Some(code)) = (&mut self.traced.writer, &block.code) {
            tracer.executed(code, run.executed, view, now);
        }
    }

    /// Passes a block to the collector that ends in this way and continues at `next_pc`; `next` is the address after
    /// it. Separate from [`Timing::observe`], which is in the loop that runs blocks and has to be short there.
    #[inline(never)]
    fn follow(&mut self, end: End, next: u64, next_pc: u64, view: View<'_>, now: u64) {
        let Some(collector) = &mut self.collector else {
            return;
        };
        collector.update(reasons(&self.timing));
        match end {
            End::Plain => collector.moved(next_pc, view, now),
            End::Call => collector.call(next_pc, next, view, now),
            End::Return => collector.returned(next_pc, view, now),
            End::Resume => collector.resumed(next_pc, view, now),
        }
    }

    /// Checks triggers and counters, after the block.
    #[cold]
    #[inline(never)]
    fn look(&mut self, block: &ProbedBlock<T::Block>, run: &BlockRun<'_>, view: View<'_>, now: u64) {
        if self.resumption == Resumption::Done {
            self.resumption = Resumption::None;
            if let Some(collector) = &mut self.collector {
                collector.find_task(view);
            }
        }
        let due = now >= self.sampler.due() && (self.on || self.watch.counts());
        let before = due.then(|| self.read_counters());
        if self.fires(block, run, view, now, before.as_deref()) {
            self.watch.fire();
        }
        if self.changes != self.watch.changes() {
            self.changes = self.watch.changes();
            match (self.on, self.watch.phase()) {
                (false, Phase::On) => self.begin(Some(view), now),
                (true, Phase::Off) => {
                    self.end(now);
                    // Together with the sample at its beginning, it shows the counts in between.
                    let _ = self.read_counters();
                    self.sampler.keep(now, self.instructions);
                }
                _ => {}
            }
        }
        if due && self.on && now >= self.sampler.due() {
            self.sampler.keep(now, self.instructions);
        }
        if now >= self.sampler.due() {
            self.sampler.skip_to(now);
        }
        self.set_alarms();
    }

    /// Whether the awaited event has occurred in the block, which ends at `now`. `before` are the counters of the
    /// previous sample, if this is one too.
    fn fires(
        &self,
        block: &ProbedBlock<T::Block>,
        run: &BlockRun<'_>,
        view: View<'_>,
        now: u64,
        before: Option<&[u64]>,
    ) -> bool {
        let executed = || {
            let (index, address) = block.marks.as_ref()?.of(self.watch.phase())?;
            (index < run.executed).then_some(address)
        };
        match self.watch.armed() {
            Armed::Never => false,
            Armed::Cycle(cycle) => now >= *cycle,
            Armed::Instructions(count) => self.instructions >= *count,
            Armed::Address(_) | Armed::Word(_) => executed().is_some(),
            Armed::InPage { file, name, .. } => {
                let is_there = |address| self.session.is_function(view, address, (file, name));
                executed().is_some_and(is_there)
            }
            Armed::Process(name) => block.end != End::Plain && self.session.runs_process(view, name),
            Armed::Counter(index, value) => before.is_some() && self.sampler.last(*index) >= *value,
            Armed::Event(index) => before.is_some_and(|before| self.sampler.last(*index) > before[*index]),
        }
    }

    fn begin(&mut self, view: Option<View<'_>>, now: u64) {
        let Some(collector) = &mut self.collector else {
            return;
        };
        self.on = true;
        collector.begin(view, now, reasons(&self.timing));
        if let Some(tracer) = &mut self.traced.writer {
            tracer.begin();
        }
        if now > 0 {
            self.sampler.skip_to(now);
            let _ = self.read_counters();
            self.sampler.keep(now, self.instructions);
        }
    }

    fn end(&mut self, now: u64) {
        if let Some(collector) = &mut self.collector {
            collector.end(now, reasons(&self.timing));
        }
        self.on = false;
    }

    /// Reads all counters, and returns their previous values.
    fn read_counters(&mut self) -> Vec<u64> {
        self.sampler.read([self.classes.counts(), self.timing.accounts()])
    }

    fn set_alarms(&mut self) {
        let (mut cycle, mut instructions) = (u64::MAX, u64::MAX);
        match self.watch.armed() {
            Armed::Cycle(at) => cycle = *at,
            Armed::Instructions(count) => instructions = *count,
            _ => {}
        }
        if self.on || self.watch.counts() {
            cycle = cycle.min(self.sampler.due());
        }
        self.counts_classes = self.on || self.watch.counts();
        self.timing.keep_accounts(self.counts_classes);
        self.alarm = Alarm { cycle, instructions };
    }

    /// The collector, if the hart is observed at present, and the cycle.
    fn observing(&mut self) -> Option<(&mut Collector, u64)> {
        let now = self.timing.cycle().0;
        let collector = self.collector.as_mut()?;
        collector.update(reasons(&self.timing));
        Some((collector, now))
    }
}

#[inline(always)]
fn reasons<T: Timing>(timing: &T) -> Reasons {
    Reasons::of(timing.accounts(), T::ACCOUNTS.stalls.len())
}

impl<T: Timing> Timing for Probed<T> {
    type Block = ProbedBlock<T::Block>;
    const RECORDS: bool = T::RECORDS;

    fn compile(&mut self, instructions: &[BlockInstruction]) -> Self::Block {
        let last = instructions.last().expect("a block has instructions");
        let end = match &last.instruction {
            instruction if instruction.is_call() => End::Call,
            instruction if instruction.is_return() => End::Return,
            instruction if matches!(instruction.operation, Operation::Mret | Operation::Sret) => End::Resume,
            _ => End::Plain,
        };
        let words = instructions.iter().map(|at| at.instruction.word);
        let trace = self.traced.file.as_ref();
        let marks = self.watch.marks(instructions);
        let code = trace.map(|file| RecordedCode::new(file.number(), instructions[0].pc, words));
        ProbedBlock {
            timing: self.timing.compile(instructions),
            instructions: instructions.len() as u32,
            end,
            next: last.pc.wrapping_add(last.instruction.length.into()),
            classes: BlockClasses::of(instructions),
            checked: marks.is_some() || self.follows_processes && end != End::Plain,
            marks,
            code: code.map(Arc::new),
        }
    }

    #[inline(always)]
    fn retire(&mut self, block: &Self::Block, run: &BlockRun<'_>) {
        self.timing.retire(&block.timing, run);
    }

    #[inline(always)]
    fn observe(&mut self, block: &Self::Block, run: &BlockRun<'_>, view: View<'_>) {
        let now = self.timing.cycle().0;
        self.instructions += run.executed as u64;
        if self.counts_classes {
            self.classes.add(&block.classes, run.executed);
        }
        let look = now >= self.alarm.cycle || self.instructions >= self.alarm.instructions || block.checked;
        if look {
            self.look(block, run, view, now);
        }
        if !self.on {
            return;
        }
        if self.traced.writer.is_some() {
            self.trace(block, run, view, now);
        }
        let collector = self.collector.as_mut().expect("whoever is observed has one");
        collector.retired(run.executed);
        let end = if run.executed == block.instructions as usize {
            block.end
        } else {
            End::Plain
        };
        if end != End::Plain || !collector.is_within(run.next_pc) {
            self.follow(end, block.next, run.next_pc, view, now);
        }
    }

    fn observe_trap(&mut self, trap: &Trap) {
        if !self.on {
            return;
        }
        if let Some(tracer) = &mut self.traced.writer {
            tracer.trapped(trap.to);
        }
        if let Some((collector, now)) = self.observing() {
            collector.trapped(trap, now);
        }
    }

    fn observe_access(&mut self, pc: u64, instruction: &Instruction) {
        self.instructions += 1;
        if self.counts_classes {
            self.classes.add_one(instruction.class());
        }
        if !self.on {
            return;
        }
        let now = self.timing.cycle().0;
        if let Some(tracer) = &mut self.traced.writer {
            tracer.accessed(pc, instruction.word, now);
        }
        if let Some(collector) = &mut self.collector {
            collector.retired(1);
        }
    }

    fn observe_registers(&mut self, before: &Registers, after: &Registers) {
        if let Some((collector, now)) = self.observing() {
            collector.redirected(before, after, now);
        }
    }

    fn observe_idle(&mut self, registers: &Registers) {
        if let Some((collector, now)) = self.observing() {
            collector.idle(registers, now);
        }
    }

    /// The triggers of other harts, which run in turn with this one.
    #[inline(always)]
    fn begin_turn(&mut self) {
        if self.changes != self.watch.changes() {
            self.alarm.cycle = 0;
        }
    }

    fn trap(&mut self) {
        self.timing.trap();
    }

    fn holds(&mut self, address: u64) -> bool {
        self.timing.holds(address)
    }

    fn line_transfer(&self) -> Option<Cycles> {
        self.timing.line_transfer()
    }

    fn cycle(&self) -> Cycle {
        self.timing.cycle()
    }

    /// What is observed is not in it: an observation begins where a run goes on.
    fn pass_state(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        self.timing.pass_state(by)
    }

    fn advance_to(&mut self, cycle: Cycle) {
        self.timing.advance_to(cycle);
        if self.resumption == Resumption::Awaited {
            self.sampler.skip_to(cycle.0);
            let reasons = reasons(&self.timing);
            if let Some(collector) = &mut self.collector {
                collector.start_at(cycle.0, reasons);
            }
            (self.resumption, self.alarm.cycle) = (Resumption::Done, 0);
        }
    }
}

impl<T: Timing> Drop for Probed<T> {
    fn drop(&mut self) {
        if self.on {
            self.end(self.timing.cycle().0);
        }
        if let Some(collector) = self.collector.take() {
            let samples = self.sampler.take();
            self.session.finish(collector, samples);
        }
    }
}
