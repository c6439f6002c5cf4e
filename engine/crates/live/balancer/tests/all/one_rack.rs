//! One balancer in front of replicas of its own rack.

use crate::harness::{self, *};
use rackwright_balancer::{Balancer, Framing, Settings, StickyBy};
use rackwright_dispatch::Policy;
use std::net::{SocketAddr, UdpSocket};
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(10);

#[test]
fn requests_are_spread_and_answers_come_back() {
    for (framing, header) in [(WORK, 0), (Framing::Shim, 16)] {
        for (threads, busy_poll) in [(1, false), (3, false), (1, true)] {
            let services = services_at(vec![loopback(); 4], header);
            let mut settings = settings(0, framing, services.addresses());
            settings.lanes.threads = threads;
            settings.lanes.busy_poll = busy_poll;
            let balancer = Balancer::start(settings).unwrap();
            let report = put(&plan(balancer.addresses(), 4000.0, 1000, 800.0));
            assert_eq!((report.answered, report.lost, report.malformed), (1000, 0, 0));
            let status = wait_until(&balancer, "idle", is_idle);
            assert_eq!(status.decisions.answers.answered, 1000);
            let answered = status.services[0].replicas.iter().map(|replica| replica.answered);
            assert!(answered.clone().all(|count| count > 150), "{status:#?}");
            assert_eq!(answered.sum::<u64>(), 1000);
            assert!(balancer.stop(PATIENCE).unwrap());
        }
    }
}

#[test]
fn with_a_bounded_queue_requests_wait_here() {
    let services = services(2);
    let mut settings = settings(0, WORK, services.addresses());
    settings.policy = Policy::BoundedQueue { bound: 1 };
    let balancer = Balancer::start(settings).unwrap();
    let report = put(&plan(balancer.addresses(), 20_000.0, 200, 500.0));
    assert_eq!((report.answered, report.lost), (200, 0));
    let status = wait_until(&balancer, "idle", is_idle);
    assert!(status.decisions.requests.held > 100, "{status:#?}");
}

#[test]
fn requests_of_one_client_stay_with_one_replica_if_asked_to() {
    let services = services(4);
    let mut settings = settings(0, WORK, services.addresses());
    settings.services[0].sticky = Some(StickyBy::Client);
    let balancer = Balancer::start(settings).unwrap();
    let mut plan = plan(balancer.addresses(), 2000.0, 100, 100.0);
    plan.connections = 1;
    assert_eq!(put(&plan).answered, 100);
    let status = wait_until(&balancer, "idle", is_idle);
    let mut answered: Vec<u64> = (status.services[0].replicas.iter())
        .map(|replica| replica.answered)
        .collect();
    answered.sort_unstable();
    assert_eq!(answered, [0, 0, 0, 100]);
}

#[test]
fn a_dead_replica_gets_nothing_until_it_is_back() {
    let addresses = [free_address(), free_address()];
    // Of two with nothing to do the first one is taken.
    let killed = services_at(vec![addresses[0]], 0);
    let steady = services_at(vec![addresses[1]], 0);
    let balancer = Balancer::start(settings(0, WORK, &addresses)).unwrap();
    assert_eq!(put(&plan(balancer.addresses(), 2000.0, 100, 0.0)).lost, 0);
    drop(killed);
    // Requests one by one, until one of them finds out; no other is lost.
    let mut single = plan(balancer.addresses(), 2000.0, 1, 0.0);
    single.timeout_us = 300_000.0;
    let has_failed = || balancer.status().services[0].replicas[0].health == "failed";
    let lost: u64 = (0..20)
        .map_while(|_| (!has_failed()).then(|| put(&single).lost))
        .sum();
    assert!(has_failed() && lost == 1, "{lost}");
    assert_eq!(put(&plan(balancer.addresses(), 2000.0, 300, 0.0)).lost, 0);
    let back = services_at(vec![addresses[0]], 0);
    wait_until(&balancer, "up again", |status| {
        status.services[0].replicas[0].health == "up"
    });
    assert_eq!(put(&plan(balancer.addresses(), 4000.0, 400, 500.0)).lost, 0);
    assert!(back.answered() > 100 && steady.answered() > 100);
    wait_until(&balancer, "idle", is_idle);
}

#[test]
fn a_replica_that_says_nothing_is_found_out_and_its_requests_are_forgotten() {
    let silent = UdpSocket::bind(loopback()).unwrap();
    let services = services(1);
    let addresses = [services.addresses()[0], silent.local_addr().unwrap()];
    let mut settings = settings(0, WORK, &addresses);
    settings.times.expiry_us = 400_000;
    let balancer = Balancer::start(settings).unwrap();
    let mut load = plan(balancer.addresses(), 500.0, 300, 0.0);
    load.timeout_us = 600_000.0;
    put(&load);
    let status = wait_until(&balancer, "idle", is_idle);
    assert_eq!(status.services[0].replicas[1].health, "failed");
    assert_eq!(put(&load).lost, 0);
}

/// A balancer whose service answers nothing that is known beforehand.
fn without_probe(replicas: &[SocketAddr], expiry_us: u64) -> Balancer {
    let mut settings = settings(0, WORK, replicas);
    settings.services[0].probe = None;
    settings.times.expiry_us = expiry_us;
    Balancer::start(settings).unwrap()
}

/// Puts requests one by one until none of the replicas at these places is up; how many were lost.
fn lost_until_failed(balancer: &Balancer, places: &[usize]) -> u64 {
    let mut single = plan(balancer.addresses(), 2000.0, 1, 0.0);
    single.timeout_us = 300_000.0;
    let have_failed = || {
        let replicas = &balancer.status().services[0].replicas;
        places.iter().all(|place| replicas[*place].health == "failed")
    };
    let lost = (0..40)
        .map_while(|_| (!have_failed()).then(|| put(&single).lost))
        .sum();
    assert!(have_failed(), "{:?}", balancer.status());
    lost
}

#[test]
fn without_a_probe_a_dead_replica_gets_copies_of_requests_and_nothing_else_until_it_is_back() {
    let addresses = [free_address(), free_address(), free_address()];
    let steady = services_at(vec![addresses[2]], 0);
    let balancer = without_probe(&addresses, 4_000_000);
    assert_eq!(lost_until_failed(&balancer, &[0, 1]), 2);
    // Far longer than the wait between two trials at first.
    assert_eq!(put(&plan(balancer.addresses(), 500.0, 300, 0.0)).lost, 0);
    let back = services_at(vec![addresses[0]], 0);
    let is_back = || balancer.status().services[0].replicas[0].health == "up";
    assert!((0..1000).any(|_| put(&plan(balancer.addresses(), 100.0, 5, 0.0)).lost == 0 && is_back()));
    assert_eq!(put(&plan(balancer.addresses(), 4000.0, 400, 500.0)).lost, 0);
    assert!(back.answered() > 100 && steady.answered() > 100);
    wait_until(&balancer, "idle", is_idle);
}

#[test]
fn without_a_probe_a_silent_replica_is_asked_more_and_more_seldom() {
    let silent = UdpSocket::bind(loopback()).unwrap();
    silent.set_nonblocking(true).unwrap();
    let heard = || {
        let mut bytes = [0; 64];
        std::iter::from_fn(|| silent.recv(&mut bytes).ok()).count()
    };
    let services = services(1);
    let balancer = without_probe(&[silent.local_addr().unwrap(), services.addresses()[0]], 200_000);
    lost_until_failed(&balancer, &[0]);
    heard();
    assert_eq!(put(&plan(balancer.addresses(), 500.0, 500, 0.0)).lost, 0);
    // One second, or more on a busy machine: after 0, 10, 30, 70, 150, 310 and 630 ms.
    assert!((3..=20).contains(&heard()));
}

#[test]
fn without_a_probe_and_with_nobody_alive_requests_find_out_who_comes_back() {
    let addresses = [free_address(), free_address()];
    let balancer = without_probe(&addresses, 4_000_000);
    assert_eq!(lost_until_failed(&balancer, &[0, 1]), 2);
    let mut single = plan(balancer.addresses(), 2000.0, 1, 0.0);
    single.timeout_us = 300_000.0;
    assert_eq!(put(&single).lost, 1);
    let back = services_at(vec![addresses[1]], 0);
    // The dead are tried in turn.
    assert!((0..40).any(|_| put(&single).lost == 0));
    wait_until(&balancer, "up again", |status| {
        status.services[0].replicas[1].health == "up"
    });
    assert_eq!(put(&plan(balancer.addresses(), 2000.0, 100, 0.0)).lost, 0);
    assert!(back.answered() > 100);
}

#[test]
fn replicas_come_and_go_while_it_runs() {
    let services = services(3);
    let settings = settings(0, WORK, &services.addresses()[..2]);
    let mut balancer = Balancer::start(settings.clone()).unwrap();
    assert_eq!(put(&plan(balancer.addresses(), 2000.0, 100, 0.0)).lost, 0);
    let with = |replicas: &[std::net::SocketAddr]| Settings {
        services: harness::settings(0, WORK, replicas).services,
        ..settings.clone()
    };
    assert_eq!(
        balancer.reload(&with(&services.addresses()[1..])).unwrap(),
        (1, 1)
    );
    wait_until(&balancer, "changed", |status| {
        let mut addresses = status.services[0].replicas.iter().map(|replica| &replica.address);
        let added = services.addresses()[2].to_string();
        addresses.len() == 2 && addresses.any(|address| *address == added)
    });
    let before = services.answered();
    assert_eq!(put(&plan(balancer.addresses(), 2000.0, 400, 800.0)).lost, 0);
    assert_eq!(services.answered() - before, 400);
    let status = balancer.status();
    assert!(
        status.services[0]
            .replicas
            .iter()
            .all(|replica| replica.answered > 50),
        "{status:#?}"
    );
    assert_eq!(
        balancer.reload(&with(&services.addresses()[1..])).unwrap(),
        (0, 0)
    );
    let changed = Settings {
        seed: 9,
        ..settings.clone()
    };
    assert!(balancer.reload(&changed).is_err());
}

#[test]
fn when_it_stops_what_is_under_way_is_answered_and_nothing_else() {
    let services = services(1);
    let balancer = Balancer::start(settings(0, WORK, services.addresses())).unwrap();
    let address = balancer.addresses()[0];
    let client = UdpSocket::bind(loopback()).unwrap();
    client.set_read_timeout(Some(PATIENCE)).unwrap();
    client.connect(address).unwrap();
    let mut request = [0_u8; 12];
    request[8..].copy_from_slice(&200_000_000_u32.to_be_bytes());
    client.send(&request).unwrap();
    wait_until(&balancer, "under way", |status| !is_idle(status));
    let stopped = std::thread::spawn(move || balancer.stop(PATIENCE).unwrap());
    assert_eq!(client.recv(&mut [0; 100]).unwrap(), 12);
    assert!(stopped.join().unwrap());
    client.send(&request).unwrap();
    assert_eq!(
        client.recv(&mut [0; 100]).unwrap_err().kind(),
        std::io::ErrorKind::ConnectionRefused
    );
}

#[test]
fn when_it_stops_it_does_not_wait_for_ever() {
    let silent = UdpSocket::bind(loopback()).unwrap();
    let balancer = Balancer::start(settings(0, WORK, &[silent.local_addr().unwrap()])).unwrap();
    let client = UdpSocket::bind(loopback()).unwrap();
    client.send_to(&[0; 12], balancer.addresses()[0]).unwrap();
    wait_until(&balancer, "under way", |status| !is_idle(status));
    assert!(!balancer.stop(Duration::from_millis(20)).unwrap());
}

#[test]
fn what_cannot_be_is_refused() {
    let taken = UdpSocket::bind(loopback()).unwrap();
    let good = settings(0, WORK, &[free_address()]);
    let spoils: [fn(&mut Settings, &UdpSocket); 5] = [
        |settings, taken| settings.services[0].listen = taken.local_addr().unwrap(),
        |settings, _| settings.lanes.threads = 0,
        |settings, _| settings.services.clear(),
        |settings, _| settings.services[0].framing = Framing::Field { offset: 0, bytes: 3 },
        |settings, _| settings.record = Some("/does/not/exist".into()),
    ];
    for spoil in spoils {
        let mut settings = good.clone();
        spoil(&mut settings, &taken);
        assert!(Balancer::start(settings).is_err());
    }
    for threads in [1, 2] {
        let mut first = good.clone();
        first.lanes.threads = threads;
        let balancer = Balancer::start(first.clone()).unwrap();
        first.services[0].listen = balancer.addresses()[0];
        assert!(Balancer::start(first).is_err(), "two balancers at one address");
    }
}
