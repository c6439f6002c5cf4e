//! The `boom` model: an out-of-order core of the class of BOOM and Arm's Cortex-A72.
//!
//! An interval model: instructions are dispatched in order, a few per cycle, start when their operands and a port
//! are there, and commit in order. What interrupts the steady flow (mispredictions, cache misses, full queues) follows
//! from the times of the instructions themselves; wrong paths are not executed.

mod block;
mod memory;
mod parameters;
mod predictor;
mod resources;

pub use block::BoomBlock;
pub use parameters::{BoomLatencies, BoomParameters};

use super::{divide_operands, BlockInstruction, BlockRun, Timing};
use block::{Action, Address, Entry, Unit, PLACES};
use memory::DataCache;
use predictor::{Directions, Targets};
use rackwright_memory::{AccessKind, Cache, Lookup, RequesterId, SharedHierarchy};
use rackwright_time::Cycle;
use resources::{InOrder, Port, Queue};

/// Timing model of an out-of-order core.
pub struct Boom {
    parameters: BoomParameters,
    hierarchy: SharedHierarchy,
    requester: RequesterId,
    instructions: Cache,
    data: DataCache,
    directions: Directions,
    targets: Targets,
    /// When each register's value is there.
    ready: [u64; PLACES],
    order: Order,
    memory_port: Port,
    float_port: Port,
    reorder: Queue,
    loads: Queue,
    stores: Queue,
    divider: u64,
    float_divider: u64,
    /// When the last store was given to the data cache; the next one follows in a later cycle.
    written: u64,
    /// When all stores so far have their lines.
    drained: u64,
}

/// What goes in the order of the program. A run of a block works on a copy, which stays in registers.
#[derive(Clone, Copy)]
struct Order {
    dispatch: InOrder,
    commit: InOrder,
    /// The earliest dispatch of the next instruction.
    supply: u64,
}

impl Boom {
    /// A core that has just been reset, attached to `hierarchy` as its hart.
    pub fn new(parameters: BoomParameters, hierarchy: SharedHierarchy) -> Boom {
        let requester = hierarchy.lock().attach_hart();
        Boom {
            requester,
            instructions: Cache::new(parameters.instructions),
            data: DataCache::new(&parameters),
            directions: Directions::new(),
            targets: Targets::new(),
            ready: [0; PLACES],
            order: Order {
                dispatch: InOrder::new(),
                commit: InOrder::new(),
                supply: 0,
            },
            memory_port: Port::new(),
            float_port: Port::new(),
            reorder: Queue::new(parameters.reorder_buffer),
            loads: Queue::new(parameters.load_queue),
            stores: Queue::new(parameters.store_queue),
            divider: 0,
            float_divider: 0,
            written: 0,
            drained: 0,
            hierarchy,
            parameters,
        }
    }

    /// One instruction from dispatch to commit; returns when its result is there.
    #[inline(always)]
    fn execute(&mut self, order: &mut Order, entry: &Entry, value: &mut impl FnMut() -> u64) -> u64 {
        let queue = match entry.action {
            Action::Load => self.loads.free(),
            Action::Store | Action::Atomic => self.stores.free(),
            _ => 0,
        };
        let dispatched = order
            .dispatch
            .step(order.supply.max(self.reorder.free()).max(queue));
        let operands = entry
            .sources
            .iter()
            .fold(dispatched + self.parameters.dispatch, |at, &source| {
                at.max(self.ready[usize::from(source) % PLACES])
            });
        let done = match entry.action {
            Action::Compute => self.start(entry.unit, operands) + u64::from(entry.latency),
            Action::Load => self.load(order, entry, operands, value()),
            Action::Store => self.store(order, entry, operands, value()),
            Action::Multiply => {
                // Its operand is of no interest to a pipelined multiplier.
                value();
                self.start(entry.unit, operands) + u64::from(entry.latency)
            }
            _ => self.execute_rare(order.commit.cycle(), entry, operands, value),
        };
        self.ready[usize::from(entry.target) % PLACES] = done;
        let committed = order.commit.step(done);
        self.reorder.hold(committed);
        done
    }

    /// When an operation of a unit starts whose operands are there at `at`.
    #[inline(always)]
    fn start(&mut self, unit: Unit, at: u64) -> u64 {
        match unit {
            Unit::Integer => at,
            Unit::Memory => self.memory_port.take(at),
            Unit::Float => self.float_port.take(at),
        }
    }

    #[inline(always)]
    fn load(&mut self, order: &Order, entry: &Entry, operands: u64, address: u64) -> u64 {
        let start = self.start(entry.unit, operands);
        let there = self.data.load(start, address, &self.hierarchy, self.requester);
        let done = there + u64::from(entry.latency);
        self.loads.hold(done.max(order.commit.cycle()));
        done
    }

    #[inline(always)]
    fn store(&mut self, order: &Order, entry: &Entry, operands: u64, address: u64) -> u64 {
        let done = self.start(entry.unit, operands) + u64::from(entry.latency);
        self.written = done.max(order.commit.cycle()).max(self.written + 1);
        let there = self
            .data
            .store(done, self.written, address, &self.hierarchy, self.requester);
        self.drained = self.drained.max(there);
        self.stores.hold(there);
        done
    }

    /// What is not done in every few instructions; `committed` is the last commit.
    fn execute_rare(
        &mut self,
        committed: u64,
        entry: &Entry,
        operands: u64,
        value: &mut impl FnMut() -> u64,
    ) -> u64 {
        let latency = u64::from(entry.latency);
        match entry.action {
            Action::Atomic => {
                let start = operands.max(committed).max(self.drained);
                let there = self
                    .data
                    .store(start, start, value(), &self.hierarchy, self.requester);
                self.drained = there + latency;
                self.stores.hold(self.drained);
                self.drained
            }
            Action::Divide => {
                let (dividend, divisor) = divide_operands(value());
                let start = operands.max(self.divider);
                let bits = if divisor == 0 {
                    64
                } else {
                    dividend.saturating_sub(divisor)
                };
                self.divider = start + latency + u64::from(bits);
                self.divider
            }
            Action::FloatDivide => {
                let start = self.float_port.take(operands.max(self.float_divider));
                self.float_divider = start + latency;
                self.float_divider
            }
            Action::Fence => operands.max(self.drained).max(committed),
            // BOOM keeps commands in a queue of their own and sends one per cycle, in order, once they are
            // not speculative; it neither drains the pipeline nor fetches anew (its `RoCCShim`).
            Action::Command => operands.max(committed) + 1,
            Action::Serial | Action::ForgetInstructions => {
                if entry.action == Action::ForgetInstructions {
                    self.instructions = Cache::new(self.parameters.instructions);
                }
                operands.max(committed).max(self.drained) + 1
            }
            _ => self.start(entry.unit, operands) + latency,
        }
    }

    /// The flow of control behind an executed branch or jump.
    #[inline(always)]
    fn follow(
        &mut self,
        order: &mut Order,
        action: Action,
        address: &Address,
        done: u64,
        taken: bool,
        next_pc: u64,
    ) {
        let expected = match action {
            Action::Branch => self.directions.predict(address.pc, taken),
            Action::Call => {
                self.targets.call(address.next);
                true
            }
            Action::CallRegister => {
                let expected = self.targets.jump(address.pc, self.directions.history(), next_pc);
                self.targets.call(address.next);
                expected
            }
            Action::Return => self.targets.ret(next_pc),
            Action::Jump => self.targets.jump(address.pc, self.directions.history(), next_pc),
            Action::Fixed => true,
            Action::Serial | Action::ForgetInstructions => {
                order.supply = done + u64::from(self.parameters.latencies.serial);
                return;
            }
            _ => return,
        };
        if !expected {
            order.supply = order.supply.max(done + self.parameters.redirect);
        }
        if taken || action != Action::Branch {
            order.dispatch.end_group();
        }
    }

    /// Fetches the line of an instruction for a dispatch at `at`; on a miss, returns when the instruction is supplied.
    #[inline(always)]
    fn line(&mut self, at: u64, address: u64) -> Option<u64> {
        match self.instructions.touch(address) {
            Lookup::Hit(_) => None,
            Lookup::Miss => Some(self.fetch(at, address)),
        }
    }

    #[cold]
    fn fetch(&mut self, at: u64, address: u64) -> u64 {
        let request = Cycle(at + self.parameters.miss_request);
        let data = self
            .hierarchy
            .lock()
            .access(request, address, AccessKind::Fetch, self.requester);
        self.instructions.insert(address, 0);
        data.0 + self.parameters.miss_response
    }
}

impl Timing for Boom {
    type Block = BoomBlock;
    const RECORDS: bool = true;

    fn compile(&mut self, instructions: &[BlockInstruction]) -> BoomBlock {
        BoomBlock::new(&self.parameters, instructions)
    }

    #[inline]
    fn retire(&mut self, block: &BoomBlock, run: &BlockRun<'_>) {
        let data = &mut self.data;
        self.hierarchy.take_snoops(|line, snoop| data.snoop(line, snoop));
        let mut values = run.values.iter();
        let mut value = || values.next().copied().unwrap_or(0);
        let mut order = self.order;
        for (index, entry) in block.entries[..run.executed].iter().enumerate() {
            if entry.new_line {
                let at = order.supply.max(order.dispatch.cycle());
                if let Some(supply) = self.line(at, block.addresses[index].physical) {
                    order.supply = supply;
                }
            }
            let done = self.execute(&mut order, entry, &mut value);
            if entry.action as u8 >= Action::Branch as u8 {
                let last = index + 1 == run.executed;
                self.follow(
                    &mut order,
                    entry.action,
                    &block.addresses[index],
                    done,
                    last && run.taken,
                    run.next_pc,
                );
            }
        }
        self.order = order;
    }

    fn trap(&mut self) {
        self.order.supply = self.order.commit.cycle() + self.parameters.redirect;
    }

    fn cycle(&self) -> Cycle {
        Cycle(self.order.commit.cycle() + 1)
    }

    fn advance_to(&mut self, cycle: Cycle) {
        let last = cycle.0.saturating_sub(1);
        if last > self.order.commit.cycle() {
            self.order.commit.step(last);
            self.order.supply = self.order.supply.max(last);
        }
    }
}
