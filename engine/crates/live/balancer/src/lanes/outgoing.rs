//! Execution of the dispatcher's actions, and responses.

use super::Lanes;
use crate::core::Core;
use crate::flights::Flight;
use crate::hand::{client_of, key_of, Hand, Origin};
use rackwright_dispatch::wire::{Header, Kind, Origin as WireOrigin};
use rackwright_dispatch::{Action, DropReason, PeerId, ReplicaId, Report};
use std::hash::BuildHasher;

impl Lanes {
    /// Sends a response, in the client's format, to the origin of its request.
    pub(super) fn deliver(&mut self, flight: &Flight, parts: &[&[u8]]) {
        self.shared.counters.answers.add(1);
        match flight.origin {
            Origin::Client { address, route, .. } => {
                let is_put = match (&route, &mut self.frames) {
                    (Some(route), Some(frames)) => frames.push(route, parts),
                    _ => false,
                };
                if !is_put {
                    self.clients[flight.service].outbox.push(Some(address), parts);
                }
            }
            Origin::Peer { address, number, .. } => {
                let header = Header {
                    kind: Kind::Response,
                    service: self.service(flight.service).id,
                    argument: 0,
                    number,
                };
                if let Some(peers) = &mut self.peers {
                    let header = header.to_bytes();
                    let [a, b, c] = [0, 1, 2].map(|at| parts.get(at).copied().unwrap_or_default());
                    peers.outbox.push(Some(address), &[&header, a, b, c]);
                }
            }
            Origin::Probe => {}
        }
    }

    /// Executes the dispatcher's actions, with the current request if there is one.
    pub(super) fn perform(&mut self, core: &mut Core, now: u64, hand: Option<&Hand<'_>>) {
        let mut actions = std::mem::take(&mut self.actions);
        for action in actions.drain(..) {
            match (action, hand) {
                (Action::Serve { replica }, Some(hand)) => {
                    self.serve(replica, hand, now);
                    self.copy_on_trial(core, hand, now);
                }
                (Action::Redirect { peer, hops, report }, Some(hand)) => {
                    self.redirect(peer, hops, &report, hand, now);
                    self.copy_on_trial(core, hand, now);
                }
                (Action::Drop(DropReason::NoReplica), Some(hand)) => {
                    if let Some(replica) = core.last_resort(now, hand.request.service) {
                        self.try_with(replica, hand.origin, hand, now);
                    }
                }
                (Action::Hold { ticket }, Some(hand)) => core.hold(ticket, hand),
                (Action::Release { ticket, replica }, _) => match core.take(ticket) {
                    Some(held) => self.serve(replica, &held.hand(), now),
                    None => self.shared.counters.undelivered.add(1),
                },
                (Action::Discard { ticket }, _) => drop(core.take(ticket)),
                (Action::Gossip { peer, report }, _) => self.gossip(peer, &report),
                (Action::Probe { replica }, _) => self.probe(core, replica, now),
                // A response is returned if its flight is found, counted or not; the dispatcher counts the reasons of
                // drops.
                (Action::Answer | Action::Drop(_), _) => {}
                (Action::Serve { .. } | Action::Redirect { .. } | Action::Hold { .. }, None) => {
                    self.shared.counters.undelivered.add(1);
                }
            }
        }
        std::mem::swap(&mut self.actions, &mut actions);
    }

    pub(super) fn next_tag(&mut self) -> u64 {
        self.tag += 1;
        self.tag << 16
    }

    pub(super) fn serve(&mut self, replica: ReplicaId, hand: &Hand<'_>, now: u64) {
        let flight = Flight {
            origin: hand.origin,
            key: hand.request.key,
            service: hand.service,
            since: now,
            counted: true,
        };
        self.send(replica, hand, flight);
    }

    /// Sends a copy of a request to a failed replica, if one is to be tried now: another replica responds to the
    /// client.
    fn copy_on_trial(&mut self, core: &mut Core, hand: &Hand<'_>, now: u64) {
        if let Some(replica) = core.on_trial(now, hand.request.service) {
            self.try_with(replica, Origin::Probe, hand, now);
        }
    }

    /// Sends a request to a failed replica: any response shows that it is alive, and is returned to `origin`.
    fn try_with(&mut self, replica: ReplicaId, origin: Origin, hand: &Hand<'_>, now: u64) {
        let flight = Flight {
            origin,
            key: hand.request.key,
            service: hand.service,
            since: now,
            counted: false,
        };
        if let Some(Some(upstream)) = self.replicas.get_mut(usize::from(replica.0)) {
            upstream.find_anew();
        }
        self.send(replica, hand, flight);
    }

    fn send(&mut self, replica: ReplicaId, hand: &Hand<'_>, flight: Flight) {
        let tag = self.next_tag();
        if !self.reaches(replica) {
            self.shared.counters.undelivered.add(1);
            return;
        }
        let settings = &self.shared.settings.services[hand.service];
        let (framing, service) = (settings.framing, settings.id);
        let upstream = self.replicas[usize::from(replica.0)]
            .as_mut()
            .expect("it is reached");
        let Some(number) = upstream.flights.begin(tag, flight) else {
            self.shared.counters.overflows.add(1);
            return;
        };
        let request = framing.forward(hand.bytes, number, service);
        upstream.push(&mut self.frames, &request.parts());
    }

    pub(super) fn redirect(&mut self, peer: PeerId, hops: u8, report: &Report, hand: &Hand<'_>, now: u64) {
        let flight = Flight {
            origin: hand.origin,
            key: hand.request.key,
            service: hand.service,
            since: now,
            counted: false,
        };
        let tag = self.next_tag();
        let tag = self.secret.hash_one(tag);
        let Some(number) = self.relays.begin(tag, flight) else {
            self.shared.counters.overflows.add(1);
            return;
        };
        let client = match hand.origin {
            Origin::Client { address, .. } => client_of(address),
            Origin::Peer { client, .. } => client,
            Origin::Probe => return,
        };
        let header = Header {
            kind: Kind::Redirected,
            service: hand.request.service,
            argument: 0,
            number,
        };
        let [a, b, c, d, e, f] = client;
        let origin = WireOrigin {
            address: [a, b, c, d],
            port: u16::from_be_bytes([e, f]),
            hops,
        };
        self.message.clear();
        self.shared
            .key
            .write_redirected(header, origin, report, &mut self.message);
        self.tell(peer, hand.bytes);
    }

    pub(super) fn gossip(&mut self, peer: PeerId, report: &Report) {
        self.message.clear();
        self.shared.key.write_gossip(report, &mut self.message);
        self.tell(peer, &[]);
    }

    /// Sends the message, followed by `rest`, to another dispatcher.
    pub(super) fn tell(&mut self, peer: PeerId, rest: &[u8]) {
        let peer = self.shared.settings.peers.iter().find(|known| known.rack == peer);
        match (peer, &mut self.relayed) {
            (Some(peer), Some(way)) => way.outbox.push(Some(peer.address), &[&self.message, rest]),
            _ => self.shared.counters.undelivered.add(1),
        }
    }

    /// Sends a probe to a replica. A replica without a known probe is tried with requests.
    pub(super) fn probe(&mut self, core: &mut Core, replica: ReplicaId, now: u64) {
        let tag = self.next_tag();
        if !self.reaches(replica) {
            return;
        }
        let upstream = self.replicas[usize::from(replica.0)]
            .as_mut()
            .expect("it is reached");
        upstream.find_anew();
        let service = upstream.member.service;
        let settings = &self.shared.settings.services[service];
        let flight = Flight {
            origin: Origin::Probe,
            key: key_of([0; 6], 0),
            service,
            since: now,
            counted: false,
        };
        let Some(number) = upstream.flights.begin(tag, flight) else {
            return;
        };
        match settings
            .framing
            .probe(settings.probe.as_deref(), number, settings.id)
        {
            Some(probe) => upstream.way.outbox.push(None, &[&probe]),
            None => {
                upstream.flights.end(number);
                let wait = self.shared.settings.times.probe_interval_us.saturating_mul(1000);
                core.begin_trials(now, replica, settings.id, wait);
            }
        }
    }

    /// A replica's machine reports that no program listens there.
    pub(super) fn refused(&mut self, index: usize) {
        let shared = self.shared.clone();
        shared.counters.refused.add(1);
        let mut core = shared.core();
        let now = shared.now();
        core.down(now, ReplicaId(index as u16), &mut self.actions);
        self.perform(&mut core, now, None);
    }
}
