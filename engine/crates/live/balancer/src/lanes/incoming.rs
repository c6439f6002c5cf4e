//! Incoming datagrams, and the resulting events for the dispatcher.

use super::Lanes;
use crate::core::Core;
use crate::flights::Flight;
use crate::framing::Framing;
use crate::hand::{client_of, fixed_hash, key_of, Hand, Origin};
use crate::settings::StickyBy;
use crate::shared::Work;
use crate::ServiceSettings;
use rackwright_datagram::Datagram;
use rackwright_dispatch::wire::{Header, Kind, Origin as WireOrigin, WireError};
use rackwright_dispatch::{Report, Request};
use rackwright_xdp::Route;
use std::sync::atomic::Ordering;

impl Lanes {
    pub(super) fn service(&self, index: usize) -> &ServiceSettings {
        &self.shared.settings.services[index]
    }

    pub(super) fn sticky(&self, service: usize, client: [u8; 6], request: &[u8]) -> Option<u64> {
        let service = self.service(service);
        service.sticky.map(|by| match by {
            StickyBy::Client => fixed_hash(&client),
            StickyBy::Key => fixed_hash(service.framing.key(request)),
        })
    }

    /// A datagram of a client, with the route back if it arrived as a frame.
    pub(super) fn request(
        &mut self,
        core: &mut Core,
        now: u64,
        service: usize,
        datagram: Datagram<'_>,
        route: Option<Route>,
    ) {
        let framing = self.service(service).framing;
        let Some(number) = framing.client_number(datagram.bytes) else {
            self.shared.counters.malformed_requests.add(1);
            return;
        };
        let client = client_of(datagram.from);
        let key = match framing {
            // Requests without a number of their own are all different.
            Framing::Shim => key_of(client, self.next_tag()),
            _ => key_of(client, number),
        };
        let hand = Hand {
            service,
            origin: Origin::Client {
                address: datagram.from,
                number,
                route,
            },
            request: Request {
                service: self.service(service).id,
                key,
                sticky: self.sticky(service, client, datagram.bytes),
                hops: 0,
            },
            bytes: datagram.bytes,
        };
        core.request(now, &hand.request, None, &mut self.actions);
        self.perform(core, now, Some(&hand));
    }

    /// A datagram of another dispatcher, or of a sender that claims to be one.
    pub(super) fn message(&mut self, core: &mut Core, now: u64, datagram: Datagram<'_>) {
        let shared = self.shared.clone();
        let result = match Header::parse(datagram.bytes) {
            Ok((header, _)) if header.kind == Kind::Gossip => {
                shared.key.read_gossip(datagram.bytes).map(|report| {
                    core.gossip(now, &report, &mut self.actions);
                    self.perform(core, now, None);
                })
            }
            _ => (shared.key.read_redirected(datagram.bytes)).map(|(header, origin, report, request)| {
                self.redirected(
                    core,
                    now,
                    header,
                    origin,
                    &report,
                    Datagram {
                        from: datagram.from,
                        bytes: request,
                    },
                );
            }),
        };
        match result {
            Ok(()) => {}
            Err(WireError::Tag) => shared.counters.strangers.add(1),
            Err(_) => shared.counters.malformed_messages.add(1),
        }
    }

    pub(super) fn redirected(
        &mut self,
        core: &mut Core,
        now: u64,
        header: Header,
        origin: WireOrigin,
        report: &Report,
        datagram: Datagram<'_>,
    ) {
        let services = &self.shared.settings.services;
        let service = services.iter().position(|service| service.id == header.service);
        let number = service.and_then(|index| services[index].framing.client_number(datagram.bytes));
        let (Some(service), Some(number)) = (service, number) else {
            self.shared.counters.malformed_messages.add(1);
            return;
        };
        let [a, b, c, d] = origin.address;
        let [e, f] = origin.port.to_be_bytes();
        let client = [a, b, c, d, e, f];
        let key = match self.service(service).framing {
            Framing::Shim => key_of(client, header.number),
            _ => key_of(client, number),
        };
        let hand = Hand {
            service,
            origin: Origin::Peer {
                address: datagram.from,
                number: header.number,
                client,
                client_number: number,
            },
            request: Request {
                service: header.service,
                key,
                sticky: self.sticky(service, client, datagram.bytes),
                hops: origin.hops,
            },
            bytes: datagram.bytes,
        };
        core.request(now, &hand.request, Some(report), &mut self.actions);
        self.perform(core, now, Some(&hand));
    }

    /// A datagram of a replica.
    pub(super) fn answer(&mut self, core: &mut Core, now: u64, replica: usize, bytes: &[u8]) {
        let Some(upstream) = self.replicas[replica].as_mut() else {
            return;
        };
        let framing = self.shared.settings.services[upstream.member.service].framing;
        let Some(number) = framing.own_number(bytes) else {
            self.shared.counters.malformed_answers.add(1);
            return;
        };
        let Some(flight) = upstream.flights.find(number, framing.mask()) else {
            self.shared.counters.late_answers.add(1);
            return;
        };
        let is_last = framing.is_last(bytes);
        if is_last {
            upstream.flights.end(number);
        }
        let id = upstream.member.id;
        match flight.origin {
            Origin::Probe => {}
            Origin::Client { number, .. } => {
                note_work(&upstream.member.work, now, &flight, is_last);
                self.deliver(&flight, &framing.restore(bytes, number).parts());
            }
            Origin::Peer { client_number, .. } => {
                note_work(&upstream.member.work, now, &flight, is_last);
                self.deliver(&flight, &framing.restore(bytes, client_number).parts());
            }
        }
        match flight.counted {
            true if is_last => core.response(now, flight.key, &mut self.actions),
            true => {}
            false => core.up(now, id, &mut self.actions),
        }
        self.perform(core, now, None);
    }

    /// A datagram to the socket from which this thread redirects.
    pub(super) fn relayed_answer(&mut self, datagram: Datagram<'_>) {
        let counters = &self.shared.counters;
        if !(self.shared.settings.peers.iter()).any(|peer| peer.address == datagram.from) {
            counters.strangers.add(1);
            return;
        }
        let Some((header, answer)) = Header::parse(datagram.bytes)
            .ok()
            .filter(|(header, _)| header.kind == Kind::Response)
        else {
            counters.malformed_messages.add(1);
            return;
        };
        let Some(flight) = self.relays.find(header.number, u64::MAX) else {
            counters.late_answers.add(1);
            return;
        };
        if self.service(flight.service).framing.is_last(answer) {
            self.relays.end(header.number);
        }
        self.deliver(&flight, &[answer]);
    }
}

fn note_work(work: &Work, now: u64, flight: &Flight, is_last: bool) {
    if is_last {
        work.answered.fetch_add(1, Ordering::Relaxed);
        work.nanoseconds
            .fetch_add(now.saturating_sub(flight.since), Ordering::Relaxed);
    }
}
