//! Datagrams in frames of AF_XDP: which lane they are for, and which leave that way.

use super::{Lane, Lanes};
use crate::core::Core;
use crate::shared::Shared;
use rackwright_datagram::Datagram;
use rackwright_xdp::{Arrived, Incoming, Outgoing, Route};
use std::net::{IpAddr, SocketAddr, SocketAddrV4};

/// No lane is at this port.
const NOBODY: u32 = u32::MAX;

/// Of more datagrams at once than these some go to the same address, and a socket gives these to the kernel as one
/// message, to be cut late. Where frames are copied, each of them alone goes through more of the kernel than its part of that.
const CROWD: usize = 4;

/// What a thread has of AF_XDP to send with, and to know what frames are for.
pub(super) struct FrameLanes {
    outgoing: Outgoing,
    /// The queue of the interface that this thread has.
    queue: u32,
    /// Tokens of lanes by ports, so that nothing is searched for a frame.
    lanes: Box<[u32]>,
    /// Addresses of services that were opened.
    services: Vec<SocketAddrV4>,
    /// Frames put since the counters were told.
    put: u64,
    /// The kernel copies frames.
    copies: bool,
    /// So many datagrams came at once that sockets send them at less cost.
    is_crowded: bool,
}

impl FrameLanes {
    pub(super) fn new((queue, outgoing): (u32, Outgoing)) -> FrameLanes {
        FrameLanes {
            copies: !outgoing.is_zero_copy(),
            is_crowded: false,
            outgoing,
            queue,
            lanes: vec![NOBODY; 1 << 16].into(),
            services: Vec::new(),
            put: 0,
        }
    }

    /// The lane that is at a port.
    #[inline]
    fn lane(&self, port: u16) -> Option<Lane> {
        let token = self.lanes[usize::from(port)];
        (token != NOBODY).then(|| Lane::of(token.into()))
    }

    /// Whether a lane can be at this port: there is none yet, or it is this one.
    fn claim(&mut self, port: u16, lane: Lane) -> bool {
        let place = &mut self.lanes[usize::from(port)];
        let token = lane.token() as u32;
        let is_free = *place == NOBODY || *place == token;
        if is_free {
            *place = token;
        }
        is_free
    }

    /// Puts a datagram in a frame; false when it has to go through a socket.
    #[inline]
    pub(super) fn push(&mut self, route: &Route, parts: &[&[u8]]) -> bool {
        let is_put = !self.is_crowded && self.outgoing.push(route, parts);
        self.put += u64::from(is_put);
        is_put
    }

    /// Sends everything.
    pub(super) fn flush(&mut self, shared: &Shared) {
        self.outgoing.flush();
        shared.counters.sent.add(self.put);
        shared.counters.frames_sent.add(self.put);
        self.put = 0;
    }

    /// Whether frames wait for the kernel to have room.
    pub(super) fn is_waiting(&self) -> bool {
        self.outgoing.is_waiting()
    }

    /// Lets frames from a replica come here that are for the address that its socket is bound to; gives that address if they do.
    pub(super) fn open_replica(
        &mut self,
        shared: &Shared,
        index: usize,
        own: SocketAddr,
        replica: SocketAddr,
    ) -> Option<SocketAddrV4> {
        let attachment = shared.frames.attachment()?;
        let hosts = &attachment.interface().addresses;
        let is_elsewhere = |host: IpAddr| matches!(host, IpAddr::V4(host) if !hosts.contains(&host));
        let SocketAddr::V4(own) = own else {
            return None;
        };
        // What comes from this machine itself does not come through the interface.
        let is_near = hosts.contains(own.ip()) && is_elsewhere(replica.ip());
        let is_open = is_near
            && self.claim(own.port(), Lane::Replica(index))
            && attachment.open(own, Some(self.queue)).is_ok();
        is_open.then_some(own)
    }

    /// Frames for this address come no more.
    pub(super) fn close(&mut self, shared: &Shared, own: SocketAddrV4) {
        if let Some(attachment) = shared.frames.attachment() {
            attachment.close(own);
        }
        self.lanes[usize::from(own.port())] = NOBODY;
    }

    /// Lets frames of clients come here that are for a service.
    fn open_service(&mut self, shared: &Shared, index: usize, listen: SocketAddr) {
        let (Some(attachment), SocketAddr::V4(listen)) = (shared.frames.attachment(), listen) else {
            return;
        };
        let hosts = attachment.interface().addresses.iter();
        let hosts = hosts.filter(|host| listen.ip().is_unspecified() || *host == listen.ip());
        for host in hosts {
            let address = SocketAddrV4::new(*host, listen.port());
            // Of two services with one port at different addresses, the second goes on with its socket.
            if self.claim(listen.port(), Lane::Clients(index)) && attachment.open(address, None).is_ok() {
                self.services.push(address);
            }
        }
    }
}

impl Lanes {
    /// Takes frames from now on: those of clients, and those of replicas that have sockets already.
    pub(crate) fn take_frames(&mut self, incoming: &Incoming) -> std::io::Result<()> {
        self.poll.add(incoming, Lane::Frames.token())?;
        if let Some(frames) = &mut self.frames {
            for (index, service) in self.shared.settings.services.iter().enumerate() {
                frames.open_service(&self.shared, index, service.listen);
            }
        }
        Ok(())
    }

    /// Takes no more frames of clients.
    pub(super) fn refuse_frames(&mut self) {
        if let (Some(frames), Some(attachment)) = (&mut self.frames, self.shared.frames.attachment()) {
            frames
                .services
                .drain(..)
                .for_each(|address| attachment.close(address));
        }
    }

    /// Takes the frames that are there, does what is to be done about them, and tells whether more may be there.
    pub(crate) fn receive_frames(&mut self, incoming: &mut Incoming) -> std::io::Result<bool> {
        let count = incoming.receive();
        if count == 0 {
            return Ok(false);
        }
        if let Some(frames) = &mut self.frames {
            frames.is_crowded = frames.copies && count > CROWD;
        }
        let shared = self.shared.clone();
        let mut core = shared.core();
        let now = shared.now();
        let (mut received, mut malformed) = (0, 0);
        for datagram in incoming.datagrams() {
            match datagram {
                Ok(datagram) => {
                    received += 1;
                    self.arrived(&mut core, now, datagram);
                }
                Err(_) => malformed += 1,
            }
        }
        drop(core);
        shared.counters.received.add(received);
        shared.counters.frames_received.add(received);
        shared.counters.malformed_frames.add(malformed);
        self.flush()?;
        Ok(incoming.is_full())
    }

    /// A datagram that came in a frame.
    fn arrived(&mut self, core: &mut Core, now: u64, arrived: Arrived<'_>) {
        let lane = (self.frames.as_ref()).and_then(|frames| frames.lane(arrived.to.port()));
        let from = SocketAddr::V4(arrived.from);
        match lane {
            Some(Lane::Clients(index)) => {
                let datagram = Datagram {
                    from,
                    bytes: arrived.bytes,
                };
                self.request(core, now, index, datagram, Some(arrived.back()));
            }
            Some(Lane::Replica(index)) => {
                let upstream = self.replicas.get_mut(index).and_then(Option::as_mut);
                match upstream.filter(|upstream| upstream.member.settings.address == from) {
                    Some(upstream) => {
                        upstream.route = Some(arrived.back());
                        self.answer(core, now, index, arrived.bytes);
                    }
                    None => self.shared.counters.stray_frames.add(1),
                }
            }
            _ => self.shared.counters.stray_frames.add(1),
        }
    }

    /// Whether frames wait for the kernel to have room for them.
    pub(crate) fn is_waiting(&self) -> bool {
        self.frames.as_ref().is_some_and(FrameLanes::is_waiting)
    }
}
