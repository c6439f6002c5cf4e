//! Executed blocks, as in a chunk of a trace (docs/trace.md specifies every field).

use crate::trace_file::{Finished, Kind};
use rackwright_cpu::Privilege;
use std::sync::Arc;

/// The instructions of a block, as a trace shows them.
#[derive(PartialEq, Eq, Debug)]
pub(crate) struct RecordedCode {
    /// No other code of the trace has this number.
    pub(crate) number: usize,
    pc: u64,
    words: Box<[u32]>,
}

impl RecordedCode {
    /// Code from the virtual address `pc` on.
    pub(crate) fn new(number: usize, pc: u64, words: impl Iterator<Item = u32>) -> RecordedCode {
        RecordedCode {
            number,
            pc,
            words: words.collect(),
        }
    }
}

/// The context in which the code of a block is executed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Context {
    pub(crate) privilege: Privilege,
    /// The control register `satp`.
    pub(crate) page_tables: u64,
}

/// Blocks that a hart has executed, one after the other.
#[derive(Default)]
pub(crate) struct Chunk {
    /// The codes of blocks, each once.
    codes: Vec<Arc<RecordedCode>>,
    /// From which block on there is another context.
    contexts: Vec<(u32, Context)>,
    /// Of each block: the place of its code, its instructions that were executed, and the cycles since the block before.
    places: Vec<u32>,
    executed: Vec<u8>,
    cycles: Vec<u64>,
    instructions: u64,
    /// The cycles of the last block before the chunk, and of its own last one.
    before: u64,
    last: u64,
}

impl Chunk {
    /// An empty chunk that follows a block which ended in cycle `before`.
    pub(crate) fn after(before: u64) -> Chunk {
        Chunk {
            before,
            last: before,
            ..Chunk::default()
        }
    }

    pub(crate) fn blocks(&self) -> usize {
        self.places.len()
    }

    /// The cycle in which the last block ended.
    pub(crate) fn last(&self) -> u64 {
        self.last
    }

    /// Adds `code` to the table, and returns its position.
    pub(crate) fn learn(&mut self, code: &Arc<RecordedCode>) -> u32 {
        self.codes.push(code.clone());
        self.codes.len() as u32 - 1
    }

    /// The numbers of the codes that it knows.
    pub(crate) fn known(&self) -> impl Iterator<Item = usize> + '_ {
        self.codes.iter().map(|code| code.number)
    }

    /// Adds a block whose first `executed` instructions were executed, until the cycle `now`.
    #[inline]
    pub(crate) fn add(&mut self, place: u32, executed: usize, context: Context, now: u64) {
        if self.contexts.last().is_none_or(|(_, last)| *last != context) {
            self.contexts.push((self.places.len() as u32, context));
        }
        self.places.push(place);
        self.executed.push(executed as u8);
        self.cycles.push(now - self.last);
        self.instructions += executed as u64;
        self.last = now;
    }

    /// The data for the file.
    pub(crate) fn finish(&self, hart: usize) -> Finished {
        let words = self.codes.iter().flat_map(|code| code.words.iter().copied());
        let mut columns = Columns::default();
        columns.planes(self.codes.iter().map(|code| code.pc.to_le_bytes()));
        columns.planes(self.codes.iter().map(|code| [code.words.len() as u8]));
        columns.planes(words.clone().map(u32::to_le_bytes));
        columns.planes(self.contexts.iter().map(|(from, _)| from.to_le_bytes()));
        columns.planes(
            self.contexts
                .iter()
                .map(|(_, context)| [number(context.privilege)]),
        );
        let page_tables = self.contexts.iter().map(|(_, context)| context.page_tables);
        columns.planes(page_tables.map(u64::to_le_bytes));
        columns.planes(self.places.iter().map(|place| place.to_le_bytes()));
        columns.planes(self.executed.iter().map(|executed| [*executed]));
        columns.planes(self.cycles.iter().map(|cycles| cycles.to_le_bytes()));
        Finished {
            kind: Kind::Blocks,
            hart: hart as u32,
            counts: [
                self.codes.len(),
                words.count(),
                self.contexts.len(),
                self.places.len(),
            ]
            .map(|n| n as u32),
            instructions: self.instructions,
            cycles: (self.before, self.last),
            payload: columns.0,
        }
    }
}

/// As in the privileged manual, table 1.1.
fn number(privilege: Privilege) -> u8 {
    match privilege {
        Privilege::User => 0,
        Privilege::Supervisor => 1,
        Privilege::Machine => 3,
    }
}

/// Columns of numbers, each with the lowest bytes of all its numbers first: bytes that are alike lie side by side.
#[derive(Default)]
struct Columns(Vec<u8>);

impl Columns {
    fn planes<const BYTES: usize>(&mut self, numbers: impl Iterator<Item = [u8; BYTES]> + Clone) {
        for plane in 0..BYTES {
            self.0.extend(numbers.clone().map(|bytes| bytes[plane]));
        }
    }
}
