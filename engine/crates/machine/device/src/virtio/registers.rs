//! The register layout of a virtio device in its one range of addresses (virtio 1.2, section 4.1.4).

use crate::pci::Capability;
use std::ops::Range;

/// Bytes of the range.
pub(crate) const BYTES: u64 = 0x1000;
/// Common configuration.
const COMMON: Range<u64> = 0..0x40;
/// The interrupt status.
const INTERRUPT: Range<u64> = 0x100..0x101;
/// The registers specific to this kind of device.
const DEVICE: Range<u64> = 0x200..0x300;
/// Notifications, one word for each ring.
const NOTIFY: Range<u64> = 0x400..0x800;
const NOTIFY_STRIDE: u64 = 4;

/// Number of the capabilities that only one vendor knows.
const VENDOR_SPECIFIC: u8 = 9;
/// Kinds of them.
const COMMON_KIND: u8 = 1;
const NOTIFY_KIND: u8 = 2;
const INTERRUPT_KIND: u8 = 3;
const DEVICE_KIND: u8 = 4;
const WINDOW_KIND: u8 = 5;
/// Index of the window among [`capabilities`].
pub const WINDOW: usize = 4;

/// A register, or a part of one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Register {
    /// Which half of the features offered is shown.
    DeviceFeatureSelect,
    /// That half.
    DeviceFeature,
    /// Which half of the features accepted is shown.
    DriverFeatureSelect,
    /// That half.
    DriverFeature,
    /// The interrupt vector for changes of the configuration.
    ConfigurationVector,
    /// That of a ring.
    RingVector,
    /// Number of rings.
    Rings,
    /// The device status.
    Status,
    /// A number that changes with the device's own configuration.
    Generation,
    /// The ring that the next registers are about.
    RingSelect,
    /// Its places.
    RingSize,
    /// Whether it is in use.
    RingEnable,
    /// The position of its notifications.
    RingNotify,
    /// One half of an address of a ring: which of the three, and its shift.
    RingAddress(usize, u32),
    /// Why the device interrupts; a read ends that.
    InterruptStatus,
    /// A byte of the registers specific to this kind of device.
    Device(usize),
    /// A notification of a ring.
    Notify(usize),
}

impl Register {
    /// The register at `offset` for an access of `bytes` bytes.
    pub fn at(offset: u64, bytes: u8) -> Option<Register> {
        if COMMON.contains(&offset) {
            return common(offset, bytes);
        }
        if INTERRUPT.contains(&offset) && bytes == 1 {
            return Some(Register::InterruptStatus);
        }
        if DEVICE.contains(&offset) && bytes <= 4 {
            return Some(Register::Device((offset - DEVICE.start) as usize));
        }
        let notifies = NOTIFY.contains(&offset) && offset % NOTIFY_STRIDE == 0 && matches!(bytes, 2 | 4);
        notifies.then(|| Register::Notify(((offset - NOTIFY.start) / NOTIFY_STRIDE) as usize))
    }
}

/// A register of the common configuration (`struct virtio_pci_common_cfg`), by its own size or, for addresses, halves.
fn common(offset: u64, bytes: u8) -> Option<Register> {
    Some(match (offset, bytes) {
        (0, 4) => Register::DeviceFeatureSelect,
        (4, 4) => Register::DeviceFeature,
        (8, 4) => Register::DriverFeatureSelect,
        (12, 4) => Register::DriverFeature,
        (16, 2) => Register::ConfigurationVector,
        (18, 2) => Register::Rings,
        (20, 1) => Register::Status,
        (21, 1) => Register::Generation,
        (22, 2) => Register::RingSelect,
        (24, 2) => Register::RingSize,
        (26, 2) => Register::RingVector,
        (28, 2) => Register::RingEnable,
        (30, 2) => Register::RingNotify,
        (32..56, 4) if offset % 4 == 0 => {
            Register::RingAddress((offset as usize - 32) / 8, offset as u32 % 8 * 8)
        }
        _ => return None,
    })
}

/// The capabilities by which a driver finds the registers.
pub(crate) fn capabilities() -> Vec<Capability> {
    let mut all: Vec<Capability> = vec![
        capability(COMMON_KIND, COMMON, &[]),
        capability(NOTIFY_KIND, NOTIFY, &(NOTIFY_STRIDE as u32).to_le_bytes()),
        capability(INTERRUPT_KIND, INTERRUPT, &[]),
        capability(DEVICE_KIND, DEVICE, &[]),
        capability(WINDOW_KIND, 0..0, &[0; 4]),
    ];
    // Software selects the range, the offset in it, and the number of bytes.
    all[WINDOW].writable = 2..14;
    all
}

fn capability(kind: u8, place: Range<u64>, more: &[u8]) -> Capability {
    let length = 16 + more.len() as u8;
    let mut bytes = vec![length, kind, 0, 0, 0, 0];
    bytes.extend((place.start as u32).to_le_bytes());
    bytes.extend(((place.end - place.start) as u32).to_le_bytes());
    bytes.extend(more);
    Capability {
        id: VENDOR_SPECIFIC,
        bytes,
        writable: 0..0,
    }
}
