//! What a switch promises: times, drops, broadcasts, marks, and that nothing is lost uncounted.

use super::common::{frame, Setup, Star};
use rackwright_ethernet::{Datagram, Ecn, Endpoint, Frame, Ipv4, Kind, Mac, Message};
use rackwright_time::network::Cycle;

fn one_sender(setup: &Setup, sends: Vec<(Cycle, Frame)>, hosts: usize) -> Star {
    let mut scripts = vec![Vec::new(); hosts];
    scripts[0] = sends;
    let mut star = Star::new(setup, scripts);
    star.graph.run(Cycle::new(1_000_000));
    star
}

fn datagram(ecn: Ecn) -> Frame {
    let end = |host: u8| Endpoint {
        address: Ipv4::new(10, 0, 0, host),
        port: 7,
    };
    Frame::Datagram(Datagram {
        destination: Mac::assigned(1),
        source: Mac::assigned(0),
        from: end(0),
        to: end(1),
        payload: 1000,
        ecn,
        message: Message {
            kind: Kind::Request,
            service: rackwright_dispatch::ServiceId(0),
            argument: 16,
            number: 0,
        },
    })
}

#[test]
fn a_frame_of_one_flit_takes_two_links_and_the_switching_latency() {
    // Karandikar 2024, section 2.3: sent at m, it arrives at 2 l + m + n. Our smallest frame has 2 flits.
    let star = one_sender(
        &Setup::default(),
        vec![(Cycle::new(5), frame(Mac::assigned(1), 16, 0))],
        2,
    );
    assert_eq!(star.came(1)[0].0, Cycle::new(2 * 50 + 5 + 10 + 2));
}

#[test]
fn two_senders_share_a_port_in_order_of_their_last_flit() {
    let to = Mac::assigned(2);
    let scripts = vec![
        vec![(Cycle::new(0), frame(to, 800, 1))],
        vec![(Cycle::new(50), frame(to, 80, 2))],
        Vec::new(),
    ];
    let mut star = Star::new(&Setup::default(), scripts);
    star.graph.run(Cycle::new(10_000));
    let came: Vec<(u64, usize)> = star
        .came(2)
        .iter()
        .map(|(cycle, frame)| (cycle.0, frame.length()))
        .collect();
    // The short one is complete at 50 + 59 and leaves at 119; the long one at 50 + 99, leaves at 159.
    assert_eq!(came, [(50 + 119 + 9, 80), (50 + 159 + 99, 800)]);
}

#[test]
fn a_full_buffer_drops_whole_frames_and_counts_them() {
    let to = Mac::assigned(2);
    let burst = |port: u64| {
        (0..50)
            .map(|index| (Cycle::new(port + index * 100), frame(to, 800, index as u8)))
            .collect()
    };
    let setup = Setup {
        buffer_bytes: 4000,
        ..Setup::default()
    };
    let mut star = Star::new(&setup, vec![burst(0), burst(0), Vec::new()]);
    star.graph.run(Cycle::new(100_000));
    let counters = star.the_switch().output_ports()[2].counters();
    assert_eq!(counters.offered, 100);
    assert!(counters.dropped > 30, "two full ports into one: {counters:?}");
    assert_eq!(counters.sent + counters.dropped, counters.offered);
    assert_eq!(star.came(2).len() as u64, counters.sent);
    assert!(counters.peak_bytes <= 4000);
}

#[test]
fn a_broadcast_reaches_everybody_else_once() {
    let star = one_sender(
        &Setup::default(),
        vec![(Cycle::new(0), frame(Mac::BROADCAST, 64, 9))],
        4,
    );
    let came: Vec<usize> = (0..4).map(|host| star.came(host).len()).collect();
    assert_eq!(came, [0, 1, 1, 1]);
}

#[test]
fn a_broadcast_storm_is_bounded_by_the_buffers() {
    let storm = || {
        (0..200)
            .map(|index| (Cycle::new(index * 12), frame(Mac::BROADCAST, 96, 0)))
            .collect()
    };
    let setup = Setup {
        buffer_bytes: 960,
        ..Setup::default()
    };
    let mut star = Star::new(&setup, vec![storm(), storm(), storm(), storm()]);
    star.graph.run(Cycle::new(100_000));
    for (host, port) in star.the_switch().output_ports().iter().enumerate() {
        let counters = port.counters();
        assert_eq!(counters.offered, 600);
        assert!(counters.dropped > 300, "{counters:?}");
        assert_eq!(counters.sent, star.came(host).len() as u64);
    }
}

#[test]
fn runts_giants_and_unknown_receivers_are_refused_and_counted() {
    let sends = vec![
        (Cycle::new(0), Frame::raw(&[1; 13]).unwrap()),
        (Cycle::new(10), frame(Mac::assigned(1), 9601, 0)),
        (Cycle::new(2000), frame(Mac::assigned(77), 64, 0)),
        (Cycle::new(2010), frame(Mac::assigned(0), 64, 0)),
        (Cycle::new(2020), frame(Mac::assigned(1), 9600, 0)),
    ];
    let star = one_sender(&Setup::default(), sends, 2);
    let refusals = star.the_switch().refusals();
    assert_eq!((refusals.runts, refusals.giants, refusals.unknown), (1, 1, 2));
    assert_eq!(star.the_switch().output_ports()[0].counters().received, 5);
    assert_eq!(star.came(1).len(), 1);
}

#[test]
fn frames_are_marked_when_the_buffer_fills_and_their_ends_understand() {
    for (ecn, expected) in [(Ecn::Capable, true), (Ecn::NotCapable, false)] {
        let sends = |first: u64| {
            (0..10)
                .map(|index| (Cycle::new(first + index * 140), datagram(ecn)))
                .collect()
        };
        let setup = Setup {
            mark_bytes: Some(3000),
            ..Setup::default()
        };
        let mut star = Star::new(&setup, vec![sends(0), Vec::new(), sends(3)]);
        star.graph.run(Cycle::new(100_000));
        let marked = star
            .came(1)
            .iter()
            .filter(|(_, frame)| frame.datagram().unwrap().ecn == Ecn::Congested);
        let marked = marked.count() as u64;
        assert_eq!(marked > 0, expected);
        assert_eq!(star.the_switch().output_ports()[1].counters().marked, marked);
    }
}
