//! Start and end of an observation: triggers as checked by harts.

use rackwright_cpu::BlockInstruction;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::Arc;

/// A trigger with the addresses at which it may fire.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Armed {
    Never,
    Cycle(u64),
    Instructions(u64),
    Address(u64),
    /// A function of a file, of which only the offset in a page is known before it is mapped.
    InPage {
        offset: u64,
        file: String,
        name: String,
    },
    Word(u32),
    Process(String),
    /// A counter, by its place among all, reaches a value.
    Counter(usize, u64),
    /// A counter rises.
    Event(usize),
}

/// Bits of an address within a page.
const IN_PAGE: u64 = 4095;

impl Armed {
    /// Whether it may happen at an instruction.
    fn marks(&self, at: &BlockInstruction) -> bool {
        match self {
            Armed::Address(address) => at.pc == *address,
            Armed::InPage { offset, .. } => at.pc & IN_PAGE == *offset,
            Armed::Word(word) => at.instruction.word == *word,
            _ => false,
        }
    }

    /// Whether it depends on counters.
    fn counts(&self) -> bool {
        matches!(self, Armed::Counter(..) | Armed::Event(_))
    }
}

/// The instructions of a block that triggers check: the first one for each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Marks([Option<(usize, u64)>; 2]);

impl Marks {
    /// Number and address of the instruction that the trigger for this phase checks.
    pub(crate) fn of(&self, phase: Phase) -> Option<(usize, u64)> {
        self.0[phase as usize]
    }
}

/// Whether harts are observed at present, which determines the awaited trigger.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Phase {
    Off = 0,
    On = 1,
}

/// The triggers of a machine, and their state.
#[derive(Debug)]
pub(crate) struct Watch {
    /// The triggers that start and end the observation.
    triggers: [Armed; 2],
    /// The number of changes; if it is odd, harts are observed.
    changes: AtomicU32,
    /// Whether a trigger that fires once has.
    spent: [AtomicBool; 2],
    begins_on: bool,
}

impl Watch {
    pub(crate) fn new(from: Option<Armed>, to: Option<Armed>) -> Arc<Watch> {
        let begins_on = from.is_none();
        Arc::new(Watch {
            triggers: [from, to].map(|each| each.unwrap_or(Armed::Never)),
            changes: AtomicU32::new(u32::from(begins_on)),
            spent: Default::default(),
            begins_on,
        })
    }

    #[inline(always)]
    pub(crate) fn changes(&self) -> u32 {
        self.changes.load(Ordering::Relaxed)
    }

    pub(crate) fn phase(&self) -> Phase {
        match self.changes() & 1 {
            0 => Phase::Off,
            _ => Phase::On,
        }
    }

    /// The awaited trigger.
    pub(crate) fn armed(&self) -> &Armed {
        let phase = self.phase() as usize;
        if self.spent[phase].load(Ordering::Relaxed) {
            return &Armed::Never;
        }
        &self.triggers[phase]
    }

    /// The awaited event has occurred.
    pub(crate) fn fire(&self) {
        let once = matches!(
            self.armed(),
            Armed::Cycle(_) | Armed::Instructions(_) | Armed::Counter(..)
        );
        self.spent[self.phase() as usize].store(once, Ordering::Relaxed);
        self.changes.fetch_add(1, Ordering::Relaxed);
    }

    /// Number of times that a trigger has started, and ended, the observation.
    pub(crate) fn fired(&self) -> [u32; 2] {
        let changes = self.changes();
        [changes.div_ceil(2) - u32::from(self.begins_on), changes / 2]
    }

    /// The instructions of a block that triggers check.
    pub(crate) fn marks(&self, instructions: &[BlockInstruction]) -> Option<Box<Marks>> {
        let marks = self.triggers.each_ref().map(|trigger| {
            let index = instructions.iter().position(|at| trigger.marks(at))?;
            Some((index, instructions[index].pc))
        });
        (marks != [None, None]).then(|| Box::new(Marks(marks)))
    }

    /// Whether the current process has to be tracked.
    pub(crate) fn follows_processes(&self) -> bool {
        let process = |trigger: &Armed| matches!(trigger, Armed::Process(_));
        self.triggers.iter().any(process)
    }

    /// Whether counters have to be checked while harts are not observed.
    pub(crate) fn counts(&self) -> bool {
        self.triggers.iter().any(Armed::counts)
    }
}
