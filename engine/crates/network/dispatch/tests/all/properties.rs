//! Whatever happens, nothing is lost between the counters, and nothing is believed that a stranger says.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use rackwright_dispatch::wire::{Header, Key, Kind, Origin, WireError};
use rackwright_dispatch::{
    Action, Configuration, Dispatcher, Entry, Load, PeerId, PeerSpec, Policy, ReplicaId, ReplicaSpec, Report,
    Request, RequestKey, ServiceId, ServiceSpec,
};

const SERVICES: [ServiceId; 2] = [ServiceId(0), ServiceId(1)];

#[derive(Clone, Debug)]
enum Event {
    Request {
        service: u16,
        number: u64,
        hops: u8,
    },
    Response(u64),
    Gossip {
        from: u16,
        sequence: u32,
        load: u32,
        cores: u16,
    },
    Down(u16),
    Up(u16),
    Timer,
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        6 => (0..3_u16, 0..40_u64, 0..3_u8).prop_map(|(service, number, hops)| Event::Request { service, number, hops }),
        5 => (0..40_u64).prop_map(Event::Response),
        3 => (0..4_u16, 0..50_u32, 0..5000_u32, 0..4_u16)
            .prop_map(|(from, sequence, load, cores)| Event::Gossip { from, sequence, load, cores }),
        1 => (0..6_u16).prop_map(Event::Down),
        1 => (0..6_u16).prop_map(Event::Up),
        2 => Just(Event::Timer),
    ]
}

fn policy() -> impl Strategy<Value = Policy> {
    prop_oneof![
        Just(Policy::DARONPON),
        Just(Policy::ShortestQueue),
        Just(Policy::RackLocal),
        Just(Policy::Random),
        Just(Policy::RoundRobin),
        Just(Policy::PowerOfTwo),
        Just(Policy::BoundedQueue { bound: 2 }),
        Just(Policy::RackSched),
    ]
}

fn dispatcher(policy: Policy) -> Dispatcher {
    let service = |id: u16| ServiceSpec {
        id: ServiceId(id),
        replicas: (0..3)
            .map(|replica| ReplicaSpec {
                id: ReplicaId(3 * id + replica),
                cores: 1 + replica,
            })
            .collect(),
        sticky: false,
    };
    let peer = |id| PeerSpec {
        id: PeerId(id),
        services: SERVICES.to_vec(),
    };
    let mut configuration =
        Configuration::new(PeerId(1), vec![service(0), service(1)], vec![peer(0), peer(2)]);
    configuration.policy = policy;
    configuration.tracked = 32;
    configuration.held = 5;
    Dispatcher::new(&configuration).unwrap()
}

/// Events with the times that lie between them.
fn run(policy: Policy, events: &[(u64, Event)]) -> (Dispatcher, Vec<Action>) {
    let mut now = 0;
    let timed = events.iter().map(|(gap, event)| {
        now += gap;
        (now, event.clone())
    });
    run_at(policy, timed)
}

/// Events with their times.
fn run_at(policy: Policy, events: impl IntoIterator<Item = (u64, Event)>) -> (Dispatcher, Vec<Action>) {
    let mut dispatcher = dispatcher(policy);
    let mut actions = Vec::new();
    for (now, event) in events {
        match event {
            Event::Request {
                service,
                number,
                hops,
            } => {
                let request = Request {
                    service: ServiceId(service),
                    key: RequestKey { client: 1, number },
                    sticky: None,
                    hops,
                };
                dispatcher.request(now, &request, &mut actions);
            }
            Event::Response(number) => {
                dispatcher.response(now, RequestKey { client: 1, number }, &mut actions)
            }
            Event::Gossip {
                from,
                sequence,
                load,
                cores,
            } => {
                let entry = Entry {
                    service: ServiceId(0),
                    cores,
                    load: Load(load),
                };
                let report = Report {
                    from: PeerId(from),
                    incarnation: 0,
                    sequence,
                    entries: [entry].into_iter().collect(),
                };
                dispatcher.gossip(now, &report, &mut actions);
            }
            Event::Down(replica) => dispatcher.replica_down(now, ReplicaId(replica), &mut actions),
            Event::Up(replica) => dispatcher.replica_up(now, ReplicaId(replica), &mut actions),
            Event::Timer => dispatcher.timer(now, &mut actions),
        }
    }
    (dispatcher, actions)
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 200,
        rng_seed: RngSeed::Fixed(14),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn every_request_ends_somewhere_and_counters_do_not_drift(
        policy in policy(),
        events in proptest::collection::vec((0..900_000_u64, event()), 1..400),
    ) {
        let (mut dispatcher, actions) = run(policy, &events);
        let count = |is: fn(&Action) -> bool| actions.iter().filter(|action| is(action)).count() as u64;
        let counters = dispatcher.counters();
        let ends = counters.requests.served + counters.requests.repeated + counters.requests.redirected + counters.drops.unknown_service
            + counters.drops.no_replica + counters.drops.duplicates + counters.drops.queue_full;
        let waiting = counters.requests.held - count(|action| matches!(action, Action::Release { .. }));
        prop_assert_eq!(counters.requests.requests + count(|action| matches!(action, Action::Release { .. })), ends + counters.requests.held);
        prop_assert!(counters.drops.discarded <= waiting);
        prop_assert_eq!(counters.requests.redirected, count(|action| matches!(action, Action::Redirect { .. })));
        let is_too_far = |action: &Action| matches!(action, Action::Redirect { hops: 2.., .. });
        prop_assert!(!actions.iter().any(is_too_far));
        // When nothing is answered any more, everything is forgotten.
        let end = events.iter().map(|(gap, _)| gap).sum::<u64>();
        (1..=20).for_each(|ms| dispatcher.timer(end + ms * 1_000_000, &mut Vec::new()));
        let left: u32 = SERVICES.into_iter().flat_map(|service| dispatcher.replicas(service)).map(|replica| replica.outstanding).sum();
        prop_assert_eq!(left, 0);
        prop_assert!(SERVICES.into_iter().all(|service| dispatcher.held(service) == 0));
        prop_assert!(SERVICES.into_iter().all(|service| dispatcher.load(service).is_none_or(|load| load == 0.0)));
    }

    #[test]
    fn after_answers_and_gossip_in_any_order_counts_are_true_within_ten_milliseconds(
        policy in policy(),
        answers in Just((0..40_u64).collect::<Vec<_>>()).prop_shuffle(),
        sequences in Just((1..=40_u32).collect::<Vec<_>>()).prop_shuffle(),
        loads in proptest::collection::vec(0..5000_u32, 41),
    ) {
        let request = |number| (1000, Event::Request { service: 0, number, hops: 0 });
        let heard = |sequence: u32| Event::Gossip { from: 0, sequence, load: loads[sequence as usize], cores: 1 };
        let pairs = answers.into_iter().zip(sequences);
        let replies = pairs.flat_map(|(number, sequence)| [(10_000, Event::Response(number)), (10_000, heard(sequence))]);
        let events: Vec<_> = (0..40).map(request).chain(replies).collect();
        let (mut dispatcher, _) = run(policy, &events);
        prop_assert_eq!(dispatcher.believed(PeerId(0))[0], (SERVICES[0], Some(f64::from(loads[40]) / 256.0)));
        let end = events.iter().map(|(gap, _)| gap).sum::<u64>();
        (1..=10).for_each(|ms| dispatcher.timer(end + ms * 1_000_000, &mut Vec::new()));
        prop_assert!(dispatcher.replicas(SERVICES[0]).iter().all(|replica| replica.outstanding == 0));
        prop_assert_eq!(dispatcher.held(SERVICES[0]), 0);
    }

    #[test]
    fn a_clock_that_goes_back_stands_still(
        policy in policy(),
        events in proptest::collection::vec((0..9_000_000_u64, event()), 1..200),
    ) {
        let latest = events.iter().scan(0, |latest, (at, event)| {
            *latest = (*latest).max(*at);
            Some((*latest, event.clone()))
        });
        let latest: Vec<_> = latest.collect();
        prop_assert_eq!(run_at(policy, events).1, run_at(policy, latest).1);
    }

    #[test]
    fn after_a_clock_has_gone_ahead_by_an_hour_counts_are_true_at_once(
        policy in policy(),
        events in proptest::collection::vec((0..900_000_u64, event()), 1..100),
    ) {
        let (mut dispatcher, _) = run(policy, &events);
        let later = 3_600_000_000_000;
        dispatcher.timer(later, &mut Vec::new());
        prop_assert!(SERVICES.into_iter().all(|service| dispatcher.load(service).is_none_or(|load| load == 0.0)));
        prop_assert!(dispatcher.peers_alive(later).is_empty());
    }

    #[test]
    fn the_same_events_give_the_same_actions(
        policy in policy(),
        events in proptest::collection::vec((0..900_000_u64, event()), 1..200),
    ) {
        prop_assert_eq!(run(policy, &events).1, run(policy, &events).1);
    }

    #[test]
    fn messages_survive_as_bytes_and_no_bit_can_be_changed(
        incarnation: u32,
        sequence: u32,
        from: u16,
        number: u64,
        hops: u8,
        entries in proptest::collection::vec((any::<u16>(), any::<u16>(), any::<u32>()), 0..=16),
        bit: prop::sample::Index,
    ) {
        let entry = |(service, cores, load)| Entry { service: ServiceId(service), cores, load: Load(load) };
        let report = Report { from: PeerId(from), incarnation, sequence, entries: entries.into_iter().map(entry).collect() };
        let key = Key::new(b"sixteen bytes...");
        let mut gossip = Vec::new();
        key.write_gossip(&report, &mut gossip);
        prop_assert_eq!(key.read_gossip(&gossip), Ok(report.clone()));
        let header = Header { kind: Kind::Request, service: ServiceId(from), argument: 5, number };
        let origin = Origin { address: [10, 0, 0, 1], port: 99, hops };
        let mut redirected = Vec::new();
        key.write_redirected(header, origin, &report, &mut redirected);
        redirected.extend(b"get");
        prop_assert_eq!(key.read_redirected(&redirected), Ok((header, origin, report, b"get".as_slice())));
        prop_assert_eq!(Key::new(b"another key.....").read_gossip(&gossip), Err(WireError::Tag));
        let bit = bit.index(8 * gossip.len());
        gossip[bit / 8] ^= 1 << (bit % 8);
        prop_assert!(key.read_gossip(&gossip).is_err());
    }

    #[test]
    fn any_bytes_are_judged(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let key = Key::new(&[0; 16]);
        prop_assert!(key.read_gossip(&bytes).is_err());
        prop_assert!(key.read_redirected(&bytes).is_err());
    }
}
