//! Recording of a hart's execution.

use crate::recorded::{Chunk, Context, RecordedCode};
use crate::trace_file::TraceFile;
use rackwright_cpu::{Privilege, View};
use std::collections::HashMap;
use std::sync::Arc;

/// Blocks of a chunk: some megabytes before they are compressed.
const BLOCKS: usize = 1 << 18;

/// The place of code that a chunk does not know yet.
const UNKNOWN: u32 = u32::MAX;

/// Writes the execution of one hart to a file, chunk by chunk.
pub(crate) struct Tracer {
    hart: usize,
    file: Arc<TraceFile>,
    chunk: Chunk,
    /// The places of codes in the chunk, by their numbers.
    places: Vec<u32>,
    /// The context of the next instruction, if it is known.
    context: Option<Context>,
    /// Instructions that devices answer to, by address and word: they are in no block.
    accesses: HashMap<(u64, u32), Arc<RecordedCode>>,
}

impl Tracer {
    pub(crate) fn new(hart: usize, file: Arc<TraceFile>) -> Tracer {
        Tracer {
            hart,
            file,
            chunk: Chunk::default(),
            places: Vec::new(),
            context: None,
            accesses: HashMap::new(),
        }
    }

    /// The next block does not follow the last recorded one.
    pub(crate) fn begin(&mut self) {
        self.context = None;
    }

    /// The first `executed` instructions of `code` were executed, until the cycle `now`.
    #[inline]
    pub(crate) fn executed(&mut self, code: &Arc<RecordedCode>, executed: usize, view: View<'_>, now: u64) {
        let after = Context {
            privilege: view.privilege(),
            page_tables: view.page_tables(),
        };
        // The end of a block may change the context of the next one.
        let context = self.context.replace(after).unwrap_or(after);
        self.add(code, executed, context, now);
    }

    /// A trap was taken to this mode.
    pub(crate) fn trapped(&mut self, to: Privilege) {
        if let Some(context) = &mut self.context {
            context.privilege = to;
        }
    }

    /// A device has answered to the instruction `word` at `pc`, in the cycle `now`.
    pub(crate) fn accessed(&mut self, pc: u64, word: u32, now: u64) {
        // A hart that waits for a device has completed the block before.
        let Some(context) = self.context else { return };
        let file = &self.file;
        let new = || Arc::new(RecordedCode::new(file.number(), pc, std::iter::once(word)));
        let code = self.accesses.entry((pc, word)).or_insert_with(new).clone();
        self.add(&code, 1, context, now);
    }

    fn add(&mut self, code: &Arc<RecordedCode>, executed: usize, context: Context, now: u64) {
        if executed == 0 {
            return;
        }
        if code.number >= self.places.len() {
            self.places.resize(code.number + 1, UNKNOWN);
        }
        let place = &mut self.places[code.number];
        if *place == UNKNOWN {
            *place = self.chunk.learn(code);
        }
        self.chunk.add(*place, executed, context, now);
        if self.chunk.blocks() == BLOCKS {
            self.flush();
        }
    }

    #[cold]
    fn flush(&mut self) {
        for number in self.chunk.known() {
            self.places[number] = UNKNOWN;
        }
        let after = Chunk::after(self.chunk.last());
        let chunk = std::mem::replace(&mut self.chunk, after);
        self.file.append(&chunk.finish(self.hart));
    }
}

impl Drop for Tracer {
    fn drop(&mut self) {
        if self.chunk.blocks() > 0 {
            self.flush();
        }
    }
}
