//! The state of a hart that is visible to observers.

use crate::address::Privilege;
use crate::state::State;
use rackwright_memory::GuestMemory;

/// A hart between two of its blocks, as an observer sees it.
#[derive(Clone, Copy)]
pub struct View<'a> {
    state: &'a State,
}

impl<'a> View<'a> {
    #[inline(always)]
    pub(crate) fn new(state: &'a State) -> View<'a> {
        View { state }
    }

    /// The value of integer register `number`, 0 to 31.
    #[inline]
    pub fn register(&self, number: u8) -> u64 {
        self.state.x[usize::from(number & 31)]
    }

    /// The mode in which the next instruction runs.
    #[inline]
    pub fn privilege(&self) -> Privilege {
        self.state.space.fetch
    }

    /// The control register `satp`: which page tables there are.
    #[inline]
    pub fn page_tables(&self) -> u64 {
        self.state.space.satp
    }

    /// The value of the control register `sscratch` at the last change of mode.
    #[inline]
    pub fn supervisor_scratch(&self) -> u64 {
        self.state.supervisor_scratch
    }

    /// The memory that the hart runs on.
    pub fn memory(&self) -> &'a GuestMemory {
        // SAFETY: a hart is observed only in a run, which has set the pointer to the memory that it borrows, and which
        // does not use that while somebody looks.
        unsafe { &*self.state.memory }
    }
}

/// A trap that a hart has taken.
#[derive(Clone, Copy, Debug)]
pub struct Trap {
    /// As in `scause`, with the highest bit set for interrupts.
    pub cause: u64,
    /// Address of the instruction that was not executed.
    pub pc: u64,
    /// Address of the handler's first instruction.
    pub target: u64,
    /// The mode before.
    pub from: Privilege,
    /// The mode of the handler.
    pub to: Privilege,
    /// The stack pointer of the code that was interrupted.
    pub stack_pointer: u64,
}
