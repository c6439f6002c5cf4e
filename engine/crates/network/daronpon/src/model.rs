use crate::inspect::{inspect, Asked, Concern};
use crate::rewrite::readdressed;
use crate::{Datapath, Dropped};
use rackwright_dispatch::wire::{Header, Key, Kind, Origin};
use rackwright_dispatch::{Action, ConfigurationError, Counters, Dispatcher, ReplicaId};
use rackwright_ethernet::{Datagram, Mac, Rack};

/// The policy crate behind frames of bytes: the reference for the unit in RTL.
pub struct Model {
    rack: Rack,
    key: Key,
    dispatcher: Dispatcher,
    dropped: Dropped,
    actions: Vec<Action>,
}

impl Model {
    /// A dispatcher at time zero. Messages of peers are authenticated with `key`.
    ///
    /// # Errors
    /// [`ConfigurationError`].
    pub fn new(rack: &Rack, key: &[u8; 16]) -> Result<Model, ConfigurationError> {
        Ok(Model {
            dispatcher: Dispatcher::new(&rack.configuration)?,
            rack: rack.clone(),
            key: Key::new(key),
            dropped: Dropped::default(),
            actions: Vec::new(),
        })
    }

    fn below(&self, mac: Mac) -> Option<ReplicaId> {
        let found = self.rack.replicas.iter().find(|(_, place)| place.mac == mac);
        found.map(|(replica, _)| *replica)
    }

    /// Passes a frame to the policy; returns whether the frame is forwarded unchanged if the policy takes no action.
    fn tell(&mut self, now: u64, concern: &Concern, actions: &mut Vec<Action>) -> bool {
        match concern {
            Concern::Pass => return true,
            Concern::Malformed => self.dropped.malformed += 1,
            Concern::Forged => self.dropped.forged += 1,
            Concern::Request(asked) => self.dispatcher.request(now, &asked.request(0), actions),
            Concern::Redirected(asked, origin, report) => {
                self.dispatcher
                    .redirected(now, &asked.request(origin.hops), report, actions);
            }
            Concern::Gossip(report) => self.dispatcher.gossip(now, report, actions),
            Concern::Response(key) => self.dispatcher.response(now, *key, actions),
            Concern::Alive(mac) => {
                let replica = self.below(*mac).expect("it comes from below");
                self.dispatcher.replica_up(now, replica, actions);
            }
        }
        false
    }

    fn act(&self, action: &Action, frame: &[u8], asked: Option<&Asked>) -> Option<Vec<u8>> {
        match action {
            Action::Serve { replica } => {
                let Asked {
                    header,
                    rest,
                    padding,
                    ..
                } = asked.expect("a request is in hand");
                let message = [
                    &Header {
                        kind: Kind::Request,
                        ..*header
                    }
                    .to_bytes()[..],
                    rest,
                ]
                .concat();
                let mut sent = readdressed(frame, &self.rack.replicas[replica], &message);
                sent.extend_from_slice(padding);
                Some(sent)
            }
            Action::Redirect { peer, hops, report } => {
                let Asked {
                    header, key, rest, ..
                } = asked.expect("a request is in hand");
                let origin = Origin {
                    address: ((key.client >> 16) as u32).to_be_bytes(),
                    port: key.client as u16,
                    hops: *hops,
                };
                let mut message = Vec::new();
                self.key.write_redirected(*header, origin, report, &mut message);
                message.extend_from_slice(rest);
                Some(readdressed(frame, &self.rack.peers[peer], &message))
            }
            Action::Gossip { peer, report } => {
                let mut message = Vec::new();
                self.key.write_gossip(report, &mut message);
                Some(Datagram::own(Kind::Gossip, &self.rack.peers[peer]).with_payload(&message))
            }
            Action::Probe { replica } => {
                Some(Datagram::own(Kind::Probe, &self.rack.replicas[replica]).to_bytes())
            }
            Action::Answer => Some(frame.to_vec()),
            Action::Drop(_) => None,
            Action::Hold { .. } | Action::Release { .. } | Action::Discard { .. } => {
                unreachable!("no policy of the unit lets requests wait")
            }
        }
    }
}

impl Datapath for Model {
    fn frame(&mut self, now: u64, frame: &[u8], sent: &mut Vec<Vec<u8>>) {
        let mut actions = std::mem::take(&mut self.actions);
        let key = self.key.clone();
        let concern = match frame {
            [] => {
                self.dispatcher.timer(now, &mut actions);
                None
            }
            frame => Some(inspect(frame, &key, |mac| self.below(mac).is_some())),
        };
        if concern
            .as_ref()
            .is_some_and(|concern| self.tell(now, concern, &mut actions))
        {
            sent.push(frame.to_vec());
        }
        let asked = match &concern {
            Some(Concern::Request(asked) | Concern::Redirected(asked, ..)) => Some(asked),
            _ => None,
        };
        sent.extend(
            actions
                .drain(..)
                .filter_map(|action| self.act(&action, frame, asked)),
        );
        self.actions = actions;
    }

    fn next_timer(&self) -> u64 {
        self.dispatcher.next_timer()
    }

    fn counters(&self) -> Counters {
        self.dispatcher.counters()
    }

    fn dropped(&self) -> Dropped {
        self.dropped
    }
}
