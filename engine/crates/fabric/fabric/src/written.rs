use rackwright_time::fabric::{Cycle, Cycles};

/// What has been written somewhere, and when.
#[derive(Clone, Copy, Default)]
pub(crate) struct Written {
    first: Option<Cycle>,
    last: Cycle,
    bytes: u64,
}

impl Written {
    /// So many bytes arrive.
    pub(crate) fn add(&mut self, at: Cycle, bytes: usize) {
        // What the first packet brings is left out: between two ends, only the second one's bytes have come.
        if self.first.is_some() {
            self.bytes += bytes as u64;
        }
        self.first.get_or_insert(at);
        self.last = at;
    }

    /// Bytes after the first packet, and how long they took.
    pub(crate) fn rate(&self) -> (u64, Cycles) {
        (self.bytes, self.last.since(self.first.unwrap_or(self.last)))
    }
}
