use super::frames::FrameLanes;
use crate::flights::Flights;
use crate::shared::{Member, Shared};
use rackwright_datagram::{Outbox, Socket};
use rackwright_xdp::Route;
use std::net::SocketAddrV4;

/// A socket and the datagrams to be sent through it.
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

    /// Sends all datagrams; returns whether the other end reported that no program listens.
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

/// The connection to a replica, and its outstanding requests.
pub(super) struct Upstream {
    pub(super) way: Way,
    pub(super) flights: Flights,
    pub(super) member: Member,
    /// The route for frames, known once one has arrived from there.
    pub(super) route: Option<Route>,
    /// The address of its socket, if frames for it arrive at this thread.
    pub(super) opened: Option<SocketAddrV4>,
}

impl Upstream {
    /// It may be another machine by now: the kernel resolves its address, and its response has the new one.
    pub(super) fn find_anew(&mut self) {
        self.route = None;
    }

    /// Queues a datagram for the replica, in a frame if that is possible.
    #[inline]
    pub(super) fn push(&mut self, frames: &mut Option<FrameLanes>, parts: &[&[u8]]) {
        if let (Some(route), Some(frames)) = (&self.route, frames) {
            if frames.push(route, parts) {
                return;
            }
        }
        self.way.outbox.push(None, parts);
    }
}
