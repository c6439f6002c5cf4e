//! What L1 caches of several harts, and units, do to each other's lines: who holds what, and what it costs.

use proptest::prelude::*;
use rackwright_memory::{
    AccessKind, Hierarchy, HierarchyCounters, HierarchyParameters, PortParameters, ProbeParameters,
    RequesterId, Route, Snoop, Traffic, WarmLevel,
};
use rackwright_time::{Cycle, Cycles};
use std::collections::BTreeMap;

const LINE: u64 = 0x8000_0040;
/// Cycles of a hit in L2, and on top of it of answers of those who share a line, of the line from its owner, and of the
/// same for a unit.
const HIT: u64 = 12;
const SHARER: u64 = 7;
const OWNER: u64 = 27;
const UNIT: u64 = 16;
/// From an answer to the next request that is taken on.
const ACKNOWLEDGEMENT: u64 = 6;

struct Harts {
    hierarchy: Hierarchy,
    harts: Vec<RequesterId>,
    unit: RequesterId,
}

fn harts(count: usize) -> Harts {
    let mut hierarchy = Hierarchy::new(HierarchyParameters::server()).unwrap();
    let harts = (0..count).map(|_| hierarchy.attach_hart()).collect();
    let link = hierarchy.attach_link(&Route::default(), 32);
    let unit = hierarchy.attach_port(link, Traffic::Stream);
    Harts {
        hierarchy,
        harts,
        unit,
    }
}

impl Harts {
    /// How long an access takes.
    fn access(&mut self, at: u64, kind: AccessKind, hart: usize) -> u64 {
        self.to(at, LINE, kind, hart)
    }

    fn to(&mut self, at: u64, address: u64, kind: AccessKind, hart: usize) -> u64 {
        let port = self.harts[hart];
        (self.hierarchy.access(Cycle::new(at), address, kind, port) - Cycle::new(at)).0
    }

    fn snoops(&mut self, hart: usize) -> Vec<(u64, Snoop)> {
        let mut snoops = Vec::new();
        self.hierarchy
            .take_snoops(self.harts[hart], |line, snoop| snoops.push((line, snoop)));
        snoops
    }

    fn counters(&self) -> HierarchyCounters {
        self.hierarchy.counters()
    }
}

#[test]
fn a_line_that_nobody_else_holds_is_modified_without_traffic() {
    let mut harts = harts(2);
    harts.access(0, AccessKind::Read, 0);
    assert!(harts.hierarchy.modify(LINE, harts.harts[0]));
    assert_eq!(harts.counters().probes, 0);
}

#[test]
fn a_modified_line_is_given_to_a_reader_and_both_share_it() {
    let mut harts = harts(2);
    harts.access(0, AccessKind::Own, 0);
    assert_eq!(harts.access(1000, AccessKind::Read, 1), HIT + OWNER);
    assert_eq!(harts.snoops(0), [(LINE, Snoop::Clean)]);
    assert!(!harts.hierarchy.modify(LINE, harts.harts[0]));
    assert!(!harts.hierarchy.modify(LINE, harts.harts[1]));
    // A third one gets it from L2.
    assert_eq!(harts.access(2000, AccessKind::Fetch, 1), HIT);
}

#[test]
fn a_writer_takes_the_line_from_all_readers() {
    let mut harts = harts(3);
    for hart in 0..3 {
        harts.access(1000 * hart as u64, AccessKind::Read, hart);
    }
    assert_eq!(harts.access(5000, AccessKind::Own, 1), HIT + SHARER);
    for hart in [0, 2] {
        assert_eq!(harts.snoops(hart), [(LINE, Snoop::Invalidate)]);
    }
    assert_eq!(harts.snoops(1), []);
    assert!(harts.hierarchy.modify(LINE, harts.harts[1]));
    assert_eq!(harts.counters().invalidations, 2);
}

#[test]
fn writers_of_one_line_wait_for_each_other() {
    let mut harts = harts(3);
    harts.access(0, AccessKind::Own, 0);
    assert_eq!(harts.access(1000, AccessKind::Own, 1), HIT + OWNER);
    let acknowledged = HIT + OWNER + ACKNOWLEDGEMENT;
    assert_eq!(
        harts.access(1001, AccessKind::Own, 2),
        acknowledged - 1 + HIT + OWNER
    );
}

#[test]
fn a_line_that_was_written_back_or_dropped_is_nobodys() {
    let mut harts = harts(2);
    harts.access(0, AccessKind::Own, 0);
    harts.access(500, AccessKind::WriteBack, 0);
    assert_eq!(harts.access(1000, AccessKind::Own, 1), HIT);
    harts.access(1500, AccessKind::WriteBack, 1);
    harts.access(2000, AccessKind::Read, 0);
    harts.hierarchy.drop_clean(LINE, harts.harts[0]);
    assert_eq!(harts.access(3000, AccessKind::Own, 1), HIT);
    assert_eq!(harts.snoops(0), []);
}

/// Enough lines of one set of L2 to have LINE leave it.
fn push_out_of_l2(harts: &mut Harts) {
    let sets = (1 << 20) / 8;
    (1..=8).for_each(|way| {
        harts.to(10_000 * way, LINE + way * sets, AccessKind::Fetch, 0);
    });
}

#[test]
fn an_owner_is_known_when_its_line_has_left_l2() {
    let mut harts = harts(2);
    harts.access(0, AccessKind::Own, 0);
    push_out_of_l2(&mut harts);
    let unit = harts.unit;
    let done = harts
        .hierarchy
        .access(Cycle::new(200_000), LINE, AccessKind::Write, unit);
    assert_eq!((done - Cycle::new(200_000)).0, HIT + 2 + UNIT);
    assert_eq!(harts.snoops(0), [(LINE, Snoop::Invalidate)]);
    harts.access(300_000, AccessKind::Own, 0);
    push_out_of_l2(&mut harts);
    assert_eq!(harts.access(400_000, AccessKind::Read, 1), HIT + OWNER);
    assert_eq!(harts.snoops(0), [(LINE, Snoop::Clean)]);
}

/// What a small, fully associative L1 without any surprises holds: whether each line is modified.
type L1 = BTreeMap<u64, bool>;

/// Does as the timing models of harts do, with caches that hold as much as there is.
fn step(harts: &mut Harts, caches: &mut [L1], at: u64, hart: usize, line: u64, action: u8) {
    let address = LINE + 64 * line;
    let (modified, held) = (
        caches[hart].get(&line) == Some(&true),
        caches[hart].contains_key(&line),
    );
    match action {
        0 if !held => {
            harts.to(at, address, AccessKind::Read, hart);
            caches[hart].insert(line, false);
        }
        1 if !modified => {
            let port = harts.harts[hart];
            if !held || !harts.hierarchy.modify(address, port) {
                harts.to(at, address, AccessKind::Own, hart);
            }
            caches[hart].insert(line, true);
        }
        2 if held => {
            if modified {
                harts.to(at, address, AccessKind::WriteBack, hart);
            } else {
                harts.hierarchy.drop_clean(address, harts.harts[hart]);
            }
            caches[hart].remove(&line);
        }
        3 | 4 => {
            let kind = if action == 3 {
                AccessKind::Read
            } else {
                AccessKind::Write
            };
            let unit = harts.unit;
            harts.hierarchy.access(Cycle::new(at), address, kind, unit);
        }
        _ => {}
    }
    for (hart, cache) in caches.iter_mut().enumerate() {
        for (address, snoop) in harts.snoops(hart) {
            let line = (address - LINE) / 64;
            assert!(cache.contains_key(&line), "only holders are asked");
            match snoop {
                Snoop::Invalidate => cache.remove(&line),
                Snoop::Clean => cache.insert(line, false),
            };
        }
    }
}

/// An L1 that is busy with probes takes them one after the other, each line once, however many beats it has.
#[test]
fn an_l1_that_is_busy_with_a_probe_takes_the_next_one_later() {
    let mut parameters = HierarchyParameters::server();
    parameters.coherence.busy = ProbeParameters {
        modified: Cycles::new(7),
        held: Cycles::new(4),
        absent: Cycles::new(3),
    };
    let mut hierarchy = Hierarchy::new(parameters).unwrap();
    let hart = hierarchy.attach_hart();
    let link = hierarchy.attach_link(&Route::default(), 32);
    let unit = hierarchy.attach_port(link, Traffic::Stream);
    hierarchy.warm(LINE..LINE + 0x1000, WarmLevel::L2);
    for (place, kind) in [(0, AccessKind::Own), (1, AccessKind::Own), (2, AccessKind::Read)] {
        hierarchy.access(Cycle::new(place * 1000), LINE + 64 * place, kind, hart);
    }
    let start = Cycle::new(10_000);
    let mut at = |address: u64| (hierarchy.access(start, address, AccessKind::Read, unit) - start).0;
    let first = at(LINE);
    // Its second beat needs no probe and comes with it; a port answers once a cycle.
    assert_eq!(at(LINE + 32), first + 1);
    let second = at(LINE + 64);
    assert!((first + 5..=first + 7).contains(&second), "{first} {second}");
    // Lines that nobody modified: 14 cycles of probes come before, 4 and 3 of their own.
    let (held, absent) = (at(LINE + 128), at(LINE + 192));
    assert!(held >= HIT + 14 + 4, "{held}");
    assert_eq!(absent - held, 3);
    // It would be answered 3 cycles later, with the second beat of the first line.
    assert_eq!(at(LINE + 256) - absent, 4);
}

/// Register stages of a port are between a unit and L2, and not between a hart and L2.
#[test]
fn register_stages_of_a_port_delay_what_a_unit_asks_for() {
    let mut parameters = HierarchyParameters::server();
    parameters.port = PortParameters {
        request: Cycles::new(1),
        response: Cycles::new(2),
        patience: Cycles::default(),
    };
    let mut hierarchy = Hierarchy::new(parameters).unwrap();
    let hart = hierarchy.attach_hart();
    let link = hierarchy.attach_link(&Route::default(), 32);
    let unit = hierarchy.attach_port(link, Traffic::Stream);
    hierarchy.warm(LINE..LINE + 0x1000, WarmLevel::L2);
    // Beyond a register slice in each direction.
    assert_eq!(hierarchy.minimum_latency(unit), Cycles::new(HIT + 2 + 3));
    for (place, kind) in [(0, AccessKind::Read), (1, AccessKind::Write)] {
        let start = Cycle::new(1000 * (place + 1));
        let done = hierarchy.access(start, LINE + 64 * place, kind, unit);
        assert_eq!((done - start).0, HIT + 2 + 3);
    }
    let start = Cycle::new(3000);
    let done = hierarchy.access(start, LINE + 128, AccessKind::Read, hart);
    assert_eq!((done - start).0, HIT);
}

proptest! {
    /// However accesses are mixed: one writer or several readers, and nobody has what a unit has written.
    #[test]
    fn a_modified_line_is_held_once(
        actions in prop::collection::vec((0usize..4, 0u64..6, 0u8..5), 1..400),
    ) {
        let mut harts = harts(4);
        let mut caches = vec![L1::new(); 4];
        for (number, (hart, line, action)) in actions.into_iter().enumerate() {
            step(&mut harts, &mut caches, 7 * number as u64, hart, line, action);
            let holders = caches.iter().filter(|cache| cache.contains_key(&line)).count();
            let modified = caches.iter().any(|cache| cache.get(&line) == Some(&true));
            prop_assert!(!modified || holders == 1);
            prop_assert!(action != 4 || holders == 0);
        }
    }
}

#[test]
fn what_a_hart_writes_in_a_watched_line_is_written_in_l2_which_tells_the_unit() {
    let mut harts = harts(2);
    harts.access(0, AccessKind::Own, 0);
    let unit = harts.unit;
    harts
        .hierarchy
        .access(Cycle::new(100), LINE, AccessKind::Read, unit);
    harts.hierarchy.watch(LINE, unit);
    assert_eq!(harts.snoops(0), [(LINE, Snoop::Clean)]);
    for at in [200, 300] {
        assert!(!harts.hierarchy.modify(LINE, harts.harts[0]));
        assert_eq!(harts.access(at, AccessKind::Own, 0), HIT);
        assert_eq!(harts.snoops(0), [(LINE, Snoop::Clean)]);
    }
    // The other one gets it to read, and never for itself.
    assert_eq!(harts.access(400, AccessKind::Read, 1), HIT);
    assert!(!harts.hierarchy.modify(LINE, harts.harts[1]));
    let told = harts.hierarchy.tell(Cycle::new(500), LINE, unit);
    assert_eq!(told, Cycle::new(300 + HIT + 1));
    assert_eq!(harts.access(600, AccessKind::Own, 0), HIT + SHARER);
    assert!(harts.hierarchy.modify(LINE, harts.harts[0]));
}

#[test]
fn a_unit_is_told_of_what_other_units_write_and_without_a_write_in_l2_at_once() {
    let mut harts = harts(1);
    let unit = harts.unit;
    harts.hierarchy.watch(LINE, unit);
    assert_eq!(harts.hierarchy.tell(Cycle::new(50), LINE, unit), Cycle::new(51));
    harts.hierarchy.watch(LINE, unit);
    let written = harts
        .hierarchy
        .access(Cycle::new(1000), LINE + 16, AccessKind::Write, unit);
    let told = harts.hierarchy.tell(Cycle::new(2000), LINE, unit);
    assert!(
        told > Cycle::new(1000) && told <= written + rackwright_time::Cycles::new(1),
        "{told}"
    );
}
