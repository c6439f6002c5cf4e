use rackwright_time::fabric::{Cycle, Cycles};

/// The amount and times of writes to a destination.
#[derive(Clone, Copy, Default)]
pub(crate) struct Written {
    first: Option<Cycle>,
    last: Cycle,
    bytes: u64,
}

impl Written {
    /// Records the arrival of `bytes` bytes.
    pub(crate) fn add(&mut self, at: Cycle, bytes: usize) {
        // The data of the first packet are omitted: between two completions, only the second one's bytes have arrived.
        if self.first.is_some() {
            self.bytes += bytes as u64;
        }
        self.first.get_or_insert(at);
        self.last = at;
    }

    /// Bytes after the first packet, and the time that they took.
    pub(crate) fn rate(&self) -> (u64, Cycles) {
        (self.bytes, self.last.since(self.first.unwrap_or(self.last)))
    }
}
