//! The state of a fabric, with the packets under way, from which another one of the same description continues.

use crate::bridge::Bridge;
use crate::card::Card;
use crate::error::FabricError;
use crate::events::{Event, Events};
use crate::fabric::{Crossed, Fabric, Junction};
use crate::port::Port;
use crate::rejected::Rejected;
use rackwright_device::{decode, encode, RestoreError};
use rackwright_stats::Digest;
use rackwright_time::fabric::Cycle;
use serde::{Deserialize, Serialize};

/// What the errors of a damaged state name.
const NAME: &str = "fabric";

#[derive(Serialize, Deserialize)]
struct Saved {
    description: u128,
    now: u64,
    /// In the order in which they happen.
    events: Vec<(u64, Event)>,
    pool: Vec<u8>,
    ports: Vec<Vec<u8>>,
    /// Of the root complex, and of each switch.
    bridges: Vec<Vec<u8>>,
    cards: Vec<Vec<u8>>,
    rejected: Rejected,
    interrupts: u64,
    tag: u16,
    /// Packet hops, and the value of the digest.
    settled: (u64, u128),
}

impl Fabric {
    /// Forgets what a checkpoint does not contain: the digest goes on from its value, and the caches of the root
    /// complex become its own, without contents.
    ///
    /// # Errors
    /// As of [`Fabric::new`].
    pub(crate) fn forget_unsaved(&mut self) -> Result<(), FabricError> {
        let value = self.crossed.digest.value();
        self.crossed.digest = after(value);
        self.crossed.settled = Some((self.crossed.hops, value));
        self.host.forget_caches()
    }

    /// Its state, after [`Fabric::forget_unsaved`] if packets have left since. The host must not wait for a completion.
    ///
    /// # Errors
    /// [`FabricError::Card`] for a card whose state cannot be saved.
    pub(crate) fn save(&mut self) -> Result<Vec<u8>, FabricError> {
        let current = |(hops, _): &(u64, u128)| *hops == self.crossed.hops;
        if !self.crossed.settled.as_ref().is_some_and(current) {
            self.forget_unsaved()?;
        }
        Ok(encode(&Saved {
            description: fingerprint(self),
            now: self.now.0,
            events: self
                .events
                .all()
                .into_iter()
                .map(|(at, event)| (at.0, event))
                .collect(),
            pool: encode(&self.pool),
            ports: self.ports.all.iter().map(Port::save).collect(),
            bridges: self.all_bridges().map(Bridge::save).collect(),
            cards: self.cards.iter().map(Card::save).collect::<Result<_, _>>()?,
            rejected: self.rejected,
            interrupts: self.interrupts,
            tag: self.requests.tag,
            settled: self.crossed.settled.unwrap_or_default(),
        }))
    }

    /// Continues from a state returned by [`Fabric::save`] of a fabric with the same description; this one is fresh from
    /// reset, with empty caches.
    ///
    /// # Errors
    /// [`RestoreError`] when it is none.
    pub(crate) fn restore(&mut self, state: &[u8]) -> Result<(), RestoreError> {
        let saved: Saved = decode(state, NAME)?;
        let bridges = self.all_bridges().count();
        let counts = (saved.ports.len(), saved.cards.len(), saved.bridges.len());
        if saved.description != fingerprint(self)
            || counts != (self.ports.all.len(), self.cards.len(), bridges)
        {
            return Err(RestoreError { device: NAME });
        }
        self.pool = decode(&saved.pool, NAME)?;
        for (port, saved) in self.ports.all.iter_mut().zip(&saved.ports) {
            port.restore(saved)?;
        }
        for (card, saved) in self.cards.iter_mut().zip(&saved.cards) {
            card.restore(saved)?;
        }
        let all = self
            .root
            .bridges
            .iter_mut()
            .chain(self.switches.iter_mut().flat_map(|switch| &mut switch.bridges));
        for (bridge, saved) in all.zip(&saved.bridges) {
            bridge.restore(saved)?;
        }
        self.route();
        self.events = Events::default();
        for (at, event) in saved.events {
            self.events.at(Cycle::new(at), event);
        }
        self.now = Cycle::new(saved.now);
        (self.rejected, self.interrupts, self.requests.tag) = (saved.rejected, saved.interrupts, saved.tag);
        self.crossed = Crossed {
            hops: saved.settled.0,
            digest: after(saved.settled.1),
            settled: Some(saved.settled),
            captured: self.crossed.captured.take(),
        };
        Ok(())
    }

    /// Those of the root complex, and then of the switches.
    fn all_bridges(&self) -> impl Iterator<Item = &Bridge> {
        let below = self.switches.iter().flat_map(|switch| &switch.bridges);
        self.root.bridges.iter().chain(below)
    }

    /// Sets all routes as the bridges say.
    fn route(&mut self) {
        let Junction { routes, bridges, .. } = &mut self.root;
        for (number, bridge) in bridges.iter().enumerate() {
            routes.set(number, bridge);
        }
        for Junction { routes, bridges, .. } in &mut self.switches {
            for (number, bridge) in bridges.iter().enumerate().skip(1) {
                routes.set(number, bridge);
            }
        }
    }
}

/// A digest that goes on from a value.
fn after(value: u128) -> Digest {
    let mut digest = Digest::new();
    digest.bytes(&value.to_le_bytes());
    digest
}

/// The digest of a description.
fn fingerprint(fabric: &Fabric) -> u128 {
    let mut digest = Digest::new();
    digest.bytes(format!("{:?}", fabric.system).as_bytes());
    digest.value()
}
