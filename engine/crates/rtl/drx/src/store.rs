use crate::beats::BeatRing;
use crate::fifo::Fifo;
use crate::scratchpad::{Place, Scratchpad};
use crate::shape::Shape;
use crate::transfer::{Cutter, Transfer, TransferBeat};
use rackwright_rtl::{MemoryResponse, BEAT_BYTES};

/// Beats that wait for memory.
const WAITING: usize = 4;

/// A beat that was read, with the bytes at their place in it.
#[derive(Debug, Clone, Copy, Default)]
struct Stored {
    beat: TransferBeat,
    data: [u8; BEAT_BYTES],
}

/// Brings bytes of the scratchpad into memory: a beat is read and written in each cycle.
#[derive(Debug, Clone)]
pub struct StoreEngine {
    cutter: Cutter,
    ring: BeatRing,
    /// The instructions of outstanding beats.
    asked: Vec<u32>,
    /// Beats whose places are known.
    placed: Fifo<TransferBeat, 2>,
    reading: Option<Stored>,
    beats: Fifo<Stored, WAITING>,
    port_bytes: usize,
    line_bytes: usize,
}

/// A beat that is written.
#[derive(Debug, Clone, Copy)]
pub struct Written {
    pub address: u64,
    pub tag: usize,
    pub mask: u32,
    pub data: [u8; BEAT_BYTES],
}

impl StoreEngine {
    pub fn new(shape: &Shape) -> StoreEngine {
        StoreEngine {
            cutter: Cutter::new(shape.port_bytes, shape.scratchpad_bytes()),
            ring: BeatRing::new(shape.outstanding),
            asked: vec![0; shape.outstanding],
            placed: Fifo::new(),
            reading: None,
            beats: Fifo::new(),
            port_bytes: shape.port_bytes,
            line_bytes: shape.line_bytes(),
        }
    }

    /// Whether one more transfer may enter.
    pub fn has_room(&self) -> bool {
        self.cutter.has_room()
    }

    /// No transfer is being split, and no beat is outstanding.
    pub fn is_idle(&self) -> bool {
        self.cutter.is_empty()
            && self.placed.is_empty()
            && self.ring.is_empty()
            && self.reading.is_none()
            && self.beats.is_empty()
    }

    /// A transfer is done, and all before it are.
    pub fn ended(&self) -> bool {
        self.ring.ended()
    }

    /// The place in the scratchpad to read: there is room for a beat.
    pub fn wanted(&self) -> Option<Place> {
        let held = self.beats.len() + usize::from(self.reading.is_some());
        let beat = self.placed.front().filter(|_| held < WAITING)?;
        Some(Place::new(
            beat.place,
            beat.place + beat.count - 1,
            self.line_bytes,
        ))
    }

    /// Whether a beat is to be written, and has a tag.
    pub fn asks(&self) -> bool {
        !self.beats.is_empty() && self.ring.free().is_some()
    }

    /// Memory refuses a beat of this instruction.
    pub fn fault(&self, response: Option<&MemoryResponse>) -> Option<u32> {
        let refused = response.filter(|response| response.fault)?;
        Some(self.asked[usize::from(refused.tag >> 1)])
    }

    /// One cycle: the current contents of the scratchpad, a new transfer, whether a write is accepted, and memory's
    /// response. Returns the beat that is written.
    pub fn cycle(
        &mut self,
        read: Option<(Place, &Scratchpad)>,
        enters: Option<Transfer>,
        granted: bool,
        response: Option<&MemoryResponse>,
    ) -> Option<Written> {
        let oldest = self.beats.front().copied().zip(self.ring.free());
        let oldest = oldest.filter(|_| granted);
        if oldest.is_some() {
            self.beats.pop();
        }
        if let Some(stored) = self.reading.take() {
            self.beats.push(stored);
        }
        let has_room = self.placed.has_room();
        let read = read.and_then(|read| Some((read, self.placed.pop()?)));
        self.reading = read.map(|((place, scratchpad), beat)| {
            let mut data = [0; BEAT_BYTES];
            let offset = beat.offset as usize;
            scratchpad.brought(&place, self.port_bytes - offset, &mut data[offset..]);
            Stored { beat, data }
        });
        let cut = self.cutter.beat().filter(|_| has_room);
        if let Some(beat) = cut {
            self.placed.push(beat);
        }
        self.cutter.cycle(cut, enters);
        let done = response.map(|response| usize::from(response.tag >> 1));
        self.ring.cycle(oldest.map(|(stored, _)| stored.beat.last), done);
        let (stored, tag) = oldest?;
        self.asked[tag] = stored.beat.index;
        Some(Written {
            address: stored.beat.address,
            tag,
            mask: (((1u64 << stored.beat.count) - 1) << stored.beat.offset) as u32,
            data: stored.data,
        })
    }

    /// Drops transfers that have not been read.
    pub fn clear(&mut self) {
        self.cutter.clear();
        self.placed.clear();
    }
}
