//! A balancer with AF_XDP, in network namespaces that the tests make. Where these or AF_XDP are not permitted, they say so
//! and check nothing.

use crate::harness::namespaces::{ip, Namespaces, FAR, INTERFACE, NEAR};
use crate::harness::*;
use rackwright_balancer::{replay, Balancer, BalancerError, Settings, Status, XdpSettings};
use rackwright_loadtest::Service;
use rackwright_xdp::{Attachment, Mode, XdpError};
use std::io::BufReader;
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::AsRawFd;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(10);

/// How often a balancer is started while the kernel holds its queue; each waits for it for some seconds.
const ATTEMPTS: u32 = 20;

fn at(host: &str) -> SocketAddr {
    SocketAddr::new(host.parse().unwrap(), 0)
}

fn settings_for(services: &Service, mode: Option<Mode>) -> Settings {
    let mut settings = settings(0, WORK, services.addresses());
    settings.services[0].listen = at(NEAR);
    settings.lanes.xdp = Some(XdpSettings {
        interface: INTERFACE.into(),
        mode,
        required: true,
    });
    settings
}

/// Runs a test in namespaces and a thread of its own.
fn in_namespaces(test: impl FnOnce(&Namespaces) + Send) {
    std::thread::scope(|scope| {
        let tested = scope.spawn(|| match usable() {
            Ok(namespaces) => test(&namespaces),
            Err(reason) => eprintln!("skipped: {reason}"),
        });
        tested.join().unwrap();
    });
}

/// Namespaces in which AF_XDP works; or why there are none.
fn usable() -> Result<Namespaces, String> {
    let namespaces = Namespaces::new()?;
    let tried = namespaces.near(|| Attachment::new(INTERFACE, Some(Mode::Native), 1));
    tried.map_err(|error| error.to_string())?;
    Ok(namespaces)
}

/// A balancer in the near namespace. On a busy machine, the kernel may hold the queue of the attachment that was tried
/// for longer than a balancer waits for it.
fn started(namespaces: &Namespaces, settings: &Settings) -> Balancer {
    for _ in 0..ATTEMPTS {
        match namespaces.near(|| Balancer::start(settings.clone())) {
            Err(BalancerError::Xdp(XdpError::QueueTaken { .. })) => {}
            result => return result.unwrap(),
        }
    }
    panic!("the kernel does not release the queue");
}

#[test]
fn requests_and_answers_are_frames_and_decisions_those_of_the_policy() {
    in_namespaces(|namespaces| {
        for (busy_poll, mode) in [(false, None), (true, Some(Mode::Native))] {
            let services = namespaces.far(|| services_at(vec![at(FAR); 3], 0));
            let mut settings = settings_for(&services, mode);
            settings.lanes.busy_poll = busy_poll;
            let record = std::env::temp_dir().join(format!("frames-{}-{busy_poll}", std::process::id()));
            settings.record = Some(record.clone());
            let balancer = started(namespaces, &settings);
            let report = namespaces.far(|| put(&plan(balancer.addresses(), 4000.0, 1000, 500.0)));
            assert_eq!((report.answered, report.lost, report.malformed), (1000, 0, 0));
            let sent = |count| move |status: &Status| is_idle(status) && status.datagrams.sent == count;
            let status = wait_until(&balancer, "idle", sent(2000));
            let (datagrams, xdp) = (&status.datagrams, status.xdp.as_ref().unwrap());
            assert_eq!(
                (xdp.mode, xdp.queues, xdp.lost),
                (Some(Mode::Native), 1, 0),
                "{status:#?}"
            );
            assert_eq!((datagrams.frames_received, datagrams.received), (2000, 2000));
            assert_eq!((datagrams.malformed_frames, datagrams.stray_frames), (0, 0));
            // One by one, when replicas have been heard, nothing goes through a socket.
            let before = datagrams.frames_sent;
            namespaces.far(|| ask_one_by_one(balancer.addresses()[0], 50, true));
            let status = wait_until(&balancer, "idle", sent(2100));
            assert_eq!(status.datagrams.frames_sent - before, 100);
            assert_eq!(status.datagrams.frames_received, 2100);
            assert!(balancer.stop(PATIENCE).unwrap());
            let file = std::fs::File::open(&record).unwrap();
            let replayed = replay(BufReader::new(file)).unwrap();
            assert_eq!((replayed.counted, replayed.answered), (1050, 1050));
            std::fs::remove_file(record).unwrap();
        }
    });
}

#[test]
fn threads_without_a_queue_go_on_with_sockets() {
    in_namespaces(|namespaces| {
        let services = namespaces.far(|| services_at(vec![at(FAR); 2], 0));
        let mut settings = settings_for(&services, Some(Mode::Native));
        settings.lanes.threads = 5;
        let balancer = started(namespaces, &settings);
        let mut plan = plan(balancer.addresses(), 4000.0, 600, 100.0);
        plan.connections = 16;
        let report = namespaces.far(|| put(&plan));
        assert_eq!((report.answered, report.lost), (600, 0));
        let status = balancer.status();
        let queues = status.xdp.unwrap().queues;
        assert!((1..5).contains(&queues), "{queues}");
        assert!(status.datagrams.frames_received > 0);
    });
}

#[test]
fn a_replica_that_is_gone_or_has_moved_is_found_again() {
    in_namespaces(|namespaces| {
        let mut services = namespaces.far(|| services_at(vec![at(FAR)], 0));
        let addresses = services.addresses().to_vec();
        let mut settings = settings_for(&services, Some(Mode::Native));
        settings.times.expiry_us = 100_000;
        let balancer = started(namespaces, &settings);
        let mut single = plan(balancer.addresses(), 2000.0, 1, 0.0);
        single.timeout_us = 100_000.0;
        let lost = |plan| namespaces.far(|| put(plan)).lost;
        let health = || balancer.status().services[0].replicas[0].health;
        assert_eq!(lost(&single), 0);
        drop(services);
        // Its machine says so to the socket of the kernel, although the request went as a frame.
        for _ in 0..20 {
            if health() == "failed" {
                break;
            }
            lost(&single);
        }
        let status = wait_until(&balancer, "refused", |status| status.datagrams.refused > 0);
        assert_eq!(status.services[0].replicas[0].health, "failed");
        services = namespaces.far(|| services_at(addresses, 0));
        wait_until(&balancer, "up", |status| {
            status.services[0].replicas[0].health == "up"
        });
        assert_eq!(lost(&single), 0);
        // Another machine takes over its address, and the kernel has noticed.
        namespaces.far(|| ip(&["link", "set", "far0", "address", "02:00:00:00:00:77"]).unwrap());
        namespaces.near(|| ip(&["neighbor", "flush", "dev", INTERFACE]).unwrap());
        wait_until(&balancer, "there again", |_| lost(&single) == 0);
        drop(services);
    });
}

/// Lets a socket send without a checksum: then it is not left unfinished either.
fn send_without_checksum(socket: &UdpSocket) {
    let on: libc::c_int = 1;
    // SAFETY: the value is an int that lives through the call.
    let result = unsafe {
        let value = (&raw const on).cast();
        let bytes = size_of_val(&on) as libc::socklen_t;
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_NO_CHECK,
            value,
            bytes,
        )
    };
    assert_eq!(result, 0);
}

/// Sends requests that take no time, each when the one before is answered.
fn ask_one_by_one(to: SocketAddr, count: u64, checksum: bool) {
    let client = UdpSocket::bind(at(FAR)).unwrap();
    client.set_read_timeout(Some(PATIENCE)).unwrap();
    if !checksum {
        send_without_checksum(&client);
    }
    for number in 0..count {
        let request = [&number.to_be_bytes()[..], &[0; 4]].concat();
        client.send_to(&request, to).unwrap();
        let mut answer = [0; 100];
        let (length, from) = client.recv_from(&mut answer).unwrap();
        assert_eq!((length, &answer[..8], from), (12, &number.to_be_bytes()[..], to));
    }
}

#[test]
fn in_generic_mode_frames_are_taken_that_are_surely_one_datagram() {
    in_namespaces(|namespaces| {
        let services = namespaces.far(|| services_at(vec![at(FAR)], 0));
        let settings = settings_for(&services, Some(Mode::Generic));
        let balancer = started(namespaces, &settings);
        let to = balancer.addresses()[0];
        namespaces.far(|| {
            // These come with unfinished checksums, as from every sender on this machine, and in long messages.
            assert_eq!(put(&plan(vec![to], 20_000.0, 300, 0.0)).answered, 300);
            ask_one_by_one(to, 20, false);
        });
        // Answers of replicas come through sockets, so that requests go there too.
        let status = wait_until(&balancer, "idle", |status| {
            is_idle(status) && status.datagrams.sent == 640
        });
        let datagrams = status.datagrams;
        assert_eq!((datagrams.frames_received, datagrams.frames_sent), (20, 20));
        assert_eq!(datagrams.received, 640);
    });
}

#[test]
fn without_it_there_are_sockets_unless_it_is_required() {
    in_namespaces(|namespaces| {
        let services = namespaces.far(|| services_at(vec![at(FAR)], 0));
        let taken = namespaces.near(|| Attachment::new(INTERFACE, None, 1)).unwrap();
        for (interface, reason) in [
            ("none0", "none0: there is no such interface"),
            ("lo", "lo: it is no Ethernet interface"),
            (INTERFACE, "near0: a program is attached there already"),
        ] {
            let mut settings = settings_for(&services, None);
            let xdp = settings.lanes.xdp.as_mut().unwrap();
            xdp.interface = interface.into();
            match namespaces.near(|| Balancer::start(settings.clone())) {
                Err(BalancerError::Xdp(error)) => assert_eq!(error.to_string(), reason),
                _ => panic!("{interface}: it is required"),
            }
            settings.lanes.xdp.as_mut().unwrap().required = false;
            let balancer = started(namespaces, &settings);
            let xdp = balancer.status().xdp.unwrap();
            assert_eq!((xdp.refused.as_deref(), xdp.queues), (Some(reason), 0));
            let plan = plan(balancer.addresses(), 2000.0, 50, 0.0);
            assert_eq!(namespaces.far(|| put(&plan)).answered, 50);
        }
        drop(taken.1);
        drop(taken.0);
        let again = namespaces.near(|| Attachment::new(INTERFACE, Some(Mode::Native), 1));
        assert!(!matches!(again, Err(XdpError::Occupied(_))));
        again.unwrap();
    });
}
