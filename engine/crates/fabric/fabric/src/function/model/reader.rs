use super::queues::Pair;
use super::registers::Settings;
use super::splitter::{Piece, Span, Splitter};
use crate::aer::Fault;
use crate::function::configuration::Configuration;
use crate::function::device_control::TAGS;
use crate::function::{Given, BEAT, NEVER};
use crate::packet::{Header, Id, Kind, Status};
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
    drained: Drained,
    /// Requests whose last beat has arrived, and the times of their completion; beats of them that are faulty.
    dones: VecDeque<(u64, u64)>,
    /// The time at which the current copy was complete.
    copied: u64,
    draining: Draining,
    /// When places are drained that have been filled.
    drains: u64,
}

/// What has left its place.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
struct Drained {
    /// When the last beat did so.
    last: u64,
    /// The sum of the words, until it is taken.
    sum: u64,
}

/// The request that is being drained.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
struct Draining {
    /// Its beats so far.
    beats: u64,
    /// Those that are faulty.
    faulty: u64,
}

#[derive(Clone, Copy, Default, Serialize, Deserialize)]
struct Slot {
    waiting: bool,
    address: u64,
    expected: u64,
    received: u64,
    /// Beats that are faulty, and the sum of the words of the others.
    faulty: u64,
    sum: u64,
    last: bool,
    /// When its last beat arrived.
    filled: u64,
}

impl Slot {
    /// Whether a successful completion with so many beats is one of this read (2.3.1.1).
    fn is_answered_by(&self, header: &Header, beats: u64) -> bool {
        let (completion, left) = (&header.completion, self.expected - self.received);
        (1..=left).contains(&beats)
            && u64::from(header.words) * 4 == beats * BEAT
            && u64::from(completion.byte_count) == left * BEAT
            && u64::from(completion.lower_address) == (self.address + self.received * BEAT) & 0x7f
    }
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
            drained: Drained::default(),
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
            address: piece.address,
            expected: piece.beats,
            last: piece.last,
            ..Slot::default()
        };
        self.leaving.push(now, (self.tail, piece));
        self.tail = self.after(self.tail);
        self.used += 1;
    }

    /// The first beat of a completion for a function with this number arrives: its beats, and the sum of their words. One
    /// that is no data of a read ends it, if it is outstanding. Returns the error in it.
    pub(super) fn arrive(
        &mut self,
        now: u64,
        id: Id,
        header: &Header,
        (beats, sum): (u64, u64),
    ) -> Option<Fault> {
        let waits =
            |slot: &&mut Slot| slot.waiting && slot.received != slot.expected && header.requester == id;
        let is_head = header.tag == self.head;
        let Some(slot) = self.slots.get_mut(usize::from(header.tag)).filter(waits) else {
            return Some(Fault::UnexpectedCompletion);
        };
        let completion = &header.completion;
        let is_successful = completion.status == Status::Successful;
        let brings = is_successful && !header.poisoned && slot.is_answered_by(header, beats);
        if brings {
            slot.received += beats;
            slot.sum = slot.sum.wrapping_add(sum);
            slot.filled = now + beats - 1;
        } else {
            // Of the oldest read, what came before has left already.
            if !is_head {
                (slot.received, slot.sum) = (0, 0);
            }
            slot.faulty = slot.expected - slot.received;
            slot.received = slot.expected;
            slot.filled = now;
        }
        if is_head {
            self.plan();
        }
        if header.poisoned {
            return Some(Fault::Poisoned);
        }
        (is_successful && !brings).then_some(Fault::UnexpectedCompletion)
    }

    /// Time at which the oldest place will be drained, if it is complete: beat by beat, after the previous one.
    fn plan(&mut self) {
        let slot = &self.slots[usize::from(self.head)];
        self.drains = NEVER;
        if self.used != 0 && slot.waiting && slot.received == slot.expected {
            self.drains = (slot.filled + ARRIVED).max(self.drained.last + slot.expected);
        }
    }

    /// The last beat of the oldest place leaves it.
    fn drain(&mut self, now: u64, settings: &Settings) {
        let slot = &mut self.slots[usize::from(self.head)];
        slot.waiting = false;
        self.draining.beats += slot.expected;
        self.draining.faulty += slot.faulty;
        let last = slot.last;
        self.drained.sum = self.drained.sum.wrapping_add(slot.sum);
        self.drained.last = now;
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

    /// The sum of the words that have been read since the last call.
    pub(super) fn take_sum(&mut self) -> u64 {
        std::mem::take(&mut self.drained.sum)
    }

    /// The faulty beats of a request that is done in this cycle.
    pub(super) fn done_at(&mut self, now: u64) -> Option<u64> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::completions;

    const OWN: Id = Id(0x300);
    const ADDRESS: u64 = 0x1_0000_1060;

    /// A reader with one read of 64 bytes, and the two completions of it: to a multiple of 128 bytes, and behind it.
    fn reading() -> (Reader, Vec<Header>) {
        let mut reader = Reader::new(64, 512);
        reader.take(
            0,
            Span {
                address: ADDRESS,
                bytes: 64,
            },
        );
        let configuration = Configuration::new(crate::function::configuration::Identity::default());
        let due = reader.splitter.due();
        reader.splitter.step(due, configuration.allowed().read_request());
        reader.reserve(reader.reserves());
        let request = Header::memory(Kind::MemoryRead, OWN, 0, ADDRESS, 16);
        let right = completions(&request, Id(0), 128)
            .map(|(header, _)| header)
            .collect();
        (reader, right)
    }

    /// What a completion with so many beats is, and then the faults of the read, once the next one has come.
    fn faults(reader: &mut Reader, header: &Header, beats: u64) -> (Option<Fault>, Option<u64>) {
        let found = reader.arrive(100, OWN, header, (beats, 5));
        if reader.drains != NEVER {
            reader.drain(reader.drains, &Settings::default());
        }
        (found, reader.dones.pop_front().map(|(_, faults)| faults))
    }

    #[test]
    fn completions_that_match_bring_their_data() {
        let (mut reader, right) = reading();
        assert_eq!(right.len(), 2);
        assert_eq!(faults(&mut reader, &right[0], 2), (None, None));
        assert_eq!(faults(&mut reader, &right[1], 2), (None, Some(0)));
        assert_eq!((reader.take_sum(), reader.take_sum()), (10, 0));
    }

    #[test]
    fn a_completion_that_differs_from_its_request_ends_it_without_further_data() {
        let changes: [fn(&mut Header); 7] = [
            |header| header.completion.lower_address = 0x10,
            |header| header.completion.lower_address += 4,
            |header| header.completion.byte_count += 16,
            |header| header.completion.byte_count = 0,
            |header| header.words = 7,
            |header| header.kind = Kind::Completion(false),
            |header| header.words = 20,
        ];
        for (number, change) in changes.into_iter().enumerate() {
            for (part, expected) in [(0, 4), (1, 2)] {
                let (mut reader, right) = reading();
                if part == 1 {
                    assert_eq!(faults(&mut reader, &right[0], 2), (None, None));
                }
                let mut wrong = right[part];
                change(&mut wrong);
                let beats = (wrong.payload_words() as u64).div_ceil(4);
                let found = faults(&mut reader, &wrong, beats);
                let error = Some(Fault::UnexpectedCompletion);
                assert_eq!(found, (error, Some(expected)), "{number}, {part}");
                // The right one comes too late.
                assert_eq!(
                    faults(&mut reader, &right[part], 2),
                    (error, None),
                    "{number}, {part}"
                );
                assert_eq!(reader.take_sum(), 5 * part as u64);
            }
        }
    }

    #[test]
    fn others_completions_and_refused_and_poisoned_ones_are_told_apart() {
        let (mut reader, right) = reading();
        let error = Some(Fault::UnexpectedCompletion);
        let mut wrong = right[0];
        wrong.tag = 1;
        assert_eq!(faults(&mut reader, &wrong, 2), (error, None));
        wrong.tag = 200;
        assert_eq!(faults(&mut reader, &wrong, 2), (error, None));
        (wrong.tag, wrong.requester) = (0, Id(0x301));
        assert_eq!(faults(&mut reader, &wrong, 2), (error, None));
        (wrong.requester, wrong.poisoned) = (OWN, true);
        assert_eq!(faults(&mut reader, &wrong, 2), (Some(Fault::Poisoned), Some(4)));
        let (mut reader, _) = reading();
        let request = Header::memory(Kind::MemoryRead, OWN, 0, ADDRESS, 16);
        let refused = Header::completing(&request, Id(0), Status::Unsupported);
        assert_eq!(faults(&mut reader, &refused, 0), (None, Some(4)));
    }
}
