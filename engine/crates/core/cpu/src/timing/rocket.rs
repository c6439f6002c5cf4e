//! The `rocket` model: an in-order core with five stages, as the Rocket of rocket-chip's `BigCore` configuration.
//!
//! Each block has a static schedule ([`schedule`]) that holds when every access hits. A run of the block handles the
//! events that the schedule cannot know: cache lookups, branches, divisions. Time is counted in retirements: an
//! instruction's cycle is the one in which it leaves the write-back stage.

mod data;
mod front_end;
mod instructions;
mod l1;
mod parameters;
mod predictor;
mod schedule;
mod vector;

pub use parameters::{
    FloatDivideLatencies, FrontEnd, Latencies, MissPath, MultiplyLatencies, Replaced, RocketParameters,
};
pub use schedule::RocketBlock;

use super::explain::{Count, Counts, SCALAR};
use super::vector::VectorUnit;
use super::{Accounts, BlockInstruction, BlockRun, DivideOperands, Timing, VectorRun};
use crate::instruction::Register;
use front_end::packet;
use l1::L1;
use predictor::{Outcomes, Returns, Targets};
use rackwright_memory::{HartPort, SharedHierarchy, Snoop};
use rackwright_state::{state, Pass, State, StateError};
use rackwright_time::{Cycle, Cycles};
use schedule::{Event, Exit, LateResult, Slack, Step, MULTIPLIER};

/// Late results that are remembered from one block to the next.
const PENDING: usize = 4;

/// Timing model of an in-order core. If it is `EXPLAINED`, it also explains its time; otherwise, this is not compiled
/// in. The layout does not depend on it ([`Rocket::unexplained`]).
#[repr(C)]
pub struct Rocket<const EXPLAINED: bool = false> {
    parameters: RocketParameters,
    memory: HartPort,
    instructions: L1,
    data: L1,
    targets: Targets,
    outcomes: Outcomes,
    returns: Returns,
    /// The last retirement.
    retired: u64,
    /// Time at which the next packet is fetched.
    fetch: u64,
    /// Whether the last block was left by a jump that used up its packet when it was decoded.
    jumped: bool,
    /// When the last call's return address is on the stack for fetches.
    pushed: u64,
    pending: PendingResults,
    /// The last two, the last one first.
    stores: [RecentStore; 2],
    explained: Explained,
    vector: VectorPort,
}

/// Results that are ready after the end of their block, with the time.
struct PendingResults {
    /// Of the last block.
    results: [(Register, u64); PENDING],
    /// The last multiplication or division without a dependent instruction in its block.
    slow: (Register, u64),
}

/// Where its time has gone.
#[derive(Default)]
struct Explained {
    /// Whether nobody reads the counts at present, so that they are not kept.
    paused: bool,
    counts: Counts,
    /// The reason why the next packet is late, if it is.
    late: Count,
}

/// The vector unit, as the pipeline sees it.
struct VectorPort {
    /// Absent only while it looks up lines.
    unit: Option<Box<VectorUnit>>,
    /// Time at which all lines that it has requested are present.
    quiet: u64,
}

/// A store that may still be in the pipeline.
#[derive(Clone, Copy, Default)]
struct RecentStore {
    at: u64,
    word: u64,
    /// A read-modify-write, for which every later access has to wait.
    atomic: bool,
}

/// The run of one block: when its first instruction retires and its first packet is fetched; stalls move both.
struct Run {
    start: u64,
    fetch: u64,
}

impl Rocket {
    /// A core that has just been reset, attached to `hierarchy` as a further hart.
    pub fn new(parameters: RocketParameters, hierarchy: &SharedHierarchy) -> Rocket {
        Rocket::reset(parameters, hierarchy)
    }
}

impl Rocket<true> {
    /// The same, with explanations of its time.
    pub fn explained(parameters: RocketParameters, hierarchy: &SharedHierarchy) -> Rocket<true> {
        Rocket::reset(parameters, hierarchy)
    }
}

impl<const EXPLAINED: bool> Rocket<EXPLAINED> {
    /// The same core, in the code without explanations.
    #[inline(always)]
    fn unexplained(&mut self) -> &mut Rocket {
        // SAFETY: both are laid out as in C, of the same members.
        unsafe { &mut *std::ptr::from_mut(self).cast() }
    }

    fn reset(parameters: RocketParameters, hierarchy: &SharedHierarchy) -> Rocket<EXPLAINED> {
        Rocket {
            vector: VectorPort {
                unit: Some(Box::new(VectorUnit::new(&parameters.vector))),
                quiet: 0,
            },
            instructions: L1::new(parameters.replaced.instructions),
            data: L1::new(parameters.replaced.data),
            parameters,
            memory: hierarchy.attach_hart(),
            targets: Targets::new(),
            outcomes: Outcomes::new(),
            returns: Returns::new(),
            retired: 0,
            fetch: 0,
            jumped: true,
            pushed: 0,
            pending: PendingResults {
                results: [(Register::NONE, 0); PENDING],
                slow: (Register::NONE, 0),
            },
            stores: [RecentStore::default(); 2],
            explained: Explained::default(),
        }
    }

    /// Records that `cycles` have passed for a reason, or that an event has occurred this number of times.
    #[inline(always)]
    fn explain(&mut self, count: Count, cycles: u64) {
        if EXPLAINED {
            self.explained.counts.add(count, cycles);
        }
    }

    /// Sets the reason for the time at which the next packet is fetched.
    #[inline(always)]
    fn expect(&mut self, count: Count) {
        if EXPLAINED {
            self.explained.late = count;
        }
    }

    /// When the block's first instruction retires.
    #[inline]
    fn begin(&mut self, block: &RocketBlock) -> Run {
        self.apply_snoops();
        let first = &block.instructions[0];
        let supplied = self.fetch + self.parameters.front_end.depth + u64::from(first.packet);
        // After a jump, a packet that contains only half an instruction provides nothing to the decoder.
        let half = u64::from(self.jumped && first.packet == 1);
        let mut start = supplied.max(self.retired + 1 + half);
        if EXPLAINED {
            self.explain(self.explained.late, start - (self.retired + 1));
            self.expect(Count::FrontEnd);
        }
        if self.pending.results[0].0 != Register::NONE {
            let ready = self.wait_for_pending(block, start);
            self.explain(Count::Dependency, ready - start);
            start = ready;
        }
        if self.vector.quiet > start && block.awaits_vector {
            start += self.wait(start, self.vector.quiet);
        }
        Run {
            start,
            fetch: self.fetch,
        }
    }

    /// Delays the start of a block so that results of earlier ones are ready in time.
    fn wait_for_pending(&mut self, block: &RocketBlock, mut start: u64) -> u64 {
        for &(register, ready) in &self.pending.results {
            for &(needed, offset) in &block.needs {
                if needed == register {
                    start = start.max(ready.saturating_sub(u64::from(offset)));
                }
            }
        }
        self.pending.results[0].0 = Register::NONE;
        start
    }

    #[inline]
    fn apply_snoops(&mut self) {
        let data = &mut self.data;
        self.memory.take_snoops(|line, snoop| match snoop {
            Snoop::Invalidate => data.remove(line),
            Snoop::Clean => data.clean(line),
        });
    }

    /// Delays instructions that depend on a multiplication that takes longer than scheduled: the unit processes eight
    /// bits of the first operand per cycle, until the rest of them is zero.
    #[inline]
    fn multiply(&mut self, run: &mut Run, step: &Step, slack: Slack, operand: u64, most: u32) {
        let latencies = &self.parameters.latencies;
        let bits = 64 - operand.leading_zeros();
        let latency = (latencies.multiply.least + bits.saturating_sub(1) / 8).min(most);
        let late = latency - latencies.multiply.least;
        self.delay(run, step, slack, latency, late);
    }

    /// Delays instructions that depend on a division that takes longer than scheduled.
    #[inline]
    fn divide(&mut self, run: &mut Run, step: &Step, slack: Slack, value: u64) {
        let operands = DivideOperands::unpack(value);
        let latencies = &self.parameters.latencies;
        let latency = operands
            .quotient_bits()
            .map_or(latencies.divide_most, |bits| latencies.divide_least + bits);
        let latency = latency.min(latencies.divide_most) + operands.negations();
        let late = latency - latencies.divide_least;
        self.delay(run, step, slack, latency, late);
    }

    /// A result is `late` cycles later than scheduled: this delays the instructions that depend on it in the block, or
    /// those after the block.
    #[inline]
    fn delay(&mut self, run: &mut Run, step: &Step, slack: Slack, latency: u32, late: u32) {
        match slack.cycles {
            Some(cycles) => {
                let stalled = u64::from(late).saturating_sub(u64::from(cycles));
                self.explain(Count::Dependency, stalled);
                run.start += stalled;
            }
            None => {
                self.pending.slow = (
                    slack.register,
                    run.start + u64::from(step.offset) + u64::from(latency),
                )
            }
        }
    }

    /// The effects after the last instruction of the run.
    #[inline]
    fn leave(&mut self, block: &RocketBlock, run: &Run, result: &BlockRun<'_>) {
        let last = &block.instructions[result.executed - 1];
        let retired = run.start + u64::from(last.offset);
        let fetch = self.fetch_of(run, last.packet, last.offset);
        let whole = result.executed == block.instructions.len();
        self.fetch = match block.exit {
            Exit::Jump { flow, indirect } if whole => {
                self.jump(flow, indirect, last.end, fetch, retired, result.next_pc)
            }
            _ if result.taken => self.branch_taken(last.end, fetch, retired, result.next_pc),
            _ => fetch + u64::from(packet(last.end) != packet(result.next_pc)),
        };
        if EXPLAINED {
            let unhindered = result.executed as u64 - 1;
            let scheduled = u64::from(last.offset) + u64::from(last.after);
            self.explain(Count::Dependency, scheduled - unhindered);
        }
        let jumped = result.taken || whole && block.exit != Exit::Sequential;
        self.jumped = jumped && !last.buffered;
        self.retired = retired + u64::from(last.after);
        self.remember_late(&block.late, run, result.executed);
    }

    /// Remembers results that are not ready when the block is left.
    #[inline]
    fn remember_late(&mut self, late: &[LateResult], run: &Run, executed: usize) {
        let mut count = 0;
        let (register, ready) = self.pending.slow;
        if ready > self.retired + 1 {
            self.pending.results[0] = (register, ready);
            self.pending.results[1] = (MULTIPLIER, ready);
            count = 2;
        }
        for result in late {
            let ready = run.start + u64::from(result.ready);
            if usize::from(result.index) < executed && ready > self.retired + 1 && count < PENDING {
                self.pending.results[count] = (result.register, ready);
                count += 1;
            }
        }
        if count < PENDING {
            self.pending.results[count].0 = Register::NONE;
        }
    }
}

/// The next of the values that a run has recorded.
#[inline(always)]
fn next(values: &mut std::slice::Iter<'_, u64>) -> u64 {
    values.next().copied().unwrap_or(0)
}

impl<const EXPLAINED: bool> Timing for Rocket<EXPLAINED> {
    type Block = RocketBlock;
    const RECORDS: bool = true;
    const ACCOUNTS: Accounts = if EXPLAINED { SCALAR } else { Accounts::NONE };

    fn accounts(&self) -> &[u64] {
        if EXPLAINED {
            self.explained.counts.of(SCALAR)
        } else {
            &[]
        }
    }

    fn compile(&mut self, instructions: &[BlockInstruction]) -> RocketBlock {
        RocketBlock::new(&self.parameters.latencies, instructions)
    }

    fn keep_accounts(&mut self, keep: bool) {
        if self.explained.paused && keep {
            self.expect(Count::FrontEnd);
        }
        self.explained.paused = !keep;
    }

    #[inline]
    fn retire(&mut self, block: &RocketBlock, result: &BlockRun<'_>) {
        if result.executed == 0 {
            return;
        }
        if EXPLAINED && self.explained.paused {
            return self.unexplained().retire(block, result);
        }
        let mut run = self.begin(block);
        let mut values = result.values.iter();
        for step in &block.steps {
            let index = usize::from(step.index);
            if index >= result.executed {
                break;
            }
            match step.event {
                Event::Line(address) => self.line(&mut run, step, address),
                Event::Load => self.load(&mut run, step, next(&mut values)),
                Event::Store => self.store(&mut run, step, next(&mut values), false),
                Event::Atomic => self.atomic(&mut run, step, next(&mut values)),
                Event::Multiply(slack) => {
                    let cycles = self.parameters.latencies.multiply.double;
                    self.multiply(&mut run, step, slack, next(&mut values), cycles);
                }
                Event::MultiplyWord(slack) => {
                    let operand = u64::from(next(&mut values) as u32);
                    self.multiply(
                        &mut run,
                        step,
                        slack,
                        operand,
                        self.parameters.latencies.multiply.word,
                    );
                }
                Event::MultiplyHigh => _ = next(&mut values),
                Event::Divide(slack) => self.divide(&mut run, step, slack, next(&mut values)),
                Event::Vector(word, target) => {
                    let value = next(&mut values);
                    let at = run.start + u64::from(step.offset);
                    run.start += self.vector_operation(at, word, target, value);
                }
                Event::VectorLoad(word) | Event::VectorStore(word) => {
                    let store = matches!(step.event, Event::VectorStore(_));
                    let at = run.start + u64::from(step.offset);
                    run.start += self.vector_access(at, word, store, values.as_slice());
                    let shape = VectorRun::unpack(next(&mut values));
                    if shape.lines > 0 {
                        values.nth(usize::from(shape.lines) - 1);
                    }
                }
                Event::AwaitVector => {
                    let at = run.start + u64::from(step.offset);
                    run.start += self.wait(at, self.vector.quiet);
                }
                Event::ForgetInstructions => self.instructions.clear(),
                Event::Branch if result.taken && index + 1 == result.executed => {}
                Event::Branch => self.branch_not_taken(&mut run, step, block),
            }
        }
        self.leave(block, &run, result);
    }

    fn trap(&mut self) {
        self.fetch = self.retired + 1;
        self.expect(Count::FrontEnd);
    }

    fn holds(&mut self, address: u64) -> bool {
        self.apply_snoops();
        self.data.contains(address)
    }

    fn line_transfer(&self) -> Option<Cycles> {
        Some(self.memory.line_transfer())
    }

    fn cycle(&self) -> Cycle {
        Cycle::new(self.retired + 1)
    }

    fn advance_to(&mut self, cycle: Cycle) {
        let retired = self.retired.max(cycle.0.saturating_sub(1));
        self.explain(Count::Waiting, retired - self.retired);
        self.retired = retired;
    }

    fn pass_state(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        self.pass(by)
    }
}

state!(RecentStore { at, word, atomic });
state!(PendingResults { results, slow });

/// Where its time has gone is not in it: that is kept for observers.
impl<const EXPLAINED: bool> Rocket<EXPLAINED> {
    fn pass(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        self.instructions.pass(by)?;
        self.data.pass(by)?;
        self.targets.pass(by)?;
        self.outcomes.pass(by)?;
        self.returns.pass(by)?;
        self.retired.pass(by)?;
        self.fetch.pass(by)?;
        self.jumped.pass(by)?;
        self.pushed.pass(by)?;
        self.pending.pass(by)?;
        self.stores.pass(by)?;
        let unit = self.vector.unit.as_mut();
        unit.expect("the unit is there between two instructions")
            .pass(by)?;
        self.vector.quiet.pass(by)
    }
}
