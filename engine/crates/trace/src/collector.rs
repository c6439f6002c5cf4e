use crate::durations::{AllDurations, Durations, SlowCall};
use crate::names::{Function, Place};
use crate::session::Session;
use crate::slices::{Slice, Slices};
use crate::stack::{remaining, Entered, Frame};
use crate::tree::{Node, NodeId, Tree};

/// Counters of a hart and of what it shares with others, at one time.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Counts {
    /// When.
    pub cycle: u64,
    /// Instructions executed by the hart.
    pub instructions: u64,
    /// What the [`Sampling`] has read.
    pub values: Vec<u64>,
}

/// How counters are looked at, and how often.
pub struct Sampling {
    /// Cycles between two looks.
    pub every: u64,
    /// Reads them; must not change anything that the simulation goes by.
    pub read: Box<dyn Fn() -> Vec<u64> + Send>,
}

/// What is kept of one hart: its stack now, and all stacks that it has had.
pub struct Collector {
    hart: usize,
    session: Session,
    pub(crate) tree: Tree,
    pub(crate) durations: AllDurations,
    pub(crate) slices: Slices,
    pub(crate) samples: Vec<Counts>,
    frames: Vec<Frame>,
    thread: u32,
    /// The node of the thread that runs.
    root: NodeId,
    /// The code of the function that runs.
    low: u64,
    span: u64,
    /// Up to where cycles and instructions are accounted for.
    accounted: u64,
    accounted_instructions: u64,
    instructions: u64,
    places: Box<[(u64, Option<Place>)]>,
}

/// Places that are kept by address, as a hart needs them over and over.
const PLACES: usize = 1 << 12;

impl Collector {
    /// The collector of hart number `hart`, which has not run yet.
    pub(crate) fn new(hart: usize, session: Session) -> Collector {
        Collector {
            hart,
            session,
            tree: Tree::new(),
            durations: AllDurations::default(),
            slices: Slices::new(),
            samples: Vec::new(),
            frames: Vec::new(),
            thread: 0,
            root: Tree::ROOT,
            low: 0,
            span: 0,
            accounted: 0,
            accounted_instructions: 0,
            instructions: 0,
            places: vec![(0, None); PLACES].into_boxed_slice(),
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

    /// Up to where cycles are accounted for.
    pub fn cycles(&self) -> u64 {
        self.accounted
    }

    /// Instructions executed.
    pub fn instructions(&self) -> u64 {
        self.instructions
    }

    pub(crate) fn sample(&mut self, cycle: u64, values: Vec<u64>) {
        self.samples.push(Counts {
            cycle,
            instructions: self.instructions,
            values,
        });
    }

    #[inline(always)]
    pub(crate) fn retired(&mut self, instructions: usize) {
        self.instructions += instructions as u64;
    }

    /// Whether `pc` is in the function that runs.
    #[inline(always)]
    pub(crate) fn is_within(&self, pc: u64) -> bool {
        pc.wrapping_sub(self.low) < self.span
    }

    /// A call to `pc`, made in cycle `now` with the stack pointer `pointer`.
    pub(crate) fn call(&mut self, pc: u64, returns_to: u64, pointer: u64, now: u64) {
        self.account(now);
        let place = self.place(pc);
        self.push(Entered::Call, &place, returns_to, pointer, now);
    }

    /// A return to `pc`, with the stack pointer `pointer`.
    pub(crate) fn returned(&mut self, pc: u64, pointer: u64, now: u64) {
        self.account(now);
        match self.frames.last() {
            Some(top) if top.returns_to == pc && top.entered == Entered::Call => self.pop(now),
            _ => {
                let count = remaining(&self.frames, pc, pointer);
                while self.frames.len() > count {
                    self.pop(now);
                }
            }
        }
        self.resume();
        if !self.is_within(pc) {
            self.moved(pc, pointer, now);
        }
    }

    /// Code goes on at `pc`, in another function, without a call.
    pub(crate) fn moved(&mut self, pc: u64, pointer: u64, now: u64) {
        self.account(now);
        let place = self.place(pc);
        let Some(top) = self.frames.last_mut() else {
            self.push(Entered::Bottom, &place, 0, pointer, now);
            return;
        };
        (top.low, top.span) = (place.low, place.span);
        if top.function != place.function || place.entry {
            let frame = *top;
            self.leave(&frame, now);
            let parent = self.parent();
            let node = self.tree.child(parent, place.function);
            self.tree.node(node).calls += u64::from(place.entry);
            let top = self.frames.last_mut().expect("it was there");
            top.function = place.function;
            top.node = node;
            top.begin = now;
        }
        self.resume();
    }

    /// The hart is gone.
    pub(crate) fn finish(mut self, now: u64) {
        self.account(now);
        while !self.frames.is_empty() {
            self.pop(now);
        }
        let session = self.session.clone();
        session.finish(self);
    }

    fn push(&mut self, entered: Entered, place: &Place, returns_to: u64, pointer: u64, begin: u64) {
        if self.root == Tree::ROOT {
            self.root = self.tree.child(Tree::ROOT, Function(self.thread));
        }
        let parent = self.frames.last().map_or(self.root, |frame| frame.node);
        let node = self.tree.child(parent, place.function);
        self.tree.node(node).calls += 1;
        self.frames.push(Frame {
            function: place.function,
            node,
            entered,
            returns_to,
            pointer,
            begin,
            low: place.low,
            span: place.span,
        });
        (self.low, self.span) = (place.low, place.span);
    }

    fn pop(&mut self, now: u64) {
        if let Some(frame) = self.frames.pop() {
            self.leave(&frame, now);
        }
    }

    /// A call has ended.
    fn leave(&mut self, frame: &Frame, now: u64) {
        let call = SlowCall {
            cycles: now - frame.begin,
            begin: frame.begin,
        };
        self.durations.add(frame.function, call);
        self.slices.add(Slice {
            thread: self.thread,
            depth: self.frames.len() as u32,
            function: frame.function,
            begin: frame.begin,
            end: now,
        });
    }

    /// The topmost frame runs.
    fn resume(&mut self) {
        (self.low, self.span) = self.frames.last().map_or((0, 0), |top| (top.low, top.span));
    }

    /// The node that the topmost frame hangs from.
    fn parent(&self) -> NodeId {
        let below = self.frames.len().checked_sub(2);
        below.map_or(self.root, |index| self.frames[index].node)
    }

    /// Accounts for what was done up to `now`.
    fn account(&mut self, now: u64) {
        let node = self.frames.last().map_or(Tree::ROOT, |top| top.node);
        let node: &mut Node = self.tree.node(node);
        node.cycles += now - self.accounted;
        node.instructions += self.instructions - self.accounted_instructions;
        self.accounted = now;
        self.accounted_instructions = self.instructions;
    }

    fn place(&mut self, pc: u64) -> Place {
        let slot = (pc >> 1 ^ pc >> 13) as usize % PLACES;
        if let (known, Some(place)) = self.places[slot] {
            if known == pc {
                return place;
            }
        }
        let place = self.session.lock().place(pc);
        self.places[slot] = (pc, Some(place));
        place
    }
}
