use crate::processor::Processor;
use rackwright_contract::{Answer, Ticket};
use rackwright_cpu::DeviceAccess;
use rackwright_device::{Bus, ACCESS_LATENCY};

/// Has `bus` perform an access that a hart of `core` begins now. The hart continues with the value when it arrives, or with a
/// trap if there is no device; for an access with a later response, the hart stalls, and the ticket is returned.
pub fn perform<C: Processor>(core: &mut C, bus: &mut Bus, access: DeviceAccess) -> Option<Ticket> {
    let DeviceAccess {
        address,
        bytes,
        write,
    } = access;
    let now = core.cycle();
    let over = now + ACCESS_LATENCY;
    let answer = match write {
        None => bus.load(address, bytes, now),
        Some(value) => bus.store(address, bytes, value, now).map(|answer| match answer {
            Answer::At(at, ()) => Answer::At(at, 0),
            Answer::Later(ticket) => Answer::Later(ticket),
        }),
    };
    match answer {
        Some(Answer::Later(ticket)) => return Some(ticket),
        Some(Answer::At(at, value)) => core.finish_access(at, value),
        None => core.refuse_access(over),
    }
    None
}
