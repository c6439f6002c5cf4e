use crate::fifo::Fifo;
use rackwright_rtl::BEAT_BYTES;

/// Beats read ahead of the window.
const AHEAD: usize = 3;

/// Beats that the window holds.
const SLOTS: usize = 4;

/// A beat as memory answered it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Beat {
    pub fault: bool,
    pub data: [u8; BEAT_BYTES],
}

/// Restores the order of requests for memory's responses (`ReorderBuffer` of the hardware).
#[derive(Debug, Clone)]
pub struct Reorder {
    beats: Vec<Beat>,
    ahead: Fifo<Beat, AHEAD>,
    fetching: Option<Beat>,
    answered: u64,
    head: usize,
    tail: usize,
    held: usize,
    awaited: usize,
    readable: bool,
    fetched: usize,
}

impl Reorder {
    pub fn new(slots: usize) -> Reorder {
        Reorder {
            beats: vec![Beat::default(); slots],
            ahead: Fifo::new(),
            fetching: None,
            answered: 0,
            head: 0,
            tail: 0,
            held: 0,
            awaited: 0,
            readable: false,
            fetched: 0,
        }
    }

    /// Every requested beat has a response.
    pub fn is_quiet(&self) -> bool {
        self.awaited == 0
    }

    /// The slot for one more beat.
    pub fn free(&self) -> Option<usize> {
        (self.held != self.beats.len()).then_some(self.tail)
    }

    /// The next beat.
    pub fn beat(&self) -> Option<Beat> {
        self.ahead.front().copied()
    }

    /// One cycle: whether a slot is reserved, whether the next beat is taken, and memory's response for a slot.
    pub fn cycle(&mut self, reserved: bool, taken: bool, answer: Option<(usize, Beat)>) {
        let slots = self.beats.len();
        let fetch = self.readable && self.fetched != AHEAD;
        let next = (self.head + usize::from(fetch)) % slots;
        self.readable = self.answered >> next & 1 != 0;
        self.fetched = self.fetched + usize::from(fetch) - usize::from(taken);
        if taken {
            self.ahead.pop();
        }
        if let Some(beat) = self.fetching.take() {
            self.ahead.push(beat);
        }
        if fetch {
            self.fetching = Some(self.beats[self.head]);
            self.answered &= !(1 << self.head);
        }
        if let Some((slot, beat)) = answer {
            self.beats[slot] = beat;
            self.answered |= 1 << slot;
        }
        self.head = next;
        if reserved {
            self.tail = (self.tail + 1) % slots;
        }
        self.held = self.held + usize::from(reserved) - usize::from(fetch);
        self.awaited = self.awaited + usize::from(reserved) - usize::from(answer.is_some());
    }

    /// Drops every beat, all of which have responses.
    pub fn clear(&mut self) {
        *self = Reorder {
            beats: std::mem::take(&mut self.beats),
            ..Reorder::new(0)
        };
    }
}

/// Holds the next beats of a range and offers their bytes aligned (`StreamWindow` of the hardware).
#[derive(Debug, Clone)]
pub struct Window {
    beats: [[u8; BEAT_BYTES]; SLOTS],
    beat_bytes: usize,
    /// The next byte, and the next beat to fill, both counted from the start of the first beat.
    head: usize,
    tail: usize,
    /// Bytes that are present, and bytes of the range that have not entered.
    valid: usize,
    outside: u64,
    entered: bool,
    active: bool,
    faulty: bool,
}

/// The output of a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Offer {
    /// Bytes that can be taken; whether they are the last ones; whether the bytes after them could not be read.
    pub available: usize,
    pub last: bool,
    pub fault: bool,
}

impl Window {
    pub fn new(beat_bytes: usize) -> Window {
        Window {
            beats: [[0; BEAT_BYTES]; SLOTS],
            beat_bytes,
            head: 0,
            tail: 0,
            valid: 0,
            outside: 0,
            entered: true,
            active: false,
            faulty: false,
        }
    }

    /// Begins with a range.
    pub fn start(&mut self, address: u64, length: u64) {
        self.head = (address % self.beat_bytes as u64) as usize;
        self.tail = 0;
        self.valid = 0;
        self.outside = length;
        self.entered = length == 0;
        self.active = true;
        self.faulty = false;
    }

    /// No byte of the range is left to take, or there is no range.
    pub fn is_finished(&self) -> bool {
        self.entered && self.valid == 0
    }

    pub fn offer(&self) -> Offer {
        let more = self.valid > self.beat_bytes;
        Offer {
            available: self.valid.min(self.beat_bytes),
            last: self.active && self.entered && !more,
            fault: self.active && self.faulty && !self.entered && !more,
        }
    }

    /// The available bytes, and the contents after them.
    pub fn bytes(&self) -> impl Iterator<Item = u8> + '_ {
        (self.head..self.head + self.beat_bytes)
            .map(|at| self.beats[at / self.beat_bytes % SLOTS][at % self.beat_bytes])
    }

    /// Whether a beat may enter.
    pub fn has_room(&self) -> bool {
        self.active && !self.faulty && self.tail - self.head / self.beat_bytes != SLOTS
    }

    /// A cycle: the beat that enters, whether the range turns out to be one that can't be read, and the bytes taken.
    pub fn cycle(&mut self, enters: Option<Beat>, unreadable: bool, taken: usize) {
        let entering = enters.filter(|beat| !beat.fault);
        let mut gain = 0;
        if let Some(beat) = entering {
            let offset = if self.tail == 0 {
                self.head % self.beat_bytes
            } else {
                0
            };
            let whole = (self.beat_bytes - offset) as u64;
            gain = self.outside.min(whole) as usize;
            self.entered = self.outside <= whole;
            self.outside -= gain as u64;
            self.beats[self.tail % SLOTS] = beat.data;
            self.tail += 1;
        }
        self.faulty |= unreadable || enters.is_some_and(|beat| beat.fault);
        self.head += taken;
        self.valid = self.valid + gain - taken;
    }

    /// Aborts the range.
    pub fn stop(&mut self) {
        self.valid = 0;
        self.entered = true;
        self.active = false;
    }
}
