use super::frames::FrameLanes;
use crate::flights::Flights;
use crate::shared::{Member, Shared};
use rackwright_datagram::{Outbox, Socket};
use rackwright_xdp::Route;
use std::net::SocketAddrV4;

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
    /// The way there by frames, once one has come from there.
    pub(super) route: Option<Route>,
    /// The address of its socket, when frames for it come to this thread.
    pub(super) opened: Option<SocketAddrV4>,
}

impl Upstream {
    /// It may be another machine by now: the kernel finds out which, and its answer tells us.
    pub(super) fn find_anew(&mut self) {
        self.route = None;
    }

    /// Lets a datagram go there, in a frame if that is possible.
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
