use crate::packet::{Header, Kind};
use serde::{Deserialize, Serialize};

/// A page that no request crosses (2.2.7).
const PAGE: u64 = 4096;

/// Packets that were rejected by their receivers, by the errors of the specification (6.2.10).
#[derive(Clone, Copy, Default, Debug, Serialize, Deserialize)]
pub(crate) struct Rejected {
    /// Requests without a target.
    pub(crate) unsupported: u64,
    /// Completions that are not awaited.
    pub(crate) unexpected: u64,
    /// Packets that break the rules of their own form.
    pub(crate) malformed: u64,
    /// Packets that have reached their destination with data known to be wrong.
    pub(crate) poisoned: u64,
    /// Requests of the host without a completion.
    pub(crate) timeouts: u64,
    /// Packets that access control, or the block of their multicast group, has stopped.
    pub(crate) stopped: u64,
}

/// Whether a packet with `payload` bytes violates a rule that receivers check, for a maximum payload of `most` bytes.
pub(crate) fn is_malformed(header: &Header, payload: usize, most: u32) -> bool {
    let crosses = match header.kind {
        Kind::MemoryRead | Kind::MemoryWrite => {
            header.words == 0 || header.request.address % PAGE + 4 * u64::from(header.words) > PAGE
        }
        _ => false,
    };
    payload != 4 * header.payload_words() || payload > most as usize || crosses
}

#[cfg(test)]
pub(crate) mod tests {
    use crate::driver::{Access, Space};
    use crate::error::FabricError;
    use crate::fabric::{Fabric, ROOT};
    use crate::host::Host;
    use crate::packet::{Completion, Header, Id, Kind, Status};
    use crate::system::SystemDescription;
    use crate::transmitter::Waiting;
    use rackwright_device::Map;
    use rackwright_memory::{Hierarchy, HierarchyParameters, SharedHierarchy};
    use rackwright_time::fabric::Cycle;
    use serde_json::{json, Value};

    pub(crate) const MEMORY: u64 = 1 << 22;
    pub(crate) const CARD: Id = Id(0x0300);
    /// In the first window of the first card.
    const REGISTER: u64 = 0x100_0000_0000;

    /// Two modelled cards below a switch.
    pub(crate) fn system() -> SystemDescription {
        let model = json!({"hertz": 2_000_000_000_u64, "tags": 64, "read_bytes": 512, "packets": 32});
        system_of(&json!({"name": "a", "model": model}))
    }

    /// The same with another first card.
    fn system_of(first: &Value) -> SystemDescription {
        let credits = json!({"posted": [32, 512], "non_posted": [32, 32], "completion": [0, 0]});
        let model = json!({"hertz": 2_000_000_000_u64, "tags": 64, "read_bytes": 512, "packets": 32});
        let link = |above: &str, below: &str| json!({"above": above, "below": below, "generation": 3, "lanes": 8, "delay_ns": 25.0, "replay_bytes": 32768});
        let system = json!({
            "root": {"name": "root", "latency_ns": 60.0, "peer_to_peer": true, "completion_bytes": 256, "credits": credits},
            "switches": [{"name": "switch", "latency_ns": 110.0, "credits": credits}],
            "cards": [first, {"name": "b", "model": model}],
            "links": [link("root", "switch"), link("switch", "a"), link("switch", "b")],
            "payload_bytes": 256,
            "read_request_bytes": 512,
        });
        serde_json::from_value(system).unwrap()
    }

    /// The same, found and switched on.
    fn fabric() -> Fabric {
        let mut fabric = Fabric::new(system(), &[], MEMORY, &HierarchyParameters::server()).unwrap();
        let found = fabric.enumerate().unwrap();
        assert_eq!(found[0].id, CARD);
        fabric
    }

    /// The first card offers a packet that none of our functions would send.
    fn offer(fabric: &mut Fabric, header: Header, data: &[u8]) {
        let port = fabric.ports.of_cards[0];
        let id = fabric.pool.take(header);
        fabric.pool.get(id).data.extend(data);
        let waiting = Waiting::new(id, &header, fabric.now, None);
        let transmitter = &mut fabric.ports.all[port.index()].transmitter;
        transmitter.add(0, header.kind.class(), waiting);
        let at = fabric.now;
        fabric.ports.all[port.index()].await_ready(port, at, &mut fabric.events);
    }

    /// It sends such a packet; then all must be quiet, and a register can be read.
    pub(crate) fn send(fabric: &mut Fabric, header: Header, data: &[u8]) {
        offer(fabric, header, data);
        let deadline = fabric.now + crate::clocks::nanoseconds(100_000.0);
        assert!(
            fabric.run(deadline, Fabric::is_quiet).unwrap(),
            "the fabric hangs"
        );
        fabric.read_register(REGISTER).unwrap();
    }

    pub(crate) fn count(fabric: &Fabric, name: &str) -> u64 {
        let counters = fabric.counters();
        let found = counters
            .iter()
            .find(|(of, _)| *of == name)
            .map(|(_, count)| count);
        found.unwrap()
    }

    fn write(address: u64, words: u16) -> Header {
        Header::memory(Kind::MemoryWrite, CARD, 0, address, words)
    }

    fn completion(requester: Id, words: u16, byte_count: u16, lower_address: u8) -> Header {
        let mut header = Header::new(Kind::Completion(true), requester, 0);
        header.words = words;
        header.completion = Completion {
            completer: CARD,
            status: Status::Successful,
            byte_count,
            lower_address,
        };
        header
    }

    #[test]
    fn what_nobody_serves_is_counted_and_changes_nothing() {
        let mut fabric = fabric();
        // Directly after the end of memory, further after it, and to a window that no card has.
        for (number, address) in [MEMORY, MEMORY + 4096, 0x0123_4567_8000].into_iter().enumerate() {
            send(&mut fabric, write(address, 4), &[0xaa; 16]);
            assert_eq!(count(&fabric, "unsupported_requests"), number as u64 + 1);
        }
        for address in (0..MEMORY).step_by(8) {
            assert_eq!(fabric.host.memory.word(address).unwrap(), 0);
        }
        // A read receives its completion, which the model of the card does not await.
        send(
            &mut fabric,
            Header::memory(Kind::MemoryRead, CARD, 5, MEMORY, 4),
            &[],
        );
        assert_eq!(count(&fabric, "unsupported_requests"), 4);
    }

    #[test]
    fn a_bridge_that_is_no_bus_master_lets_nothing_up() {
        let mut fabric = fabric();
        let command = |id, value: u64| {
            (
                Access {
                    space: Space::Configuration(id),
                    address: 4,
                    bytes: 4,
                },
                value,
            )
        };
        // Root port, upstream and downstream port of the switch.
        for (number, bridge) in [Id(0), Id(0x0100), Id(0x0200)].into_iter().enumerate() {
            let (access, memory_only) = command(bridge, 2);
            fabric.access(access, Some(memory_only)).unwrap();
            send(&mut fabric, write(0x1000, 4), &[0xaa; 16]);
            assert_eq!(count(&fabric, "unsupported_requests"), number as u64 + 1);
            assert_eq!(fabric.host.memory.word(0x1000).unwrap(), 0);
            let (access, both) = command(bridge, 6);
            fabric.access(access, Some(both)).unwrap();
        }
        send(&mut fabric, write(0x1000, 4), &[0xaa; 16]);
        assert_eq!(fabric.host.memory.word(0x1000).unwrap(), 0xaaaa_aaaa_aaaa_aaaa);
    }

    #[test]
    fn completions_that_nobody_asked_for_are_counted() {
        let mut fabric = fabric();
        let all = [
            completion(ROOT, 2, 8, 0),
            completion(ROOT, 1, 4, 3),
            completion(ROOT, 64, 4095, 0x7f),
        ];
        for (number, header) in all.into_iter().enumerate() {
            send(&mut fabric, header, &vec![0x55; 4 * header.payload_words()]);
            assert_eq!(count(&fabric, "unexpected_completions"), number as u64 + 1);
        }
        // Of the other card, it is that card's to count.
        send(&mut fabric, completion(Id(0x0400), 1, 4, 0), &[0; 4]);
        assert_eq!(count(&fabric, "unexpected_completions"), 3);
        assert_eq!(count(&fabric, "b.unexpected_completions"), 1);
        // An unknown requester's, and the root's.
        send(&mut fabric, completion(Id(0x7700), 1, 4, 0), &[0; 4]);
        assert_eq!(count(&fabric, "unexpected_completions"), 4);
    }

    #[test]
    fn packets_that_break_their_own_form_are_counted_and_dropped() {
        let mut fabric = fabric();
        let wrong = [
            // Longer than software allows, across a page, shorter and longer than in the header.
            (write(0x1000, 128), 512),
            (write(0x1ff8, 4), 16),
            (write(0x1000, 8), 16),
            (write(0x1000, 4), 32),
            (Header::memory(Kind::MemoryRead, CARD, 1, 0x1fc0, 32), 0),
        ];
        for (number, (header, bytes)) in wrong.into_iter().enumerate() {
            send(&mut fabric, header, &vec![0xaa; bytes]);
            assert_eq!(count(&fabric, "malformed_packets"), number as u64 + 1);
        }
        assert_eq!(fabric.host.memory.word(0x1000).unwrap(), 0);
        assert_eq!(fabric.host.memory.word(0x1ff8).unwrap(), 0);
        send(&mut fabric, write(0x1000, 4), &[0xaa; 16]);
        assert_eq!(fabric.host.memory.word(0x1000).unwrap(), 0xaaaa_aaaa_aaaa_aaaa);
    }

    const ROOT_PORT: Id = Id(0);
    const DOWNSTREAM: Id = Id(0x0200);

    /// Reads a word of the configuration space of a port, and then writes it.
    fn word(fabric: &mut Fabric, id: Id, word: u64, write: Option<u32>) -> u32 {
        let access = Access {
            space: Space::Configuration(id),
            address: 4 * word,
            bytes: 4,
        };
        let read = fabric.access(access, None).unwrap().unwrap().data as u32;
        if write.is_some() {
            fabric.access(access, write.map(u64::from)).unwrap();
        }
        read
    }

    #[test]
    fn errors_are_kept_where_they_are_detected_and_told_to_the_root_port() {
        let mut fabric = fabric();
        let fabric = &mut fabric;
        let wrong = write(0x1ff8, 4);
        let control = word(fabric, DOWNSTREAM, 0x12, None);
        // Nobody is told before software allows it.
        send(fabric, wrong, &[0xaa; 16]);
        assert_eq!(word(fabric, DOWNSTREAM, 0x12, Some(control | 4 << 16)) >> 16, 4);
        assert_eq!(word(fabric, DOWNSTREAM, 0x41, Some(u32::MAX)), 1 << 18);
        assert_eq!(
            word(fabric, DOWNSTREAM, 0x47, None),
            crate::codec::words_of(&wrong)[0]
        );
        assert_eq!(word(fabric, ROOT_PORT, 0x4c, None), 0);
        // The port signals, but the root port drops it.
        word(fabric, DOWNSTREAM, 0x12, Some(control | 0xf));
        send(fabric, wrong, &[0xaa; 16]);
        assert_eq!(word(fabric, ROOT_PORT, 0x4c, None), 0);
        word(fabric, ROOT_PORT, 0xf, Some(2 << 16));
        send(fabric, wrong, &[0xaa; 16]);
        assert_eq!(word(fabric, ROOT_PORT, 0x4c, None), 1 << 6 | 1 << 4 | 1 << 2);
        assert_eq!(word(fabric, ROOT_PORT, 0x4d, None), u32::from(DOWNSTREAM.0) << 16);
        // Behind memory, the root port detects the errors itself: of a write, and of a read, whose sender learns of it.
        word(fabric, ROOT_PORT, 0x41, Some(u32::MAX));
        send(fabric, write(MEMORY, 4), &[0xaa; 16]);
        assert_eq!(word(fabric, ROOT_PORT, 0x41, Some(u32::MAX)), 1 << 20);
        assert_eq!(word(fabric, ROOT_PORT, 0x44, None), 0);
        send(fabric, Header::memory(Kind::MemoryRead, CARD, 5, MEMORY, 4), &[]);
        assert_eq!(
            (
                word(fabric, ROOT_PORT, 0x41, None),
                word(fabric, ROOT_PORT, 0x44, None)
            ),
            (0, 1 << 13)
        );
        assert!(fabric.run(fabric.deadline(), Fabric::is_quiet).unwrap());
    }

    #[test]
    fn completions_that_differ_from_the_request_of_the_host_are_not_its_answer() {
        let mut fabric = fabric();
        let expected = fabric.read_register(REGISTER).unwrap().data;
        let mut empty = completion(ROOT, 0, 8, 0);
        empty.kind = Kind::Completion(false);
        let wrong = [
            // Too short, too long, without data; of more and of fewer bytes, of another address.
            completion(ROOT, 1, 8, 0),
            completion(ROOT, 4, 8, 0),
            empty,
            completion(ROOT, 2, 12, 0),
            completion(ROOT, 2, 4, 0),
            completion(ROOT, 2, 8, 8),
        ];
        for (number, mut header) in wrong.into_iter().enumerate() {
            header.tag = fabric.requests.tag + 1;
            offer(&mut fabric, header, &vec![0x55; 4 * header.payload_words()]);
            assert_eq!(fabric.read_register(REGISTER).unwrap().data, expected);
            assert_eq!(count(&fabric, "unexpected_completions"), number as u64 + 1);
        }
    }

    #[test]
    fn data_that_are_known_to_be_wrong_change_nothing_and_are_reported() {
        let mut fabric = fabric();
        let fabric = &mut fabric;
        let mut wrong = write(0x1000, 4);
        wrong.poisoned = true;
        send(fabric, wrong, &[0xaa; 16]);
        assert_eq!(fabric.host.memory.word(0x1000).unwrap(), 0);
        // The root port has an error; for the port on the way, it is another one's.
        assert_eq!(word(fabric, ROOT_PORT, 0x41, Some(u32::MAX)), 1 << 12);
        assert_eq!(
            (
                word(fabric, DOWNSTREAM, 0x41, None),
                word(fabric, DOWNSTREAM, 0x44, None)
            ),
            (0, 1 << 13)
        );
        let mut wrong = completion(ROOT, 2, 8, 0);
        (wrong.tag, wrong.poisoned) = (fabric.requests.tag + 1, true);
        offer(fabric, wrong, &[0xaa; 8]);
        assert!(matches!(
            fabric.read_register(REGISTER),
            Err(FabricError::Refused { .. })
        ));
        assert_eq!(word(fabric, ROOT_PORT, 0x41, None), 1 << 12);
        assert_eq!(count(fabric, "poisoned_packets"), 2);
    }

    #[test]
    fn a_card_that_does_not_answer_is_an_error_for_which_the_root_port_interrupts() {
        let hierarchy = Hierarchy::new(HierarchyParameters::server()).unwrap();
        let files = Map::SERVER.with_aia().messages;
        let host = Host::attached(&SharedHierarchy::new(hierarchy), 0..MEMORY, files).unwrap();
        let mut fabric = Fabric::with(system(), &[], host).unwrap();
        let fabric = &mut fabric;
        fabric.enumerate().unwrap();
        let file = files[1].base;
        let control = word(fabric, ROOT_PORT, 0x12, None);
        let settings = [
            (0x12, control | 0xf),
            (0x21, file as u32),
            (0x22, (file >> 32) as u32),
            (0x23, 7),
            (0x20, 1 << 16),
            (0x4b, 7),
        ];
        for (at, data) in settings {
            word(fabric, ROOT_PORT, at, Some(data));
        }
        let silent = |fabric: &mut Fabric| {
            let asked = fabric.read_register(REGISTER);
            assert!(matches!(asked, Err(FabricError::NoCompletion { .. })));
        };
        // The link to the card is never free, so that it gets no request.
        let link = fabric.ports.of_switches[0][1];
        fabric.ports.all[link.index()].transmitter.wire = Cycle::NEVER;
        silent(fabric);
        assert_eq!(word(fabric, ROOT_PORT, 0x41, None), 1 << 14);
        assert_eq!(fabric.host.take_messages(), [(file, 7)]);
        // Once for all errors that software has not cleared.
        silent(fabric);
        assert_eq!(fabric.host.take_messages(), []);
        word(fabric, ROOT_PORT, 0x4c, Some(u32::MAX));
        silent(fabric);
        assert_eq!(fabric.host.take_messages(), [(file, 7)]);
        assert_eq!(count(fabric, "completion_timeouts"), 3);
        assert_eq!(count(fabric, "root_port_interrupts"), 2);
    }

    #[test]
    fn a_device_on_a_card_keeps_its_errors_and_tells_the_root_port() {
        let device = json!({"name": "a", "device": {"kind": "virtio-entropy", "seed": 1}});
        let system = system_of(&device);
        let mut fabric = Fabric::new(system, &[], MEMORY, &HierarchyParameters::server()).unwrap();
        let fabric = &mut fabric;
        assert_eq!(fabric.enumerate().unwrap()[0].id, CARD);
        let mut express = u64::from(word(fabric, CARD, 0xd, None)) / 4;
        while word(fabric, CARD, express, None) & 0xff != 0x10 {
            express = u64::from(word(fabric, CARD, express, None) >> 8 & 0xff) / 4;
        }
        let status = express + 2;
        let control = word(fabric, CARD, status, None) | 0xf;
        word(fabric, CARD, status, Some(control));
        word(fabric, DOWNSTREAM, 0xf, Some(2 << 16));
        word(fabric, ROOT_PORT, 0xf, Some(2 << 16));
        // Eight bytes across a word are no register: the write is lost, and the read gets its completion.
        let wrong = Access {
            space: Space::Window,
            address: REGISTER + 4,
            bytes: 8,
        };
        fabric.access(wrong, Some(1)).unwrap();
        assert!(fabric.run(fabric.deadline(), Fabric::is_quiet).unwrap());
        assert_eq!(word(fabric, CARD, 0x41, None), 1 << 20);
        assert_eq!(
            word(fabric, CARD, status, Some(control | 0xf << 16)) >> 16,
            1 << 3 | 1 << 1
        );
        assert_eq!(word(fabric, CARD, status, None), control);
        assert_eq!(word(fabric, ROOT_PORT, 0x4c, None), 1 << 5 | 1 << 2);
        assert_eq!(word(fabric, ROOT_PORT, 0x4d, None), u32::from(CARD.0) << 16);
        assert!(matches!(
            fabric.access(wrong, None),
            Err(FabricError::Refused { .. })
        ));
        assert_eq!(word(fabric, CARD, 0x44, Some(u32::MAX)), 1 << 13);
        assert_eq!(word(fabric, CARD, 0x44, None), 0);
    }
}
