use crate::durations::{AllDurations, SlowCall};
use crate::slices::{Longest, Slice, TrapSlice, Turns};
use crate::stack::{Entered, Frame};
use crate::tree::{Tree, WHOLE};

/// The profile of one hart: all stacks that it has had, the durations of calls, and the time line.
#[derive(Default)]
pub(crate) struct Record {
    pub(crate) tree: Tree,
    pub(crate) durations: AllDurations,
    pub(crate) slices: Longest<Slice>,
    pub(crate) turns: Turns,
    pub(crate) traps: Longest<TrapSlice>,
}

impl Record {
    /// A call of `thread` with `depth` others around it has ended.
    pub(super) fn leave(&mut self, thread: u32, frame: &Frame, depth: usize, now: u64) {
        let call = SlowCall {
            cycles: now - frame.begin,
            begin: frame.begin,
        };
        self.durations.add(frame.function, call);
        let depth = depth as u32;
        if depth >= WHOLE {
            self.slices.leave_out();
            return;
        }
        self.slices.add(Slice {
            thread,
            depth,
            function: frame.function,
            begin: frame.begin,
            end: now,
        });
    }

    /// A trap that `thread` had taken is over.
    pub(super) fn leave_trap(&mut self, thread: u32, frame: &Frame, now: u64) {
        if matches!(frame.entered, Entered::Trap(_)) {
            self.traps.add(TrapSlice {
                thread,
                cause: frame.cause,
                end: now,
            });
        }
    }
}
