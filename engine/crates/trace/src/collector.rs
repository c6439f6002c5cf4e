use crate::durations::{AllDurations, Durations, SlowCall};
use crate::guest::Mapped;
use crate::linux::{Task, KERNEL};
use crate::names::{Chain, Chains, Code, Function, Place};
use crate::session::{Parked, Session, Shared, Sight};
use crate::slices::{Cause, Longest, Slice, TrapSlice, Turns};
use crate::stack::{remaining, Entered, Frame};
use crate::stalls::{Reasons, Stalls};
use crate::tree::{Node, NodeId, Tree};
use rackwright_cpu::{Privilege, Registers, Trap, View};

// Numbers of integer registers by the calling convention.
const STACK_POINTER: u8 = 2;
const THREAD_POINTER: u8 = 4;
const CALL_NUMBER: u8 = 17;

/// What is kept of one hart: its stack now, and all stacks that it has had.
pub struct Collector {
    hart: usize,
    session: Session,
    pub(crate) tree: Tree,
    pub(crate) durations: AllDurations,
    pub(crate) slices: Longest<Slice>,
    pub(crate) turns: Turns,
    pub(crate) traps: Longest<TrapSlice>,
    pub(crate) stalls: Stalls,
    /// The names of reasons for stalls.
    pub(crate) reasons: &'static [&'static str],
    frames: Vec<Frame>,
    thread: u32,
    /// The node of the thread that runs.
    root: NodeId,
    /// The code that belongs to the node that cycles go to.
    near: Code,
    chains: Chains,
    /// Whether the hart is observed at present; when it was, up to now.
    on: bool,
    windows: Vec<(u64, u64)>,
    /// Up to where cycles and instructions are accounted for, and how many cycles were observed.
    accounted: u64,
    cycles: u64,
    accounted_instructions: u64,
    instructions: u64,
    places: Box<[Option<Known>]>,
    /// Traps whose handlers were not seen yet, and when they were taken.
    pending: Vec<(Trap, u64)>,
    redirects: Vec<Redirect>,
    /// Whether no thread runs, as an emulated kernel has it.
    is_idle: bool,
    has_kernel: bool,
    /// Where the kernel describes the task that runs, its number, and what describes its memory.
    task: u64,
    task_number: u64,
    memory: u64,
}

/// An emulated kernel has had a program go on elsewhere.
#[derive(Clone, Copy)]
struct Redirect {
    /// What was interrupted, and its stack pointer.
    from: u64,
    pointer: u64,
    /// Where it goes on, and with which stack pointer.
    to: (u64, u64),
    begin: u64,
}

/// Places that are kept by address, as a hart needs them over and over.
const PLACES: usize = 1 << 12;

/// The place of an address in an address space.
#[derive(Clone, Copy)]
struct Known {
    pc: u64,
    space: u64,
    place: Place,
    /// Whether it is what a call leads to, which may make it one that a function begins at.
    called: bool,
}

impl Collector {
    /// The collector of hart number `hart`, which has not run yet.
    pub(crate) fn new(hart: usize, session: Session, reasons: &'static [&'static str]) -> Collector {
        Collector {
            hart,
            has_kernel: session.has_kernel(),
            chains: session.chains(),
            session,
            tree: Tree::new(),
            durations: AllDurations::default(),
            slices: Longest::default(),
            turns: Turns::default(),
            traps: Longest::default(),
            stalls: Stalls::default(),
            reasons,
            frames: Vec::new(),
            thread: 0,
            root: Tree::ROOT,
            near: Code::default(),
            on: false,
            windows: Vec::new(),
            accounted: 0,
            cycles: 0,
            accounted_instructions: 0,
            instructions: 0,
            places: vec![None; PLACES].into_boxed_slice(),
            pending: Vec::new(),
            redirects: Vec::new(),
            is_idle: false,
            task: 0,
            task_number: 0,
            memory: 0,
        }
    }

    /// Number of the hart.
    pub fn hart(&self) -> usize {
        self.hart
    }

    /// The calls of a function.
    pub fn durations(&self, function: Function) -> Option<&Durations> {
        self.durations.of(function)
    }

    /// Cycles that were observed.
    pub fn cycles(&self) -> u64 {
        self.cycles
    }

    /// First cycles of the times in which it was observed, and the first cycles after them.
    pub(crate) fn windows(&self) -> &[(u64, u64)] {
        &self.windows
    }

    /// Instructions executed while it was observed.
    pub fn instructions(&self) -> u64 {
        self.instructions
    }

    /// The timing model says so much of itself at present.
    #[inline(always)]
    pub(crate) fn update(&mut self, reasons: Reasons) {
        if !self.reasons.is_empty() {
            self.stalls.update(reasons);
        }
    }

    /// Observes the hart from `now` on. What was called before is not known, but which task a kernel has there, as `view` shows.
    pub(crate) fn begin(&mut self, view: Option<View<'_>>, now: u64, reasons: Reasons) {
        self.on = true;
        self.start_at(now, reasons);
        self.frames.clear();
        self.pending.clear();
        self.redirects.clear();
        self.near = Code::default();
        let Some(view) = view else { return };
        self.session.lock().parked.values_mut().for_each(Parked::forget);
        self.find_task(view);
        if self.root != Tree::ROOT && !self.is_idle {
            self.turns.begin(self.thread, now);
        }
    }

    /// What was before `now` was not observed.
    pub(crate) fn start_at(&mut self, now: u64, reasons: Reasons) {
        self.accounted = now;
        self.update(reasons);
        self.stalls.skip();
        if self.on {
            self.windows.retain(|(begin, end)| begin < end);
            self.windows.push((now, now));
        }
    }

    /// Observes the hart no longer.
    pub(crate) fn end(&mut self, now: u64, reasons: Reasons) {
        self.update(reasons);
        self.account(now);
        self.pop_to(0, now);
        self.turns.end(now);
        self.near = Code::default();
        self.on = false;
    }

    #[inline(always)]
    pub(crate) fn retired(&mut self, instructions: usize) {
        self.instructions += instructions as u64;
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

    /// Code goes on at `pc`, in another function, without a call.
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
            self.leave(&frame, self.frames.len() - 1, now);
            let parent = self.parent();
            let node = self.tree.child(parent, place.function);
            self.tree.node(node).calls += u64::from(place.entry);
            let top = self.frames.last_mut().expect("it was there");
            top.function = place.function;
            top.begin = now;
        }
        self.run(&place);
    }

    /// Code of the topmost frame's function goes on at `place`: cycles go to what is inlined there.
    fn run(&mut self, place: &Place) {
        let parent = self.parent();
        let Some(top) = self.frames.last_mut() else { return };
        (top.inlined, top.near) = (place.inlined, place.near);
        let function = self.tree.child(parent, top.function);
        (top.node, top.runs) = within(
            &mut self.tree,
            &self.chains,
            (function, top.function),
            top.inlined,
        );
        self.near = top.near;
    }

    /// A trap was taken. What its handler is, the next block that is observed says.
    pub(crate) fn trapped(&mut self, trap: &Trap, now: u64) {
        self.account(now);
        self.pending.push((*trap, now));
        self.near = Code::default();
    }

    /// An emulated kernel has the hart go on with other registers: of another thread, of a signal's handler, or of what
    /// that has interrupted. The next block that is observed shows it.
    pub(crate) fn redirected(&mut self, before: &Registers, after: &Registers, now: u64) {
        let pointers = [STACK_POINTER, THREAD_POINTER].map(usize::from);
        let same = before.pc == after.pc
            && pointers
                .iter()
                .all(|number| before.x[*number] == after.x[*number]);
        if self.has_kernel || (same && !self.is_idle) {
            return;
        }
        self.account(now);
        let [stack, thread] = pointers;
        let was_idle = std::mem::take(&mut self.is_idle);
        if was_idle || before.x[thread] != after.x[thread] {
            // Who was taken off an idle hart has its stack kept already.
            if !was_idle {
                self.park(before.x[thread]);
            }
            self.take_thread(after.x[thread]);
        } else if !self.frames.is_empty() {
            self.redirects.push(Redirect {
                from: before.pc,
                pointer: before.x[stack],
                to: (after.pc, after.x[stack]),
                begin: now,
            });
        }
        self.near = Code::default();
    }

    /// An emulated kernel takes the thread with these registers off the hart.
    pub(crate) fn idle(&mut self, registers: &Registers, now: u64) {
        if self.has_kernel {
            return;
        }
        self.account(now);
        self.park(registers.x[usize::from(THREAD_POINTER)]);
        self.turns.end(now);
        self.is_idle = true;
        self.near = Code::default();
    }

    /// Keeps the stack of the thread that is told by its thread pointer.
    fn park(&mut self, pointer: u64) {
        if self.is_idle {
            return;
        }
        let frames = std::mem::take(&mut self.frames);
        let number = u64::from(self.thread);
        let parked = Parked { number, frames };
        self.session.lock().parked.insert(pointer, parked);
    }

    /// Goes on with the thread of a thread pointer.
    fn take_thread(&mut self, pointer: u64) {
        let session = self.session.clone();
        let mut shared = session.lock();
        match shared.parked.remove(&pointer) {
            Some(known) => {
                self.thread = known.number as u32;
                self.frames = known.frames;
            }
            None => self.thread = shared.new_thread(),
        }
        self.hang();
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
            // Firmware hands a trap of a program on to the kernel.
            (Some(index), _)
                if privilege == Privilege::Supervisor && from == Some(Entered::Trap(Privilege::User)) =>
            {
                self.pop_to(index + 1, now);
                self.near = Code::default();
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
                self.near = Code::default();
            }
        }
        if !self.is_within(pc) {
            self.moved(pc, view, now);
        }
    }

    /// Has a program go on elsewhere than where it was `interrupted`: both are an address and a stack pointer.
    fn go_on(&mut self, interrupted: (u64, u64), (pc, pointer): (u64, u64), view: View<'_>, now: u64) {
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

    /// Ends the frames that are gone when code goes on at `pc`.
    fn unwind(&mut self, pc: u64, pointer: u64, now: u64) {
        let count = remaining(&self.frames, pc, pointer);
        self.pop_to(count, now);
    }

    fn push(&mut self, entered: Entered, place: &Place, returns_to: u64, pointer: u64, begin: u64) {
        if self.root == Tree::ROOT {
            self.root = self.tree.child(Tree::ROOT, Function(self.thread));
            self.turns.begin(self.thread, self.accounted);
        }
        let parent = self.frames.last().map_or(self.root, |frame| frame.node);
        let function = self.tree.child(parent, place.function);
        self.tree.node(function).calls += 1;
        let (node, runs) = within(
            &mut self.tree,
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

    fn pop(&mut self, now: u64) {
        if let Some(frame) = self.frames.pop() {
            self.leave(&frame, self.frames.len(), now);
        }
    }

    fn pop_to(&mut self, count: usize, now: u64) {
        while self.frames.len() > count {
            self.pop(now);
        }
    }

    /// A call with `depth` others around it has ended.
    fn leave(&mut self, frame: &Frame, depth: usize, now: u64) {
        let call = SlowCall {
            cycles: now - frame.begin,
            begin: frame.begin,
        };
        self.durations.add(frame.function, call);
        self.slices.add(Slice {
            thread: self.thread,
            depth: depth as u32,
            function: frame.function,
            begin: frame.begin,
            end: now,
        });
        if matches!(frame.entered, Entered::Trap(_)) && self.frames.len() == depth {
            self.traps.add(TrapSlice {
                thread: self.thread,
                cause: frame.cause,
                end: now,
            });
        }
    }

    /// The topmost frame runs.
    fn resume(&mut self) {
        self.near = self.frames.last().map_or_else(Code::default, |top| top.near);
    }

    /// The node that the topmost frame hangs from.
    fn parent(&self) -> NodeId {
        let below = self.frames.len().checked_sub(2);
        below.map_or(self.root, |index| self.frames[index].node)
    }

    /// Accounts for what was done up to `now`.
    fn account(&mut self, now: u64) {
        if !self.on {
            self.accounted = now;
            return;
        }
        let top = self.frames.last();
        if !self.reasons.is_empty() {
            match top {
                Some(top) => self.stalls.account(top.runs),
                None => self.stalls.skip(),
            }
        }
        let node: &mut Node = self.tree.node(top.map_or(Tree::ROOT, |top| top.node));
        node.cycles += now - self.accounted;
        self.cycles += now - self.accounted;
        if let Some((_, end)) = self.windows.last_mut() {
            *end = now;
        }
        node.instructions += self.instructions - self.accounted_instructions;
        self.accounted = now;
        self.accounted_instructions = self.instructions;
    }

    /// Enters the handlers of traps that were taken since the last block.
    #[inline]
    fn settle(&mut self, view: View<'_>) {
        if self.pending.is_empty() && self.redirects.is_empty() {
            return;
        }
        for redirect in std::mem::take(&mut self.redirects) {
            self.go_on(
                (redirect.from, redirect.pointer),
                redirect.to,
                view,
                redirect.begin,
            );
        }
        for (trap, begin) in std::mem::take(&mut self.pending) {
            let place = self.place_of(trap.target, trap.to, view);
            let entered = Entered::Trap(trap.from);
            self.push(entered, &place, trap.pc, trap.stack_pointer, begin);
            if let Some(top) = self.frames.last_mut() {
                let (code, call) = (trap.cause, view.register(CALL_NUMBER));
                top.cause = Cause { code, call, begin };
            }
        }
    }

    /// Whether firmware runs below a kernel: it is one function to us.
    fn is_firmware(&self, view: View<'_>) -> bool {
        self.has_kernel && view.privilege() == Privilege::Machine
    }

    /// A kernel has another task's registers: its stack is another one.
    fn follow_task(&mut self, pc: u64, view: View<'_>) {
        let task = view.register(THREAD_POINTER);
        if !self.has_kernel || pc < KERNEL || task < KERNEL || task == self.task {
            return;
        }
        if view.privilege() != Privilege::Supervisor {
            return;
        }
        let session = self.session.clone();
        let mut shared = session.lock();
        let Some(found) = shared.linux().and_then(|linux| linux.task(mapped(view), task)) else {
            return;
        };
        let parked = Parked {
            number: self.task_number,
            frames: std::mem::take(&mut self.frames),
        };
        // What ran before the first task goes on as that task.
        let begun = self.task == 0;
        shared.parked.insert(self.task, parked);
        let known = shared.parked.remove(&if begun { 0 } else { task });
        match known {
            Some(known) if begun || known.number == found.thread.number => self.frames = known.frames,
            // A task that was not there before: what was known of its memory may be another's.
            _ => self.places.fill(None),
        }
        self.task = task;
        self.become_task(&found, &mut shared);
    }

    /// Finds out which task a kernel has on the hart.
    pub(crate) fn find_task(&mut self, view: View<'_>) {
        let task = task_on(view);
        if !self.has_kernel || task < KERNEL {
            return;
        }
        let session = self.session.clone();
        let mut shared = session.lock();
        let found = shared.linux().and_then(|linux| linux.task(mapped(view), task));
        if let Some(found) = found {
            self.places.fill(None);
            self.task = task;
            self.become_task(&found, &mut shared);
        }
    }

    /// Takes note of what a program's memory is now; tells whether it has become another program's.
    fn refresh_task(&mut self, view: View<'_>) -> bool {
        if self.task == 0 {
            return false;
        }
        let session = self.session.clone();
        let mut shared = session.lock();
        let Some(linux) = shared.linux() else { return false };
        let guest = mapped(view);
        if linux.memory_of(guest, self.task) == Some(self.memory) {
            return false;
        }
        let Some(found) = linux.task(guest, self.task) else {
            return false;
        };
        self.places.fill(None);
        self.become_task(&found, &mut shared);
        true
    }

    /// The task that runs is `found`.
    fn become_task(&mut self, found: &Task, shared: &mut Shared) {
        self.task_number = found.thread.number;
        self.memory = found.memory;
        self.thread = shared.thread(&found.thread);
        self.hang();
    }

    /// Hangs the frames from the thread that runs, in the tree of this hart.
    fn hang(&mut self) {
        self.root = self.tree.child(Tree::ROOT, Function(self.thread));
        self.turns.begin(self.thread, self.accounted);
        let mut parent = self.root;
        for frame in &mut self.frames {
            let function = self.tree.child(parent, frame.function);
            (frame.node, _) = within(
                &mut self.tree,
                &self.chains,
                (function, frame.function),
                frame.inlined,
            );
            parent = frame.node;
        }
    }

    fn place(&mut self, pc: u64, view: View<'_>) -> Place {
        self.place_of(pc, view.privilege(), view)
    }

    /// The place of a function that is called.
    fn called_place(&mut self, pc: u64, view: View<'_>) -> Place {
        self.find_place(pc, view.privilege(), view, pc < KERNEL)
    }

    fn place_of(&mut self, pc: u64, privilege: Privilege, view: View<'_>) -> Place {
        self.find_place(pc, privilege, view, false)
    }

    fn find_place(&mut self, pc: u64, privilege: Privilege, view: View<'_>, called: bool) -> Place {
        let (slot, space) = self.slot(pc, privilege);
        if let Some(known) = self.places[slot] {
            if known.pc == pc && known.space == space && (known.called || !called) {
                return known.place;
            }
        }
        let place = self.session.lock().place(self.sight(privilege, view), pc, called);
        self.places[slot] = Some(Known {
            pc,
            space,
            place,
            called,
        });
        place
    }

    /// Where the place of `pc` is kept, and what tells it from others with the same address.
    fn slot(&self, pc: u64, privilege: Privilege) -> (usize, u64) {
        let space = if pc >= KERNEL {
            KERNEL
        } else {
            self.memory ^ (privilege as u64) << 62
        };
        ((pc >> 1 ^ pc >> 13) as usize % PLACES, space)
    }

    fn sight<'a>(&self, privilege: Privilege, view: View<'a>) -> Sight<'a> {
        Sight {
            guest: mapped(view),
            privilege,
            memory: self.memory,
        }
    }
}

/// The node of the innermost function of a chain that is inlined into the one at a node, and that function.
fn within(
    tree: &mut Tree,
    chains: &Chains,
    function: (NodeId, Function),
    chain: Chain,
) -> (NodeId, Function) {
    if chain == Chain::NONE {
        return function;
    }
    let functions = chains.functions(chain);
    let into = |(node, _), inlined: &Function| (tree.child(node, *inlined), *inlined);
    functions.iter().fold(function, into)
}

/// Where a kernel describes the task that it has on a hart: in its thread pointer, which it puts away when a program runs.
pub(crate) fn task_on(view: View<'_>) -> u64 {
    match view.privilege() {
        Privilege::User => view.supervisor_scratch(),
        _ => view.register(THREAD_POINTER),
    }
}

pub(crate) fn mapped(view: View<'_>) -> Mapped<'_> {
    Mapped {
        memory: view.memory(),
        page_tables: view.page_tables(),
    }
}
