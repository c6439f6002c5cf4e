//! Rocket's branch target buffer, branch history table and return address stack (rocket-chip `BTB.scala`), in the default
//! configuration: 28 targets, 512 one-bit outcomes hashed with 8 bits of history, 6 return addresses.

use crate::timing::plru::PseudoLru;
use rackwright_state::{state, Pass, State, StateError};

const TARGETS: usize = 28;
/// Slots of the index by packet.
const INDEX: usize = 256;
const OUTCOMES: usize = 512;
const RETURNS: usize = 6;
/// Branches that may be between fetch and execution at once; more than the pipeline holds.
const IN_FLIGHT: usize = 16;

/// Bytes that the front end fetches per cycle.
pub(super) const PACKET_BYTES: u64 = 4;

/// The kind of jump of a target.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Flow {
    Branch,
    Jump,
    Call,
    Return,
}

#[derive(Clone, Copy)]
struct Target {
    address: u64,
    flow: Flow,
    /// Which half of the packet the jump ends in.
    half: u8,
}

/// Targets of jumps by the packet of the jump's last half.
#[derive(Clone)]
pub(super) struct Targets {
    tags: [u64; TARGETS],
    targets: [Target; TARGETS],
    ages: PseudoLru,
    index: [Hint; INDEX],
}

/// The positions of packets with the same index: most lookups need no search.
#[derive(Clone, Copy, Default)]
struct Hint {
    /// Number of known ones.
    count: u8,
    /// The slot of the one learnt last.
    latest: u8,
}

/// No packet: packets are multiples of four.
const NO_TAG: u64 = 1;

impl Targets {
    pub(super) fn new() -> Targets {
        let none = Target {
            address: 0,
            flow: Flow::Jump,
            half: 0,
        };
        Targets {
            tags: [NO_TAG; TARGETS],
            targets: [none; TARGETS],
            ages: PseudoLru::new(TARGETS as u32),
            index: [Hint::default(); INDEX],
        }
    }

    #[inline]
    fn hint(&mut self, packet: u64) -> &mut Hint {
        &mut self.index[(packet / PACKET_BYTES) as usize % INDEX]
    }

    #[inline]
    fn find(&mut self, packet: u64) -> Option<usize> {
        let hint = *self.hint(packet);
        if hint.count == 0 {
            return None;
        }
        if self.tags[usize::from(hint.latest)] == packet {
            return Some(hint.latest.into());
        }
        self.tags.iter().position(|&tag| tag == packet)
    }

    /// Target and flow of the jump that ends at `end` (address of its last half), if known.
    #[inline]
    pub(super) fn look_up(&mut self, end: u64) -> Option<(u64, Flow)> {
        let slot = self.find(end & !(PACKET_BYTES - 1))?;
        let target = self.targets[slot];
        if target.half != half(end) {
            return None;
        }
        if target.flow != Flow::Branch {
            self.ages.touch(slot as u32);
        }
        Some((target.address, target.flow))
    }

    /// The entry for the packet of `address`, if it is a jump that ends there or later: its end, target and flow.
    #[inline]
    pub(super) fn from(&mut self, address: u64) -> Option<(u64, u64, Flow)> {
        let packet = address & !(PACKET_BYTES - 1);
        let target = self.targets[self.find(packet)?];
        let end = packet + 2 * u64::from(target.half);
        (end >= address).then_some((end, target.address, target.flow))
    }

    /// Marks the branch that ends at `end` as used: it was predicted taken.
    #[inline]
    pub(super) fn used(&mut self, end: u64) {
        if let Some(slot) = self.find(end & !(PACKET_BYTES - 1)) {
            self.ages.touch(slot as u32);
        }
    }

    /// Learns a jump, in place of its packet's entry or else of the oldest target.
    pub(super) fn learn(&mut self, end: u64, address: u64, flow: Flow) {
        let oldest = self.ages.oldest() as usize;
        self.put(oldest, end, address, flow);
    }

    /// Learns a branch that was taken and not expected to be. If there is no entry for its packet, it takes the first
    /// place, because the pipeline supplies no other place with a branch that was not in the buffer.
    pub(super) fn correct(&mut self, end: u64, address: u64) {
        self.put(0, end, address, Flow::Branch);
    }

    /// Stores a jump in place of its packet's entry or else in slot `free`.
    fn put(&mut self, free: usize, end: u64, address: u64, flow: Flow) {
        let packet = end & !(PACKET_BYTES - 1);
        let slot = self.find(packet).unwrap_or(free);
        let left = std::mem::replace(&mut self.tags[slot], packet);
        if left != NO_TAG {
            self.hint(left).count -= 1;
        }
        let hint = self.hint(packet);
        hint.count += 1;
        hint.latest = slot as u8;
        self.targets[slot] = Target {
            address,
            flow,
            half: half(end),
        };
        self.ages.touch(slot as u32);
    }
}

#[inline]
fn half(end: u64) -> u8 {
    (end >> 1 & 1) as u8
}

/// A prediction of a branch's outcome, and the history used for it.
#[derive(Clone, Copy)]
pub(super) struct Guess {
    pub taken: bool,
    index: u16,
    history: u8,
}

#[derive(Clone, Copy, Default)]
struct Update {
    visible: u64,
    index: u16,
    taken: bool,
}

/// Outcomes of branches. The update of a branch is written when it executes, so that branches fetched before do not see
/// it yet.
#[derive(Clone)]
pub(super) struct Outcomes {
    table: [bool; OUTCOMES],
    history: u8,
    /// The history without the last branch, which a fetch in the next cycle still sees.
    older_history: u8,
    last_fetch: u64,
    updates: [Update; IN_FLIGHT],
    first: usize,
    waiting: usize,
}

impl Outcomes {
    pub(super) fn new() -> Outcomes {
        Outcomes {
            table: [false; OUTCOMES],
            history: 0,
            older_history: 0,
            last_fetch: 0,
            updates: [Update::default(); IN_FLIGHT],
            first: 0,
            waiting: 0,
        }
    }

    /// The prediction for a branch whose packet is fetched in cycle `fetch`; the history is updated as if it were
    /// correct.
    #[inline]
    pub(super) fn guess(&mut self, packet: u64, fetch: u64) -> Guess {
        while self.waiting > 0 && self.updates[self.first].visible <= fetch {
            self.apply_first();
        }
        let history = if fetch > self.last_fetch + 1 {
            self.history
        } else {
            self.older_history
        };
        let index = index(packet, history);
        let taken = self.table[usize::from(index)];
        self.older_history = self.history;
        self.history = shifted(self.history, taken);
        self.last_fetch = fetch;
        Guess {
            taken,
            index,
            history,
        }
    }

    /// The prediction for a branch in the packet that is fetched next.
    #[inline]
    pub(super) fn would_take(&self, packet: u64) -> bool {
        self.table[usize::from(index(packet, self.history))]
    }

    /// Teaches the outcome of a guessed branch; it is visible to fetches from cycle `visible` on.
    #[inline]
    pub(super) fn learn(&mut self, guess: Guess, taken: bool, wrong: bool, visible: u64) {
        if self.waiting == IN_FLIGHT {
            self.apply_first();
        }
        self.updates[(self.first + self.waiting) % IN_FLIGHT] = Update {
            visible,
            index: guess.index,
            taken,
        };
        self.waiting += 1;
        if wrong {
            self.restore(shifted(guess.history, taken));
        }
    }

    fn restore(&mut self, history: u8) {
        self.history = history;
        self.older_history = history;
    }

    #[inline]
    fn apply_first(&mut self) {
        let update = self.updates[self.first];
        self.table[usize::from(update.index)] = update.taken;
        self.first = (self.first + 1) % IN_FLIGHT;
        self.waiting -= 1;
    }
}

#[inline]
fn shifted(history: u8, taken: bool) -> u8 {
    history >> 1 | u8::from(taken) << 7
}

/// Position of a packet's outcome: nine address bits, folded with two more, and three hashed bits of history on top.
#[inline]
fn index(packet: u64, history: u8) -> u16 {
    let high = packet >> 2;
    let address = (high & 0x1ff) ^ (high >> 9 & 3);
    let hashed = u64::from(0xddu16.wrapping_mul(u16::from(history)) >> 5 & 7);
    (address ^ hashed << 6) as u16
}

/// Return addresses; the newest overwrites the oldest.
#[derive(Clone)]
pub(super) struct Returns {
    stack: [u64; RETURNS],
    top: usize,
    count: usize,
}

impl Returns {
    pub(super) fn new() -> Returns {
        Returns {
            stack: [0; RETURNS],
            top: 0,
            count: 0,
        }
    }

    #[inline]
    pub(super) fn push(&mut self, address: u64) {
        self.top = (self.top + 1) % RETURNS;
        self.stack[self.top] = address;
        self.count = (self.count + 1).min(RETURNS);
    }

    #[inline]
    pub(super) fn peek(&self) -> Option<u64> {
        (self.count > 0).then(|| self.stack[self.top])
    }

    #[inline]
    pub(super) fn pop(&mut self) {
        if self.count > 0 {
            self.count -= 1;
            self.top = (self.top + RETURNS - 1) % RETURNS;
        }
    }
}

impl State for Flow {
    fn pass(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        by.one_of(self, &[Flow::Branch, Flow::Jump, Flow::Call, Flow::Return])
    }
}

state!(Target { address, flow, half });
state!(Hint { count, latest });
state!(Targets {
    tags,
    targets,
    ages,
    index
});
state!(Update {
    visible,
    index,
    taken
});
state!(Outcomes {
    table,
    history,
    older_history,
    last_fetch,
    updates,
    first,
    waiting
});
state!(Returns { stack, top, count });

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_found_by_the_jumps_last_half() {
        let mut targets = Targets::new();
        targets.learn(0x8000_0006, 0x8000_0100, Flow::Jump);
        assert_eq!(targets.look_up(0x8000_0006), Some((0x8000_0100, Flow::Jump)));
        assert_eq!(targets.look_up(0x8000_0004), None);
        for jump in 1..=100 {
            targets.learn(0x8000_0006 + jump * 4, 0, Flow::Jump);
        }
        assert_eq!(targets.look_up(0x8000_0006), None);
    }

    #[test]
    fn a_packet_shows_the_jump_that_is_still_to_come() {
        let mut targets = Targets::new();
        targets.learn(0x8000_0004, 0x8000_0100, Flow::Call);
        let jump = Some((0x8000_0004, 0x8000_0100, Flow::Call));
        assert_eq!(targets.from(0x8000_0004), jump);
        assert_eq!(targets.from(0x8000_0006), None);
        assert_eq!(targets.from(0x8000_0008), None);
    }

    #[test]
    fn branches_that_were_not_expected_take_each_other_s_place() {
        let mut targets = Targets::new();
        targets.correct(0x8000_0000, 0x8000_0100);
        targets.correct(0x8000_0010, 0x8000_0200);
        assert_eq!(targets.look_up(0x8000_0000), None);
        targets.learn(0x8000_0020, 0x8000_0300, Flow::Branch);
        targets.correct(0x8000_0020, 0x8000_0400);
        assert_eq!(targets.look_up(0x8000_0010), Some((0x8000_0200, Flow::Branch)));
        assert_eq!(targets.look_up(0x8000_0020), Some((0x8000_0400, Flow::Branch)));
    }

    #[test]
    fn an_outcome_is_known_once_it_is_visible() {
        let mut outcomes = Outcomes::new();
        let guess = outcomes.guess(0x100, 10);
        outcomes.learn(guess, true, true, 14);
        outcomes.restore(0);
        assert!(!outcomes.guess(0x100, 13).taken);
        outcomes.restore(0);
        assert!(outcomes.guess(0x100, 14).taken);
    }

    #[test]
    fn returns_keep_the_newest_six() {
        let mut returns = Returns::new();
        for address in 0..8 {
            returns.push(address);
        }
        for address in (2..8).rev() {
            assert_eq!(returns.peek(), Some(address));
            returns.pop();
        }
        assert_eq!(returns.peek(), None);
    }
}
