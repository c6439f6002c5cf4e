use crate::names::{Chain, Extent, Function};
use crate::slices::Cause;
use crate::tree::NodeId;
use rackwright_cpu::Privilege;

/// How a frame came to be, which says how it is left.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Entered {
    /// Nobody called it: a thread begins there, or the stack below is not known.
    Bottom,
    /// By a call.
    Call,
    /// By a trap from code of this privilege.
    Trap(Privilege),
    /// A kernel had a program run a handler in between.
    Signal,
}

/// A function that has not returned yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    pub(crate) function: Function,
    pub(crate) node: NodeId,
    pub(crate) entered: Entered,
    /// Of a trap, why it was taken.
    pub(crate) cause: Cause,
    /// Where the caller goes on, or what was interrupted.
    pub(crate) returns_to: u64,
    /// The caller's stack pointer.
    pub(crate) pointer: u64,
    /// The cycle of the call.
    pub(crate) begin: u64,
    /// The code of the function.
    pub(crate) code: Extent,
    /// What runs in it at present: functions that are inlined there, the innermost one (or the function itself), and the code
    /// that has them.
    pub(crate) inlined: Chain,
    pub(crate) runs: Function,
    pub(crate) near: Extent,
}

impl Frame {
    /// Whether it is left by going on at `pc` with the stack pointer `pointer`.
    fn returns(&self, pc: u64, pointer: u64) -> bool {
        self.entered == Entered::Call && self.returns_to == pc && self.pointer == pointer
    }
}

/// Bytes of the longest instruction: a call of the kernel goes on behind it.
const LONGEST: u64 = 4;

impl Frame {
    /// Whether going on at `pc` is what was interrupted, or the instruction after it.
    pub(crate) fn interrupted(&self, pc: u64) -> bool {
        pc.wrapping_sub(self.returns_to) <= LONGEST
    }
}

/// Stacks that are further apart than this are not one.
const SAME_STACK: u64 = 64 << 20;

/// How many of `frames` remain when code goes on at `place`, address `pc`, with the stack pointer `pointer`, and the topmost frame
/// is not the one that this ends: after `longjmp`, an exception, or a switch to another stack.
///
/// Frames of callees are below their callers' in memory. Whoever goes on this way has called others, and so keeps something below
/// the pointer that it was called with: a frame with a caller's pointer that is not above `pointer` is gone.
pub(crate) fn remaining(frames: &[Frame], pc: u64, pointer: u64) -> usize {
    let calls = |frame: &&Frame| frame.entered == Entered::Call;
    let bottom = frames.len() - frames.iter().rev().take_while(calls).count();
    let matching = frames[bottom..]
        .iter()
        .rposition(|frame| frame.returns(pc, pointer));
    if let Some(index) = matching {
        return bottom + index;
    }
    let mut count = frames.len();
    while count > bottom {
        let frame = &frames[count - 1];
        if frame.pointer > pointer || pointer - frame.pointer >= SAME_STACK {
            break;
        }
        count -= 1;
    }
    count
}
