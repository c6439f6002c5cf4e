use crate::beats::BeatRing;
use crate::fifo::Fifo;
use crate::scratchpad::{Place, Scratchpad};
use crate::shape::Shape;
use crate::transfer::{Cutter, Transfer, TransferBeat};
use rackwright_rtl::{MemoryResponse, BEAT_BYTES};

/// Memory's response for a beat.
#[derive(Debug, Clone, Copy, Default)]
struct Answer {
    tag: usize,
    fault: bool,
    data: [u8; BEAT_BYTES],
}

/// A beat to be written to the scratchpad.
#[derive(Debug, Clone, Copy, Default)]
struct Loaded {
    answer: Answer,
    beat: TransferBeat,
    place: Place,
}

/// Loads ranges of memory into the scratchpad: a beat is requested in each cycle, responses arrive in any order.
#[derive(Debug, Clone)]
pub struct LoadEngine {
    cutter: Cutter,
    ring: BeatRing,
    asked: Vec<TransferBeat>,
    answers: Fifo<Answer, 2>,
    ready: Fifo<Loaded, 2>,
    line_bytes: usize,
}

/// The outputs of the engine in a cycle.
#[derive(Debug, Clone, Copy, Default)]
pub struct Loads {
    /// The address of the requested beat, and its tag.
    pub asks: Option<(u64, usize)>,
    /// It accepts a response, if there is one.
    pub takes: bool,
    /// Memory refused a beat of this instruction.
    pub fault: Option<u32>,
}

impl LoadEngine {
    pub fn new(shape: &Shape) -> LoadEngine {
        LoadEngine {
            cutter: Cutter::new(shape.port_bytes, shape.scratchpad_bytes()),
            ring: BeatRing::new(shape.outstanding),
            asked: vec![TransferBeat::default(); shape.outstanding],
            answers: Fifo::new(),
            ready: Fifo::new(),
            line_bytes: shape.line_bytes(),
        }
    }

    /// Whether one more transfer may enter.
    pub fn has_room(&self) -> bool {
        self.cutter.has_room()
    }

    /// No transfer is being split, and no beat is outstanding.
    pub fn is_idle(&self) -> bool {
        self.cutter.is_empty() && self.ring.is_empty()
    }

    /// A transfer is done, and all before it are.
    pub fn ended(&self) -> bool {
        self.ring.ended()
    }

    /// The place in the scratchpad to write.
    pub fn wanted(&self) -> Option<Place> {
        let ready = self.ready.front()?;
        (!ready.answer.fault).then_some(ready.place)
    }

    /// Performs the requested write.
    pub fn write(&self, scratchpad: &mut Scratchpad) {
        if let Some(Loaded { answer, beat, .. }) = self.ready.front() {
            let (offset, count) = (beat.offset as usize, beat.count as usize);
            scratchpad.bytes[beat.place as usize..][..count]
                .copy_from_slice(&answer.data[offset..offset + count]);
        }
    }

    /// One cycle: whether the requested write was done, a new transfer, and memory's response.
    pub fn cycle(
        &mut self,
        written: bool,
        enters: Option<Transfer>,
        response: Option<&MemoryResponse>,
    ) -> Loads {
        let mut loads = Loads {
            takes: self.answers.has_room(),
            ..Loads::default()
        };
        let mut done = None;
        let answer = if self.ready.has_room() {
            self.answers.pop()
        } else {
            None
        };
        if let Some(ready) = self.ready.front().filter(|ready| written || ready.answer.fault) {
            done = Some(ready.answer.tag);
            loads.fault = ready.answer.fault.then_some(ready.beat.index);
            self.ready.pop();
        }
        if let Some(answer) = answer {
            self.ready.push(self.placed(answer));
        }
        if let Some(response) = response.filter(|_| loads.takes) {
            self.answers.push(Answer {
                tag: usize::from(response.tag >> 1),
                fault: response.fault,
                data: response.data,
            });
        }
        let beat = self.cutter.beat().zip(self.ring.free());
        if let Some((beat, tag)) = beat {
            self.asked[tag] = beat;
            loads.asks = Some((beat.address, tag));
        }
        self.cutter.cycle(beat.map(|(beat, _)| beat), enters);
        self.ring.cycle(beat.map(|(beat, _)| beat.last), done);
        loads
    }

    fn placed(&self, answer: Answer) -> Loaded {
        let beat = self.asked[answer.tag];
        Loaded {
            answer,
            beat,
            place: Place::new(beat.place, beat.place + beat.count - 1, self.line_bytes),
        }
    }

    /// Drops transfers that have not been requested.
    pub fn clear(&mut self) {
        self.cutter.clear();
    }
}
