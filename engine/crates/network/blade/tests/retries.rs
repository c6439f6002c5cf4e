//! Clients over a network that loses, doubles, delays and damages frames: what a blade keeps is what they stored last.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use rackwright_blade::{Message, Operation, Pages, Status, PAGE_BYTES};
use rackwright_ethernet::Mac;
use std::collections::BTreeMap;

/// What the network does with a frame.
#[derive(Clone, Copy, Debug)]
enum Fate {
    Passes,
    Lost,
    Doubled,
    /// Comes again after this many later frames.
    Late(usize),
    Damaged(usize),
}

fn fate() -> impl Strategy<Value = Fate> {
    prop_oneof![
        6 => Just(Fate::Passes),
        2 => Just(Fate::Lost),
        1 => Just(Fate::Doubled),
        2 => (1..20_usize).prop_map(Fate::Late),
        1 => (12..64_usize).prop_map(Fate::Damaged),
    ]
}

#[derive(Clone, Copy, Debug)]
struct Step {
    client: u32,
    page: u64,
    /// Stores this byte everywhere, or fetches.
    store: Option<u8>,
}

fn step() -> impl Strategy<Value = Step> {
    (0..2_u32, 0..3_u64, proptest::option::of(any::<u8>())).prop_map(|(client, page, store)| Step {
        client,
        page,
        store,
    })
}

/// A blade behind a bad network, both ways.
struct Network {
    pages: Pages,
    fates: Vec<Fate>,
    next: usize,
    late: Vec<(usize, Vec<u8>)>,
}

impl Network {
    /// The copies of a frame that arrive now, and those of earlier ones.
    fn pass(&mut self, frame: Vec<u8>) -> Vec<Vec<u8>> {
        self.next += 1;
        let now = self.next;
        let (due, late) = std::mem::take(&mut self.late)
            .into_iter()
            .partition(|(at, _)| *at <= now);
        self.late = late;
        let mut out: Vec<Vec<u8>> = due.into_iter().map(|(_, frame)| frame).collect();
        match self.fates[now % self.fates.len()] {
            Fate::Passes => out.push(frame),
            Fate::Lost => {}
            Fate::Doubled => out.extend([frame.clone(), frame]),
            Fate::Late(by) => {
                self.late.push((now + by, frame.clone()));
                out.push(frame);
            }
            Fate::Damaged(at) => {
                let mut frame = frame;
                frame[at] ^= 1;
                out.push(frame);
            }
        }
        out
    }

    /// Sends a request; the answers that come back to `client`.
    fn ask(&mut self, client: Mac, request: &Message) -> Vec<Message> {
        let blade = Mac::assigned(99);
        let mut answers = Vec::new();
        for frame in self.pass(request.to_frame(blade, client)) {
            let Ok((to, from, request)) = Message::parse(&frame) else {
                continue;
            };
            if to != blade {
                continue;
            }
            let Some(answer) = self.pages.serve(from, &request) else {
                continue;
            };
            for frame in self.pass(answer.to_frame(from, blade)) {
                if let Ok((to, _, answer)) = Message::parse(&frame) {
                    if to == client {
                        answers.push(answer);
                    }
                }
            }
        }
        answers
    }

    /// Asks again until the answer to this very request comes.
    fn insist(&mut self, client: Mac, request: &Message) -> Message {
        for _ in 0..10_000 {
            let answers = self.ask(client, request);
            if let Some(answer) = answers.into_iter().find(|answer| answer.tag == request.tag) {
                return answer;
            }
        }
        panic!("no answer to {request:?}");
    }
}

fn request(operation: Operation, tag: u32, page: u64, version: u16, fill: Option<u8>) -> Message {
    Message {
        operation,
        status: Status::Done,
        incarnation: 0,
        tag,
        page,
        version,
        data: fill.map(|byte| Box::new([byte; PAGE_BYTES])),
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 64,
        rng_seed: RngSeed::Fixed(16),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn the_last_store_is_what_is_fetched(
        steps in proptest::collection::vec(step(), 20..120),
        mut fates in proptest::collection::vec(fate(), 4..40),
    ) {
        fates.push(Fate::Passes);
        fates.push(Fate::Passes);
        let mut network = Network { pages: Pages::new(64), fates, next: 0, late: Vec::new() };
        let mut reference: BTreeMap<(u32, u64), (u16, u8)> = BTreeMap::new();
        for (tag, step) in steps.iter().enumerate() {
            let (client, tag) = (Mac::assigned(step.client), tag as u32 + 1);
            let known = reference.get(&(step.client, step.page)).copied();
            // Versions begin shortly before they run over.
            let version = known.map_or(0xfffc, |(version, _)| version);
            match step.store {
                Some(byte) => {
                    let version = version.wrapping_add(1);
                    let asked = request(Operation::Store, tag, step.page, version, Some(byte));
                    prop_assert_eq!(network.insist(client, &asked).status, Status::Done);
                    reference.insert((step.client, step.page), (version, byte));
                }
                None => {
                    let answer = network.insist(client, &request(Operation::Fetch, tag, step.page, version, None));
                    match known {
                        Some((version, byte)) => {
                            prop_assert_eq!((answer.status, answer.version), (Status::Done, version));
                            prop_assert_eq!(answer.data, Some(Box::new([byte; PAGE_BYTES])));
                        }
                        None => prop_assert_eq!(answer.status, Status::Unknown),
                    }
                }
            }
        }
    }
}

/// Long: `cargo test -p rackwright-blade --release -- --ignored`.
#[test]
#[ignore = "a million operations"]
fn a_million_random_operations_agree_with_a_map() {
    let fates = [
        Fate::Passes,
        Fate::Lost,
        Fate::Passes,
        Fate::Late(7),
        Fate::Doubled,
    ];
    let mut network = Network {
        pages: Pages::new(1 << 12),
        fates: fates.to_vec(),
        next: 0,
        late: Vec::new(),
    };
    let mut reference = BTreeMap::new();
    let mut state = 1_u64;
    for tag in 0..1_000_000_u32 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let (client, page, byte) = ((state >> 33) as u32 % 4, state >> 40 & 0x3, (state >> 52) as u8);
        let version = reference
            .get(&(client, page))
            .map_or(0, |(version, _): &(u16, u8)| *version);
        if state >> 63 == 0 {
            let version = version.wrapping_add(1);
            let asked = request(Operation::Store, tag, page, version, Some(byte));
            assert_eq!(network.insist(Mac::assigned(client), &asked).status, Status::Done);
            reference.insert((client, page), (version, byte));
        } else {
            let asked = request(Operation::Fetch, tag, page, version, None);
            let answer = network.insist(Mac::assigned(client), &asked);
            let expected = reference.get(&(client, page));
            assert_eq!(
                answer.data.as_deref().map(|data| data[1000]),
                expected.map(|(_, byte)| *byte)
            );
        }
    }
}

#[test]
fn a_full_blade_says_so_and_still_takes_what_it_has() {
    let mut pages = Pages::new(1);
    let client = Mac::assigned(5);
    let mut store = |page, version| {
        let asked = request(Operation::Store, 1, page, version, Some(1));
        pages.serve(client, &asked).map(|answer| answer.status)
    };
    assert_eq!(store(1, 1), Some(Status::Done));
    assert_eq!(store(2, 1), Some(Status::Full));
    assert_eq!(store(1, 2), Some(Status::Done));
}

#[test]
fn a_restart_is_seen() {
    let mut pages = Pages::new(4);
    let client = Mac::assigned(5);
    let stored = pages.serve(client, &request(Operation::Store, 1, 7, 1, Some(1)));
    pages.restart();
    let fetched = pages.serve(client, &request(Operation::Fetch, 2, 7, 1, None));
    let (stored, fetched) = (stored.unwrap(), fetched.unwrap());
    assert_eq!(fetched.status, Status::Unknown);
    assert_ne!(stored.incarnation, fetched.incarnation);
}

#[test]
fn an_older_version_than_asked_for_is_not_given() {
    let mut pages = Pages::new(4);
    let client = Mac::assigned(5);
    pages.serve(client, &request(Operation::Store, 1, 7, 3, Some(1)));
    let fetch = |version| {
        let asked = request(Operation::Fetch, 2, 7, version, None);
        pages.serve(client, &asked).unwrap().status
    };
    let mut fetch = fetch;
    assert_eq!(
        [fetch(2), fetch(3), fetch(4)],
        [Status::Done, Status::Done, Status::Older]
    );
}
