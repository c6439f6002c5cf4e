//! The timing of instructions: the trait that timing models implement, and the simplest model.
//!
//! A hart executes one decoded block at a time and then passes the execution to its model. Properties of the code alone
//! are computed once, in [`Timing::compile`]; properties of the execution (the number of instructions, the target, the
//! addresses used) are passed to [`Timing::retire`].

mod boom;
mod explain;
mod plru;
mod random;
mod rocket;
mod vector;

pub use boom::{Boom, BoomBlock, BoomLatencies, BoomMisses, BoomParameters};
pub use rocket::{
    FloatDivideLatencies, FrontEnd, Latencies, MissPath, MultiplyLatencies, Replaced, Rocket, RocketBlock,
    RocketParameters,
};
pub use vector::{VectorParameters, VectorRun};

use crate::instruction::Instruction;
use crate::saved::Registers;
use crate::view::{Trap, View};
use rackwright_state::{Pass, State, StateError};
use rackwright_time::{Cycle, Cycles};

/// One instruction of a block, with its addresses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BlockInstruction {
    /// Virtual address.
    pub pc: u64,
    /// Physical address.
    pub physical: u64,
    /// The instruction itself.
    pub instruction: Instruction,
}

/// The execution of a block.
#[derive(Clone, Copy, Debug)]
pub struct BlockRun<'a> {
    /// Number of executed instructions of the block, from its start: a branch or a trap may leave a block in the
    /// middle. The instruction that trapped is not counted.
    pub executed: usize,
    /// Whether the last executed instruction was a branch that was taken. Every other branch among the
    /// executed instructions was not taken.
    pub taken: bool,
    /// Address of the instruction that follows.
    pub next_pc: u64,
    /// One value for each executed instruction that has one, in program order: the physical
    /// address of a load, store, reservation or atomic, with [`FAILED_STORE`] in that of a store-conditional that failed; for
    /// a divide [`DivideOperands`]; for a multiplication the value of its first operand. A vector instruction has a
    /// [`VectorRun`], and a vector load or store then the physical addresses of the lines that it touched.
    pub values: &'a [u64],
}

/// A bit that no physical address has.
pub const FAILED_STORE: u64 = 1 << 63;

/// The properties that the time of a division depends on, as recorded for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DivideOperands {
    /// Significant bits of the dividend's magnitude.
    pub dividend_bits: u32,
    /// The same of the divisor.
    pub divisor_bits: u32,
    /// Whether an operand has to be negated first.
    pub negative_operand: bool,
    /// Whether the result has to be negated at the end.
    pub negative_result: bool,
}

impl DivideOperands {
    /// As a value of [`BlockRun::values`].
    #[inline]
    pub(crate) const fn pack(self) -> u64 {
        (self.dividend_bits | self.divisor_bits << 8) as u64
            | (self.negative_operand as u64) << 16
            | (self.negative_result as u64) << 17
    }

    /// From a value of [`BlockRun::values`].
    #[inline]
    pub const fn unpack(value: u64) -> DivideOperands {
        DivideOperands {
            dividend_bits: (value & 0xff) as u32,
            divisor_bits: (value >> 8 & 0xff) as u32,
            negative_operand: value >> 16 & 1 != 0,
            negative_result: value >> 17 & 1 != 0,
        }
    }

    /// Steps of a divider that makes a bit of the quotient in each, after it has aligned the operands in one: it counts
    /// modulo 64 when the divisor is the longer one. None for a division by zero, which it does not align.
    #[inline]
    pub const fn quotient_bits(self) -> Option<u32> {
        if self.divisor_bits == 0 {
            return None;
        }
        let dividend = if self.dividend_bits == 0 {
            1
        } else {
            self.dividend_bits
        };
        Some(dividend.wrapping_sub(self.divisor_bits) & 63)
    }

    /// Cycles that negations take.
    #[inline]
    pub const fn negations(self) -> u32 {
        self.negative_operand as u32 + self.negative_result as u32
    }
}

/// The names of a timing model's counters, which explain its time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Accounts {
    /// Reasons for cycles in which no instruction retires. With the retired instructions, they add up to all cycles.
    pub stalls: &'static [&'static str],
    /// Other events.
    pub events: &'static [&'static str],
}

impl Accounts {
    /// Of a model that does not explain itself.
    pub const NONE: Accounts = Accounts {
        stalls: &[],
        events: &[],
    };
}

/// A timing model of a hart.
pub trait Timing {
    /// Properties that the model computes once for each decoded block.
    type Block;

    /// Whether [`BlockRun::values`] is filled in.
    const RECORDS: bool;

    /// What [`Timing::accounts`] has.
    const ACCOUNTS: Accounts = Accounts::NONE;

    /// Counts so far: first of the stalls, then of the events.
    fn accounts(&self) -> &[u64] {
        &[]
    }

    /// Whether [`Timing::accounts`] go on from now: a model may stop them while nobody reads them.
    fn keep_accounts(&mut self, _keep: bool) {}

    /// Computes the properties that depend on the code of a block alone. All instructions of a block lie in one page
    /// (an instruction that crosses into the next page is a block of its own), one after the other.
    fn compile(&mut self, instructions: &[BlockInstruction]) -> Self::Block;

    /// Accounts for one run of a block.
    fn retire(&mut self, block: &Self::Block, run: &BlockRun<'_>);

    /// Called before the hart runs on, after others of its machine may have run.
    #[inline(always)]
    fn begin_turn(&mut self) {}

    /// Called after a block was accounted for. A model has nothing to observe; a wrapper that observes a hart does.
    #[inline(always)]
    fn observe(&mut self, _block: &Self::Block, _run: &BlockRun<'_>, _view: View<'_>) {}

    /// Called after a trap was taken; [`Timing::trap`] follows.
    fn observe_trap(&mut self, _trap: &Trap) {}

    /// Called after a device has responded to the instruction at the virtual address `pc`, which is in no [`BlockRun`].
    fn observe_access(&mut self, _pc: u64, _instruction: &Instruction) {}

    /// Called when the owner of the hart sets other registers.
    fn observe_registers(&mut self, _before: &Registers, _after: &Registers) {}

    /// Called when the owner of the hart removes the thread with these registers from it.
    fn observe_idle(&mut self, _registers: &Registers) {}

    /// The pipeline was flushed by a trap or an interrupt; the handler is next.
    fn trap(&mut self) {}

    /// Whether the L1 data cache has the line of the physical `address`, after actions of others: if so, no other agent
    /// has written to it since the line arrived. A model without caches does not know.
    fn holds(&mut self, _address: u64) -> bool {
        false
    }

    /// The minimum time in which a write of this hart can reach another one: none without caches, for which it is
    /// undefined.
    fn line_transfer(&self) -> Option<Cycles> {
        None
    }

    /// The cycle in which the next instruction may start.
    fn cycle(&self) -> Cycle;

    /// Advances time to `cycle`, for example while the hart waits for a response or an interrupt. Never moves back.
    fn advance_to(&mut self, cycle: Cycle);

    /// Passes its state between two runs: what the times of later instructions depend on.
    ///
    /// # Errors
    /// [`StateError::Unsaved`] for one that cannot be saved.
    fn pass_state(&mut self, _by: &mut Pass<'_>) -> Result<(), StateError> {
        let reason = "a hart of this timing model cannot be saved";
        Err(StateError::Unsaved(reason.to_string()))
    }
}

/// One cycle for each instruction.
#[derive(Clone, Copy, Default, Debug)]
pub struct Functional {
    cycle: Cycle,
}

impl Timing for Functional {
    type Block = ();
    const RECORDS: bool = false;

    #[inline]
    fn compile(&mut self, _: &[BlockInstruction]) {}

    #[inline(always)]
    fn retire(&mut self, _: &(), run: &BlockRun<'_>) {
        self.cycle.0 += run.executed as u64;
    }

    #[inline(always)]
    fn cycle(&self) -> Cycle {
        self.cycle
    }

    fn advance_to(&mut self, cycle: Cycle) {
        self.cycle = self.cycle.max(cycle);
    }

    fn pass_state(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        self.cycle.pass(by)
    }
}
