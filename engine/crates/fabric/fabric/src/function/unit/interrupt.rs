use crate::function::{Given, NEVER};
use crate::interrupts::{message, Wire};
use crate::packet::Id;
use std::collections::VecDeque;

/// The legacy interrupt of a function: the level of the unit's line, and the messages that tell the root complex of it
/// (2.2.8.1).
#[derive(Default)]
pub(super) struct Interrupt {
    /// The level of the unit's line.
    raised: bool,
    /// The level by the last message.
    told: bool,
    /// From when on each message may leave, and whether it raises the interrupt.
    messages: VecDeque<(u64, bool)>,
}

impl Interrupt {
    /// The unit's line has a new level from the cycle `now` on; `permitted` tells whether software wants to know.
    pub(super) fn change(&mut self, now: u64, raised: bool, permitted: bool) {
        self.raised = raised;
        self.permit(now, permitted);
    }

    /// Software may have disabled or enabled the interrupt in the cycle `now`.
    pub(super) fn permit(&mut self, now: u64, permitted: bool) {
        let wanted = self.raised && permitted;
        if wanted != self.told {
            let before = self.messages.back().map_or(0, |(ready, _)| *ready);
            self.messages.push_back((before.max(now + 1), wanted));
            self.told = wanted;
        }
    }

    /// From when on a message may leave, and its data credits.
    pub(super) fn ready(&self) -> (u64, u64) {
        self.messages.front().map_or((NEVER, 0), |(ready, _)| (*ready, 0))
    }

    /// The message leaves. Returns the cycle of its only beat, and its bytes.
    pub(super) fn leave(&mut self, now: u64, id: Id, give: &mut impl FnMut(u64, Given<'_>)) -> (u64, u64) {
        let Some((_, raises)) = self.messages.pop_front() else {
            return (now, 0);
        };
        let header = message(id, Wire::A, raises);
        give(now + 1, Given::Packet(&header, &[]));
        (now, header.bytes() as u64)
    }

    /// Whether no message waits.
    pub(super) fn is_idle(&self) -> bool {
        self.messages.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(interrupt: &mut Interrupt) -> Vec<(u64, u8)> {
        let mut all = Vec::new();
        while !interrupt.is_idle() {
            let (ready, _) = interrupt.ready();
            interrupt.leave(ready, Id(0x0100), &mut |_, given| {
                if let Given::Packet(header, _) = given {
                    all.push((ready, header.request.enables));
                }
            });
        }
        all
    }

    #[test]
    fn each_change_that_software_wants_to_know_of_is_a_message() {
        let mut interrupt = Interrupt::default();
        interrupt.change(10, true, true);
        interrupt.change(11, false, true);
        interrupt.change(30, true, true);
        // Disabled while it is raised, it is lowered; enabled again, it is raised.
        interrupt.permit(40, false);
        interrupt.permit(41, false);
        interrupt.permit(50, true);
        assert_eq!(
            messages(&mut interrupt),
            [(11, 0x20), (12, 0x24), (31, 0x20), (41, 0x24), (51, 0x20)]
        );
        interrupt.permit(60, false);
        interrupt.change(61, false, false);
        interrupt.permit(62, true);
        assert_eq!(messages(&mut interrupt), [(61, 0x24)]);
    }
}
