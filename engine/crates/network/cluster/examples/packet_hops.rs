//! Number of packets that the switch model moves over links per second: echoes on a tree of three levels, as simulated
//! by `validation/firesim/ns3_tree.cc` with ns-3.
//!
//!     cargo run --release --example packet_hops -- [threads] [milliseconds]

use rackwright_cluster::{
    Cluster, Description, Link, NodeKind, NodeSpec, SwitchSpec, TrafficClient, TrafficSpec,
};
use rackwright_time::network::Cycle;
use rackwright_traffic::{Arrivals, ClientParameters, Distribution, Load, ServiceParameters};
use std::time::Instant;

const AGGREGATION: usize = 4;
const RACKS: usize = 16;
const PAIRS: usize = 2;
const RATE: f64 = 1e6;
const PAYLOAD: u16 = 1000;

fn switch(name: String) -> NodeSpec {
    NodeSpec::new(name, NodeKind::Switch(SwitchSpec::default()))
}

fn traffic(name: String, spec: TrafficSpec) -> NodeSpec {
    NodeSpec::new(name, NodeKind::Traffic(Box::new(spec)))
}

fn link(one: &str, other: &str) -> Link {
    Link {
        ends: [one.to_string(), other.to_string()],
        latency_us: 2.0,
        bits_per_second: None,
    }
}

fn client(partner: String) -> TrafficSpec {
    let parameters = ClientParameters {
        load: Load::Open {
            arrivals: Arrivals::Periodic { rate: RATE },
        },
        request_bytes: PAYLOAD,
        answer_bytes: PAYLOAD,
        start_us: 0.0,
        timeout_us: 1000.0,
        requests: None,
        selection: rackwright_traffic::Selection::Random,
    };
    let client = TrafficClient {
        to: vec![partner],
        parameters,
    };
    TrafficSpec {
        client: Some(client),
        ..TrafficSpec::default()
    }
}

fn server() -> TrafficSpec {
    let service = ServiceParameters {
        cores: 4,
        time: Distribution::Constant { us: 0.0 },
        queue: None,
    };
    TrafficSpec {
        service: Some(service),
        ..TrafficSpec::default()
    }
}

/// Clients of a rack send requests to servers of another aggregation switch.
fn description() -> Description {
    let (mut nodes, mut links) = (vec![switch("root".to_string())], Vec::new());
    let racks = RACKS / AGGREGATION;
    for rack in 0..RACKS {
        let aggregation = format!("aggregation{}", rack / racks);
        if rack % racks == 0 {
            nodes.push(switch(aggregation.clone()));
            links.push(link("root", &aggregation));
        }
        let tor = format!("tor{rack}");
        nodes.push(switch(tor.clone()));
        links.push(link(&aggregation, &tor));
        for index in 0..PAIRS {
            let partner = format!("server{}-{index}", (rack + racks) % RACKS);
            for (name, spec) in [
                (format!("client{rack}-{index}"), client(partner)),
                (format!("server{rack}-{index}"), server()),
            ] {
                links.push(link(&tor, &name));
                nodes.push(traffic(name, spec));
            }
        }
    }
    Description {
        clock_hz: 3_200_000_000,
        seed: 1,
        warmup_us: 0.0,
        nodes,
        links,
    }
}

fn main() {
    let mut numbers = std::env::args()
        .skip(1)
        .map(|text| text.parse().expect("a number"));
    let threads: u64 = numbers.next().unwrap_or(1);
    let milliseconds: u64 = numbers.next().unwrap_or(20);
    let mut cluster = Cluster::new(&description()).expect("the topology is possible");
    cluster.execution().set_threads(threads as usize);
    let hops = |cluster: &Cluster| cluster.report().ports.iter().map(|port| port.sent).sum::<u64>();
    cluster.run(Cycle::new(320_000));
    #[expect(clippy::disallowed_methods, reason = "the speed of the simulation is shown")]
    let (before, started) = (hops(&cluster), Instant::now());
    cluster.run(Cycle::new(milliseconds * 3_200_000));
    let seconds = started.elapsed().as_secs_f64();
    let hops = hops(&cluster) - before;
    println!(
        "{hops} packet-hops in {seconds:.3} s: {:.2} million per second",
        hops as f64 / seconds / 1e6
    );
}
