use super::Collector;
use crate::inlined::within;
use crate::names::{Extent, Function, Place};
use crate::slices::Cause;
use crate::stack::{remaining, Entered, Frame};
use crate::tree::{NodeId, Tree};
use rackwright_cpu::View;

/// The frames of the stack that runs.
impl Collector {
    /// A program continues at another point than the `interrupted` one: both are an address and a stack pointer.
    pub(super) fn go_on(
        &mut self,
        interrupted: (u64, u64),
        (pc, pointer): (u64, u64),
        view: View<'_>,
        now: u64,
    ) {
        let ended = |frame: &Frame| {
            frame.entered == Entered::Signal && frame.pointer == pointer && frame.interrupted(pc)
        };
        if let Some(index) = self.frames.iter().rposition(ended) {
            self.pop_to(index, now);
        } else if self.place(pc, view).entry && pointer != interrupted.1 {
            let place = self.place(pc, view);
            self.push(Entered::Signal, &place, interrupted.0, interrupted.1, now);
        } else {
            self.unwind(pc, pointer, now);
        }
        self.resume();
    }

    /// Removes the frames that have ended when execution continues at `pc`.
    pub(super) fn unwind(&mut self, pc: u64, pointer: u64, now: u64) {
        let count = remaining(&self.frames, pc, pointer);
        self.pop_to(count, now);
    }

    pub(super) fn push(
        &mut self,
        entered: Entered,
        place: &Place,
        returns_to: u64,
        pointer: u64,
        begin: u64,
    ) {
        if self.root == Tree::ROOT {
            self.root = self.record.tree.child(Tree::ROOT, Function(self.thread));
            self.record.turns.begin(self.thread, self.account.accounted());
        }
        let parent = self.frames.last().map_or(self.root, |frame| frame.node);
        let function = self.record.tree.child(parent, place.function);
        self.record.tree.node(function).calls += 1;
        let (node, runs) = within(
            &mut self.record.tree,
            &self.chains,
            (function, place.function),
            place.inlined,
        );
        self.frames.push(Frame {
            function: place.function,
            node,
            entered,
            cause: Cause::default(),
            returns_to,
            pointer,
            begin,
            code: place.code,
            inlined: place.inlined,
            runs,
            near: place.near,
        });
        self.near = place.near;
    }

    pub(super) fn pop(&mut self, now: u64) {
        if let Some(frame) = self.frames.pop() {
            self.record.leave(self.thread, &frame, self.frames.len(), now);
            self.record.leave_trap(self.thread, &frame, now);
        }
    }

    pub(super) fn pop_to(&mut self, count: usize, now: u64) {
        while self.frames.len() > count {
            self.pop(now);
        }
    }

    /// The topmost frame runs.
    pub(super) fn resume(&mut self) {
        self.near = self.frames.last().map_or_else(Extent::default, |top| top.near);
    }

    /// The node that the topmost frame hangs from.
    pub(super) fn parent(&self) -> NodeId {
        let below = self.frames.len().checked_sub(2);
        below.map_or(self.root, |index| self.frames[index].node)
    }

    /// Hangs the frames from the thread that runs, in the tree of this hart.
    pub(super) fn hang(&mut self) {
        self.root = self.record.tree.child(Tree::ROOT, Function(self.thread));
        self.record.turns.begin(self.thread, self.account.accounted());
        let mut parent = self.root;
        for frame in &mut self.frames {
            let function = self.record.tree.child(parent, frame.function);
            (frame.node, _) = within(
                &mut self.record.tree,
                &self.chains,
                (function, frame.function),
                frame.inlined,
            );
            parent = frame.node;
        }
    }
}
