use rackwright_cpu::{DeviceAccess, Hart, Timing};
use rackwright_device::Bus;
use rackwright_time::Cycle;

/// Has `bus` perform an access that a hart began at `now`. The hart goes on with the value, or with a trap where there is
/// no device.
pub fn perform<T: Timing>(hart: &mut Hart<T>, bus: &mut Bus, access: DeviceAccess, now: Cycle) {
    let DeviceAccess {
        address,
        bytes,
        write,
    } = access;
    let value = match write {
        None => bus.read(address, bytes, now),
        Some(value) => bus.write(address, bytes, value, now).then_some(0),
    };
    match value {
        Some(value) => hart.finish_access(value),
        // It has a trap for that.
        None => _ = hart.refuse_access(),
    }
}
