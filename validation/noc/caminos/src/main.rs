//! Uniform traffic of packets with one flit on the mesh of `rw bench mesh`, simulated by caminos: TABLE RATE… writes a
//! row to the CSV file TABLE for each rate in packets per tile and cycle.

use caminos_lib::config_parser::{parse, ConfigurationValue, Token};
use caminos_lib::policies::{RequestInfo, VCPolicyBuilderArgument, VirtualChannelPolicy};
use caminos_lib::router::Router;
use caminos_lib::routing::CandidateEgress;
use caminos_lib::topology::{Location, Topology};
use caminos_lib::{Plugs, Simulation};
use rand::rngs::StdRng;
use std::cmp::Ordering;
use std::io::Write;

/// Tiles in a row, and rows.
const SIDE: usize = 8;
const TILES: f64 = (SIDE * SIDE) as f64;

/// Cycles of a link between routers, and of one to or from a tile; routers add none.
const LINK: u64 = 4;
const TILE_LINK: u64 = 3;

/// The virtual channel of a packet is the output by which it leaves the next router, as the queues of our mesh.
#[derive(Debug)]
struct NextOutput;

/// The virtual channel of packets to the tile.
const OWN: usize = 4;

/// The output by which a packet leaves `router` to get to `target`, along the row first.
fn output(router: usize, target: usize) -> usize {
    let along = |from: usize, to: usize| match to.cmp(&from) {
        Ordering::Greater => Some(0),
        Ordering::Less => Some(1),
        Ordering::Equal => None,
    };
    let row = along(router % SIDE, target % SIDE);
    let column = along(router / SIDE, target / SIDE);
    row.or(column.map(|side| 2 + side)).unwrap_or(OWN)
}

impl VirtualChannelPolicy for NextOutput {
    fn filter(
        &self,
        candidates: Vec<CandidateEgress>,
        router: &dyn Router,
        info: &RequestInfo,
        topology: &dyn Topology,
        _: &mut StdRng,
    ) -> Vec<CandidateEgress> {
        let own = router.get_index().expect("routers have numbers");
        let suits = |candidate: &CandidateEgress| {
            let next = topology.neighbour(own, candidate.port).0;
            candidate.virtual_channel
                == match next {
                    Location::RouterPort { router_index, .. } => {
                        output(router_index, info.target_router_index)
                    }
                    _ => OWN,
                }
        };
        candidates.into_iter().filter(suits).collect()
    }
    fn need_server_ports(&self) -> bool {
        false
    }
    fn need_port_average_queue_length(&self) -> bool {
        false
    }
    fn need_port_last_transmission(&self) -> bool {
        false
    }
}

fn next_output(_: VCPolicyBuilderArgument) -> Box<dyn VirtualChannelPolicy> {
    Box::new(NextOutput)
}

/// `output_buffer_size: 0` would be our router, but that router of caminos stops when an output has a choice of two
/// packets: it forgets the choice at the output, and not at the input.
fn configuration(rate: f64) -> String {
    format!(
        "Configuration {{ random_seed: 1, warmup: 3000, measured: 12000,
            topology: Mesh {{ sides: [{SIDE}, {SIDE}], servers_per_router: 1 }},
            traffic: HomogeneousTraffic {{ pattern: Uniform {{ allow_self: true }}, servers: {TILES},
                load: {rate}, message_size: 1 }},
            maximum_packet_size: 1, server_queue_size: 1000000,
            router: Basic {{ virtual_channels: 5, virtual_channel_policies: [EnforceFlowControl, NextOutput],
                delay: 0, buffer_size: 8, output_buffer_size: 1, bubble: false, flit_size: 1,
                intransit_priority: false, allow_request_busy_port: true,
                output_prioritize_lowest_label: false }},
            routing: DOR {{ order: [0, 1] }},
            link_classes: [LinkClass {{ delay: {LINK} }}, LinkClass {{ delay: {LINK} }},
                LinkClass {{ delay: {TILE_LINK} }}] }}"
    )
}

/// Mean latency in cycles, and accepted packets per tile and cycle.
fn simulate(rate: f64, plugs: &Plugs) -> (f64, f64) {
    let Ok(Token::Value(parsed)) = parse(&configuration(rate)) else {
        panic!("caminos does not read its configuration")
    };
    let mut simulation = Simulation::new(&parsed, plugs);
    simulation.run();
    let result = simulation.get_simulation_results();
    // A packet from a tile to itself is none for caminos; in our mesh it takes two links to tiles.
    let others = (TILES - 1.0) / TILES;
    let latency =
        number(&result, "average_message_delay") * others + 2.0 * TILE_LINK as f64 / TILES;
    (latency, number(&result, "accepted_load") / others)
}

fn number(result: &ConfigurationValue, wanted: &str) -> f64 {
    let ConfigurationValue::Object(_, pairs) = result else {
        panic!("caminos has no result")
    };
    let found = pairs.iter().find(|(name, _)| name == wanted);
    found
        .and_then(|(_, value)| value.as_f64().ok())
        .expect("caminos has a number of this name")
}

fn main() {
    let mut words = std::env::args().skip(1);
    let table = words.next().expect("the name of the table");
    let mut table = std::fs::File::create(table).expect("a table that can be written");
    let mut plugs = Plugs::default();
    plugs.add_policy("NextOutput".to_string(), next_output);
    writeln!(table, "rate,mean_latency,accepted").expect("room for the table");
    for word in words {
        let (latency, accepted) = simulate(word.parse().expect("a rate"), &plugs);
        writeln!(table, "{word},{latency:.2},{accepted:.4}").expect("room for the table");
    }
}
