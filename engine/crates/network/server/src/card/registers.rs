use rackwright_device::Register;
use rackwright_registers::{self as map, virtio};

/// The unit's register for one of virtio's (hardware/…/nic/virtio/README.md), and the lowest bit that is meant.
pub(super) fn place(register: Register) -> Option<(u32, u32)> {
    let whole = |found: map::Register| Some((found.offset, 0));
    match register {
        Register::DeviceFeatureSelect => whole(virtio::DEVICE_FEATURE_SELECT),
        Register::DeviceFeature => whole(virtio::DEVICE_FEATURE),
        Register::DriverFeatureSelect => whole(virtio::DRIVER_FEATURE_SELECT),
        Register::DriverFeature => whole(virtio::DRIVER_FEATURE),
        Register::Rings => whole(virtio::QUEUES),
        Register::Status => whole(virtio::STATUS),
        Register::Generation => whole(virtio::GENERATION),
        Register::RingSelect => whole(virtio::QUEUE_SELECT),
        Register::RingSize => whole(virtio::QUEUE_SIZE),
        Register::RingEnable => whole(virtio::QUEUE_ENABLE),
        Register::RingNotify => whole(virtio::QUEUE_NOTIFY_OFFSET),
        Register::RingAddress(which, shift) => {
            Some((virtio::QUEUE_ADDRESSES.at(2 * which as u32 + shift / 32), 0))
        }
        Register::InterruptStatus => whole(virtio::INTERRUPT_STATUS),
        Register::Device(byte) => {
            let (word, bit) = (byte as u32 / 8, 8 * (byte as u32 % 8));
            let words = virtio::DEVICE_CONFIGURATION;
            (word < words.count).then(|| (words.at(word), bit))
        }
        Register::ConfigurationVector | Register::RingVector | Register::Notify(_) => None,
    }
}
