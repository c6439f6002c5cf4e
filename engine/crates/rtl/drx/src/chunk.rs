use crate::instruction::Compute;
use crate::isa::Element;
use crate::number::Kinds;
use crate::scratchpad::Place;
use crate::shape::Shape;
use crate::step::{Kind, Step};

/// Positions of operands in lists of three: two that are only read, and the one that is written.
pub const DESTINATION: usize = 2;

/// The common properties of all chunks of a vector.
#[derive(Debug, Clone, Copy)]
pub struct Plan {
    pub function: Compute,
    /// The numbers in binary32.
    pub kinds: Kinds,
    pub elements: [Element; 3],
    /// Bytes from one element to the next, and which operands have the same element for all lanes.
    pub lanes: [i32; 3],
    pub same: [bool; 3],
    /// Which operands are read in the scratchpad.
    pub reads: [bool; 3],
    /// The most elements of a chunk.
    pub most: u32,
    /// The instruction.
    pub index: u32,
}

impl Plan {
    /// The plan of a step on this number of lanes; arbitrary for a step without computation.
    pub fn new(step: &Step, lanes: usize) -> Plan {
        let formats = step.operands.map(|operand| operand.format);
        let elements = formats.map(|format| format.element);
        let function = step.function;
        let [first, second, destination] = elements;
        let mut plan = Plan {
            function,
            kinds: Kinds::new(function, [first, second], destination),
            elements,
            lanes: formats.map(|format| format.lane),
            same: formats.map(|format| format.is_same()),
            reads: [
                first.bytes != 0,
                function.is_binary() && second.bytes != 0,
                function.is_ternary(),
            ],
            most: 1,
            index: step.index,
        };
        let packed = plan.lanes[DESTINATION] == destination.bytes as i32;
        if step.kind == Kind::Compute && packed {
            let [first, second, _] = formats.map(|format| format.together);
            plan.most = if function.is_binary() {
                first.min(second)
            } else {
                first
            };
        }
        if let (Kind::Compute, Some(bytes)) = (step.kind, plan.packed_bytes(step)) {
            plan.most = lanes as u32 * 4 / bytes;
        }
        plan
    }

    /// The size of the elements of which a lane computes several at once, if it does.
    fn packed_bytes(&self, step: &Step) -> Option<u32> {
        let sources = if self.function.is_binary() { 2 } else { 1 };
        let destination = &step.operands[DESTINATION];
        [1, 2].into_iter().find(|&bytes| {
            destination.is_contiguous()
                && destination.is_whole(bytes)
                && step.operands[..sources]
                    .iter()
                    .all(|operand| operand.packs(bytes))
        })
    }

    /// A chunk of `count` elements at these addresses.
    pub fn chunk(&self, shape: &Shape, addresses: [u32; 3], count: u32) -> Chunk {
        let spans = [0, 1, 2].map(|which| {
            let between = if count > 1 { self.lanes[which] as u32 } else { 0 };
            u64::from(
                (count - 1)
                    .wrapping_mul(between)
                    .wrapping_add(self.elements[which].bytes),
            )
        });
        let ends = [0, 1, 2].map(|which| u64::from(addresses[which]) + spans[which]);
        let used = [self.reads[0], self.reads[1], true];
        let beyond = (0..3).any(|which| used[which] && ends[which] > shape.scratchpad_bytes() as u64);
        Chunk {
            plan: *self,
            count,
            addresses,
            places: [0, 1, 2].map(|which| {
                Place::new(
                    addresses[which],
                    (ends[which] as u32).wrapping_sub(1),
                    shape.line_bytes(),
                )
            }),
            is_outside: beyond || self.elements[DESTINATION].bytes == 0,
        }
    }
}

/// The elements computed in one cycle: for all lanes, or as many as operands have in a line.
#[derive(Debug, Clone, Copy)]
pub struct Chunk {
    pub plan: Plan,
    pub count: u32,
    /// Addresses of the operands, or their values if they are constants.
    pub addresses: [u32; 3],
    pub places: [Place; 3],
    /// An operand is outside the scratchpad, or the destination is a constant.
    pub is_outside: bool,
}

/// Chunks in three stages, each of which accepts one per cycle; they stall at a chunk outside the scratchpad, in the
/// second stage.
#[derive(Debug, Clone)]
pub struct Check {
    chunks: [Option<Chunk>; Check::MOST],
    head: usize,
    /// Number of chunks in each stage, the last stage first: they stay in order.
    held: [usize; 3],
}

impl Check {
    /// Each stage is a queue of two, as [`crate::fifo::Fifo`].
    const EACH: usize = 2;
    const MOST: usize = 8;

    pub fn new() -> Check {
        Check {
            chunks: [None; Check::MOST],
            head: 0,
            held: [0; 3],
        }
    }

    fn at(&self, place: usize) -> Option<&Chunk> {
        self.chunks[(self.head + place) % Check::MOST].as_ref()
    }

    /// The chunk that leaves next.
    pub fn front(&self) -> Option<&Chunk> {
        (self.held[0] != 0).then(|| self.at(0)).flatten()
    }

    /// Whether one more may enter.
    pub fn has_room(&self) -> bool {
        self.held[2] < Check::EACH
    }

    pub fn is_empty(&self) -> bool {
        self.held == [0; 3]
    }

    /// The instruction of the oldest chunk, if that is outside the scratchpad.
    pub fn broken(&self) -> Option<u32> {
        if self.held[0] != 0 {
            return None;
        }
        let chunk = self.checked()?;
        chunk.is_outside.then_some(chunk.plan.index)
    }

    /// The chunk in the second stage.
    fn checked(&self) -> Option<&Chunk> {
        (self.held[1] != 0).then(|| self.at(self.held[0])).flatten()
    }

    /// A cycle, in which the front leaves or not, and one enters or not.
    pub fn cycle(&mut self, leaves: bool, enters: Option<Chunk>) {
        let passes = self.held[0] < Check::EACH && self.checked().is_some_and(|chunk| !chunk.is_outside);
        let moves = self.held[1] < Check::EACH && self.held[2] != 0;
        if let Some(chunk) = enters {
            let all: usize = self.held.iter().sum();
            self.chunks[(self.head + all) % Check::MOST] = Some(chunk);
            self.held[2] += 1;
        }
        self.held[2] -= usize::from(moves);
        self.held[1] += usize::from(moves);
        self.held[1] -= usize::from(passes);
        self.held[0] += usize::from(passes);
        if leaves {
            self.held[0] -= 1;
            self.head = (self.head + 1) % Check::MOST;
        }
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.held = [0; 3];
    }
}
