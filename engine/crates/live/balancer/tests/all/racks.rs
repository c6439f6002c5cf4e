//! Balancers of several racks, and those who would be one.

use crate::harness::*;
use rackwright_balancer::{replay, Balancer};
use rackwright_dispatch::wire::Key;
use rackwright_dispatch::{Entry, Load, PeerId, Report, ServiceId};
use std::io::BufReader;
use std::net::UdpSocket;
use std::time::Duration;

fn racks(services: &rackwright_loadtest::Service, count: usize) -> Vec<Balancer> {
    let addresses = services.addresses().chunks(services.addresses().len() / count);
    let mut all: Vec<_> = addresses
        .zip(0..)
        .map(|(replicas, rack)| settings(rack, WORK, replicas))
        .collect();
    introduce(&mut all);
    let racks: Vec<Balancer> = all
        .into_iter()
        .map(|settings| Balancer::start(settings).unwrap())
        .collect();
    for rack in &racks {
        wait_until(rack, "introduced", |status| {
            status.peers.iter().all(|peer| peer.alive)
        });
    }
    racks
}

#[test]
fn a_rack_with_more_than_it_can_do_gets_help() {
    let services = services(6);
    let racks = racks(&services, 3);
    // Twice what two replicas can do, all to the first rack.
    let report = put(&plan(racks[0].addresses(), 2000.0, 800, 2000.0));
    assert_eq!((report.answered, report.lost), (800, 0));
    let status = wait_until(&racks[0], "idle", is_idle);
    assert!(status.decisions.requests.redirected > 300, "{status:#?}");
    let others =
        racks[1].status().decisions.requests.taken_over + racks[2].status().decisions.requests.taken_over;
    assert_eq!(others, status.decisions.requests.redirected);
    assert!(report.latency.p99_us < 100_000.0, "{report:?}");
    for rack in &racks {
        let status = wait_until(rack, "idle", is_idle);
        assert_eq!(
            status.datagrams.strangers + status.datagrams.malformed_messages,
            0
        );
    }
}

#[test]
fn a_rack_without_replicas_alive_passes_everything_on_and_a_dead_rack_gets_nothing() {
    let services = services(1);
    let mut all = [settings(0, WORK, &[]), settings(1, WORK, services.addresses())];
    introduce(&mut all);
    all.iter_mut()
        .for_each(|settings| settings.times.peer_timeout_us = 100_000);
    let [front, back] = all.map(|settings| Balancer::start(settings).unwrap());
    wait_until(&front, "introduced", |status| status.peers[0].alive);
    assert_eq!(put(&plan(front.addresses(), 1000.0, 100, 0.0)).lost, 0);
    assert!(back.stop(Duration::from_secs(10)).unwrap());
    wait_until(&front, "alone", |status| !status.peers[0].alive);
    let mut load = plan(front.addresses(), 1000.0, 10, 0.0);
    load.timeout_us = 50_000.0;
    assert_eq!(put(&load).lost, 10);
    assert_eq!(front.status().decisions.drops.no_replica, 10);
}

#[test]
fn gossip_of_strangers_changes_nothing() {
    let services = services(2);
    let racks = racks(&services, 2);
    let to = racks[0].peer_address().unwrap();
    let report = Report {
        from: PeerId(1),
        incarnation: u32::MAX,
        sequence: 1,
        entries: [Entry {
            service: ServiceId(1),
            cores: 0,
            load: Load::UNAVAILABLE,
        }]
        .into_iter()
        .collect(),
    };
    let stranger = UdpSocket::bind(loopback()).unwrap();
    let mut message = Vec::new();
    Key::new(&[7; 16]).write_gossip(&report, &mut message);
    stranger.send_to(&message, to).unwrap();
    message.clear();
    Key::new(&KEY).write_gossip(&report, &mut message);
    for at in 0..message.len() {
        let mut changed = message.clone();
        changed[at] ^= 0x10;
        stranger.send_to(&changed, to).unwrap();
    }
    let sent = message.len() as u64 + 1;
    let status = wait_until(&racks[0], "refused", |status| {
        status.datagrams.strangers + status.datagrams.malformed_messages == sent
    });
    assert!(status.peers[0].alive);
    assert!(status.peers[0].loads[0].1.is_some(), "{status:#?}");
    // The same with the right key is believed, so that it was the key.
    stranger.send_to(&message, to).unwrap();
    wait_until(&racks[0], "believed", |status| {
        status.peers[0].loads[0].1.is_none()
    });
}

#[test]
fn fuzzed_datagrams_are_dropped_and_counted() {
    let services = services(2);
    let racks = racks(&services, 2);
    let fuzzer = UdpSocket::bind(loopback()).unwrap();
    let mut state = 1_u64;
    let mut random = || {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 33) as u32
    };
    let targets = [racks[0].addresses()[0], racks[0].peer_address().unwrap()];
    let mut sent = 0;
    for round in 0..2000 {
        let length = random() as usize % 80;
        let mut bytes: Vec<u8> = (0..length).map(|_| random() as u8).collect();
        // Half of them begin as messages do.
        if round % 2 == 0 && length >= 4 {
            bytes[..3].copy_from_slice(&[0x52, 0x44, 1]);
            bytes[3] %= 7;
        }
        // To clients' address only what is too short to be a request: others are answered.
        let target = targets[usize::from(length >= 8)];
        fuzzer.send_to(&bytes, target).unwrap();
        sent += 1;
        if round % 50 == 0 {
            wait_until(&racks[0], "read", |status| dropped(status) == sent);
        }
    }
    wait_until(&racks[0], "all dropped", |status| dropped(status) == sent);
    assert_eq!(put(&plan(racks[0].addresses(), 1000.0, 100, 0.0)).lost, 0);
}

fn dropped(status: &rackwright_balancer::Status) -> u64 {
    let counts = &status.datagrams;
    counts.malformed_requests + counts.malformed_messages + counts.strangers
}

#[test]
fn the_dispatcher_alone_decides_the_same_for_the_same_events() {
    let services = services(4);
    let path = std::env::temp_dir().join(format!("rackwright-record-{}", std::process::id()));
    let mut all = [
        settings(0, WORK, &services.addresses()[..2]),
        settings(1, WORK, &services.addresses()[2..]),
    ];
    introduce(&mut all);
    all[0].record = Some(path.clone());
    let [first, second] = all.map(|settings| Balancer::start(settings).unwrap());
    wait_until(&first, "introduced", |status| status.peers[0].alive);
    let report = put(&plan(first.addresses(), 3000.0, 1000, 800.0));
    assert_eq!(report.lost, 0);
    assert!(first.status().decisions.requests.redirected > 0);
    first.stop(Duration::from_secs(10)).unwrap();
    drop(second);
    let record = std::fs::read_to_string(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    let replayed = replay(BufReader::new(record.as_bytes())).unwrap();
    assert!(replayed.events > 1500, "{replayed:?}");
    assert!(
        replayed.answered > 500 && replayed.forgotten.is_empty(),
        "{replayed:?}"
    );
    // A record that says something else is not followed.
    let spoilt = record.replacen("ReplicaId(0)", "ReplicaId(1)", 1);
    assert!(replay(BufReader::new(spoilt.as_bytes())).is_err());
}
