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
use block::{Action, Address, Entry, PLACES};
use memory::DataCache;
use predictor::{Directions, Targets};
use rackwright_memory::{AccessKind, Cache, Lookup, RequesterId, SharedHierarchy};
use rackwright_time::Cycle;
use resources::{InOrder, Place, Port, Queue};

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
    /// The next entries of the queues.
    reorder: Place,
    load: Place,
    store: Place,
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
                reorder: Place::default(),
                load: Place::default(),
                store: Place::default(),
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

    /// Dispatches an instruction; returns when its operands are there. Only some floating-point operations have three.
    #[inline(always)]
    fn dispatch<const SOURCES: usize>(&self, order: &mut Order, entry: &Entry) -> u64 {
        let dispatched = order.dispatch.step(self.reorder.free(order.reorder));
        entry.sources[..SOURCES]
            .iter()
            .fold(dispatched + self.parameters.dispatch, |at, &source| {
                at.max(self.ready[usize::from(source)])
            })
    }

    /// Notes when an instruction's result is there, and commits it.
    #[inline(always)]
    fn complete(&mut self, order: &mut Order, entry: &Entry, done: u64) {
        self.ready[usize::from(entry.target)] = done;
        let committed = order.commit.step(done);
        self.reorder.hold(&mut order.reorder, committed);
    }

    #[inline(always)]
    fn load(&mut self, order: &mut Order, entry: &Entry, address: u64) -> u64 {
        order.dispatch.not_before(self.loads.free(order.load));
        let operands = self.dispatch::<2>(order, entry);
        let start = self.memory_port.take(operands);
        let there = self.data.load(start, address, &self.hierarchy, self.requester);
        let done = there + u64::from(entry.latency);
        self.loads.hold(&mut order.load, done.max(order.commit.cycle()));
        done
    }

    #[inline(always)]
    fn store(&mut self, order: &mut Order, entry: &Entry, address: u64) -> u64 {
        order.dispatch.not_before(self.stores.free(order.store));
        let operands = self.dispatch::<2>(order, entry);
        let done = self.memory_port.take(operands) + u64::from(entry.latency);
        self.written = done.max(order.commit.cycle()).max(self.written + 1);
        let there = self
            .data
            .store(done, self.written, address, &self.hierarchy, self.requester);
        self.drained = self.drained.max(there);
        self.stores.hold(&mut order.store, there);
        done
    }

    #[inline(always)]
    fn branch(&mut self, order: &mut Order, entry: &Entry, pc: u64, taken: bool) -> u64 {
        let done = self.dispatch::<2>(order, entry) + u64::from(entry.latency);
        if !self.directions.predict(pc, taken) {
            order.dispatch.not_before(done + self.parameters.redirect);
        }
        if taken {
            order.dispatch.end_group();
        }
        done
    }

    /// A jump to `next_pc`.
    #[inline]
    fn jump(&mut self, order: &mut Order, entry: &Entry, address: &Address, next_pc: u64) -> u64 {
        let done = self.dispatch::<2>(order, entry) + u64::from(entry.latency);
        let history = self.directions.history();
        let expected = match entry.action {
            Action::Return => self.targets.ret(next_pc),
            Action::Jump | Action::CallRegister => self.targets.jump(address.pc, history, next_pc),
            _ => true,
        };
        if matches!(entry.action, Action::Call | Action::CallRegister) {
            self.targets.call(address.next);
        }
        if !expected {
            order.dispatch.not_before(done + self.parameters.redirect);
        }
        order.dispatch.end_group();
        done
    }

    /// What is not done in every few instructions.
    #[cold]
    fn rare(&mut self, order: &mut Order, entry: &Entry, value: &mut impl FnMut() -> u64) -> u64 {
        if entry.action == Action::Atomic {
            order.dispatch.not_before(self.stores.free(order.store));
        }
        let operands = self.dispatch::<3>(order, entry);
        let latency = u64::from(entry.latency);
        let committed = order.commit.cycle();
        match entry.action {
            Action::Atomic => {
                let start = operands.max(committed).max(self.drained);
                let there = self
                    .data
                    .store(start, start, value(), &self.hierarchy, self.requester);
                self.drained = there + latency;
                self.stores.hold(&mut order.store, self.drained);
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
            _ => {
                if entry.action == Action::ForgetInstructions {
                    self.instructions = Cache::new(self.parameters.instructions);
                }
                let done = operands.max(committed).max(self.drained) + 1;
                let serial = u64::from(self.parameters.latencies.serial);
                order.dispatch.not_before(done + serial);
                done
            }
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
                if let Some(supply) = self.line(order.dispatch.next(), block.addresses[index].physical) {
                    order.dispatch.not_before(supply);
                }
            }
            let latency = u64::from(entry.latency);
            let done = match entry.action {
                Action::Simple => self.dispatch::<2>(&mut order, entry) + latency,
                Action::Load => self.load(&mut order, entry, value()),
                Action::Store => self.store(&mut order, entry, value()),
                Action::Branch => {
                    let taken = run.taken && index + 1 == run.executed;
                    self.branch(&mut order, entry, block.addresses[index].pc, taken)
                }
                Action::Multiply => {
                    // Its operand is of no interest to a pipelined multiplier.
                    value();
                    self.dispatch::<2>(&mut order, entry) + latency
                }
                Action::Float => {
                    let operands = self.dispatch::<3>(&mut order, entry);
                    self.float_port.take(operands) + latency
                }
                Action::Call | Action::Return | Action::Jump | Action::Fixed | Action::CallRegister => {
                    self.jump(&mut order, entry, &block.addresses[index], run.next_pc)
                }
                _ => self.rare(&mut order, entry, &mut value),
            };
            self.complete(&mut order, entry, done);
        }
        self.order = order;
    }

    fn trap(&mut self) {
        let restart = self.order.commit.cycle() + self.parameters.redirect;
        self.order.dispatch.not_before(restart);
    }

    fn cycle(&self) -> Cycle {
        Cycle(self.order.commit.cycle() + 1)
    }

    fn advance_to(&mut self, cycle: Cycle) {
        let last = cycle.0.saturating_sub(1);
        if last > self.order.commit.cycle() {
            self.order.commit.step(last);
            self.order.dispatch.not_before(last);
        }
    }
}
