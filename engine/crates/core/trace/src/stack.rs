use crate::names::{Chain, Extent, Function};
use crate::slices::Cause;
use crate::tree::NodeId;
use rackwright_cpu::Privilege;

/// How a frame was entered, which determines how it is left.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Entered {
    /// It was not called: a thread begins there, or the stack below is unknown.
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
    /// The return address of the caller, or the interrupted address.
    pub(crate) returns_to: u64,
    /// The caller's stack pointer.
    pub(crate) pointer: u64,
    /// The cycle of the call.
    pub(crate) begin: u64,
    /// The code of the function.
    pub(crate) code: Extent,
    /// The code that currently runs in it: functions inlined there, the innermost one (or the function itself), and the
    /// surrounding code with the same ones.
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

/// Bytes of the longest instruction: a system call continues after it.
const LONGEST: u64 = 4;

impl Frame {
    /// Whether `pc` is the interrupted instruction, or the one after it.
    pub(crate) fn interrupted(&self, pc: u64) -> bool {
        pc.wrapping_sub(self.returns_to) <= LONGEST
    }
}

/// Stack pointers that are further apart than this belong to different stacks.
const SAME_STACK: u64 = 64 << 20;

/// Number of `frames` that remain when execution continues at `place`, address `pc`, with the stack pointer `pointer`,
/// other than by a return from the topmost frame: after `longjmp`, an exception, or a switch to another stack.
///
/// Frames of callees are below their callers' in memory. Code that continues in this way has called functions, and thus
/// has data below the pointer with which it was called: a frame whose caller's pointer is not above `pointer` has
/// ended.
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
