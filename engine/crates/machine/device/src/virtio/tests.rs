//! A driver, good or hostile, against the entropy device.

use super::*;
use crate::far_memory::FarMemory;
use crate::virtio::entropy::Entropy;
use rackwright_memory::{GuestFault, GuestMemory};
use virtio_bindings::virtio_ring::{VRING_DESC_F_INDIRECT, VRING_DESC_F_NEXT, VRING_DESC_F_WRITE};

const BASE: u64 = 0x8000_0000;
const END: u64 = BASE + 0x10_0000;
const DESCRIPTORS: u64 = BASE;
const AVAILABLE: u64 = BASE + 0x1000;
const USED: u64 = BASE + 0x2000;
const BUFFER: u64 = BASE + 0x4000;
const PLACES: u16 = 8;

const NEXT: u16 = VRING_DESC_F_NEXT as u16;
const WRITE: u16 = VRING_DESC_F_WRITE as u16;
const INDIRECT: u16 = VRING_DESC_F_INDIRECT as u16;

struct Driver {
    device: Virtio<Entropy>,
    memory: GuestMemory,
    now: Cycle,
    made_available: u16,
}

impl Driver {
    /// A device whose ring is still to be enabled.
    fn negotiated(features: u64) -> Driver {
        let mut memory = GuestMemory::new(END).unwrap();
        memory.allow_all();
        let mut driver = Driver {
            device: Virtio::new(Entropy::new(1)),
            memory,
            now: Cycle::new(100),
            made_available: 0,
        };
        driver.set(20, 1, 3);
        for half in 0..2 {
            driver.set(8, 4, half);
            driver.set(12, 4, features >> (32 * half) & 0xffff_ffff);
        }
        driver.set(20, 1, 11);
        driver
    }

    /// A device with a ring, ready for requests.
    fn ready() -> Driver {
        let mut driver = Driver::negotiated(FEATURES);
        driver.enable([DESCRIPTORS, AVAILABLE, USED], PLACES);
        driver
    }

    fn enable(&mut self, places: [u64; 3], size: u16) {
        self.set(24, 2, size.into());
        for (offset, place) in (32..).step_by(8).zip(places) {
            self.set(offset, 4, place & 0xffff_ffff);
            self.set(offset + 4, 4, place >> 32);
        }
        self.set(28, 2, 1);
        self.set(20, 1, 15);
    }

    fn set(&mut self, offset: u64, bytes: u8, value: u64) {
        self.device.write(0, offset, bytes, value, self.now);
    }

    fn get(&mut self, offset: u64, bytes: u8) -> u64 {
        self.device.read(0, offset, bytes).unwrap()
    }

    fn put(&mut self, address: u64, bytes: &[u8]) {
        self.memory.write(address, bytes).unwrap();
    }

    fn word(&self, address: u64) -> u16 {
        let mut bytes = [0; 2];
        self.memory.read(address, &mut bytes).unwrap();
        u16::from_le_bytes(bytes)
    }

    fn describe(&mut self, table: u64, index: u64, address: u64, bytes: u32, flags: u16, next: u16) {
        let mut descriptor = address.to_le_bytes().to_vec();
        descriptor.extend(bytes.to_le_bytes());
        descriptor.extend(flags.to_le_bytes());
        descriptor.extend(next.to_le_bytes());
        self.put(table + 16 * index, &descriptor);
    }

    /// Makes a chain available and notifies the device.
    fn offer(&mut self, head: u16) {
        let place = AVAILABLE + 4 + 2 * u64::from(self.made_available % PLACES);
        self.put(place, &head.to_le_bytes());
        self.made_available += 1;
        self.put(AVAILABLE + 2, &self.made_available.to_le_bytes());
        self.set(0x400, 4, 0);
    }

    /// Advances time until the device is idle.
    fn wait(&mut self) {
        while self.device.next_event() != Cycle::NEVER {
            self.now = self.device.next_event();
            self.device
                .advance(&mut Ram::new(&mut self.memory, BASE), self.now);
        }
    }

    fn buffers_used(&self) -> u16 {
        self.word(USED + 2)
    }

    /// The device needs a reset, has reported this, and has not written anything; a reset makes it work again.
    fn expect_fault(mut self) {
        self.wait();
        assert_eq!(self.device.errors(), 1);
        assert_eq!(self.get(20, 1) as u8, 15 | NEEDS_RESET);
        assert!(self.device.interrupts());
        assert_eq!(self.get(0x100, 1), u64::from(CONFIGURATION_INTERRUPT));
        assert!(!self.device.interrupts());
        assert_eq!(self.buffers_used(), 0);
        let mut buffers = vec![0; (END - BUFFER) as usize];
        self.memory.read(BUFFER, &mut buffers).unwrap();
        assert!(buffers.iter().all(|byte| *byte == 0), "nothing was written");
        // Until then it is inactive.
        self.set(20, 1, 15);
        self.set(0x400, 4, 0);
        assert_eq!(self.device.next_event(), Cycle::NEVER);
        self.set(20, 1, 0);
        assert_eq!(self.get(20, 1), 0);
        assert_eq!(self.device.errors(), 1);
    }
}

#[test]
fn a_request_is_answered_after_its_time_with_an_interrupt() {
    let mut driver = Driver::ready();
    driver.describe(DESCRIPTORS, 3, BUFFER, 5, NEXT | WRITE, 4);
    driver.describe(DESCRIPTORS, 4, BUFFER + 64, 3, WRITE, 0);
    driver.offer(3);
    assert_eq!(driver.device.next_event(), driver.now + LOOK);
    driver.wait();
    assert!(driver.now.since(Cycle::new(100)) > LOOK);
    assert_eq!(
        (
            driver.buffers_used(),
            driver.word(USED + 4),
            driver.word(USED + 8)
        ),
        (1, 3, 8)
    );
    let mut written = [0; 65];
    driver.memory.read(BUFFER, &mut written).unwrap();
    assert!(written[..5] != [0; 5] && written[5..64] == [0; 59] && written[64] != 0);
    assert_eq!(driver.get(0x100, 1), u64::from(RING_INTERRUPT));
    assert_eq!(driver.get(0x100, 1), 0);
}

#[test]
fn a_driver_hears_only_of_the_buffer_it_names() {
    let mut driver = Driver::ready();
    // used_event: interrupt when buffer 1 was used, not 0.
    driver.put(AVAILABLE + 4 + 2 * u64::from(PLACES), &1_u16.to_le_bytes());
    driver.describe(DESCRIPTORS, 0, BUFFER, 8, WRITE, 0);
    for (used, interrupts) in [(1, false), (2, true)] {
        driver.offer(0);
        driver.wait();
        assert_eq!(
            (driver.buffers_used(), driver.device.interrupts()),
            (used, interrupts)
        );
        // avail_event: the device requests a notification of the next buffer.
        assert_eq!(driver.word(USED + 4 + 8 * u64::from(PLACES)), used);
    }
}

/// Memory far away. While the device's first request for a notification is on its way, the driver makes a second chain
/// available, and sees no reason to notify.
struct Late<'m> {
    memory: &'m mut GuestMemory,
    second: Option<u16>,
}

impl FarMemory for Late<'_> {
    fn read(&mut self, address: u64, into: &mut [u8]) -> Result<(), GuestFault> {
        self.memory.read(address, into)
    }

    fn write(&mut self, address: u64, from: &[u8]) {
        let asks = address == USED + 4 + 8 * u64::from(PLACES);
        if let Some(head) = self.second.take_if(|_| asks) {
            self.memory.write(AVAILABLE + 6, &head.to_le_bytes()).unwrap();
            self.memory.write(AVAILABLE + 2, &[2, 0]).unwrap();
        }
        self.memory.write(address, from).unwrap();
    }

    fn now(&self) -> Cycle {
        Cycle::ZERO
    }
}

#[test]
fn buffers_are_taken_that_come_before_the_driver_is_asked_to_notify() {
    let mut driver = Driver::ready();
    for head in [3, 5] {
        driver.describe(DESCRIPTORS, head, BUFFER + 64 * head, 8, WRITE, 0);
    }
    driver.offer(3);
    let mut late = Late {
        memory: &mut driver.memory,
        second: Some(5),
    };
    while driver.device.next_event() != Cycle::NEVER {
        let now = driver.device.next_event();
        let mut ram = Ram::far(&mut late);
        driver.device.advance(&mut ram, now);
        ram.flush();
    }
    assert_eq!((driver.buffers_used(), driver.device.errors()), (2, 0));
    // From the third on, the driver notifies.
    assert_eq!(driver.word(USED + 4 + 8 * u64::from(PLACES)), 2);
}

#[test]
fn indirect_tables_are_followed() {
    let mut driver = Driver::ready();
    let table = BASE + 0x3000;
    driver.describe(table, 0, BUFFER, 8, NEXT | WRITE, 1);
    driver.describe(table, 1, BUFFER + 8, 8, WRITE, 0);
    driver.describe(DESCRIPTORS, 0, table, 32, INDIRECT, 0);
    driver.offer(0);
    driver.wait();
    assert_eq!((driver.buffers_used(), driver.word(USED + 8)), (1, 16));
}

#[test]
fn features_must_be_agreed_on() {
    for features in [FEATURES & !(1 << VIRTIO_F_VERSION_1), FEATURES | 1 << 50] {
        let mut driver = Driver::negotiated(features);
        assert_eq!(driver.get(20, 1), 3, "{features:#x}");
        driver.enable([DESCRIPTORS, AVAILABLE, USED], PLACES);
        assert_eq!(driver.get(20, 1), 3);
        driver.offer(0);
        assert_eq!(driver.device.next_event(), Cycle::NEVER);
    }
    let mut driver = Driver::negotiated(FEATURES);
    assert_eq!(driver.get(20, 1), 11);
    driver.set(0, 4, 1);
    assert_eq!(driver.get(4, 4), 1, "version 1");
    driver.set(0, 4, 2);
    assert_eq!(driver.get(4, 4), 0);
    driver.set(12, 4, 0);
    driver.set(8, 4, 0);
    assert_eq!(driver.get(12, 4), FEATURES & 0xffff_ffff, "an agreement stays");
}

#[test]
fn rings_that_cannot_be_are_refused() {
    for (places, size) in [
        ([DESCRIPTORS + 8, AVAILABLE, USED], PLACES),
        ([DESCRIPTORS, AVAILABLE + 1, USED], PLACES),
        ([DESCRIPTORS, AVAILABLE, USED + 2], PLACES),
        ([BASE - 16, AVAILABLE, USED], PLACES),
        ([DESCRIPTORS, 0, USED], PLACES),
        ([DESCRIPTORS, AVAILABLE, END - 8], PLACES),
        ([!15, AVAILABLE, USED], PLACES),
        ([DESCRIPTORS, !1, USED], PLACES),
        ([DESCRIPTORS, AVAILABLE, USED], 0),
        ([DESCRIPTORS, AVAILABLE, USED], 7),
        ([DESCRIPTORS, AVAILABLE, USED], 256),
    ] {
        let mut driver = Driver::negotiated(FEATURES);
        driver.enable(places, size);
        driver.describe(DESCRIPTORS, 0, BUFFER, 8, WRITE, 0);
        driver.offer(0);
        driver.expect_fault();
    }
}

#[test]
fn chains_without_an_end_are_refused() {
    for (first, second) in [
        ((NEXT, 1), (NEXT, 0)),
        ((NEXT, PLACES), (0, 0)),
        ((NEXT, 0), (0, 0)),
    ] {
        let mut driver = Driver::ready();
        driver.describe(DESCRIPTORS, 0, BUFFER, 8, first.0 | WRITE, first.1);
        driver.describe(DESCRIPTORS, 1, BUFFER, 8, second.0 | WRITE, second.1);
        driver.offer(0);
        driver.expect_fault();
    }
    let mut driver = Driver::ready();
    driver.offer(PLACES);
    driver.expect_fault();
}

#[test]
fn indirect_tables_that_cannot_be_are_refused() {
    let table = BASE + 0x3000;
    for (address, bytes, flags) in [
        (table, 24, WRITE),
        (table, 0, WRITE),
        (END, 16, WRITE),
        (u64::MAX - 7, 16, WRITE),
        // A table in a table, and a chain that is longer than the ring.
        (table, 16, INDIRECT),
        (table, 16 * 9, NEXT | WRITE),
    ] {
        let mut driver = Driver::ready();
        for index in 0..9 {
            let next = if index == 8 { 0 } else { flags };
            driver.describe(table, index, BUFFER, 16, next | flags & !NEXT, index as u16 + 1);
        }
        driver.describe(DESCRIPTORS, 0, address, bytes, INDIRECT, 0);
        driver.offer(0);
        driver.expect_fault();
    }
}

#[test]
fn buffers_that_cannot_be_are_refused() {
    for (address, bytes) in [
        (BUFFER, 0),
        (BUFFER, u32::MAX),
        (END - 7, 8),
        (BASE - 1, 8),
        (u64::MAX - 3, 8),
        (0, 8),
    ] {
        let mut driver = Driver::ready();
        driver.describe(DESCRIPTORS, 0, address, bytes, WRITE, 0);
        driver.offer(0);
        driver.expect_fault();
    }
    // Entropy requires a writable buffer without a readable one behind it.
    for flags in [[0, WRITE], [WRITE, 0], [0, 0]] {
        let mut driver = Driver::ready();
        driver.describe(DESCRIPTORS, 0, BUFFER, 8, flags[0] | NEXT, 1);
        driver.describe(DESCRIPTORS, 1, BUFFER, 8, flags[1], 0);
        driver.offer(0);
        driver.expect_fault();
    }
}

#[test]
fn more_buffers_than_places_are_refused() {
    let mut driver = Driver::ready();
    driver.describe(DESCRIPTORS, 0, BUFFER, 8, WRITE, 0);
    driver.made_available = PLACES;
    driver.offer(0);
    driver.expect_fault();
    // The same for consecutive ones, before the first was used.
    let mut driver = Driver::ready();
    driver.describe(DESCRIPTORS, 0, BUFFER, 8, WRITE, 0);
    for _ in 0..PLACES {
        driver.offer(0);
    }
    driver.now = driver.device.next_event();
    driver
        .device
        .advance(&mut Ram::new(&mut driver.memory, BASE), driver.now);
    assert_eq!(driver.device.errors(), 0);
    driver.offer(0);
    let look = driver.now + LOOK;
    driver
        .device
        .state
        .under_way
        .iter_mut()
        .for_each(|request| request.done = look.0 + 1);
    driver.expect_fault();
}

#[test]
fn a_ring_in_use_is_not_moved_and_others_are_not_there() {
    let mut driver = Driver::ready();
    driver.set(32, 4, 0);
    driver.set(24, 2, 2);
    assert_eq!(
        (driver.get(32, 4), driver.get(24, 2)),
        (DESCRIPTORS, u64::from(PLACES))
    );
    driver.set(22, 2, 1);
    driver.set(24, 2, 4);
    assert_eq!(
        (driver.get(24, 2), driver.get(28, 2), driver.get(36, 4)),
        (0, 0, 0)
    );
    driver.set(0x404, 4, 1);
    assert_eq!(driver.device.next_event(), Cycle::NEVER);
    for (offset, bytes) in [
        (20, 4),
        (21, 2),
        (33, 4),
        (60, 4),
        (0x101, 1),
        (0x800, 4),
        (0x402, 2),
        (32, 8),
    ] {
        assert_eq!(driver.device.read(0, offset, bytes), None, "{offset:#x}");
        driver.set(offset, bytes, u64::MAX);
    }
    assert_eq!(driver.device.read(1, 20, 1), None);
    assert_eq!(driver.get(20, 1), 15);
}

#[test]
fn a_device_with_requests_under_way_goes_on_when_restored() {
    let mut driver = Driver::ready();
    driver.describe(DESCRIPTORS, 0, BUFFER, 8, WRITE, 0);
    driver.offer(0);
    driver.now = driver.device.next_event();
    driver
        .device
        .advance(&mut Ram::new(&mut driver.memory, BASE), driver.now);
    assert_eq!(driver.device.state.under_way.len(), 1);
    let saved = driver.device.save();
    let mut other = Driver::ready();
    other.device.restore(&saved).unwrap();
    assert_eq!(other.device.save(), saved);
    other.wait();
    driver.wait();
    assert_eq!((other.buffers_used(), other.now), (1, driver.now));
    assert_eq!(other.device.save(), driver.device.save());
    assert!(other.device.restore(&saved[1..]).is_err());
}
