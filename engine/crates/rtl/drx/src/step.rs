use crate::calculators::Operand;
use crate::instruction::Compute;

/// What a step asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Kind {
    /// A vector.
    #[default]
    Compute,
    /// Bytes into the scratchpad.
    Load,
    /// Bytes out of it.
    Store,
    /// That not more than so many loads are under way.
    WaitLoads,
    /// That not more than so many stores are under way.
    WaitStores,
    /// The end.
    End,
    /// Something that can't be carried out.
    Broken,
}

/// An instruction with the operands of its iteration, as it leaves the instruction repeater.
#[derive(Debug, Clone, Copy)]
pub struct Step {
    /// What it asks for.
    pub kind: Kind,
    /// Which instruction it is of.
    pub index: u32,
    /// Of vectors: what is computed.
    pub function: Compute,
    /// Of vectors: both operands, and the destination. Of transfers: the scratchpad's, and memory's.
    pub operands: [Operand; 3],
    /// Of vectors: elements.
    pub length: u32,
    /// Of transfers: bytes, and the region of memory.
    pub size: u32,
    /// The region of memory of a transfer.
    pub region: u32,
    /// Of waits: how many transfers may be under way afterwards.
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
