//! A client and a service on one link against queueing theory; `validation/queueing` does the same at
//! length.

use rackwright_ethernet::{Endpoint, Ipv4, Mac, PortParameters};
use rackwright_schedule::{Graph, ModelId, PortId};
use rackwright_time::network::{Cycle, Cycles};
use rackwright_time::Clock;
use rackwright_traffic::{
    Arrivals, Client, ClientParameters, Distribution, Host, Identity, Load, Peer, Random, Selection, Service,
    ServiceParameters,
};

const SERVICE_US: f64 = 10.0;

fn clock() -> Clock {
    Clock::new(3_200_000_000).unwrap()
}

fn identity(number: u32) -> Identity {
    let address = Ipv4::from_bits(Ipv4::new(172, 16, 0, 0).to_bits() + number);
    Identity {
        mac: Mac::assigned(number),
        endpoint: Endpoint { address, port: 7 },
        stack: Cycles::new(0),
        ecn: false,
    }
}

fn client(load: Load, requests: u64) -> Client {
    let parameters = ClientParameters {
        load,
        request_bytes: 64,
        answer_bytes: 64,
        start_us: 0.0,
        timeout_us: 1e6,
        requests: Some(requests),
        selection: Selection::Random,
    };
    let server = identity(2);
    let peer = Peer {
        mac: server.mac,
        endpoint: server.endpoint,
        service: rackwright_dispatch::ServiceId(0),
    };
    Client::new(
        &parameters,
        vec![peer],
        clock(),
        Random::new(1, 0, "client"),
        Cycle::ZERO,
    )
    .unwrap()
}

fn service(cores: u32, time: Distribution, queue: Option<u32>) -> Service {
    let parameters = ServiceParameters { cores, time, queue };
    Service::new(&parameters, clock(), Random::new(1, 1, "service"), Cycle::ZERO).unwrap()
}

/// Runs to the last answer; returns the graph and the two hosts.
fn run(client: Client, service: Service) -> (Graph<Host>, ModelId, ModelId) {
    let mut graph = Graph::new();
    let port = PortParameters::default();
    let one = graph.add("client", Host::new(identity(3), port, Some(client), None));
    let other = graph.add("server", Host::new(identity(2), port, None, Some(service)));
    let end = |model| PortId { model, port: 0 };
    graph.join(end(one), end(other), Cycles::new(6400)).unwrap();
    graph.run(Cycle::new(u64::MAX - 1));
    (graph, one, other)
}

fn poisson(load: f64, cores: f64) -> Load {
    Load::Open {
        arrivals: Arrivals::Poisson {
            rate: load * cores * 1e6 / SERVICE_US,
        },
    }
}

fn exponential() -> Distribution {
    Distribution::Exponential {
        mean_us: SERVICE_US,
        minimum_us: 0.0,
    }
}

/// Mean and 99th percentile of the wait, as multiples of the service time.
fn waits(load: f64, cores: u32, time: Distribution) -> (f64, f64) {
    let (graph, _, server) = run(
        client(poisson(load, cores.into()), 1_000_000),
        service(cores, time, None),
    );
    let waits = graph.model(server).service().unwrap().waits();
    assert_eq!(waits.count(), 1_000_000);
    let service_cycles = SERVICE_US * 3200.0;
    (
        waits.mean() / service_cycles,
        waits.percentile(99.0) as f64 / service_cycles,
    )
}

fn assert_close(measured: f64, expected: f64) {
    let off = (measured / expected - 1.0).abs();
    assert!(off < 0.02, "{measured}, not {expected}: {:.2} % off", off * 100.0);
}

#[test]
fn one_exponential_server() {
    let (mean, p99) = waits(0.5, 1, exponential());
    assert_close(mean, 1.0);
    assert_close(p99, (0.5_f64 / 0.01).ln() / 0.5);
}

#[test]
fn one_constant_server_waits_half_as_long() {
    let (mean, _) = waits(0.5, 1, Distribution::Constant { us: SERVICE_US });
    assert_close(mean, 0.5);
}

#[test]
fn four_exponential_servers_behind_one_queue() {
    // Erlang's C for 4 servers at a load of 0.7 each.
    let offered: f64 = 2.8;
    let terms: Vec<f64> = (0..4)
        .scan(1.0, |term, k| {
            let now = *term;
            *term *= offered / f64::from(k + 1);
            Some(now)
        })
        .collect();
    let all_busy = offered.powi(4) / 24.0 / 0.3;
    let waiting = all_busy / (terms.iter().sum::<f64>() + all_busy);
    let (mean, p99) = waits(0.7, 4, exponential());
    assert_close(mean, waiting / (4.0 - offered));
    assert_close(p99, (waiting / 0.01).ln() / (4.0 - offered));
}

#[test]
fn the_latency_is_links_flits_stack_and_service_to_the_cycle() {
    let trace = Load::Open {
        arrivals: Arrivals::Trace { times_us: vec![1.0] },
    };
    let (graph, one, _) = run(
        client(trace, 1),
        service(1, Distribution::Constant { us: 5.0 }, None),
    );
    let latencies = graph.model(one).client().unwrap().latencies();
    // 64 bytes behind 42 of headers are 14 flits.
    assert_eq!(latencies.mean(), (2 * (6400 + 13) + 16_000) as f64);
}

#[test]
fn a_closed_loop_keeps_its_requests_under_way_and_loses_none() {
    let load = Load::Closed {
        outstanding: 8,
        think: Distribution::Constant { us: 0.0 },
    };
    let (graph, one, other) = run(client(load, 10_000), service(2, exponential(), None));
    let counters = graph.model(one).client().unwrap().counters();
    assert_eq!(
        (counters.requests, counters.answered, counters.lost),
        (10_000, 10_000, 0)
    );
    let worked = graph.model(other).service().unwrap().counters().busy_cycles;
    assert!(worked > 9_000 * 32_000, "{worked}");
}

#[test]
fn requests_for_which_there_is_no_room_are_counted_on_both_sides() {
    let load = Load::Open {
        arrivals: Arrivals::Periodic { rate: 1e6 },
    };
    let (graph, one, other) = run(client(load, 20_000), service(1, exponential(), Some(10)));
    let sent = graph.model(one).client().unwrap().counters();
    let served = graph.model(other).service().unwrap().counters();
    assert_eq!(served.requests, 20_000);
    assert_eq!(served.answered + served.dropped, 20_000);
    assert_eq!(
        (sent.answered, sent.lost, sent.late),
        (served.answered, served.dropped, 0)
    );
}
