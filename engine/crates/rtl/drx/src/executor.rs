use crate::chunk::{Chunk, Plan, DESTINATION};
use crate::control::Failure;
use crate::router::Range;
use crate::shape::Shape;
use crate::status::Status;
use crate::step::{Kind, Step};
use crate::transfer::Transfer;

/// A step with properties derived from its operands.
#[derive(Debug, Clone, Copy)]
struct Checked {
    step: Step,
    plan: Plan,
    /// For transfers: the memory address.
    address: u64,
    failure: Option<Failure>,
}

/// Transfers of one direction that have not ended.
#[derive(Debug, Clone, Copy, Default)]
struct UnderWay {
    count: u32,
}

impl UnderWay {
    fn cycle(&mut self, begins: bool, ends: bool) {
        // Aborted loops end when they are not counted any more.
        self.count = self
            .count
            .wrapping_add(u32::from(begins))
            .wrapping_sub(u32::from(ends));
    }
}

/// The inputs of the executor in a cycle.
#[derive(Debug, Clone, Copy)]
pub struct Told {
    /// No chunk is in progress from here to the scratchpad, or from its operands on.
    pub settled: bool,
    pub computed: bool,
    /// The receivers of chunks, loads and stores have room for one more.
    pub has_room: [bool; 3],
    /// A load is done; a store is.
    pub loaded: bool,
    pub stored: bool,
    /// The oldest chunk can't be computed, of this instruction.
    pub broken: Option<u32>,
}

/// The outputs of the executor in a cycle.
#[derive(Debug, Clone, Copy, Default)]
pub struct Executed {
    pub chunk: Option<Chunk>,
    pub load: Option<Transfer>,
    pub store: Option<Transfer>,
    /// A step is done.
    pub taken: bool,
    pub ended: bool,
    pub failure: Option<Failure>,
    /// The step stalls for a transfer.
    pub awaits_transfer: bool,
}

/// Executes steps in order: passes vectors to the lanes and transfers to the engines, and waits as requested by the
/// program.
#[derive(Debug, Clone)]
pub struct Executor {
    shape: Shape,
    step: Option<Checked>,
    /// The instruction of the latest step.
    at: u32,
    cutter: VectorCutter,
    loads: UnderWay,
    stores: UnderWay,
    output_bytes: u64,
}

impl Executor {
    pub fn new(shape: &Shape) -> Executor {
        Executor {
            shape: *shape,
            step: None,
            at: 0,
            cutter: VectorCutter::default(),
            loads: UnderWay::default(),
            stores: UnderWay::default(),
            output_bytes: 0,
        }
    }

    /// The instruction of the step that is carried out, or was last.
    pub fn at(&self) -> u32 {
        self.at
    }

    /// Bytes of the stores that have started.
    pub fn output_bytes(&self) -> u64 {
        self.output_bytes
    }

    /// No step is here.
    pub fn is_empty(&self) -> bool {
        self.step.is_none()
    }

    /// Takes a step of a program that may access these regions.
    pub fn enter(&mut self, step: Step, regions: &[Range]) {
        let region = regions[step.region as usize];
        self.at = step.index;
        self.step = Some(Checked {
            step,
            plan: Plan::new(&step, self.shape.lanes),
            address: region.address.wrapping_add(u64::from(step.operands[1].address)),
            failure: self.failure(&step, &region),
        });
    }

    /// Why a step can't be carried out, if that is so.
    fn failure(&self, step: &Step, region: &Range) -> Option<Failure> {
        let is_store = step.kind == Kind::Store;
        let status = match step.kind {
            Kind::Broken => Status::Malformed,
            Kind::Load | Kind::Store => {
                let [place, memory, _] = step.operands.map(|operand| u64::from(operand.address));
                let size = u64::from(step.size);
                let outside = place + size > self.shape.scratchpad_bytes() as u64;
                if outside || size == 0 || is_store != (step.region == 0) {
                    Status::Malformed
                } else if memory + size <= region.length {
                    return None;
                } else if is_store {
                    Status::OutputFull
                } else {
                    Status::Malformed
                }
            }
            _ => return None,
        };
        Some(Failure {
            status,
            index: step.index,
        })
    }

    /// A new program has stored nothing.
    pub fn begin(&mut self) {
        self.output_bytes = 0;
    }

    /// A cycle.
    pub fn cycle(&mut self, told: &Told) -> Executed {
        let mut done = Executed::default();
        self.carry_out(told, &mut done);
        if done.taken {
            self.step = None;
        }
        // Steps after an invalid chunk have not started.
        if let Some(index) = told.broken {
            let status = Status::Malformed;
            done.failure = Some(Failure { status, index });
        }
        done.failure = done.failure.filter(|_| told.computed);
        self.loads.cycle(done.load.is_some(), told.loaded);
        self.stores.cycle(done.store.is_some(), told.stored);
        done
    }

    fn carry_out(&mut self, told: &Told, done: &mut Executed) {
        let Some(checked) = &self.step else { return };
        let step = &checked.step;
        let [chunks, loads, stores] = told.has_room;
        if told.settled {
            done.failure = checked.failure;
        }
        let permitted = told.settled && checked.failure.is_none();
        match step.kind {
            Kind::Compute if chunks => {
                let (chunk, last) = self.cutter.cut(&self.shape, checked);
                done.chunk = Some(chunk);
                done.taken = last;
            }
            Kind::Load if permitted => {
                done.taken = loads;
                done.load = loads.then(|| transfer(checked));
                done.awaits_transfer = !loads;
            }
            Kind::Store if permitted => {
                done.taken = stores;
                done.store = stores.then(|| transfer(checked));
                done.awaits_transfer = !stores;
                self.output_bytes += if stores { u64::from(step.size) } else { 0 };
            }
            Kind::WaitLoads => {
                done.taken = self.loads.count <= step.count;
                done.awaits_transfer = !done.taken;
            }
            Kind::WaitStores => {
                done.taken = self.stores.count <= step.count;
                done.awaits_transfer = !done.taken;
            }
            Kind::End => {
                done.ended = told.settled && self.loads.count == 0 && self.stores.count == 0;
                done.taken = done.ended;
                done.awaits_transfer = !done.ended;
            }
            _ => {}
        }
    }

    /// Aborts operations in progress.
    pub fn clear(&mut self) {
        self.step = None;
        self.cutter = VectorCutter::default();
        self.loads = UnderWay::default();
        self.stores = UnderWay::default();
    }
}

/// Divides vectors into chunks.
#[derive(Debug, Clone, Copy, Default)]
struct VectorCutter {
    /// Elements of a vector that have been split off, and the resulting offsets of its operands.
    done: u32,
    moved: [u32; 3],
}

impl VectorCutter {
    /// The next chunk of a vector, and whether it is the last one.
    fn cut(&mut self, shape: &Shape, checked: &Checked) -> (Chunk, bool) {
        let (step, plan) = (&checked.step, &checked.plan);
        let left = step.length - self.done;
        let last = left <= plan.most;
        let count = left.min(plan.most);
        let addresses =
            [0, 1, DESTINATION].map(|which| step.operands[which].address.wrapping_add(self.moved[which]));
        if last {
            *self = VectorCutter::default();
        } else {
            self.done += plan.most;
            for which in 0..3 {
                if plan.elements[which].bytes != 0 {
                    let by = (plan.lanes[which] as u32).wrapping_mul(plan.most);
                    self.moved[which] = self.moved[which].wrapping_add(by);
                }
            }
        }
        (plan.chunk(shape, addresses, count), last)
    }
}

fn transfer(checked: &Checked) -> Transfer {
    Transfer {
        address: checked.address,
        place: checked.step.operands[0].address,
        size: checked.step.size,
        index: checked.step.index,
    }
}
