//! Datagrams in frames of AF_XDP: their lanes, and those sent as frames.

use super::{Lane, Lanes};
use crate::core::Core;
use crate::shared::Shared;
use rackwright_datagram::Datagram;
use rackwright_xdp::{Arrived, Incoming, Outgoing, Route};
use std::net::{IpAddr, SocketAddr, SocketAddrV4};

/// No lane is at this port.
const NOBODY: u32 = u32::MAX;

/// If there are more datagrams at a time than this, some have the same destination, and a socket passes these to the
/// kernel as one message that is segmented late. In copy mode, each frame takes a path through the kernel that is
/// longer than its share of such a message.
const CROWD: usize = 4;

/// A thread's state for sending by AF_XDP, and for finding the lanes of frames.
pub(super) struct FrameLanes {
    outgoing: Outgoing,
    /// The queue of the interface that this thread has.
    queue: u32,
    /// Tokens of lanes by ports, so that a frame needs no search.
    lanes: Box<[u32]>,
    /// Addresses of services that were opened.
    services: Vec<SocketAddrV4>,
    /// Frames queued since the last update of the counters.
    put: u64,
    /// The kernel copies frames.
    copies: bool,
    /// There are so many datagrams at a time that sockets send them at a lower cost.
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

    /// Queues a datagram as a frame; false if it has to be sent through a socket.
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

    /// Opens the local address of a replica's socket for frames from this replica; returns this address if it succeeds.
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
        // Datagrams from this machine itself do not arrive through the interface.
        let is_near = hosts.contains(own.ip()) && is_elsewhere(replica.ip());
        let is_open = is_near
            && self.claim(own.port(), Lane::Replica(index))
            && attachment.open(own, Some(self.queue)).is_ok();
        is_open.then_some(own)
    }

    /// Stops frames for this address.
    pub(super) fn close(&mut self, shared: &Shared, own: SocketAddrV4) {
        if let Some(attachment) = shared.frames.attachment() {
            attachment.close(own);
        }
        self.lanes[usize::from(own.port())] = NOBODY;
    }

    /// Opens the address of a service for frames of clients.
    fn open_service(&mut self, shared: &Shared, index: usize, listen: SocketAddr) {
        let (Some(attachment), SocketAddr::V4(listen)) = (shared.frames.attachment(), listen) else {
            return;
        };
        let hosts = attachment.interface().addresses.iter();
        let hosts = hosts.filter(|host| listen.ip().is_unspecified() || *host == listen.ip());
        for host in hosts {
            let address = SocketAddrV4::new(*host, listen.port());
            // Of two services with one port at different addresses, the second uses only its socket.
            if self.claim(listen.port(), Lane::Clients(index)) && attachment.open(address, None).is_ok() {
                self.services.push(address);
            }
        }
    }
}

impl Lanes {
    /// Accepts frames from now on: those of clients, and those of replicas that have sockets already.
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

    /// Takes the available frames, handles them, and returns whether more may be available.
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

    /// A datagram that arrived in a frame.
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
