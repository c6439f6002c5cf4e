//! Access control and multicast of a switch, as software sets them, on packets of a card that software does not know of.

use crate::driver::{Access, Space};
use crate::enumeration::Found;
use crate::fabric::Fabric;
use crate::packet::{Header, Id, Kind};
use crate::rejected::tests::{count, send, system, CARD, MEMORY};
use rackwright_memory::HierarchyParameters;
use rackwright_registers::traffic;

/// The root port, the port of the switch towards it, and those above the two cards.
const ROOT_PORT: Id = Id(0);
const UP: Id = Id(0x0100);
const ABOVE: [Id; 2] = [Id(0x0200), Id(0x0208)];
/// Words of access control and of multicast with what software sets.
const ACCESS: u64 = 0x51;
const MULTICAST: u64 = 0x54;
/// Services of access control.
const VALIDATES: u32 = 1;
const REQUESTS: u32 = 1 << 2;
const COMPLETIONS: u32 = 1 << 3;
const FORWARDS: u32 = 1 << 4;

fn started() -> (Fabric, Vec<Found>) {
    let mut fabric = Fabric::new(system(), &[], MEMORY, &HierarchyParameters::server()).unwrap();
    let found = fabric.enumerate().unwrap();
    (fabric, found)
}

fn configuration(fabric: &mut Fabric, target: Id, word: u64, write: Option<u32>) -> u32 {
    let access = Access {
        space: Space::Configuration(target),
        address: 4 * word,
        bytes: 4,
    };
    let answer = fabric.access(access, write.map(u64::from)).unwrap();
    answer.unwrap().data as u32
}

fn control(fabric: &mut Fabric, port: Id, services: u32) {
    configuration(fabric, port, ACCESS, Some(services << 16));
}

/// Payload bytes of each class that have left the switch towards the root complex.
fn upwards(fabric: &Fabric) -> [u64; 3] {
    let mut ports = fabric.port_counters();
    let (_, counters) = ports.find(|(name, _)| *name == "switch->root").unwrap();
    counters.classes.map(|class| class.payload_bytes)
}

/// Beats that other cards have written to each card.
fn beats(fabric: &mut Fabric, found: &[Found]) -> Vec<u64> {
    let registers = found.iter().map(|card| card.windows[0].range.start);
    let registers: Vec<u64> = registers.collect();
    let beats = registers
        .iter()
        .map(|first| fabric.read_register(traffic::PEER_BEATS.within(*first)));
    beats.map(|answer| answer.unwrap().data).collect()
}

fn write(requester: Id, address: u64) -> Header {
    Header::memory(Kind::MemoryWrite, requester, 0, address, 4)
}

#[test]
fn capabilities_are_in_the_list_of_each_port() {
    let (mut fabric, _) = started();
    let mut list = |port: Id| {
        let (mut word, mut numbers) = (0x40, Vec::new());
        while word != 0 {
            let header = configuration(&mut fabric, port, word, None);
            numbers.push(header & 0xffff);
            word = u64::from(header >> 22);
        }
        numbers
    };
    assert_eq!(list(ROOT_PORT), [0x01, 0x0d]);
    assert_eq!(list(UP), [0x01, 0x12]);
    assert_eq!(list(ABOVE[0]), [0x01, 0x0d, 0x12]);
    assert_eq!(list(CARD), [0x01]);
}

#[test]
fn packets_for_neighbours_go_the_way_that_access_control_says() {
    let (mut fabric, found) = started();
    let window = found[1].windows[1].range.start;
    send(&mut fabric, write(CARD, window), &[1; 16]);
    assert_eq!(beats(&mut fabric, &found), [0, 1]);
    let before = upwards(&fabric);
    // Redirected, it returns only if the root port lets it.
    control(&mut fabric, ABOVE[0], REQUESTS);
    send(&mut fabric, write(CARD, window), &[1; 16]);
    assert_eq!(count(&fabric, "unsupported_requests"), 1);
    control(&mut fabric, ROOT_PORT, FORWARDS);
    send(&mut fabric, write(CARD, window), &[1; 16]);
    assert_eq!(beats(&mut fabric, &found), [0, 2]);
    assert_eq!(upwards(&fabric)[0] - before[0], 32);
    // Its own window is below the port of its arrival.
    let own = found[0].windows[1].range.start;
    send(&mut fabric, write(CARD, own), &[1; 16]);
    assert_eq!(count(&fabric, "unsupported_requests"), 2);
    control(&mut fabric, ABOVE[0], REQUESTS | FORWARDS);
    send(&mut fabric, write(CARD, own), &[1; 16]);
    assert_eq!(beats(&mut fabric, &found), [1, 2]);
    // A read of the neighbour: its completion comes directly, or over the root complex.
    let register = traffic::SEED.within(found[1].windows[0].range.start);
    let read = Header::memory(Kind::MemoryRead, CARD, 9, register, 2);
    for (services, expected) in [(0, 0), (COMPLETIONS, 8)] {
        control(&mut fabric, ABOVE[1], services);
        // The reads by which the host looks at the cards are counted too.
        send(&mut fabric, write(CARD, 0x1000), &[0; 16]);
        let alone = upwards(&fabric)[2];
        send(&mut fabric, write(CARD, 0x1000), &[0; 16]);
        let host = upwards(&fabric)[2] - alone;
        send(&mut fabric, read, &[]);
        assert_eq!(upwards(&fabric)[2] - alone - 2 * host, expected);
    }
}

#[test]
fn requests_with_numbers_of_others_are_stopped_by_source_validation() {
    let (mut fabric, found) = started();
    let window = found[1].windows[1].range.start;
    control(&mut fabric, ABOVE[0], VALIDATES);
    send(&mut fabric, write(CARD, window), &[1; 16]);
    assert_eq!(count(&fabric, "stopped_packets"), 0);
    let other = Id(0x0400);
    send(&mut fabric, write(other, window), &[1; 16]);
    send(
        &mut fabric,
        Header::memory(Kind::MemoryRead, other, 9, 0x1000, 4),
        &[],
    );
    assert_eq!(beats(&mut fabric, &found), [0, 1]);
    assert_eq!(count(&fabric, "stopped_packets"), 2);
    let errors = configuration(&mut fabric, ABOVE[0], 0x41, None);
    assert_eq!(errors, 1 << 21);
}

#[test]
fn writes_to_a_group_leave_through_all_ports_that_receive_it() {
    let (mut fabric, found) = started();
    let windows = [0, 1].map(|card: usize| found[card].windows[1].range.start);
    let mut set = |port: Id, word: u64, value: u64| {
        for (half, bits) in [value as u32, (value >> 32) as u32].into_iter().enumerate() {
            configuration(&mut fabric, port, MULTICAST + word + half as u64, Some(bits));
        }
    };
    // Group 2 of four, of a megabyte each; the addresses become those of each card.
    let base = windows[0] - (2 << 20);
    for port in [UP, ABOVE[0], ABOVE[1]] {
        set(port, 2, base | 20);
        set(port, 4, if port == UP { 0 } else { 1 << 2 });
    }
    for (port, window) in ABOVE.into_iter().zip(windows) {
        set(port, 10, window | 20);
    }
    for port in [UP, ABOVE[0], ABOVE[1]] {
        configuration(&mut fabric, port, MULTICAST + 1, Some((1 << 15 | 3) << 16));
    }
    let group = base + (2 << 20) + 0x40;
    fabric.write_register(group, 7).unwrap();
    assert_eq!(beats(&mut fabric, &found), [1, 1]);
    // Not to the card that sends it, and neither upwards, where nobody receives it.
    send(&mut fabric, write(CARD, group), &[1; 16]);
    assert_eq!(beats(&mut fabric, &found), [1, 2]);
    assert_eq!(upwards(&fabric)[0], 0);
    // A group that nobody receives, and then a blocked one.
    send(&mut fabric, write(CARD, base + (3 << 20)), &[1; 16]);
    assert_eq!(beats(&mut fabric, &found), [1, 2]);
    assert_eq!(count(&fabric, "stopped_packets"), 0);
    configuration(&mut fabric, ABOVE[0], MULTICAST + 6, Some(1 << 2));
    send(&mut fabric, write(CARD, group), &[1; 16]);
    assert_eq!(beats(&mut fabric, &found), [1, 2]);
    assert_eq!(count(&fabric, "stopped_packets"), 1);
    assert_eq!(configuration(&mut fabric, ABOVE[0], 0x41, None), 1 << 23);
}
