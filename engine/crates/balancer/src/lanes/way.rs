use crate::flights::Flights;
use crate::shared::{Member, Shared};
use rackwright_datagram::{Outbox, Socket};

/// A socket and what is to be sent through it.
pub(crate) struct Way {
    pub(crate) socket: Socket,
    pub(super) outbox: Outbox,
}

impl Way {
    pub(super) fn new(socket: Socket) -> Way {
        Way {
            socket,
            outbox: Outbox::new(),
        }
    }

    /// Sends everything; whether the other end says that nobody listens.
    pub(super) fn flush(&mut self, shared: &Shared) -> std::io::Result<bool> {
        if self.outbox.is_empty() {
            return Ok(false);
        }
        let sent = self.outbox.flush(&self.socket)?;
        shared.counters.sent.add(sent.datagrams);
        shared.counters.not_sent.add(sent.dropped);
        Ok(sent.refused)
    }
}

/// The way to a replica, and what is under way there.
pub(super) struct Upstream {
    pub(super) way: Way,
    pub(super) flights: Flights,
    pub(super) member: Member,
}
