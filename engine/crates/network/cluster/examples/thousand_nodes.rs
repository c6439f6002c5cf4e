//! Speed of the simulation of the thousand nodes of Karandikar 2024, table 2.3 at `traffic` fidelity.
//!
//! 32 racks of 32 servers, 4 aggregation switches, 1 root; every second server sends about 10,000 requests per second
//! to one partner, in its own rack, across an aggregation switch, or across the root.
//!
//!     cargo run --release --example thousand_nodes -- [rack|aggregation|root] [threads] [milliseconds]

use rackwright_cluster::{
    Cluster, Description, Link, NodeKind, NodeSpec, SwitchSpec, TrafficClient, TrafficSpec,
};
use rackwright_time::network::Cycle;
use rackwright_traffic::{ClientParameters, Distribution, Load, ServiceParameters};
use std::time::Instant;

const RACKS: usize = 32;
const SERVERS: usize = 32;
const AGGREGATION: usize = 4;

fn switch(name: String) -> NodeSpec {
    NodeSpec::new(name, NodeKind::Switch(SwitchSpec::default()))
}

fn link(one: &str, other: &str) -> Link {
    Link {
        ends: [one.to_string(), other.to_string()],
        latency_us: 2.0,
        bits_per_second: None,
    }
}

fn server(rack: usize, index: usize) -> String {
    format!("s{rack}-{index}")
}

/// The server to which a client sends its requests.
fn partner(distance: &str, rack: usize, index: usize) -> String {
    let racks = RACKS / AGGREGATION;
    let other = match distance {
        "rack" => rack,
        "aggregation" => rack / racks * racks + (rack + 1) % racks,
        _ => (rack + racks) % RACKS,
    };
    server(other, index - 1)
}

fn node(distance: &str, rack: usize, index: usize) -> NodeSpec {
    let mut spec = TrafficSpec {
        stack_us: 8.5,
        ..TrafficSpec::default()
    };
    if index % 2 == 0 {
        let time = Distribution::Exponential {
            mean_us: 43.5,
            minimum_us: 22.3,
        };
        spec.service = Some(ServiceParameters {
            cores: 4,
            time,
            queue: None,
        });
    } else {
        let think = Distribution::Exponential {
            mean_us: 23.5,
            minimum_us: 0.0,
        };
        let parameters = ClientParameters {
            load: Load::Closed {
                outstanding: 1,
                think,
            },
            request_bytes: 64,
            answer_bytes: 250,
            start_us: 0.0,
            timeout_us: 10_000.0,
            requests: None,
            selection: rackwright_traffic::Selection::Random,
        };
        spec.client = Some(TrafficClient {
            to: vec![partner(distance, rack, index)],
            parameters,
        });
    }
    NodeSpec::new(server(rack, index), NodeKind::Traffic(Box::new(spec)))
}

fn description(distance: &str) -> Description {
    let mut nodes = vec![switch("root".to_string())];
    let mut links = Vec::new();
    for rack in 0..RACKS {
        let aggregation = format!("aggregation{}", rack / (RACKS / AGGREGATION));
        if rack % (RACKS / AGGREGATION) == 0 {
            nodes.push(switch(aggregation.clone()));
            links.push(link("root", &aggregation));
        }
        let tor = format!("tor{rack}");
        nodes.push(switch(tor.clone()));
        links.push(link(&aggregation, &tor));
        for index in 0..SERVERS {
            nodes.push(node(distance, rack, index));
            links.push(link(&tor, &server(rack, index)));
        }
    }
    Description {
        clock_hz: 3_200_000_000,
        seed: 1,
        warmup_us: 1000.0,
        nodes,
        links,
    }
}

#[expect(clippy::disallowed_methods, reason = "the speed of the simulation is shown")]
fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let distance = arguments.first().map_or("root", String::as_str);
    let threads = arguments
        .get(1)
        .map_or(2, |text| text.parse().expect("a number of threads"));
    let milliseconds: u64 = arguments
        .get(2)
        .map_or(50, |text| text.parse().expect("milliseconds"));
    let built = Instant::now();
    let mut cluster = Cluster::new(&description(distance)).expect("the topology is possible");
    cluster.execution().set_threads(threads);
    // A first millisecond measures the cost of each node, so that threads get equal shares.
    cluster.run(Cycle::new(3_200_000));
    println!("built and warm in {:.2} s", built.elapsed().as_secs_f64());
    let started = Instant::now();
    cluster.run(Cycle::new(milliseconds * 3_200_000));
    let seconds = started.elapsed().as_secs_f64();
    let cycles = (milliseconds - 1) * 3_200_000;
    let report = cluster.report();
    let us = |cycles: u64| cycles as f64 / 3200.0;
    let hops: u64 = report.ports.iter().map(|port| port.sent).sum();
    println!("digest {}", report.digest);
    println!(
        "{:.1} MHz on {threads} threads, {:.2} M packet-hops/s",
        cycles as f64 / seconds / 1e6,
        hops as f64 / seconds / 1e6
    );
    println!(
        "p50 {:.2} us, p95 {:.2} us",
        us(report.latency.p50),
        us(report.latency.p95)
    );
    let answered = report.latency.count as f64;
    println!("{:.0} requests/s", answered / (milliseconds as f64 - 1.0) * 1e3);
}
