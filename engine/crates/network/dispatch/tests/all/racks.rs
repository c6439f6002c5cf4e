//! Two racks by hand: what is admitted, redirected, told and forgotten.

use rackwright_dispatch::{
    Action, Configuration, ConfigurationError, Dispatcher, DropReason, Load, PeerId, PeerSpec, Policy,
    ReplicaId, ReplicaSpec, Report, Request, RequestKey, ServiceId, ServiceSpec,
};

const SERVICE: ServiceId = ServiceId(7);
const MS: u64 = 1_000_000;

fn configuration(own: u16, replicas: &[u16]) -> Configuration {
    let service = ServiceSpec {
        id: SERVICE,
        replicas: replicas
            .iter()
            .map(|id| ReplicaSpec {
                id: ReplicaId(*id),
                cores: 1,
            })
            .collect(),
        sticky: false,
    };
    let peer = PeerSpec {
        id: PeerId(1 - own),
        services: vec![SERVICE],
    };
    Configuration::new(PeerId(own), vec![service], vec![peer])
}

fn rack(own: u16, replicas: &[u16]) -> Dispatcher {
    Dispatcher::new(&configuration(own, replicas)).unwrap()
}

fn key(number: u64) -> RequestKey {
    RequestKey { client: 9, number }
}

fn request(number: u64) -> Request {
    Request {
        service: SERVICE,
        key: key(number),
        sticky: None,
        hops: 0,
    }
}

fn ask(rack: &mut Dispatcher, now: u64, number: u64) -> Vec<Action> {
    let mut actions = Vec::new();
    rack.request(now, &request(number), &mut actions);
    actions
}

fn answer(rack: &mut Dispatcher, now: u64, number: u64) -> Vec<Action> {
    let mut actions = Vec::new();
    rack.response(now, key(number), &mut actions);
    actions
}

fn timer(rack: &mut Dispatcher, now: u64) -> Vec<Action> {
    let mut actions = Vec::new();
    rack.timer(now, &mut actions);
    actions
}

fn hear(rack: &mut Dispatcher, now: u64, report: &Report) {
    rack.gossip(now, report, &mut Vec::new());
}

fn serve(replica: u16) -> Action {
    Action::Serve {
        replica: ReplicaId(replica),
    }
}

fn reports(actions: &[Action]) -> Vec<&Report> {
    fn report(action: &Action) -> Option<&Report> {
        match action {
            Action::Gossip { report, .. } | Action::Redirect { report, .. } => Some(report),
            _ => None,
        }
    }
    actions.iter().filter_map(report).collect()
}

/// Two racks with one replica each that have told each other that they are idle.
fn acquainted() -> [Dispatcher; 2] {
    let mut racks = [rack(0, &[0]), rack(1, &[0])];
    for (teller, listener) in [(0, 1), (1, 0)] {
        let told = timer(&mut racks[teller], 0);
        hear(&mut racks[listener], 0, reports(&told)[0]);
    }
    racks
}

#[test]
fn the_first_timer_tells_everybody() {
    let mut one = rack(0, &[0]);
    assert_eq!(one.next_timer(), 0);
    let told = timer(&mut one, 0);
    let entries = &reports(&told)[0].entries;
    assert_eq!(
        (entries.len(), entries[0].cores, entries[0].load),
        (1, 1, Load(0))
    );
    assert_eq!(one.next_timer(), 2 * MS);
}

#[test]
fn a_request_is_admitted_unless_another_rack_is_less_loaded() {
    let [mut one, mut other] = acquainted();
    assert_eq!(ask(&mut one, 1, 0), [serve(0)]);
    let redirected = ask(&mut one, 2, 1);
    let [Action::Redirect { peer, hops, report }] = redirected.as_slice() else {
        panic!("{redirected:?}")
    };
    assert_eq!((*peer, *hops, report.entries[0].load), (PeerId(1), 1, Load::ONE));
    // What was sent there counts: now both are believed to have one.
    assert_eq!(ask(&mut one, 3, 2), [serve(0)]);
    // The other has learnt from the redirected request, and its own first one stays.
    let mut actions = Vec::new();
    other.redirected(
        4,
        &Request {
            hops: 1,
            ..request(1)
        },
        report,
        &mut actions,
    );
    assert_eq!(actions, [serve(0)]);
    assert_eq!(other.believed(PeerId(0)), [(SERVICE, Some(1.0))]);
    assert_eq!(other.counters().requests.taken_over, 1);
}

#[test]
fn a_rack_with_an_idle_core_keeps_its_requests() {
    let mut one = rack(0, &[0, 1]);
    hear(&mut one, 0, reports(&timer(&mut rack(1, &[0]), 0))[0]);
    assert_eq!(ask(&mut one, 1, 0), [serve(0)]);
    assert_eq!(
        ask(&mut one, 2, 1),
        [serve(1)],
        "the other rack is idle, but so is this replica"
    );
    assert!(matches!(ask(&mut one, 3, 2)[0], Action::Redirect { .. }));
}

#[test]
fn a_request_is_not_redirected_for_ever() {
    let [mut one, _] = acquainted();
    ask(&mut one, 1, 0);
    let mut actions = Vec::new();
    one.request(
        2,
        &Request {
            hops: 1,
            ..request(1)
        },
        &mut actions,
    );
    assert_eq!(actions, [serve(0)]);
    assert_eq!(one.counters().requests.loops_stopped, 1);
}

#[test]
fn bursts_are_told_on_powers_of_two_from_the_floor_on() {
    let [mut one, _] = acquainted();
    let mut told = Vec::new();
    let redirect_none = |now| {
        // The peer is said to be as busy, so that everything is admitted.
        let mut report = reports(&timer(&mut rack(1, &[0]), 0))[0].clone();
        report.sequence = now as u32 + 10;
        report.entries[0].load = Load(100 << 8);
        report
    };
    for number in 0..20 {
        hear(&mut one, number, &redirect_none(number));
        let actions = ask(&mut one, number, number);
        assert_eq!(actions[0], serve(0));
        told.extend(
            reports(&actions)
                .iter()
                .map(|report| report.entries[0].load.0 >> 8),
        );
    }
    for number in 0..20 {
        let actions = answer(&mut one, 100 + number, number);
        assert_eq!(actions[0], Action::Answer);
        told.extend(
            reports(&actions)
                .iter()
                .map(|report| report.entries[0].load.0 >> 8),
        );
    }
    assert_eq!(told, [4, 8, 16, 8, 4, 2]);
    assert_eq!(
        (one.counters().gossip.gossip, one.counters().answers.answered),
        (6, 20)
    );
}

#[test]
fn a_repeated_request_counts_once_and_goes_to_the_same_replica() {
    let mut one = rack(0, &[3, 4]);
    assert_eq!(ask(&mut one, 1, 0), [serve(3)]);
    assert_eq!(ask(&mut one, 2, 1), [serve(4)]);
    assert_eq!(ask(&mut one, 3, 0), [serve(3)]);
    assert_eq!(one.counters().requests.repeated, 1);
    answer(&mut one, 4, 0);
    answer(&mut one, 5, 0);
    let replicas = one.replicas(SERVICE);
    assert_eq!((replicas[0].outstanding, replicas[1].outstanding), (0, 1));
    assert_eq!(
        (one.counters().answers.answered, one.counters().answers.strays),
        (1, 1)
    );
}

#[test]
fn lost_responses_are_forgotten() {
    let mut one = rack(0, &[0]);
    // The replica answers others all the time, so that it is not silent.
    ask(&mut one, 0, 0);
    for round in 1..40 {
        ask(&mut one, round * MS / 4, round);
        answer(&mut one, round * MS / 4 + 1, round);
    }
    assert_eq!(one.load(SERVICE), Some(0.0));
    assert_eq!(
        (one.counters().answers.expired, one.counters().answers.failures),
        (1, 0)
    );
    answer(&mut one, 11 * MS, 0);
    assert_eq!(one.load(SERVICE), Some(0.0), "a late response takes nothing away");
}

#[test]
fn a_silent_replica_gets_nothing_until_it_gives_a_sign_of_life() {
    let mut one = rack(0, &[0, 1]);
    ask(&mut one, 0, 0);
    for round in 1..30 {
        let now = round * MS / 4;
        ask(&mut one, now, round);
        answer(&mut one, now + 1, round);
    }
    assert_eq!(one.counters().answers.failures, 1);
    let replicas = one.replicas(SERVICE);
    assert_eq!((replicas[0].health, replicas[1].health), ("failed", "up"));
    let due = one.next_timer();
    let actions = timer(&mut one, due);
    assert!(
        actions.contains(&Action::Probe {
            replica: ReplicaId(0)
        }),
        "{actions:?}"
    );
    one.replica_up(8 * MS, ReplicaId(0), &mut Vec::new());
    assert_eq!(one.replicas(SERVICE)[0].health, "up");
}

#[test]
fn a_rack_without_replicas_sends_everything_away() {
    let mut one = rack(0, &[]);
    assert_eq!(ask(&mut one, 0, 0), [Action::Drop(DropReason::NoReplica)]);
    let told = timer(&mut rack(1, &[0]), 0);
    hear(&mut one, 1, reports(&told)[0]);
    assert!(matches!(ask(&mut one, 2, 1)[0], Action::Redirect { .. }));
    // A peer that is silent for too long is dead.
    assert_eq!(ask(&mut one, 9 * MS, 2), [Action::Drop(DropReason::NoReplica)]);
}

#[test]
fn old_messages_and_strangers_change_nothing() {
    let [mut one, mut other] = acquainted();
    let (older, newer) = (timer(&mut other, 2 * MS), timer(&mut other, 4 * MS));
    hear(&mut one, 4 * MS, reports(&newer)[0]);
    let mut forged = reports(&older)[0].clone();
    forged.entries[0].load = Load(77 << 8);
    hear(&mut one, 5 * MS, &forged);
    hear(
        &mut one,
        5 * MS,
        &Report {
            from: PeerId(5),
            ..forged
        },
    );
    assert_eq!(one.believed(PeerId(1)), [(SERVICE, Some(0.0))]);
    assert_eq!(
        (one.counters().gossip.stale, one.counters().gossip.strangers),
        (1, 1)
    );
    // A peer that has started again is believed, though it counts from one again.
    let again = Configuration {
        incarnation: 1,
        ..configuration(1, &[0, 1])
    };
    let told = timer(&mut Dispatcher::new(&again).unwrap(), 0);
    hear(&mut one, 5 * MS, reports(&told)[0]);
    assert_eq!(one.counters().gossip.stale, 1);
}

#[test]
fn requests_wait_for_a_bounded_queue() {
    let mut bounded = configuration(0, &[0, 1]);
    bounded.policy = Policy::BoundedQueue { bound: 1 };
    bounded.held = 1;
    let mut one = Dispatcher::new(&bounded).unwrap();
    assert_eq!(
        [ask(&mut one, 0, 0), ask(&mut one, 0, 1)].concat(),
        [serve(0), serve(1)]
    );
    let held = ask(&mut one, 1, 2);
    let [Action::Hold { ticket }] = held.as_slice() else {
        panic!("{held:?}")
    };
    assert_eq!(ask(&mut one, 1, 2), [Action::Drop(DropReason::Duplicate)]);
    assert_eq!(ask(&mut one, 1, 3), [Action::Drop(DropReason::QueueFull)]);
    let released = Action::Release {
        ticket: *ticket,
        replica: ReplicaId(1),
    };
    assert_eq!(answer(&mut one, 2, 1), [Action::Answer, released]);
    assert_eq!(answer(&mut one, 3, 2), [Action::Answer]);
    assert_eq!(one.counters().answers.answered, 2);
}

#[test]
fn replicas_come_and_go() {
    let mut one = rack(0, &[0]);
    let mut actions = Vec::new();
    let spec = |id, cores| ReplicaSpec {
        id: ReplicaId(id),
        cores,
    };
    ask(&mut one, 0, 0);
    one.add_replica(1, SERVICE, spec(5, 2), &mut actions).unwrap();
    assert_eq!(ask(&mut one, 2, 1), [serve(5)]);
    one.remove_replica(3, ReplicaId(5), &mut actions).unwrap();
    assert_eq!(ask(&mut one, 4, 2), [serve(0)]);
    assert_eq!(
        ask(&mut one, 5, 1),
        [serve(0)],
        "a request of a removed replica goes to another"
    );
    answer(&mut one, 6, 1);
    assert_eq!(one.load(SERVICE), Some(2.0));
    let refused = [
        one.add_replica(7, SERVICE, spec(0, 1), &mut actions),
        one.add_replica(7, ServiceId(1), spec(9, 1), &mut actions),
        one.add_replica(7, SERVICE, spec(9, 0), &mut actions),
        one.remove_replica(7, ReplicaId(5), &mut actions),
    ];
    use ConfigurationError as Wrong;
    let reasons = [
        Wrong::ReplicaTwice(0),
        Wrong::NoService(1),
        Wrong::Cores(9, 0),
        Wrong::NoReplica(5),
    ];
    assert_eq!(refused, reasons.map(Err));
}

#[test]
fn keys_stay_with_their_replica_and_only_those_of_a_dead_one_move() {
    let mut sticky = configuration(0, &[0, 1, 2]);
    sticky.services[0].sticky = true;
    sticky.peers.clear();
    let mut one = Dispatcher::new(&sticky).unwrap();
    let owner = |one: &mut Dispatcher, now, key: u64| {
        let mut actions = Vec::new();
        let asked = Request {
            sticky: Some(key),
            ..request(now)
        };
        one.request(now, &asked, &mut actions);
        one.response(now, asked.key, &mut actions);
        actions[0].clone()
    };
    let before: Vec<Action> = (0..300).map(|key| owner(&mut one, key, key)).collect();
    for replica in 0..3 {
        let keys = before.iter().filter(|owner| **owner == serve(replica)).count();
        assert!(
            (70..130).contains(&keys),
            "{keys} of 300 keys belong to {replica}"
        );
    }
    one.replica_down(400, ReplicaId(1), &mut Vec::new());
    for (key, before) in before.iter().enumerate() {
        let after = owner(&mut one, 500 + key as u64, key as u64);
        assert_eq!(after == *before, *before != serve(1), "key {key}");
    }
}

#[test]
fn impossible_configurations_are_refused_with_a_reason() {
    let wrong = |change: fn(&mut Configuration)| {
        let mut configuration = configuration(0, &[0, 1]);
        change(&mut configuration);
        Dispatcher::new(&configuration)
            .err()
            .map(|reason| reason.to_string())
    };
    let reasons = [
        wrong(|c| c.services.clear()),
        wrong(|c| c.services[0].replicas[1].id = ReplicaId(0)),
        wrong(|c| c.services[0].replicas[1].cores = 0),
        wrong(|c| c.peers[0].id = PeerId(0)),
        wrong(|c| c.peers[0].services = vec![ServiceId(1)]),
        wrong(|c| c.peers[0].services = vec![SERVICE, SERVICE]),
        wrong(|c| c.tracked = 100),
        wrong(|c| c.times.expiry_ns = 0),
        wrong(|c| c.times.peer_timeout_ns = c.times.truth_interval_ns),
        wrong(|c| c.average_shift = 40),
        wrong(|c| c.load_delta = rackwright_dispatch::LoadDelta::Fixed(f64::NAN)),
        wrong(|c| c.policy = Policy::BoundedQueue { bound: 0 }),
    ];
    for (index, reason) in reasons.iter().enumerate() {
        assert!(reason.is_some(), "case {index}");
    }
    assert_eq!(
        reasons[0].as_deref(),
        Some("a dispatcher has 1 to 16 services, not 0")
    );
}
