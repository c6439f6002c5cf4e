//! The model of the mesh: times of a packet alone, and that all arrive in order.

use rackwright_memory::{AccessKind, Interconnect, Route, Traffic};
use rackwright_noc::{measure, Arrival, Bank, Load, Model, Network, NetworkMemory, NocError, Packet, Shape};
use rackwright_time::{Clock, Cycle};
use rand_pcg::rand_core::Rng;
use rand_pcg::Pcg64;
use std::collections::BTreeMap;

const SHAPE: Shape = Shape {
    width: 4,
    height: 3,
    rows_first: true,
    depth: 4,
    stages: 0,
};

fn distance(shape: Shape, from: usize, to: usize) -> u64 {
    let (x, y) = (from % shape.width, from / shape.width);
    (x.abs_diff(to % shape.width) + y.abs_diff(to / shape.width)) as u64
}

#[test]
fn a_packet_alone_takes_two_cycles_a_hop() {
    for stages in [0, 2] {
        let shape = Shape { stages, ..SHAPE };
        for (source, destination) in (0..12).flat_map(|one| (0..12).map(move |other| (one, other))) {
            let mut model = Model::new(shape).unwrap();
            model.offer(Packet {
                created: 7,
                source,
                destination,
                flits: 1,
                number: 0,
            });
            let mut arrivals = Vec::new();
            model.advance(200, &mut arrivals).unwrap();
            let hops = distance(shape, source, destination);
            let cycle = 7 + 4 + 2 * hops + (hops + 1) * stages as u64;
            let arrival = Arrival {
                cycle,
                endpoint: destination,
                number: 0,
            };
            assert_eq!(arrivals, [arrival]);
        }
    }
}

#[test]
fn every_packet_arrives_once_at_its_tile_and_in_order() {
    for rows_first in [true, false] {
        let mut model = Model::new(Shape {
            rows_first,
            depth: 3,
            ..SHAPE
        })
        .unwrap();
        let mut random = Pcg64::new(3, 51);
        let mut sent = BTreeMap::new();
        for number in 0..4000 {
            let packet = Packet {
                created: u64::from(number) / 8,
                source: random.next_u64() as usize % 12,
                destination: random.next_u64() as usize % 12,
                flits: 1 + random.next_u64() as usize % 6,
                number,
            };
            sent.insert(number, packet);
            model.offer(packet);
        }
        let mut arrivals = Vec::new();
        model.advance(20_000, &mut arrivals).unwrap();
        assert_eq!(arrivals.len(), sent.len());
        let mut latest = BTreeMap::new();
        for arrival in arrivals {
            let packet = sent.remove(&arrival.number).expect("it arrives once");
            assert_eq!(arrival.endpoint, packet.destination);
            let before = latest.insert((packet.source, packet.destination), arrival.number);
            assert!(before.is_none_or(|before| before < arrival.number));
        }
    }
}

#[test]
fn what_is_no_mesh_and_no_rate_is_refused() {
    let flat = Shape {
        width: 1,
        height: 1,
        ..SHAPE
    };
    assert!(matches!(Model::new(flat), Err(NocError::Shape(_))));
    assert!(matches!(
        Model::new(Shape { depth: 2, ..SHAPE }),
        Err(NocError::Shape(_))
    ));
    let load = Load {
        rate: 1.5,
        flits: 1,
        seed: 1,
        warm_up: 10,
        measured: 10,
        patience: 10,
    };
    let error = measure(&mut Model::new(SHAPE).unwrap(), load).unwrap_err();
    assert_eq!(
        error.to_string(),
        "a tile begins a packet in 0 to 1 of its cycles, not in 1.5"
    );
}

#[test]
fn memory_that_is_at_no_endpoint_or_takes_no_time_is_refused() {
    let bank = Bank {
        endpoint: 3,
        latency: 20,
        busy: 5,
        delivery: 6,
    };
    let clock = Clock::new(2_000_000_000).unwrap();
    let made = |bank| NetworkMemory::new(Model::new(SHAPE).unwrap(), clock, bank).err();
    assert!(made(bank).is_none());
    for wrong in [
        Bank { endpoint: 12, ..bank },
        Bank { latency: 0, ..bank },
        Bank { delivery: 0, ..bank },
    ] {
        let error = made(wrong).unwrap().to_string();
        assert!(
            error.starts_with("a network of 12 endpoints has no memory at endpoint"),
            "{error}"
        );
    }
}

/// Cycles that a packet takes alone.
fn alone(source: usize, destination: usize, flits: usize) -> u64 {
    let mut model = Model::new(SHAPE).unwrap();
    model.offer(Packet {
        created: 0,
        source,
        destination,
        flits,
        number: 0,
    });
    let mut arrivals = Vec::new();
    model.advance(100, &mut arrivals).unwrap();
    arrivals[0].cycle
}

/// Two accesses that reach the bank shortly after one another are served one after the other, whatever the windows.
#[test]
fn memory_behind_a_mesh_serves_one_access_at_a_time() {
    let bank = Bank {
        endpoint: 0,
        latency: 20,
        busy: 9,
        delivery: 6,
    };
    let clock = Clock::new(2_000_000_000).unwrap();
    let outcome = |window: u64| {
        let mut memory = NetworkMemory::new(Model::new(SHAPE).unwrap(), clock, bank).unwrap();
        let link = memory.attach_link(&Route::default(), 16);
        let ports = [(); 2].map(|()| memory.attach_port(link, Traffic::Stream));
        for port in ports {
            memory.ask(Cycle::new(3), 0x40, AccessKind::Read, port);
        }
        for now in (0..200).step_by(window as usize) {
            memory.advance(Cycle::new(now));
        }
        ports.map(|port| memory.answered(port).unwrap().1)
    };
    let [near, far] = outcome(6);
    let there_and_back = |tile| alone(tile, 0, 1) + bank.latency + alone(0, tile, 3) + bank.delivery;
    assert_eq!(near, Cycle::new(3 + there_and_back(1)));
    // It reaches the bank while that is busy, and leaves it so much later than the other.
    let waits = alone(1, 0, 1) + bank.busy - alone(2, 0, 1);
    assert_eq!(far, Cycle::new(3 + there_and_back(2) + waits));
    for window in [1, 5] {
        assert_eq!(outcome(window), [near, far]);
    }
}
