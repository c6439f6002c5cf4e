use super::queues::Pair;
use super::registers::Settings;
use super::splitter::{Piece, Span, Splitter};
use crate::function::configuration::Configuration;
use crate::function::device_control::TAGS;
use crate::function::{Given, BEAT, NEVER};
use crate::packet::{Header, Id, Kind};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// From the last beat of a completion to the cycle in which it leaves its place, and from there to the end of the request.
const ARRIVED: u64 = 2;
const SUMMED: u64 = 3;

/// Reads ranges of memory, several requests at once, and finishes them in order.
#[derive(Serialize, Deserialize)]
pub(super) struct Reader {
    read_bytes: u64,
    most_tags: u16,
    splitter: Splitter,
    leaving: Pair<(u16, Piece)>,
    slots: Vec<Slot>,
    head: u16,
    tail: u16,
    used: u16,
    /// From when on a tag is free, when all but one are used.
    tag_free: u64,
    allowed_tags: u16,
    /// When the last beat that has left its place did so.
    drained: u64,
    /// Requests whose last beat has arrived, and the times of their completion; whether they are faulty.
    dones: VecDeque<(u64, bool)>,
    /// The time at which the current copy was complete.
    copied: u64,
    draining: Draining,
    /// When places are drained that have been filled.
    drains: u64,
}

/// The request that is being drained.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
struct Draining {
    /// Its beats so far.
    beats: u64,
    /// Whether any was faulty.
    faulty: bool,
}

#[derive(Clone, Copy, Default, Serialize, Deserialize)]
struct Slot {
    waiting: bool,
    expected: u64,
    received: u64,
    faulty: bool,
    last: bool,
    /// When its last beat arrived.
    filled: u64,
}

impl Reader {
    pub(super) fn new(tags: u16, read_bytes: u64) -> Reader {
        Reader {
            read_bytes,
            most_tags: tags,
            splitter: Splitter::default(),
            leaving: Pair::default(),
            slots: vec![Slot::default(); usize::from(tags)],
            head: 0,
            tail: 0,
            used: 0,
            tag_free: 0,
            allowed_tags: TAGS,
            drained: 0,
            dones: VecDeque::new(),
            copied: 0,
            draining: Draining::default(),
            drains: NEVER,
        }
    }

    fn tags(&self) -> u16 {
        self.most_tags.min(self.allowed_tags)
    }

    fn after(&self, tag: u16) -> u16 {
        if tag + 1 == self.tags() {
            0
        } else {
            tag + 1
        }
    }

    pub(super) fn free_at(&self) -> u64 {
        self.splitter.free_at()
    }

    pub(super) fn take(&mut self, now: u64, span: Span) {
        self.splitter.take(now, span);
    }

    /// Time at which a piece gets its tag.
    fn reserves(&self) -> u64 {
        if self.used == self.tags() {
            return NEVER;
        }
        self.splitter
            .ready()
            .max(self.leaving.free_at())
            .max(self.tag_free)
    }

    pub(super) fn due(&self) -> u64 {
        let done = self.dones.front().map_or(NEVER, |(at, _)| *at);
        self.splitter
            .due()
            .min(self.reserves())
            .min(self.drains)
            .min(done)
    }

    pub(super) fn step(&mut self, now: u64, configuration: &Configuration, settings: &Settings) {
        self.allowed_tags = configuration.allowed().tags();
        if self.reserves() == now && configuration.is_master() {
            self.reserve(now);
        }
        if self.splitter.due() == now {
            self.splitter
                .step(now, configuration.allowed().read_request().min(self.read_bytes));
        }
        if self.drains == now {
            self.drain(now, settings);
        }
    }

    fn reserve(&mut self, now: u64) {
        let Some(piece) = self.splitter.give(now) else {
            return;
        };
        self.slots[usize::from(self.tail)] = Slot {
            waiting: true,
            expected: piece.beats,
            last: piece.last,
            ..Slot::default()
        };
        self.leaving.push(now, (self.tail, piece));
        self.tail = self.after(self.tail);
        self.used += 1;
    }

    /// Beats of a completion arrive; returns whether its tag waits for them.
    pub(super) fn arrive(&mut self, now: u64, tag: u16, beats: u64, good: bool) -> bool {
        let head = self.head;
        let Some(slot) = self.slots.get_mut(usize::from(tag)) else {
            return false;
        };
        if !slot.waiting || slot.received == slot.expected || (good && slot.received + beats > slot.expected)
        {
            return false;
        }
        slot.received = if good {
            slot.received + beats
        } else {
            slot.expected
        };
        slot.faulty |= !good;
        if slot.received == slot.expected {
            slot.filled = now;
            if tag == head {
                self.plan();
            }
        }
        true
    }

    /// Time at which the oldest place will be drained, if it is complete: beat by beat, after the previous one.
    fn plan(&mut self) {
        let slot = &self.slots[usize::from(self.head)];
        self.drains = NEVER;
        if self.used != 0 && slot.waiting && slot.received == slot.expected {
            self.drains = (slot.filled + ARRIVED).max(self.drained + slot.expected);
        }
    }

    /// The last beat of the oldest place leaves it.
    fn drain(&mut self, now: u64, settings: &Settings) {
        let slot = &mut self.slots[usize::from(self.head)];
        slot.waiting = false;
        self.draining.beats += slot.expected;
        self.draining.faulty |= slot.faulty;
        let last = slot.last;
        self.drained = now;
        if self.used == self.tags() {
            self.tag_free = now + 1;
        }
        self.head = self.after(self.head);
        self.used -= 1;
        if last {
            let Draining { beats, faulty } = std::mem::take(&mut self.draining);
            let arrived = now + SUMMED;
            let done = if settings.copy == 0 {
                arrived
            } else {
                // The copier sees arrived data in the next cycle, and is done in the last cycle of copying.
                self.copied = self.copied.max(arrived) + beats * settings.copy;
                self.copied
            };
            self.dones.push_back((done, faulty));
        }
        self.plan();
    }

    /// Whether a request is done in this cycle, and is faulty.
    pub(super) fn done_at(&mut self, now: u64) -> Option<bool> {
        let (at, faulty) = *self.dones.front()?;
        (at == now).then(|| {
            self.dones.pop_front();
            faulty
        })
    }

    /// The time from which on a request is ready to leave; it needs no data credits.
    pub(super) fn ready(&self) -> (u64, u64) {
        self.leaving.front().map_or((NEVER, 0), |(at, _)| (at, 0))
    }

    /// A read leaves. Returns the cycle of its only beat.
    pub(super) fn leave(&mut self, now: u64, id: Id, give: &mut impl FnMut(u64, Given<'_>)) -> u64 {
        let Some((tag, piece)) = self.leaving.pop(now) else {
            return now;
        };
        let words = (piece.beats * BEAT / 4) as u16;
        let header = Header::memory(Kind::MemoryRead, id, tag, piece.address, words);
        give(now + 1, Given::Packet(&header, &[]));
        now
    }

    pub(super) fn is_idle(&self) -> bool {
        self.splitter.is_idle() && self.leaving.is_empty() && self.used == 0 && self.dones.is_empty()
    }
}
