//! A load on services of this machine.

use rackwright_loadtest::{run, Plan, Progress, Protocol, Service, ServicePlan};
use rackwright_traffic::{Arrivals, Distribution};
use std::net::{SocketAddr, UdpSocket};

fn loopback() -> SocketAddr {
    ([127, 0, 0, 1], 0).into()
}

fn service(cores: usize) -> Service {
    let plan = ServicePlan {
        addresses: vec![loopback()],
        cores,
        spin: false,
        header_bytes: 0,
    };
    Service::start(&plan).unwrap()
}

fn plan(targets: &[SocketAddr], rate: f64, requests: u64, work: Distribution) -> Plan {
    Plan {
        targets: targets.to_vec(),
        protocol: Protocol::Work,
        arrivals: Arrivals::Periodic { rate },
        work,
        request_bytes: 64,
        connections: 2,
        requests,
        warmup: 0,
        timeout_us: 5e6,
        seed: 1,
    }
}

#[test]
fn every_request_is_answered_after_its_work() {
    let service = service(4);
    let work = Distribution::Constant { us: 2000.0 };
    let report = run(
        &plan(service.addresses(), 1000.0, 300, work),
        &Progress::default(),
    )
    .unwrap();
    assert_eq!((report.sent, report.answered, report.lost), (300, 300, 0));
    assert!(report.latency.p50_us >= 2000.0, "{report:?}");
    assert_eq!(report.latency.count, 300);
    assert_eq!(
        report.buckets.iter().map(|(_, count)| count).sum::<u64>(),
        report.latency.count
    );
    assert!((report.offered_per_second / 1000.0 - 1.0).abs() < 0.02);
}

#[test]
fn latencies_count_from_when_requests_were_due() {
    // One core that is asked for twice what it can give: the queue grows by 1 ms with every request.
    let service = service(1);
    let work = Distribution::Constant { us: 2000.0 };
    let report = run(
        &plan(service.addresses(), 1000.0, 200, work),
        &Progress::default(),
    )
    .unwrap();
    assert_eq!(report.answered, 200);
    assert!(report.latency.max_us > 199.0 * 1000.0, "{report:?}");
    assert!(report.latency.p50_us >= report.latency_from_send.p50_us);
}

#[test]
fn what_nobody_answers_is_lost() {
    let silent = UdpSocket::bind(loopback()).unwrap();
    let mut plan = plan(
        &[silent.local_addr().unwrap()],
        10_000.0,
        100,
        Distribution::Constant { us: 0.0 },
    );
    plan.timeout_us = 20_000.0;
    let report = run(&plan, &Progress::default()).unwrap();
    assert_eq!((report.sent, report.answered, report.lost), (100, 0, 100));
    assert_eq!(report.latency.count, 0);
}

#[test]
fn where_nobody_listens_requests_are_lost_and_the_refusals_counted() {
    let gone = UdpSocket::bind(loopback()).unwrap().local_addr().unwrap();
    let mut plan = plan(&[gone], 10_000.0, 100, Distribution::Constant { us: 0.0 });
    plan.timeout_us = 20_000.0;
    let report = run(&plan, &Progress::default()).unwrap();
    assert_eq!((report.answered, report.lost), (0, 100));
    assert!(report.refused > 0);
}

#[test]
fn requests_that_are_none_are_counted_and_not_answered() {
    let service = service(1);
    let client = UdpSocket::bind(loopback()).unwrap();
    client.connect(service.addresses()[0]).unwrap();
    for length in 0..12 {
        client.send(&vec![0; length]).unwrap();
    }
    client.send(&[0; 12]).unwrap();
    let mut answer = [1; 100];
    assert_eq!(client.recv(&mut answer).unwrap(), 12);
    assert_eq!((service.answered(), service.malformed()), (1, 12));
}

#[test]
fn a_load_can_be_ended_and_impossible_ones_are_refused() {
    let service = service(1);
    let never = plan(
        service.addresses(),
        1e-3,
        1000,
        Distribution::Constant { us: 0.0 },
    );
    let progress = Progress::default();
    progress.stop.store(true, std::sync::atomic::Ordering::Relaxed);
    assert_eq!(run(&never, &progress).unwrap().answered, 0);
    for spoil in [
        |plan: &mut Plan| plan.targets.clear(),
        |plan: &mut Plan| plan.requests = 0,
        |plan: &mut Plan| plan.connections = 0,
        |plan: &mut Plan| plan.request_bytes = 70_000,
        |plan: &mut Plan| plan.timeout_us = 0.0,
        |plan: &mut Plan| plan.arrivals = Arrivals::Poisson { rate: -1.0 },
        |plan: &mut Plan| plan.work = Distribution::Constant { us: f64::NAN },
    ] {
        let mut plan = never.clone();
        spoil(&mut plan);
        assert!(run(&plan, &Progress::default()).is_err(), "{plan:?}");
    }
}
