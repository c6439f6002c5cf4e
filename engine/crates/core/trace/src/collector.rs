mod account;
mod frames;
mod places;
mod record;
mod tasks;

use self::account::Account;
use self::record::Record;
use self::tasks::KernelTask;
use crate::durations::Durations;
use crate::inlined::within;
use crate::known::Places;
use crate::names::{Chains, Extent, Function, Place};
use crate::shared::{Common, Parked};
use crate::slices::Cause;
use crate::stack::{Entered, Frame};
use crate::stalls::{Reasons, Stalls};
use crate::tree::{Node, NodeId, Tree};
use rackwright_cpu::{Privilege, Trap, View};

// Numbers of integer registers by the calling convention.
const STACK_POINTER: u8 = 2;
const CALL_NUMBER: u8 = 17;

/// The records of one hart: its current stack, and all stacks that it has had.
pub struct Collector {
    hart: usize,
    common: Common,
    pub(crate) record: Record,
    pub(crate) stalls: Stalls,
    account: Account,
    frames: Vec<Frame>,
    thread: u32,
    /// The node of the thread that runs.
    root: NodeId,
    /// The code that belongs to the node that cycles go to.
    near: Extent,
    chains: Chains,
    places: Places,
    announced: Announced,
    /// Whether no thread runs, under an emulated kernel.
    is_idle: bool,
    task: KernelTask,
}

/// Events since the last observed block, which take effect with the next one.
#[derive(Default)]
struct Announced {
    /// Traps whose handlers were not seen yet, and when they were taken.
    traps: Vec<(Trap, u64)>,
    redirects: Vec<Redirect>,
}

/// An emulated kernel has continued a program at another address.
#[derive(Clone, Copy)]
struct Redirect {
    /// The address of the interruption, and its stack pointer.
    from: u64,
    pointer: u64,
    /// The new address, and its stack pointer.
    to: (u64, u64),
    begin: u64,
}

impl Collector {
    /// The collector of hart number `hart`, which has not run yet.
    pub(crate) fn new(hart: usize, common: Common, reasons: &'static [&'static str]) -> Collector {
        Collector {
            hart,
            task: KernelTask::unknown(common.has_kernel()),
            chains: common.chains(),
            common,
            record: Record::default(),
            stalls: Stalls::of(reasons),
            account: Account::default(),
            frames: Vec::new(),
            thread: 0,
            root: Tree::ROOT,
            near: Extent::default(),
            places: Places::new(),
            announced: Announced::default(),
            is_idle: false,
        }
    }

    /// Number of the hart.
    pub fn hart(&self) -> usize {
        self.hart
    }

    /// The calls of a function.
    pub fn durations(&self, function: Function) -> Option<&Durations> {
        self.record.durations.of(function)
    }

    /// Cycles that were observed.
    pub fn cycles(&self) -> u64 {
        self.account.cycles()
    }

    /// First cycles of the times in which it was observed, and the first cycles after them.
    pub(crate) fn windows(&self) -> &[(u64, u64)] {
        self.account.windows()
    }

    /// Instructions executed while it was observed.
    pub fn instructions(&self) -> u64 {
        self.account.instructions()
    }

    /// The timing model's current counters.
    #[inline(always)]
    pub(crate) fn update(&mut self, reasons: Reasons) {
        self.stalls.update(reasons);
    }

    /// Observes the hart from `now` on. Earlier calls are unknown, but `view` shows which task a kernel runs there.
    pub(crate) fn begin(&mut self, view: Option<View<'_>>, now: u64, reasons: Reasons) {
        self.account.switch_on();
        self.start_at(now, reasons);
        self.frames.clear();
        self.announced = Announced::default();
        self.near = Extent::default();
        let Some(view) = view else { return };
        #[expect(clippy::disallowed_methods, reason = "all are changed alike")]
        self.common.lock().parked.values_mut().for_each(Parked::forget);
        self.find_task(view);
        if self.root != Tree::ROOT && !self.is_idle {
            self.record.turns.begin(self.thread, now);
        }
    }

    /// The time before `now` was not observed.
    pub(crate) fn start_at(&mut self, now: u64, reasons: Reasons) {
        self.update(reasons);
        self.stalls.skip();
        self.account.start_at(now);
    }

    /// Observes the hart no longer.
    pub(crate) fn end(&mut self, now: u64, reasons: Reasons) {
        self.update(reasons);
        self.account(now);
        self.pop_to(0, now);
        self.record.turns.end(now);
        self.near = Extent::default();
        self.account.switch_off();
    }

    #[inline(always)]
    pub(crate) fn retired(&mut self, instructions: usize) {
        self.account.retired(instructions);
    }

    /// Whether `pc` is in the function that runs.
    #[inline(always)]
    pub(crate) fn is_within(&self, pc: u64) -> bool {
        self.near.holds(pc)
    }

    /// A call to `pc`.
    pub(crate) fn call(&mut self, pc: u64, returns_to: u64, view: View<'_>, now: u64) {
        self.settle(view);
        if self.is_firmware(view) {
            return;
        }
        self.account(now);
        self.follow_task(pc, view);
        let place = self.called_place(pc, view);
        let pointer = view.register(STACK_POINTER);
        self.push(Entered::Call, &place, returns_to, pointer, now);
    }

    /// A return to `pc`.
    pub(crate) fn returned(&mut self, pc: u64, view: View<'_>, now: u64) {
        self.settle(view);
        if self.is_firmware(view) {
            return;
        }
        self.account(now);
        self.follow_task(pc, view);
        match self.frames.last() {
            Some(top) if top.returns_to == pc && top.entered == Entered::Call => self.pop(now),
            _ => self.unwind(pc, view.register(STACK_POINTER), now),
        }
        self.resume();
        if !self.is_within(pc) {
            self.moved(pc, view, now);
        }
    }

    /// Execution continues at `pc`, in another function, without a call.
    pub(crate) fn moved(&mut self, pc: u64, view: View<'_>, now: u64) {
        self.settle(view);
        if self.is_within(pc) {
            return;
        }
        self.account(now);
        let place = self.place(pc, view);
        let Some(top) = self.frames.last_mut() else {
            self.push(Entered::Bottom, &place, 0, view.register(STACK_POINTER), now);
            return;
        };
        let goes_on = top.function == place.function && (!place.entry || top.code.holds(pc));
        top.code = place.code;
        if !goes_on {
            let frame = *top;
            self.record.leave(self.thread, &frame, self.frames.len() - 1, now);
            let parent = self.parent();
            let node = self.record.tree.child(parent, place.function);
            self.record.tree.node(node).calls += u64::from(place.entry);
            let top = self.frames.last_mut().expect("it was there");
            top.function = place.function;
            top.begin = now;
        }
        self.run(&place);
    }

    /// Execution in the topmost frame's function continues at `place`: its cycles are those of the functions inlined
    /// there.
    fn run(&mut self, place: &Place) {
        let parent = self.parent();
        let Some(top) = self.frames.last_mut() else { return };
        (top.inlined, top.near) = (place.inlined, place.near);
        let function = self.record.tree.child(parent, top.function);
        (top.node, top.runs) = within(
            &mut self.record.tree,
            &self.chains,
            (function, top.function),
            top.inlined,
        );
        self.near = top.near;
    }

    /// A trap was taken. The next observed block identifies the handler.
    pub(crate) fn trapped(&mut self, trap: &Trap, now: u64) {
        self.account(now);
        self.announced.traps.push((*trap, now));
        self.near = Extent::default();
    }

    /// A return from a trap, to `pc`.
    pub(crate) fn resumed(&mut self, pc: u64, view: View<'_>, now: u64) {
        self.settle(view);
        self.account(now);
        let changed = view.privilege() == Privilege::User && self.refresh_task(view);
        let privilege = view.privilege();
        let trap = self
            .frames
            .iter()
            .rposition(|frame| matches!(frame.entered, Entered::Trap(_)));
        let from = trap.map(|index| self.frames[index].entered);
        let wanted = Entered::Trap(privilege);
        let found = self.frames.iter().rposition(|frame| frame.entered == wanted);
        match (trap, found) {
            // Firmware forwards a trap of a program to the kernel.
            (Some(index), _)
                if privilege == Privilege::Supervisor && from == Some(Entered::Trap(Privilege::User)) =>
            {
                self.pop_to(index + 1, now);
                self.near = Extent::default();
            }
            (_, Some(index)) if !changed => {
                let frame = self.frames[index];
                self.pop_to(index, now);
                self.resume();
                if view.privilege() == Privilege::User && !frame.interrupted(pc) {
                    let interrupted = (frame.returns_to, frame.pointer);
                    self.go_on(interrupted, (pc, view.register(STACK_POINTER)), view, now);
                }
            }
            _ => {
                self.pop_to(0, now);
                self.near = Extent::default();
            }
        }
        if !self.is_within(pc) {
            self.moved(pc, view, now);
        }
    }

    /// Accounts for the time up to `now`.
    fn account(&mut self, now: u64) {
        let Some((cycles, instructions)) = self.account.take(now) else {
            return;
        };
        let top = self.frames.last();
        match top {
            Some(top) => self.stalls.account(top.runs),
            None => self.stalls.skip(),
        }
        let node: &mut Node = self.record.tree.node(top.map_or(Tree::ROOT, |top| top.node));
        node.cycles += cycles;
        node.instructions += instructions;
    }

    /// Enters the handlers of traps that were taken since the last block.
    #[inline]
    fn settle(&mut self, view: View<'_>) {
        if self.announced.traps.is_empty() && self.announced.redirects.is_empty() {
            return;
        }
        for redirect in std::mem::take(&mut self.announced.redirects) {
            self.go_on(
                (redirect.from, redirect.pointer),
                redirect.to,
                view,
                redirect.begin,
            );
        }
        for (trap, begin) in std::mem::take(&mut self.announced.traps) {
            let place = self.place_of(trap.target, trap.to, view);
            let entered = Entered::Trap(trap.from);
            self.push(entered, &place, trap.pc, trap.stack_pointer, begin);
            if let Some(top) = self.frames.last_mut() {
                let (code, call) = (trap.cause, view.register(CALL_NUMBER));
                top.cause = Cause { code, call, begin };
            }
        }
    }

    /// Whether firmware runs below a kernel: it is treated as one function.
    fn is_firmware(&self, view: View<'_>) -> bool {
        self.task.has_kernel && view.privilege() == Privilege::Machine
    }
}
