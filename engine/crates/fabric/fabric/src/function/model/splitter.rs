use crate::function::{BEAT, NEVER};
use serde::{Deserialize, Serialize};

/// A range of addresses that a request reads or writes.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Span {
    pub(super) address: u64,
    pub(super) bytes: u64,
}

/// The part of it in one packet, and whether it is the last.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Piece {
    pub(super) address: u64,
    pub(super) beats: u64,
    pub(super) last: bool,
}

/// Cuts ranges at multiples of the longest packet, a piece every second cycle at most.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct Splitter {
    current: Option<Span>,
    /// The time from which on the current range is split, or the next one is accepted.
    since: u64,
    /// The next piece, and the time from which on it is ready.
    offer: Option<(u64, Piece)>,
    /// From when on there is room for the next.
    room: u64,
}

impl Splitter {
    /// From when on it takes a range.
    pub(super) fn free_at(&self) -> u64 {
        if self.current.is_some() {
            NEVER
        } else {
            self.since
        }
    }

    pub(super) fn take(&mut self, now: u64, span: Span) {
        self.current = Some(span);
        self.since = now + 1;
    }

    /// When it cuts next.
    pub(super) fn due(&self) -> u64 {
        if self.current.is_some() && self.offer.is_none() {
            self.since.max(self.room)
        } else {
            NEVER
        }
    }

    pub(super) fn step(&mut self, now: u64, limit: u64) {
        let Some(span) = &mut self.current else { return };
        let ahead = limit - (span.address & (limit - 1));
        let bytes = span.bytes.min(ahead);
        let piece = Piece {
            address: span.address,
            beats: bytes / BEAT,
            last: bytes == span.bytes,
        };
        span.address += bytes;
        span.bytes -= bytes;
        self.since = now + 1;
        if piece.last {
            self.current = None;
        }
        self.offer = Some((now + 1, piece));
    }

    /// The time from which on the next piece is ready.
    pub(super) fn ready(&self) -> u64 {
        self.offer.map_or(NEVER, |(at, _)| at)
    }

    pub(super) fn give(&mut self, now: u64) -> Option<Piece> {
        self.room = now + 1;
        self.offer.take().map(|(_, piece)| piece)
    }

    pub(super) fn is_idle(&self) -> bool {
        self.current.is_none() && self.offer.is_none()
    }
}
