//! The file of a trace (docs/trace.md).

use serde::Serialize;
use std::fs::File;
use std::io::{Error, Write};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

const MAGIC: &[u8; 8] = b"rwtrace\0";
const VERSION: u32 = 1;

/// Of zstd: the quickest of its usual levels.
const LEVEL: i32 = 1;

/// The description of the run in the header of a trace.
#[derive(Clone, PartialEq, Eq, Serialize, Debug)]
pub struct About {
    /// The program or the kernel.
    pub software: String,
    /// The model of the harts.
    pub cpu: String,
    /// Cycles in a second.
    pub clock_hz: u64,
}

/// The result of a trace.
#[derive(Clone, PartialEq, Eq, Serialize, Default, Debug)]
pub struct TraceRecord {
    /// Instructions that the file has, of all harts.
    pub instructions: u64,
    /// Its length.
    pub bytes: u64,
    /// Number of instructions that are missing because it could not be written any more.
    pub lost_instructions: u64,
    /// Why not.
    pub error: Option<String>,
}

/// The kind of a chunk's data.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// The trace is at its end, and complete.
    End = 0,
    Blocks = 1,
}

/// A chunk in the file's format, before compression.
pub(crate) struct Finished {
    pub(crate) kind: Kind,
    pub(crate) hart: u32,
    /// Codes, their words, contexts, blocks.
    pub(crate) counts: [u32; 4],
    pub(crate) instructions: u64,
    /// Of the last block before it, and of its own last one.
    pub(crate) cycles: (u64, u64),
    pub(crate) payload: Vec<u8>,
}

impl Finished {
    fn bytes(&self) -> Result<Vec<u8>, Error> {
        let compressed = zstd::bulk::compress(&self.payload, LEVEL)?;
        let lengths = [compressed.len() as u32, self.payload.len() as u32];
        let mut bytes = vec![];
        let numbers = [self.kind as u32, self.hart]
            .into_iter()
            .chain(lengths)
            .chain(self.counts);
        numbers.for_each(|number| bytes.extend(number.to_le_bytes()));
        let long = [self.instructions, self.cycles.0, self.cycles.1];
        long.iter().for_each(|number| bytes.extend(number.to_le_bytes()));
        let mut sum = crc32fast::Hasher::new();
        sum.update(&bytes);
        sum.update(&compressed);
        bytes.extend(sum.finalize().to_le_bytes());
        bytes.extend(compressed);
        Ok(bytes)
    }
}

/// A trace that is being written. If a write fails, earlier data remain, and later data are only counted.
pub struct TraceFile {
    state: Mutex<State>,
    numbers: AtomicUsize,
}

struct State {
    /// None if it is complete, or cannot be written any more.
    file: Option<File>,
    record: TraceRecord,
}

impl TraceFile {
    /// A new file.
    ///
    /// # Errors
    /// When there can be none at `path`.
    pub fn create(path: &Path, about: &About) -> Result<TraceFile, Error> {
        let mut state = State {
            file: Some(File::create(path)?),
            record: TraceRecord::default(),
        };
        let about = serde_json::to_vec(about)?;
        let mut head = MAGIC.to_vec();
        head.extend(VERSION.to_le_bytes());
        head.extend((about.len() as u32).to_le_bytes());
        head.extend(about);
        head.extend(crc32fast::hash(&head).to_le_bytes());
        state.write(&head, 0);
        Ok(TraceFile {
            state: Mutex::new(state),
            numbers: AtomicUsize::new(0),
        })
    }

    /// A number for code, other than all before.
    pub(crate) fn number(&self) -> usize {
        self.numbers.fetch_add(1, Ordering::Relaxed)
    }

    pub(crate) fn append(&self, chunk: &Finished) {
        let bytes = chunk.bytes();
        let mut state = self.lock();
        match bytes {
            Ok(bytes) => state.write(&bytes, chunk.instructions),
            Err(error) => state.fail(&error, chunk.instructions),
        }
    }

    /// Ends the file, after the harts have been dropped; returns its result.
    pub(crate) fn finish(&self) -> TraceRecord {
        let mut state = self.lock();
        let end = Finished {
            kind: Kind::End,
            hart: 0,
            counts: [0; 4],
            instructions: state.record.instructions,
            cycles: (0, 0),
            payload: Vec::new(),
        };
        match end.bytes() {
            Ok(bytes) => state.write(&bytes, 0),
            Err(error) => state.fail(&error, 0),
        }
        state.file = None;
        state.record.clone()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn write(&mut self, bytes: &[u8], instructions: u64) {
        let Some(file) = &mut self.file else {
            self.record.lost_instructions += instructions;
            return;
        };
        match file.write_all(bytes) {
            Ok(()) => {
                self.record.bytes += bytes.len() as u64;
                self.record.instructions += instructions;
            }
            Err(error) => self.fail(&error, instructions),
        }
    }

    fn fail(&mut self, error: &Error, instructions: u64) {
        if let Some(file) = self.file.take() {
            // An incomplete chunk is useless; if it cannot be truncated, readers skip it.
            let _ = file.set_len(self.record.bytes);
            self.record.error = Some(error.to_string());
        }
        self.record.lost_instructions += instructions;
    }
}
