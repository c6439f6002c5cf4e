//! Balancers in front of services, all in this process, on addresses of this machine.

pub mod namespaces;
pub mod relay;

use rackwright_balancer::{
    Balancer, Framing, LaneSettings, Limits, PeerSettings, ReplicaSettings, ServiceSettings, Settings,
    Status, TimeSettings,
};
use rackwright_dispatch::{LoadDelta, PeerId, Policy, ServiceId};
use rackwright_loadtest::{run, Plan, Progress, Protocol, Report, Service, ServicePlan};
use rackwright_traffic::{Arrivals, Distribution};
use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

pub const KEY: [u8; 16] = *b"sixteen bytes ok";
pub const WORK: Framing = Framing::Field { offset: 0, bytes: 8 };

pub fn loopback() -> SocketAddr {
    ([127, 0, 0, 1], 0).into()
}

/// An address that is free now.
pub fn free_address() -> SocketAddr {
    UdpSocket::bind(loopback()).unwrap().local_addr().unwrap()
}

pub fn services_at(addresses: Vec<SocketAddr>, header_bytes: usize) -> Service {
    let plan = ServicePlan {
        addresses,
        cores: 1,
        spin: false,
        header_bytes,
    };
    Service::start(&plan).unwrap()
}

pub fn services(count: usize) -> Service {
    services_at(vec![loopback(); count], 0)
}

pub fn settings(rack: u16, framing: Framing, replicas: &[SocketAddr]) -> Settings {
    let replica = |address: &SocketAddr| ReplicaSettings {
        address: *address,
        cores: 1,
    };
    Settings {
        rack: PeerId(rack),
        incarnation: 1,
        seed: 1,
        policy: Policy::DARONPON,
        lanes: LaneSettings {
            threads: 1,
            busy_poll: false,
            xdp: None,
        },
        key: Some(KEY),
        peer_listen: None,
        peers: Vec::new(),
        services: vec![ServiceSettings {
            id: ServiceId(1),
            name: "work".into(),
            listen: loopback(),
            framing,
            probe: Some(vec![0; 12]),
            sticky: None,
            replicas: replicas.iter().map(replica).collect(),
        }],
        gossip_floor: 1,
        load_delta: LoadDelta::Fixed(0.0),
        max_redirects: 1,
        times: TimeSettings {
            expiry_us: 4_000_000,
            answer_timeout_us: 8_000_000,
            truth_interval_us: 10_000,
            peer_timeout_us: 1_000_000,
            probe_interval_us: 10_000,
        },
        limits: Limits {
            tracked: 1 << 14,
            held: 1 << 12,
        },
        record: None,
    }
}

/// Makes every settings know the others, at addresses that are free.
pub fn introduce(all: &mut [Settings]) {
    let known: Vec<PeerSettings> = (all.iter_mut())
        .map(|settings| {
            let address = free_address();
            settings.peer_listen = Some(address);
            PeerSettings {
                rack: settings.rack,
                address,
                services: vec![ServiceId(1)],
            }
        })
        .collect();
    for settings in all {
        let others = known.iter().filter(|peer| peer.rack != settings.rack);
        settings.peers = others.cloned().collect();
    }
}

pub fn plan(targets: Vec<SocketAddr>, rate: f64, requests: u64, work_us: f64) -> Plan {
    Plan {
        targets,
        protocol: Protocol::Work,
        arrivals: Arrivals::Poisson { rate },
        work: Distribution::Constant { us: work_us },
        request_bytes: 64,
        connections: 4,
        requests,
        warmup: 0,
        timeout_us: 8e6,
        seed: 1,
    }
}

pub fn put(plan: &Plan) -> Report {
    run(plan, &Progress::default()).unwrap()
}

/// Waits until a balancer's status is as it should be.
#[expect(clippy::disallowed_methods, reason = "a real service is awaited")]
pub fn wait_until(balancer: &Balancer, what: &str, is_so: impl Fn(&Status) -> bool) -> Status {
    let begin = Instant::now();
    loop {
        let status = balancer.status();
        if is_so(&status) {
            return status;
        }
        assert!(
            begin.elapsed() < Duration::from_secs(20),
            "never {what}: {status:#?}"
        );
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Whether all counters of requests under way are back at nothing.
pub fn is_idle(status: &Status) -> bool {
    status
        .services
        .iter()
        .all(|service| service.held == 0 && service.replicas.iter().all(|replica| replica.outstanding == 0))
}
