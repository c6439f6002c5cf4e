//! The `boom` model: an out-of-order core of the class of BOOM and Arm's Cortex-A72.
//!
//! An interval model: instructions are dispatched in order, a few per cycle, start when their operands and a port are
//! ready, and commit in order. Interruptions of the steady flow (mispredictions, cache misses, full queues) follow from
//! the times of the instructions themselves; wrong paths are not executed.

mod block;
mod execution;
mod explain;
mod front_end;
mod load_store;
mod memory;
mod parameters;
mod predictor;
mod resources;
mod steps;

pub use block::BoomBlock;
pub use parameters::{BoomLatencies, BoomMisses, BoomParameters};

use super::explain::{Count, SUPERSCALAR};
use super::{Accounts, BlockInstruction, BlockRun, Timing};
use crate::block::MAXIMUM;
use block::{NO_INSTRUCTION, PLACES};
use execution::Execution;
use explain::Explanation;
use front_end::FrontEnd;
use load_store::LoadStore;
use rackwright_memory::{AccessKind, HartPort, Lookup, SharedHierarchy};
use rackwright_state::{state, Pass, State, StateError};
use rackwright_time::{Cycle, Cycles};
use resources::{InOrder, ReorderBuffer};

/// Timing model of an out-of-order core, which optionally explains its time.
pub struct Boom<const EXPLAINED: bool = false> {
    parameters: BoomParameters,
    memory: HartPort,
    front: FrontEnd,
    /// Time at which each register's value is ready.
    ready: [u64; PLACES],
    /// The latest dispatch.
    dispatch: InOrder,
    /// When the latest instruction was committed.
    committed: u64,
    reorder: ReorderBuffer,
    execution: Execution,
    load_store: LoadStore<EXPLAINED>,
    left: Left,
    explanation: Explanation,
}

/// How the current run of a block was left.
struct Left {
    /// Index of the branch by which it was, or [`NO_INSTRUCTION`].
    taken_at: u8,
    /// Address of the instruction after the run.
    next_pc: u64,
}

impl Boom {
    /// A core that has just been reset, attached to `hierarchy` as a further hart.
    pub fn new(parameters: BoomParameters, hierarchy: &SharedHierarchy) -> Boom {
        Boom::reset(parameters, hierarchy)
    }
}

impl Boom<true> {
    /// The same, with explanations of its time.
    pub fn explained(parameters: BoomParameters, hierarchy: &SharedHierarchy) -> Boom<true> {
        Boom::reset(parameters, hierarchy)
    }
}

impl<const EXPLAINED: bool> Boom<EXPLAINED> {
    fn reset(parameters: BoomParameters, hierarchy: &SharedHierarchy) -> Boom<EXPLAINED> {
        Boom {
            memory: hierarchy.attach_hart(),
            front: FrontEnd::new(parameters.instructions, parameters.fetch),
            ready: [0; PLACES],
            dispatch: InOrder::new(),
            committed: 0,
            reorder: ReorderBuffer::new(parameters.reorder_buffer, MAXIMUM),
            execution: Execution::new(&parameters.vector),
            load_store: LoadStore::new(&parameters),
            left: Left {
                taken_at: NO_INSTRUCTION,
                next_pc: 0,
            },
            explanation: Explanation::new(parameters.dispatch + u64::from(block::LEAST_COMMIT)),
            parameters,
        }
    }

    /// Looks up a line of instructions; on a miss, the next packet is not fetched before the line is supplied.
    fn look_for_line(&mut self, address: u64) {
        if let Lookup::Hit(_) = self.front.instructions.touch(address) {
            return;
        }
        let request = Cycle::new(self.front.fetch + self.parameters.misses.request);
        let data = self.memory.lock().access(request, address, AccessKind::Fetch);
        self.front.instructions.insert(address, 0);
        if EXPLAINED {
            self.explanation
                .line_missing(self.front.fetch + self.parameters.fetch);
        }
        self.front.fetch = data.0 + self.parameters.misses.response;
    }

    #[inline(always)]
    fn apply_snoops(&mut self) {
        let data = &mut self.load_store.data;
        self.memory.take_snoops(|line, snoop| data.snoop(line, snoop));
    }

    #[inline(always)]
    fn count(&mut self, event: Count) {
        if EXPLAINED {
            self.explanation.counts.add(event, 1);
        }
    }

    /// Explains when an instruction is committed, the one dispatched last.
    #[inline(always)]
    fn explain_commit(&mut self, before: u64, now: u64, dispatch: InOrder) {
        if EXPLAINED {
            let waited = self.load_store.data.take_waited();
            self.explanation.committed(before, now, dispatch.last(), &waited);
        }
    }

    /// Explains why the instructions after the last dispatched one are not ready before cycle `restart`.
    #[inline(always)]
    fn explain_restart(&mut self, dispatch: InOrder, restart: u64, reason: Count) {
        if EXPLAINED {
            self.explanation.restart(dispatch.last(), restart, reason);
        }
    }

    /// Explains the time after a store whose line arrives in cycle `there`.
    #[inline(always)]
    fn explain_store(&mut self, there: u64) {
        if EXPLAINED {
            let waited = self.load_store.data.take_waited();
            self.explanation.stored(there, &waited);
        }
    }

    /// Runs all entries of a block.
    #[inline]
    fn walk(&mut self, block: &BoomBlock<EXPLAINED>, run: &BlockRun<'_>) {
        let slot = self.reorder.begin(MAXIMUM);
        let first = block.entries.as_ptr();
        // SAFETY: a block ends with the step that says so, a run is at most so long, and the hart has noted a
        // value for each instruction that has one.
        unsafe {
            ((*first).step)(
                self,
                first,
                self.dispatch,
                self.committed,
                slot,
                run.values.as_ptr(),
            )
        };
    }
}

impl<const EXPLAINED: bool> Timing for Boom<EXPLAINED> {
    type Block = BoomBlock<EXPLAINED>;
    const RECORDS: bool = true;
    const ACCOUNTS: Accounts = if EXPLAINED { SUPERSCALAR } else { Accounts::NONE };

    fn accounts(&self) -> &[u64] {
        if EXPLAINED {
            self.explanation.counts.of(SUPERSCALAR)
        } else {
            &[]
        }
    }

    fn compile(&mut self, instructions: &[BlockInstruction]) -> BoomBlock<EXPLAINED> {
        BoomBlock::new(&self.parameters, instructions)
    }

    #[inline]
    fn retire(&mut self, block: &BoomBlock<EXPLAINED>, run: &BlockRun<'_>) {
        self.apply_snoops();
        self.left = Left {
            taken_at: if run.taken {
                (run.executed - 1) as u8
            } else {
                NO_INSTRUCTION
            },
            next_pc: run.next_pc,
        };
        if run.taken || run.executed == block.instructions {
            self.walk(block, run);
        } else {
            self.walk(&block.part(run.executed), run);
        }
    }

    fn trap(&mut self) {
        let restart = self.committed + self.parameters.flush;
        self.dispatch.restart(restart);
        self.front.restart(restart);
        if EXPLAINED {
            self.explanation.trap(restart);
        }
    }

    fn holds(&mut self, address: u64) -> bool {
        self.apply_snoops();
        self.load_store.data.contains(address)
    }

    fn line_transfer(&self) -> Option<Cycles> {
        Some(self.memory.line_transfer())
    }

    fn cycle(&self) -> Cycle {
        Cycle::new(self.committed + 1)
    }

    fn advance_to(&mut self, cycle: Cycle) {
        let last = cycle.0.saturating_sub(1);
        if last > self.committed {
            if EXPLAINED {
                self.explanation.counts.add(Count::Waiting, last - self.committed);
            }
            self.committed = last;
            self.dispatch.not_before(last);
            self.front.not_before(last);
        }
    }

    fn pass_state(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        self.pass(by)
    }
}

state!(Left { taken_at, next_pc });

/// Where its time has gone is not in it: that is kept for observers.
impl<const EXPLAINED: bool> Boom<EXPLAINED> {
    fn pass(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        self.front.pass(by)?;
        self.ready.pass(by)?;
        self.dispatch.pass(by)?;
        self.committed.pass(by)?;
        self.reorder.pass(by)?;
        self.execution.pass(by)?;
        self.load_store.pass(by)?;
        self.left.pass(by)
    }
}
