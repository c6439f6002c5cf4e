use rackwright_contract::{Answer, Ticket};
use rackwright_cpu::{DeviceAccess, Hart, Timing};
use rackwright_device::{Bus, ACCESS_LATENCY};

/// Has `bus` perform an access that a hart begins now. The hart continues with the value when it arrives, or with a
/// trap if there is no device; for an access with a later response, the hart stalls, and the ticket is returned.
pub fn perform<T: Timing>(hart: &mut Hart<T>, bus: &mut Bus, access: DeviceAccess) -> Option<Ticket> {
    let DeviceAccess {
        address,
        bytes,
        write,
    } = access;
    let now = hart.cycle();
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
        Some(Answer::At(at, value)) => {
            hart.advance_to(at);
            hart.finish_access(value);
        }
        None => {
            hart.advance_to(over);
            // It has a trap for that.
            _ = hart.refuse_access();
        }
    }
    None
}
