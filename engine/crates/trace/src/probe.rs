use crate::collector::{Collector, Sampling};
use crate::observation::Observation;
use rackwright_cpu::{BlockInstruction, BlockRun, Operation, Registers, Timing, Trap, View};
use rackwright_time::Cycle;

/// What a block ends with, if all of it is executed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum End {
    /// Nothing that concerns the stack, unless it leads to another function.
    Plain,
    Call,
    Return,
    /// A return from a trap.
    Resume,
}

/// A block of the model `T`, and what it does to the call stack.
pub struct ProbedBlock<B> {
    timing: B,
    instructions: usize,
    end: End,
    /// Behind the last instruction.
    next: u64,
}

/// A timing model that is looked at from outside. Takes exactly the time that `T` does.
pub struct Probed<T: Timing> {
    timing: T,
    collector: Option<Collector>,
    sampling: Sampling,
    sample_at: u64,
    /// Whether the hart goes on from elsewhere, so that the time before is not its own.
    resumes: bool,
}

impl<T: Timing> Probed<T> {
    /// Observes hart number `hart`, with the model `timing`.
    pub(crate) fn new(timing: T, hart: usize, observation: &Observation, sampling: Sampling) -> Probed<T> {
        Probed {
            timing,
            collector: Some(Collector::new(hart, observation.session.clone())),
            resumes: observation.resumes,
            sample_at: sampling.every,
            sampling,
        }
    }

    fn collector(&mut self) -> &mut Collector {
        self.collector.as_mut().expect("it is there until the end")
    }

    #[cold]
    fn sample(&mut self, now: u64) {
        let values = (self.sampling.read)();
        self.sample_at = (now / self.sampling.every + 1) * self.sampling.every;
        self.collector().sample(now, values);
    }
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
        ProbedBlock {
            timing: self.timing.compile(instructions),
            instructions: instructions.len(),
            end,
            next: last.pc.wrapping_add(last.instruction.length.into()),
        }
    }

    #[inline(always)]
    fn retire(&mut self, block: &Self::Block, run: &BlockRun<'_>) {
        self.timing.retire(&block.timing, run);
    }

    #[inline(always)]
    fn observe(&mut self, block: &Self::Block, run: &BlockRun<'_>, view: View<'_>) {
        let now = self.timing.cycle().0;
        if now >= self.sample_at {
            self.sample(now);
        }
        let collector = self.collector.as_mut().expect("it is there until the end");
        collector.retired(run.executed);
        let end = if run.executed == block.instructions {
            block.end
        } else {
            End::Plain
        };
        match end {
            End::Plain if collector.is_within(run.next_pc) => {}
            End::Plain => collector.moved(run.next_pc, view, now),
            End::Call => collector.call(run.next_pc, block.next, view, now),
            End::Return => collector.returned(run.next_pc, view, now),
            End::Resume => collector.resumed(run.next_pc, view, now),
        }
    }

    fn observe_trap(&mut self, trap: &Trap) {
        let now = self.timing.cycle().0;
        self.collector().trapped(trap, now);
    }

    fn observe_registers(&mut self, before: &Registers, after: &Registers) {
        let now = self.timing.cycle().0;
        self.collector().redirected(before, after, now);
    }

    fn observe_idle(&mut self, registers: &Registers) {
        let now = self.timing.cycle().0;
        self.collector().idle(registers, now);
    }

    fn trap(&mut self) {
        self.timing.trap();
    }

    fn holds(&mut self, address: u64) -> bool {
        self.timing.holds(address)
    }

    fn cycle(&self) -> Cycle {
        self.timing.cycle()
    }

    fn advance_to(&mut self, cycle: Cycle) {
        if std::mem::take(&mut self.resumes) {
            self.collector().begin_at(cycle.0);
        }
        self.timing.advance_to(cycle);
    }
}

impl<T: Timing> Drop for Probed<T> {
    fn drop(&mut self) {
        let now = self.timing.cycle().0;
        if let Some(collector) = self.collector.take() {
            collector.finish(now);
        }
    }
}
