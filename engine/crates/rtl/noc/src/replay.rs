use crate::shape::OWN;
use crate::{Arrival, Network, NocError, Packet, Sent, Shape};
use rackwright_stats::Digest;
use std::collections::BTreeMap;

/// Cycles of a network that are run in one step.
const STRIDE: u64 = 256;

/// Cycles for which a message may be under way.
const PATIENCE: u64 = 100_000;

/// Cycles that a network without packets runs before the next one, and so returns to rest.
const REST: u64 = 64;

/// How the messages of a run fare on a network, compared with the model that has timed the run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Replayed {
    /// Number of messages.
    pub messages: u64,
    /// Their mean latency in the model.
    pub model_latency: f64,
    /// That on the network.
    pub latency: f64,
    /// The mean of the differences without their signs.
    pub difference: f64,
    /// Number of messages that share no link with another one while they are under way.
    pub alone: u64,
    /// Those of them whose latencies are equal.
    pub alone_equal: u64,
    /// Of every arrival.
    pub digest: u128,
}

/// Sends each recorded message at its cycle through the network of its class, each a new one of `make`.
///
/// # Errors
/// Those of `make` and of [`Network::advance`]; [`NocError::Lost`] if a message does not arrive.
pub fn replay(
    shape: Shape,
    sent: &[Sent],
    make: impl Fn() -> Result<Box<dyn Network>, NocError>,
) -> Result<Replayed, NocError> {
    let mut latencies = vec![0; sent.len()];
    let networks = sent.iter().map(|sent| sent.network + 1).max().unwrap_or(0);
    for network in 0..networks {
        let mut order: Vec<usize> = (0..sent.len())
            .filter(|index| sent[*index].network == network)
            .collect();
        order.sort_by_key(|index| sent[*index].message.at);
        send(make()?.as_mut(), sent, &order, &mut latencies)?;
    }
    Ok(compare(shape, sent, &latencies))
}

/// Sends messages, by time, and notes the latency of each. Cycles in which the network is at rest are left out.
fn send(
    network: &mut dyn Network,
    sent: &[Sent],
    order: &[usize],
    latencies: &mut [u64],
) -> Result<(), NocError> {
    let mut created = BTreeMap::new();
    let (mut cycle, mut left_out, mut next) = (0, 0, 0);
    let mut arrivals: Vec<Arrival> = Vec::new();
    while next < order.len() || !created.is_empty() {
        if created.is_empty() {
            let at = sent[order[next]].message.at.0 - left_out;
            left_out += at.saturating_sub(cycle + REST);
        }
        let until = cycle + STRIDE;
        while next < order.len() && sent[order[next]].message.at.0 - left_out < until {
            let index = order[next];
            let message = sent[index].message;
            network.offer(Packet {
                created: message.at.0 - left_out,
                source: message.from,
                destination: message.to,
                flits: sent[index].flits,
                number: index as u32,
            });
            created.insert(index as u32, message.at.0 - left_out);
            next += 1;
        }
        network.advance(until, &mut arrivals)?;
        for arrival in arrivals.drain(..) {
            if let Some(at) = created.remove(&arrival.number) {
                latencies[arrival.number as usize] = arrival.cycle - at;
            }
        }
        cycle = until;
        if let Some((number, _)) = created.iter().find(|(_, at)| cycle > **at + PATIENCE) {
            return Err(NocError::Lost { number: *number });
        }
    }
    Ok(())
}

fn compare(shape: Shape, sent: &[Sent], latencies: &[u64]) -> Replayed {
    let alone = alone(shape, sent, latencies);
    let (mut found, mut digest) = (Replayed::default(), Digest::new());
    let (mut model, mut network, mut differences) = (0, 0, 0);
    for ((each, latency), alone) in sent.iter().zip(latencies).zip(alone) {
        let expected = each.arrival.0 - each.message.at.0;
        model += expected;
        network += latency;
        differences += expected.abs_diff(*latency);
        found.alone += u64::from(alone);
        found.alone_equal += u64::from(alone && expected == *latency);
        digest.number(each.message.at.0);
        digest.number(*latency);
    }
    let mean = |sum: u64| sum as f64 / sent.len().max(1) as f64;
    Replayed {
        messages: sent.len() as u64,
        model_latency: mean(model),
        latency: mean(network),
        difference: mean(differences),
        digest: digest.value(),
        ..found
    }
}

/// A link from a tile into its router, without a side, or out of its router by a side.
type Link = (usize, Option<usize>);

/// The first and the last cycle in which a message is under way, and its number.
type Use = (u64, u64, usize);

/// Whether each message shares no link of its path with another one while it is under way, in either of the two.
fn alone(shape: Shape, sent: &[Sent], latencies: &[u64]) -> Vec<bool> {
    let mut links: BTreeMap<(usize, Link), Vec<Use>> = BTreeMap::new();
    for (index, each) in sent.iter().enumerate() {
        let start = each.message.at.0;
        let end = each.arrival.0.max(start + latencies[index]);
        for link in path(shape, each.message.from, each.message.to) {
            links
                .entry((each.network, link))
                .or_default()
                .push((start, end, index));
        }
    }
    let mut alone = vec![true; sent.len()];
    for mut users in links.into_values() {
        users.sort_unstable();
        let mut last: Option<(u64, usize)> = None;
        for (start, end, index) in users {
            if let Some((until, other)) = last.filter(|(until, _)| *until >= start) {
                (alone[index], alone[other]) = (false, false);
                last = Some(if until > end { (until, other) } else { (end, index) });
            } else {
                last = Some((end, index));
            }
        }
    }
    alone
}

/// The links from a tile to another.
fn path(shape: Shape, from: usize, to: usize) -> Vec<Link> {
    let (mut tile, mut links) = (from, vec![(from, None)]);
    loop {
        let side = shape.leave(tile, to);
        links.push((tile, Some(side)));
        match shape.neighbour(tile, side) {
            Some(next) if side != OWN => tile = next,
            _ => return links,
        }
    }
}
