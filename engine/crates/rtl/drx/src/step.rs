use crate::calculators::Operand;
use crate::instruction::Compute;

/// The kind of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Kind {
    /// A vector.
    #[default]
    Compute,
    /// Bytes into the scratchpad.
    Load,
    /// A store from it.
    Store,
    /// Waits until at most this number of loads are in progress.
    WaitLoads,
    /// Waits until at most this number of stores are in progress.
    WaitStores,
    /// The end.
    End,
    /// An instruction that cannot be executed.
    Broken,
}

/// An instruction with the operands of its iteration, as issued by the instruction repeater.
#[derive(Debug, Clone, Copy)]
pub struct Step {
    /// The kind of step.
    pub kind: Kind,
    /// The number of its instruction.
    pub index: u32,
    /// For vectors: the function.
    pub function: Compute,
    /// Of vectors: both operands, and the destination. Of transfers: the scratchpad's, and memory's.
    pub operands: [Operand; 3],
    /// Of vectors: elements.
    pub length: u32,
    /// Of transfers: bytes, and the region of memory.
    pub size: u32,
    /// The region of memory of a transfer.
    pub region: u32,
    /// For waits: maximum number of transfers in progress afterwards.
    pub count: u32,
}

impl Default for Step {
    fn default() -> Step {
        Step {
            kind: Kind::Broken,
            index: 0,
            function: Compute::Move,
            operands: [Operand::default(); 3],
            length: 0,
            size: 0,
            region: 0,
            count: 0,
        }
    }
}
