use crate::calculators::Operand;
use crate::instruction::Compute;
use crate::isa::{ElementType, ISA};
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
    pub elements: [&'static ElementType; 3],
    /// Bytes from one element to the next.
    pub lanes: [i32; 3],
    /// Which operands are read in the scratchpad.
    pub reads: [bool; 3],
    /// The most elements of a chunk.
    pub most: u32,
    /// The instruction.
    pub index: u32,
}

impl Plan {
    /// The plan of a step; arbitrary for a step without computation.
    pub fn new(shape: &Shape, step: &Step) -> Plan {
        let typed = |operand: &Operand| {
            ISA.element_type(operand.format.element_type)
                .expect("formats are checked when they are set")
        };
        let elements = [0, 1, 2].map(|which| typed(&step.operands[which]));
        let lanes = step.operands.map(|operand| operand.format.lane);
        let function = step.function;
        let [first, second, destination] = elements;
        let mut plan = Plan {
            function,
            kinds: Kinds::new(function, [first, second], destination),
            elements,
            lanes,
            reads: [
                first.bytes != 0,
                function.is_binary() && second.bytes != 0,
                function.is_ternary(),
            ],
            most: 1,
            index: step.index,
        };
        let packed = lanes[DESTINATION] == destination.bytes as i32;
        if step.kind == Kind::Compute && packed {
            let used = if function.is_binary() { 2 } else { 1 };
            let together = (0..used).map(|which| plan.together(shape, which));
            plan.most = together.min().unwrap_or(1);
        }
        plan
    }

    /// Whether all lanes have the same element of an operand.
    pub fn is_same(&self, which: usize) -> bool {
        self.elements[which].bytes == 0 || self.lanes[which] == 0
    }

    /// Number of elements read together: for all lanes, or as many as a line is guaranteed to contain, or one.
    fn together(&self, shape: &Shape, which: usize) -> u32 {
        if self.is_same(which) {
            return shape.lanes as u32;
        }
        let (size, lane) = (self.elements[which].bytes as i32, self.lanes[which]);
        let known = ISA.strides.iter().any(|&by| by as i32 * size == lane);
        if !known || lane > ISA.stride_bytes {
            return 1;
        }
        let whole = (shape.line_bytes() as i32 - size) / lane + 1;
        1 << whole.min(shape.lanes as i32).ilog2()
    }

    /// A chunk of `count` elements at these addresses.
    pub fn chunk(&self, shape: &Shape, addresses: [u32; 3], count: u32) -> Chunk {
        let spans = [0, 1, 2].map(|which| {
            let between = if count > 1 { self.lanes[which] as u32 } else { 0 };
            u64::from((count - 1) * between + self.elements[which].bytes)
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
