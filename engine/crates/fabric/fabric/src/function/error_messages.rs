use super::transmitter::Ready;
use super::{Given, NEVER};
use crate::aer::Severity;
use crate::packet::{Header, Id, Kind};
use crate::reports::TO_ROOT;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Messages that wait at most: those of further errors are merged with them.
const WAITING: usize = 4;

/// Messages by which a function tells the root complex of errors, in their order (2.2.8.3).
#[derive(Default, Serialize, Deserialize)]
pub(super) struct ErrorMessages {
    /// From when on each may leave.
    waiting: VecDeque<(u64, Severity)>,
}

impl ErrorMessages {
    pub(super) fn tell(&mut self, ready: u64, severity: Severity) {
        if self.waiting.len() < WAITING {
            self.waiting.push_back((ready, severity));
        }
    }

    /// The time from which on a message is ready to leave; it has no data.
    pub(super) fn ready(&self) -> Ready {
        self.waiting.front().map_or((NEVER, 0), |(ready, _)| (*ready, 0))
    }

    /// The message leaves. Returns the cycle of its only beat, and its bytes.
    pub(super) fn leave(&mut self, now: u64, id: Id, give: &mut impl FnMut(u64, Given<'_>)) -> (u64, u64) {
        let Some((_, severity)) = self.waiting.pop_front() else {
            return (now, 0);
        };
        let mut header = Header::new(Kind::Message(TO_ROOT, false), id, 0);
        header.request.enables = severity.code();
        give(now + 1, Given::Packet(&header, &[]));
        (now, header.bytes() as u64)
    }

    pub(super) fn is_idle(&self) -> bool {
        self.waiting.is_empty()
    }
}
