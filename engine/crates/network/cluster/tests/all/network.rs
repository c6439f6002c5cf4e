//! Whole clusters: determinism, conservation, multipath, captures, and topologies that are refused.

use rackwright_cluster::{
    Cluster, Description, Link, NodeKind, NodeSpec, Report, SwitchSpec, TrafficClient, TrafficSpec,
};
use rackwright_ethernet::Capture;
use rackwright_schedule::RunOutcome;
use rackwright_time::network::{Cycle, Cycles};
use rackwright_traffic::{Arrivals, ClientParameters, Distribution, Load, ServiceParameters};

fn switch(name: &str) -> NodeSpec {
    NodeSpec::new(name, NodeKind::Switch(SwitchSpec::default()))
}

fn traffic(name: &str, spec: TrafficSpec) -> NodeSpec {
    NodeSpec::new(name, NodeKind::Traffic(Box::new(spec)))
}

fn server(name: &str) -> NodeSpec {
    let time = Distribution::Exponential {
        mean_us: 5.0,
        minimum_us: 1.0,
    };
    let service = Some(ServiceParameters {
        cores: 2,
        time,
        queue: None,
    });
    traffic(
        name,
        TrafficSpec {
            service,
            ..TrafficSpec::default()
        },
    )
}

fn client(name: &str, to: &[&str], load: Load) -> NodeSpec {
    let parameters = ClientParameters {
        load,
        request_bytes: 100,
        answer_bytes: 1000,
        start_us: 0.0,
        timeout_us: 1000.0,
        requests: None,
        selection: rackwright_traffic::Selection::Random,
    };
    let client = TrafficClient {
        to: to.iter().map(|name| name.to_string()).collect(),
        parameters,
    };
    traffic(
        name,
        TrafficSpec {
            client: Some(client),
            ..TrafficSpec::default()
        },
    )
}

fn poisson(rate: f64) -> Load {
    Load::Open {
        arrivals: Arrivals::Poisson { rate },
    }
}

fn link(one: &str, other: &str) -> Link {
    Link {
        ends: [one.to_string(), other.to_string()],
        latency_us: 2.0,
        bits_per_second: None,
    }
}

fn description(nodes: Vec<NodeSpec>, links: &[(&str, &str)]) -> Description {
    Description {
        clock_hz: 3_200_000_000,
        seed: 1,
        warmup_us: 0.0,
        nodes,
        links: links.iter().map(|(one, other)| link(one, other)).collect(),
    }
}

/// Two roots, four leaves, and at each leaf two servers and two clients that ask everywhere.
fn clos(rate: f64) -> Description {
    let names = |kind: &str| -> Vec<String> { (0..8).map(|index| format!("{kind}{index}")).collect() };
    let (servers, clients) = (names("s"), names("c"));
    let all: Vec<&str> = servers.iter().map(String::as_str).collect();
    let mut nodes = vec![switch("root0"), switch("root1")];
    let mut links = Vec::new();
    for leaf in 0..4 {
        let name = format!("leaf{leaf}");
        nodes.push(switch(&name));
        (0..2).for_each(|root| links.push(link(&format!("root{root}"), &name)));
        for index in 2 * leaf..2 * leaf + 2 {
            nodes.push(server(&servers[index]));
            nodes.push(client(&clients[index], &all, poisson(rate)));
            links.push(link(&name, &servers[index]));
            links.push(link(&name, &clients[index]));
        }
    }
    Description {
        links,
        ..description(nodes, &[])
    }
}

fn run(description: &Description, change: impl FnOnce(&mut Cluster)) -> Report {
    let mut cluster = Cluster::new(description).unwrap();
    change(&mut cluster);
    cluster.run(Cycle::new(1_000_000));
    cluster.run(Cycle::new(3_200_000));
    cluster.report()
}

#[test]
fn the_digest_depends_on_neither_threads_nor_windows_nor_skipping() {
    let description = clos(300_000.0);
    let expected = run(&description, |_| {});
    for threads in [1, 2, 4] {
        for window in [6400, 3200, 100] {
            let report = run(&description, |cluster| {
                cluster.execution().set_threads(threads);
                cluster.execution().set_window(Cycles::new(window)).unwrap();
            });
            assert_eq!(
                report.digest, expected.digest,
                "{threads} threads, windows of {window}"
            );
        }
    }
    assert_eq!(
        run(&description, |cluster| cluster.execution().set_skip_idle(false)).digest,
        expected.digest
    );
    let other = run(
        &Description {
            seed: 2,
            ..description
        },
        |_| {},
    );
    assert_ne!(other.digest, expected.digest);
}

#[test]
fn nothing_is_lost_uncounted() {
    let mut congested = clos(2_000_000.0);
    for link in &mut congested.links {
        link.bits_per_second = Some(5_000_000_000);
    }
    for node in &mut congested.nodes {
        if matches!(node.kind, NodeKind::Switch(_)) {
            node.buffer_bytes = 5000;
        }
    }
    for description in [clos(500_000.0), congested] {
        let report = run(&description, |_| {});
        for port in &report.ports {
            assert_eq!(port.offered, port.sent + port.dropped + port.queued, "{port:?}");
            let peer = report.ports.iter().find(|other| other.name == port.peer).unwrap();
            let on_the_way = port.sent - peer.received;
            assert!(on_the_way <= 6400 / 8 + 1, "{port:?}");
        }
        for server in &report.servers {
            assert!(server.client.requests >= server.client.answered + server.client.lost);
            assert_eq!(server.packets.refused, 0);
        }
        let dropped: u64 = report.ports.iter().map(|port| port.dropped).sum();
        assert_eq!(dropped > 0, description.links[0].bits_per_second.is_some());
    }
}

#[test]
fn a_run_in_which_all_is_done_says_so_and_every_frame_has_arrived() {
    let mut nodes = vec![switch("s"), server("b")];
    let mut asking = client(
        "a",
        &["b"],
        Load::Closed {
            outstanding: 4,
            think: Distribution::Constant { us: 1.0 },
        },
    );
    if let NodeKind::Traffic(spec) = &mut asking.kind {
        spec.client.as_mut().unwrap().parameters.requests = Some(1000);
    }
    nodes.push(asking);
    let mut cluster = Cluster::new(&description(nodes, &[("s", "a"), ("s", "b")])).unwrap();
    assert_eq!(cluster.run(Cycle::new(1 << 40)), RunOutcome::Quiet);
    let report = cluster.report();
    for port in &report.ports {
        let peer = report.ports.iter().find(|other| other.name == port.peer).unwrap();
        assert_eq!((port.sent, port.dropped), (peer.received, 0));
    }
    assert_eq!(report.latency.count, 1000);
    assert_eq!(report.servers[0].service.served, 1000);
}

#[test]
fn flows_share_equal_uplinks_and_each_keeps_to_one() {
    let report = run(&clos(300_000.0), |_| {});
    let sent = |name: &str| report.ports.iter().find(|port| port.name == name).unwrap().sent;
    let (one, other) = (sent("leaf0.port0"), sent("leaf0.port1"));
    assert!(
        one > 0 && other > 0 && one.abs_diff(other) < one.max(other),
        "{one} and {other}"
    );
}

fn with_policy(name: &str) -> Description {
    let mut description = clos(400_000.0);
    for node in &mut description.nodes {
        if let NodeKind::Switch(spec) = &mut node.kind {
            spec.policy = name.to_string();
        }
    }
    description
}

#[test]
fn the_least_queued_uplink_is_taken_whatever_the_flow() {
    let peak = |report: &Report| report.ports.iter().map(|port| port.peak_bytes).max().unwrap();
    let (hashed, freest) = (
        run(&with_policy("flow-hash"), |_| {}),
        run(&with_policy("least-queued"), |_| {}),
    );
    assert!(hashed.latency.count > 0 && freest.latency.count > 0);
    assert_ne!(hashed.digest, freest.digest);
    assert!(
        peak(&freest) <= peak(&hashed),
        "{} and {}",
        peak(&freest),
        peak(&hashed)
    );
    let threads = run(&with_policy("least-queued"), |cluster| {
        cluster.execution().set_threads(4)
    });
    assert_eq!(threads.digest, freest.digest);
    let unknown = refusal(&with_policy("magic"));
    assert_eq!(
        unknown,
        "switch `root0` has no policy `magic`; there are flow-hash, least-queued"
    );
}

#[test]
fn pinning_an_address_changes_only_those_that_clash() {
    let mut nodes = vec![switch("s"), server("a"), server("b"), server("c")];
    nodes[2].mac = Some("00:12:6D:00:00:02".to_string());
    nodes[2].ip = Some("10.0.0.1".to_string());
    let report = run(&description(nodes, &[("s", "a"), ("s", "b"), ("s", "c")]), |_| {});
    let addresses: Vec<_> = report
        .servers
        .iter()
        .map(|server| (server.mac.as_str(), server.ip.as_str()))
        .collect();
    let expected = [
        ("00:12:6D:00:00:03", "172.16.0.3"),
        ("00:12:6D:00:00:02", "10.0.0.1"),
        ("00:12:6D:00:00:05", "172.16.0.5"),
    ];
    assert_eq!(addresses, expected);
}

#[test]
fn a_capture_holds_what_the_counters_count() {
    let mut cluster = Cluster::new(&clos(100_000.0)).unwrap();
    cluster.capture("root0.port1").unwrap();
    let mut capture = Capture::new(Vec::new(), cluster.clock(), &cluster.captured()).unwrap();
    for slice in 1..=10 {
        cluster.run(Cycle::new(slice * 320_000));
        cluster.write_capture(&mut capture).unwrap();
    }
    let report = cluster.report();
    let port = report
        .ports
        .iter()
        .find(|port| port.name == "root0.port1")
        .unwrap();
    let file = capture.finish();
    let mut reader = pcap_file::pcapng::PcapNgReader::new(file.as_slice()).unwrap();
    let mut stamps = Vec::new();
    while let Some(block) = reader.next_block() {
        if let pcap_file::pcapng::Block::EnhancedPacket(packet) = block.unwrap() {
            stamps.push(packet.timestamp);
        }
    }
    assert!(stamps.is_sorted());
    assert_eq!(cluster.counters("root0.port1").unwrap().sent, port.sent);
    // A frame that has begun to leave is counted; it is captured when its last flit has left.
    assert!((port.sent + port.received - stamps.len() as u64) <= 1);
    assert!(cluster.capture("root0.port9").is_err());
    assert!(cluster.capture("nobody.port0").is_err());
}

fn refusal(description: &Description) -> String {
    Cluster::new(description)
        .err()
        .expect("it is impossible")
        .to_string()
}

#[test]
fn impossible_topologies_are_refused_and_the_ends_named() {
    let two = || vec![switch("s"), server("a"), server("b")];
    let joined = [("s", "a"), ("s", "b")];
    let alone = description(
        [two(), vec![switch("t"), server("c")]].concat(),
        &[&joined[..], &[("t", "c")]].concat(),
    );
    assert_eq!(
        refusal(&alone),
        "nothing joins `s` and `t`: neither can reach the other"
    );
    let twice = description([two(), vec![server("a")]].concat(), &joined);
    assert_eq!(refusal(&twice), "two nodes are called `a`");
    let unlinked = description(two(), &joined[..1]);
    assert_eq!(
        refusal(&unlinked),
        "server `b` has one port and 0 links; it needs one"
    );
    let unknown = description(two(), &[("s", "a"), ("s", "x")]);
    assert_eq!(
        refusal(&unknown),
        "the link of `s` and `x` names `x`, and no node is called so"
    );
    let mut fast = description(two(), &joined);
    fast.links[1].bits_per_second = Some(400_000_000_000);
    assert!(
        refusal(&fast).starts_with("link of `s` and `b`: a port of 64 bits at 3200000000 Hz sends at most")
    );
    let mut instant = description(two(), &joined);
    instant.links[0].latency_us = 0.0;
    assert!(refusal(&instant).starts_with("link of `s` and `a`: a latency of 0 us"));
    let deaf = description(
        [two(), vec![client("c", &["s"], poisson(1.0))]].concat(),
        &[&joined[..], &[("s", "c")]].concat(),
    );
    assert_eq!(refusal(&deaf), "`c` sends requests to `s`, which has no service");
}

#[test]
fn addresses_that_clash_are_refused() {
    let mut nodes = vec![switch("s"), server("a"), server("b")];
    for node in &mut nodes[1..] {
        node.ip = Some("10.0.0.1".to_string());
    }
    let clash = description(nodes, &[("s", "a"), ("s", "b")]);
    assert_eq!(refusal(&clash), "`a` and `b` both have the address 10.0.0.1");
}

#[test]
fn a_switch_with_an_address_is_refused() {
    let mut nodes = vec![switch("s"), server("a"), server("b")];
    nodes[0].ip = Some("10.0.0.1".to_string());
    let addressed = description(nodes, &[("s", "a"), ("s", "b")]);
    assert_eq!(refusal(&addressed), "`s`: a switch has no address");
}

#[test]
fn pinned_routes_are_followed_and_circles_refused() {
    let triangle = |routes: &[(&str, &str)]| {
        let mut nodes = vec![
            switch("x"),
            switch("y"),
            switch("z"),
            server("a"),
            client("c", &["a"], poisson(1e5)),
        ];
        for (at, to) in routes {
            let node = nodes.iter_mut().find(|node| node.name == *at).unwrap();
            let NodeKind::Switch(spec) = &mut node.kind else {
                panic!("a switch")
            };
            spec.routes.insert("a".to_string(), vec![to.to_string()]);
        }
        description(
            nodes,
            &[("x", "y"), ("y", "z"), ("z", "x"), ("x", "a"), ("y", "c")],
        )
    };
    let received = |report: &Report, name: &str| {
        report
            .ports
            .iter()
            .find(|port| port.name == name)
            .unwrap()
            .received
    };
    assert_eq!(received(&run(&triangle(&[]), |_| {}), "z.port0"), 0);
    assert!(
        received(&run(&triangle(&[("y", "z")]), |_| {}), "z.port0") > 0,
        "the long way"
    );
    assert_eq!(
        refusal(&triangle(&[("y", "z"), ("z", "y")])),
        "frames of `y` for `a` would circle: y -> z -> y"
    );
    assert_eq!(
        refusal(&triangle(&[("y", "c"), ("z", "a")])),
        "switch `z` sends to `a` through `a`, which is not linked to it"
    );
}

#[test]
fn descriptions_are_plain_data() {
    let description = clos(1000.0);
    let text = serde_json::to_string(&description).unwrap();
    assert_eq!(serde_json::from_str::<Description>(&text).unwrap(), description);
}
