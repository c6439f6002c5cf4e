use crate::cache::LINE_BYTES;
use crate::port::RequesterId;
use rackwright_state::{Pass, State, StateError};
use rackwright_time::Cycle;

/// A line that a unit watches.
struct Watch {
    line: u64,
    port: RequesterId,
    /// When L2 last took a write there, since the watch began.
    written: Option<Cycle>,
}

/// The lines that units watch, few at a time.
#[derive(Default)]
pub(crate) struct Watches(Vec<Watch>);

impl Watches {
    /// A unit watches the line of `address` through `port` from now on.
    pub(crate) fn begin(&mut self, address: u64, port: RequesterId) {
        self.0.push(Watch {
            line: address / LINE_BYTES,
            port,
            written: None,
        });
    }

    /// Ends a watch; returns the time of the last write to the line, if there was one.
    pub(crate) fn end(&mut self, address: u64, port: RequesterId) -> Option<Cycle> {
        let line = address / LINE_BYTES;
        let mut watches = self.0.iter();
        let index = watches.position(|watch| watch.line == line && watch.port == port)?;
        self.0.swap_remove(index).written
    }

    /// Whether the line of `address` is watched.
    #[inline]
    pub(crate) fn hold(&self, address: u64) -> bool {
        self.0.iter().any(|watch| watch.line == address / LINE_BYTES)
    }

    /// L2 takes a write in the line of `address` at `at`.
    #[inline]
    pub(crate) fn note(&mut self, address: u64, at: Cycle) {
        for watch in &mut self.0 {
            if watch.line == address / LINE_BYTES {
                watch.written = Some(at);
            }
        }
    }
}

impl State for Watch {
    fn pass(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        self.line.pass(by)?;
        self.port.0.pass(by)?;
        self.written.pass(by)
    }
}

impl State for Watches {
    fn pass(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        by.list(&mut self.0, || Watch {
            line: 0,
            port: RequesterId(0),
            written: None,
        })
    }
}
