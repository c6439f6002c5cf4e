//! The hierarchy as its users see it: latencies, limits, coherence, repeatability.

use rackwright_memory::{
    AccessKind, Hierarchy, HierarchyParameters, RequesterId, Route, Snoop, Traffic, WarmLevel,
};
use rackwright_time::{Cycle, Cycles};

fn server() -> Hierarchy {
    Hierarchy::new(HierarchyParameters::server()).unwrap()
}

fn with_unit(placement: &str) -> (Hierarchy, RequesterId) {
    let mut hierarchy = server();
    let link = hierarchy.attach_link(&placement.parse().unwrap(), 32);
    let port = hierarchy.attach_port(link, Traffic::Stream);
    (hierarchy, port)
}

#[test]
fn each_level_has_its_latency() {
    let mut hierarchy = server();
    let hart = hierarchy.attach_hart();
    let latency = |hierarchy: &mut Hierarchy, at: u64| {
        (hierarchy.access(Cycle::new(at), 0x8000_0000, AccessKind::Read, hart) - Cycle::new(at)).0
    };
    assert_eq!(latency(&mut hierarchy, 1000), 12 + 48 + 40 + 28 + 28);
    assert_eq!(latency(&mut hierarchy, 2000), 12);
    hierarchy.warm(0x8000_0000..0x8000_0040, WarmLevel::Llc);
    assert_eq!(latency(&mut hierarchy, 3000), 12 + 48);
}

#[test]
fn no_access_is_faster_than_the_window_allows() {
    for placement in Route::names() {
        let (mut hierarchy, port) = with_unit(placement);
        hierarchy.warm(0..1 << 16, WarmLevel::L2);
        let minimum = hierarchy.minimum_latency(port);
        for beat in 0..1000 {
            let at = Cycle::new(10 + beat / 2);
            let done = hierarchy.access(at, beat * 32, AccessKind::Read, port);
            assert!(done >= at + minimum, "{placement:?}");
        }
    }
}

#[test]
fn no_access_to_a_memory_of_its_own_is_faster_than_the_window_allows() {
    let mut hierarchy = Hierarchy::new(HierarchyParameters::own_dram()).unwrap();
    let link = hierarchy.attach_link(&Route::NEAR_CORE.parse().unwrap(), 32);
    let port = hierarchy.attach_port(link, Traffic::Stream);
    let minimum = hierarchy.minimum_latency(port);
    let mut random = 1_u64;
    for access in 0..10_000 {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let at = Cycle::new(10 + 3 * access);
        // Few lines: most are outstanding, or about to arrive.
        let (address, write) = (random >> 60 << 5, random >> 40 & 7 == 0);
        let kind = if write {
            AccessKind::Write
        } else {
            AccessKind::Read
        };
        assert!(hierarchy.access(at, address, kind, port) >= at + minimum);
    }
}

#[test]
fn a_near_core_port_streams_one_beat_per_cycle_from_l2() {
    let (mut hierarchy, port) = with_unit(Route::NEAR_CORE);
    hierarchy.warm(0..1 << 16, WarmLevel::L2);
    let last = (0..1024)
        .map(|beat| hierarchy.access(Cycle::new(beat), beat * 32, AccessKind::Read, port))
        .max();
    assert_eq!(last, Some(Cycle::new(1023 + 14)));
}

#[test]
fn pcie_limits_the_rate() {
    let (mut hierarchy, port) = with_unit("pcie");
    hierarchy.warm(0..1 << 16, WarmLevel::L2);
    let last = (0..1024)
        .map(|beat| hierarchy.access(Cycle::new(beat), beat * 32, AccessKind::Read, port))
        .max()
        .unwrap();
    let bytes_per_cycle = 32.0 * 1024.0 / (last.0 as f64 - 414.0);
    assert!((13.5..14.5).contains(&bytes_per_cycle), "{bytes_per_cycle}");
}

#[test]
fn a_unit_that_reads_a_modified_line_pays_for_the_probe_once() {
    let (mut hierarchy, port) = with_unit(Route::NEAR_CORE);
    let hart = hierarchy.attach_hart();
    hierarchy.access(Cycle::new(0), 64, AccessKind::Own, hart);
    let mut read =
        |at: u64| (hierarchy.access(Cycle::new(at), 64, AccessKind::Read, port) - Cycle::new(at)).0;
    assert_eq!(read(1000), 14 + 16);
    assert_eq!(read(2000), 14);
    let mut snoops = Vec::new();
    hierarchy.take_snoops(hart, |address, snoop| snoops.push((address, snoop)));
    assert_eq!(snoops, [(64, Snoop::Clean)]);
}

#[test]
fn a_unit_that_writes_a_line_takes_it_from_the_hart() {
    let (mut hierarchy, port) = with_unit(Route::NEAR_CORE);
    let hart = hierarchy.attach_hart();
    hierarchy.access(Cycle::new(0), 128, AccessKind::Read, hart);
    hierarchy.access(Cycle::new(500), 160, AccessKind::Write, port);
    hierarchy.access(Cycle::new(600), 128, AccessKind::Write, port);
    let mut snoops = Vec::new();
    hierarchy.take_snoops(hart, |address, snoop| snoops.push((address, snoop)));
    assert_eq!(snoops, [(128, Snoop::Invalidate)]);
}

#[test]
fn outstanding_misses_are_limited() {
    let mut parameters = HierarchyParameters::server();
    parameters.l2.outstanding_misses = 1;
    let mut hierarchy = Hierarchy::new(parameters).unwrap();
    let hart = hierarchy.attach_hart();
    hierarchy.warm(0..4096, WarmLevel::Llc);
    let first = hierarchy.access(Cycle::new(0), 0, AccessKind::Read, hart);
    let second = hierarchy.access(Cycle::new(0), 64, AccessKind::Read, hart);
    assert_eq!(second - first, Cycles::new(48));
}

#[test]
fn equal_requests_have_equal_answers() {
    let run = || {
        let (mut hierarchy, port) = with_unit("chiplet");
        let hart = hierarchy.attach_hart();
        let mut state = 1u64;
        let mut sum = 0u64;
        for step in 0..100_000u64 {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            let address = state >> 40 << 3;
            let (kind, requester) = match state >> 20 & 3 {
                0 => (AccessKind::Read, hart),
                1 => (AccessKind::WriteBack, hart),
                2 => (AccessKind::Read, port),
                _ => (AccessKind::Write, port),
            };
            let done = hierarchy.access(Cycle::new(step * 3), address, kind, requester);
            sum = sum.wrapping_mul(31).wrapping_add(done.0);
        }
        (sum, hierarchy.counters())
    };
    assert_eq!(run(), run());
}
