//! What breaks on real sockets: no request is lost beyond those at the dead part, and no count is wrong for longer than
//! 100 ms. Records say how long: in the dispatcher's own time, so that a busy machine changes nothing.

use crate::harness::relay::{Disturbance, Relay};
use crate::harness::*;
use rackwright_balancer::{replay, Balancer, Replayed, Settings, Status, TimeSettings};
use rackwright_loadtest::{Plan, Report};
use std::fs::File;
use std::io::BufReader;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// How long counts may be wrong, in nanoseconds.
const BOUND_NS: u64 = 100_000_000;

/// Settings with the times that `rw dispatch` has by default, and a record.
fn recorded(rack: u16, replicas: &[SocketAddr], name: &str) -> Settings {
    let file = format!("rackwright-faults-{}-{name}-{rack}", std::process::id());
    let settings = settings(rack, WORK, replicas);
    Settings {
        times: TimeSettings {
            expiry_us: 80_000,
            truth_interval_us: 20_000,
            peer_timeout_us: 100_000,
            probe_interval_us: 50_000,
            ..settings.times
        },
        record: Some(std::env::temp_dir().join(file)),
        ..settings
    }
}

/// Ends a balancer and reads what it has recorded.
fn ended(balancer: Balancer, record: &PathBuf) -> Replayed {
    balancer.stop(Duration::ZERO).unwrap();
    let replayed = replay(BufReader::new(File::open(record).unwrap())).unwrap();
    std::fs::remove_file(record).unwrap();
    assert!(replayed.longest_counted_ns <= BOUND_NS, "{replayed:?}");
    assert!(replayed.longest_trusted_ns <= BOUND_NS, "{replayed:?}");
    replayed
}

/// A load that gives up on what is lost.
fn load(balancer: &Balancer, rate: f64, requests: u64) -> Plan {
    let mut plan = plan(balancer.addresses(), rate, requests, 500.0);
    plan.timeout_us = 2e6;
    plan
}

/// Puts a load on a balancer, and does something when a part of it is answered.
fn disturbed(balancer: &Balancer, plan: &Plan, disturb: impl FnOnce()) -> Report {
    std::thread::scope(|scope| {
        let report = scope.spawn(|| put(plan));
        let begun = plan.requests / 5;
        wait_until(balancer, "at work", |status| {
            status.decisions.answers.answered > begun
        });
        disturb();
        report.join().unwrap()
    })
}

/// The first of three replicas dies by `disturb`: what is lost is what it was given. The status says how that is known.
fn only_the_dead_one_loses(settings: Settings, is_known: impl Fn(&Status) -> bool, disturb: impl FnOnce()) {
    let record = settings.record.clone().unwrap();
    let balancer = Balancer::start(settings).unwrap();
    let report = disturbed(&balancer, &load(&balancer, 2000.0, 2000), disturb);
    let status = wait_until(&balancer, "idle", is_idle);
    assert_eq!(status.services[0].replicas[0].health, "failed");
    assert!(is_known(&status), "{status:#?}");
    let replayed = ended(balancer, &record);
    let at_the_dead = replayed.forgotten.get(&0).copied().unwrap_or(0);
    assert!(
        at_the_dead > 0 && report.answered > 1000,
        "{replayed:?} {report:?}"
    );
    // A machine that is too busy for any replica to answer has none.
    let without_replica = status.decisions.drops.no_replica;
    assert!(
        report.lost <= at_the_dead + without_replica,
        "{replayed:?} {report:?}"
    );
}

#[test]
fn a_replica_is_killed() {
    // Of several with nothing to do the first one is taken, so that it has requests.
    let killed = services(1);
    let steady = services(2);
    let addresses = [killed.addresses(), steady.addresses()].concat();
    let told = |status: &Status| status.datagrams.refused > 0;
    only_the_dead_one_loses(recorded(0, &addresses, "killed"), told, || drop(killed));
}

#[test]
fn the_machine_of_a_replica_is_switched_off() {
    let services = services(3);
    let calm = Disturbance {
        lost: 0.0,
        overtaken: 0.0,
        seed: 0,
    };
    let way = Relay::start(services.addresses()[0], calm);
    let addresses = [&[way.address()], &services.addresses()[1..]].concat();
    let found_out = |status: &Status| status.datagrams.refused == 0;
    only_the_dead_one_loses(recorded(0, &addresses, "switched-off"), found_out, || way.die());
}

/// Two racks of two replicas. All that goes to or comes from a replica of each, and all between the racks, is
/// disturbed.
fn between_racks(name: &str, disturbance: Disturbance) -> (Report, u64, [Status; 2], [Replayed; 2]) {
    let services = services(4);
    let replicas = services.addresses();
    let seeded = |seed| Disturbance { seed, ..disturbance };
    let to_replicas = [0, 2].map(|at| Relay::start(replicas[at], seeded(at as u64)));
    let mut all = [
        recorded(0, &[to_replicas[0].address(), replicas[1]], name),
        recorded(1, &[to_replicas[1].address(), replicas[3]], name),
    ];
    introduce(&mut all);
    // What a rack sends to the other one, and its answers, go another way.
    let to_racks = [0, 1].map(|rack: usize| {
        let way = Relay::start(all[rack].peer_listen.unwrap(), seeded(10 + rack as u64));
        all[1 - rack].peers[0].address = way.address();
        way
    });
    let records = all.each_ref().map(|settings| settings.record.clone().unwrap());
    let racks = all.map(|settings| Balancer::start(settings).unwrap());
    for rack in &racks {
        wait_until(rack, "introduced", |status| status.peers[0].alive);
    }
    let report = put(&load(&racks[0], 2500.0, 3000));
    let statuses = racks.each_ref().map(|rack| {
        // The other one is believed to have nothing to do, which is so.
        wait_until(rack, "idle, as it believes the other one is", |status| {
            is_idle(status) && status.peers[0].loads[0].1 == Some(0.0)
        })
    });
    let lost = to_replicas.iter().chain(&to_racks).map(Relay::lost).sum();
    let [first, second] = racks;
    let replayed = [ended(first, &records[0]), ended(second, &records[1])];
    (report, lost, statuses, replayed)
}

/// Requests that a machine which is too busy for any replica to answer has dropped.
fn without_replica(statuses: &[Status; 2]) -> u64 {
    statuses
        .iter()
        .map(|status| status.decisions.drops.no_replica)
        .sum()
}

#[test]
fn one_datagram_in_a_hundred_is_lost_and_some_overtake_others() {
    let (report, lost, statuses, replayed) = between_racks(
        "lost",
        Disturbance {
            lost: 0.01,
            overtaken: 0.05,
            seed: 0,
        },
    );
    assert!(report.lost > 0 && lost > 20, "{report:?}");
    assert!(
        report.lost <= lost + without_replica(&statuses),
        "{lost} {report:?}"
    );
    let forgotten: u64 = replayed
        .iter()
        .flat_map(|replayed| replayed.forgotten.values())
        .sum();
    assert!(forgotten > 0 && statuses[0].decisions.requests.redirected > 100);
}

#[test]
fn datagrams_overtake_others() {
    let (report, lost, statuses, _) = between_racks(
        "overtaken",
        Disturbance {
            lost: 0.0,
            overtaken: 0.1,
            seed: 0,
        },
    );
    assert_eq!(lost, 0);
    assert!(report.lost <= without_replica(&statuses), "{report:?}");
    // Reports that arrive after newer ones are counted and ignored.
    assert!(statuses[1].decisions.gossip.stale > 0 && statuses[0].decisions.requests.redirected > 100);
}
