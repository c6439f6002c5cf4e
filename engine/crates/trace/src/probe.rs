use crate::collector::{Collector, Sampling};
use crate::session::Session;
use rackwright_cpu::{BlockInstruction, BlockRun, Timing, Trap, View};
use rackwright_time::Cycle;

/// The stack pointer's number.
const STACK_POINTER: u8 = 2;

/// What a block ends with, if all of it is executed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum End {
    /// Nothing that concerns the stack, unless it leads to another function.
    Plain,
    Call,
    Return,
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
}

impl<T: Timing> Probed<T> {
    /// Observes hart number `hart`, with the model `timing`, for `session`.
    pub fn new(timing: T, hart: usize, session: &Session, sampling: Sampling) -> Probed<T> {
        Probed {
            timing,
            collector: Some(Collector::new(hart, session.clone())),
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
            End::Plain => collector.moved(run.next_pc, view.register(STACK_POINTER), now),
            End::Call => collector.call(run.next_pc, block.next, view.register(STACK_POINTER), now),
            End::Return => collector.returned(run.next_pc, view.register(STACK_POINTER), now),
        }
    }

    fn observe_trap(&mut self, _trap: &Trap) {}

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
