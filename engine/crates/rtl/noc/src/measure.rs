use crate::{Arrival, Network, NocError, Packet};
use rackwright_stats::Digest;
use rand_pcg::rand_core::Rng;
use rand_pcg::Pcg64;

/// Number of cycles for which packets are generated in one step.
const STRIDE: u64 = 256;

/// Stream of the generator; the seed is the user's.
const STREAM: u128 = 51;

/// Random traffic: each endpoint begins a packet in a part of its cycles, to any endpoint, itself included, with equal
/// probability.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Load {
    /// Packets that an endpoint begins in a cycle, on average: 0 to 1.
    pub rate: f64,
    /// Flits of a packet.
    pub flits: usize,
    /// The seed of random numbers.
    pub seed: u64,
    /// Cycles before the first packet that counts.
    pub warm_up: u64,
    /// Cycles in which counted packets are generated.
    pub measured: u64,
    /// Maximum number of further cycles to wait for the last of them, while other packets are still generated.
    pub patience: u64,
}

/// How packets fared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    /// Packets that count.
    pub packets: u64,
    /// Number of them that have arrived.
    pub arrived: u64,
    /// Cycles from the creation of a packet to its last flit, on average over those that have arrived.
    pub mean_latency: f64,
    /// Flits that arrived in the measured cycles, for each endpoint and cycle.
    pub accepted: f64,
    /// Of every arrival, its endpoint and its cycle.
    pub digest: u128,
}

/// Sends random packets through a network and measures them.
///
/// # Errors
/// [`NocError::Rate`] for an invalid rate; those of [`Network::advance`].
pub fn measure(network: &mut dyn Network, load: Load) -> Result<Measured, NocError> {
    if !(0.0..=1.0).contains(&load.rate) {
        return Err(NocError::Rate(load.rate));
    }
    let mut traffic = Traffic::new(load, network.endpoints());
    let mut tally = Tally::new(load);
    let (mut cycle, mut arrivals) = (0, Vec::new());
    let end = load.warm_up + load.measured;
    while cycle < end || (tally.arrived < tally.packets && cycle < end + load.patience) {
        let until = cycle + STRIDE;
        for packet in traffic.until(until) {
            tally.offer(&packet);
            network.offer(packet);
        }
        network.advance(until, &mut arrivals)?;
        arrivals.drain(..).for_each(|arrival| tally.arrive(&arrival));
        cycle = until;
    }
    Ok(tally.measured(network.endpoints()))
}

struct Traffic {
    load: Load,
    endpoints: usize,
    random: Pcg64,
    cycle: u64,
    number: u32,
}

impl Traffic {
    fn new(load: Load, endpoints: usize) -> Traffic {
        Traffic {
            load,
            endpoints,
            random: Pcg64::new(load.seed.into(), STREAM),
            cycle: 0,
            number: 0,
        }
    }

    /// The packets of the next cycles, by cycle, then by endpoint.
    fn until(&mut self, until: u64) -> Vec<Packet> {
        let threshold = (self.load.rate * 2_f64.powi(32)) as u64;
        let mut packets = Vec::new();
        for created in self.cycle..until {
            for source in 0..self.endpoints {
                let drawn = self.random.next_u64();
                if drawn & 0xffff_ffff < threshold {
                    packets.push(Packet {
                        created,
                        source,
                        destination: (((drawn >> 32) * self.endpoints as u64) >> 32) as usize,
                        flits: self.load.flits,
                        number: self.number,
                    });
                    self.number += 1;
                }
            }
        }
        self.cycle = until;
        packets
    }
}

struct Tally {
    load: Load,
    created: Vec<u64>,
    packets: u64,
    arrived: u64,
    latencies: u64,
    accepted: u64,
    digest: Digest,
}

impl Tally {
    fn new(load: Load) -> Tally {
        Tally {
            load,
            created: Vec::new(),
            packets: 0,
            arrived: 0,
            latencies: 0,
            accepted: 0,
            digest: Digest::new(),
        }
    }

    fn counts(&self, cycle: u64) -> bool {
        (self.load.warm_up..self.load.warm_up + self.load.measured).contains(&cycle)
    }

    fn offer(&mut self, packet: &Packet) {
        self.created.push(packet.created);
        self.packets += u64::from(self.counts(packet.created));
    }

    fn arrive(&mut self, arrival: &Arrival) {
        let created = self.created[arrival.number as usize];
        if self.counts(created) {
            self.arrived += 1;
            self.latencies += arrival.cycle - created;
        }
        if self.counts(arrival.cycle) {
            self.accepted += self.load.flits as u64;
        }
        self.digest.number(arrival.cycle);
        self.digest
            .number(u64::from(arrival.number) << 8 | arrival.endpoint as u64);
    }

    fn measured(&self, endpoints: usize) -> Measured {
        Measured {
            packets: self.packets,
            arrived: self.arrived,
            mean_latency: self.latencies as f64 / self.arrived.max(1) as f64,
            accepted: self.accepted as f64 / (endpoints as u64 * self.load.measured) as f64,
            digest: self.digest.value(),
        }
    }
}
