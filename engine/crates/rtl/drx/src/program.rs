use crate::router::Range;
use crate::shape::Shape;
use crate::status::Status;
use crate::window::{Beat, Reorder, Window};

use rackwright_rtl::MemoryResponse;

const WORD_BYTES: u64 = 4;

/// Brings a program into the instruction memory, a row of a beat in a cycle.
#[derive(Debug, Clone)]
pub struct ProgramLoader {
    port_bytes: u64,
    most: u64,
    /// The number of the next beat to request, and the number of remaining ones.
    next: u64,
    left: u64,
    buffer: Reorder,
    window: Window,
    /// The range that started in the previous cycle extends beyond the last address.
    unreadable: bool,
    loading: bool,
    /// No program started in the previous cycle.
    settled: bool,
    status: Status,
    instructions: u32,
    row: usize,
}

/// The outputs of the loader in a cycle.
#[derive(Debug, Clone, Default)]
pub struct Loading {
    /// Words of a row of the instruction memory, and its number.
    pub row: Option<(usize, Vec<u32>)>,
    /// The address of the requested beat, and its tag.
    pub asks: Option<(u64, usize)>,
    /// The program has been loaded, with this number of instructions, or cannot be.
    pub done: Option<(Status, u32)>,
}

impl ProgramLoader {
    pub fn new(shape: &Shape) -> ProgramLoader {
        ProgramLoader {
            port_bytes: shape.port_bytes as u64,
            most: WORD_BYTES * shape.instructions() as u64,
            next: 0,
            left: 0,
            buffer: Reorder::new(shape.outstanding),
            window: Window::new(shape.port_bytes),
            unreadable: false,
            loading: false,
            settled: true,
            status: Status::Ok,
            instructions: 0,
            row: 0,
        }
    }

    /// Whether it takes a program.
    pub fn is_ready(&self) -> bool {
        !self.loading && self.is_finished()
    }

    /// No program is being loaded.
    pub fn is_idle(&self) -> bool {
        !self.loading && self.is_finished()
    }

    fn is_finished(&self) -> bool {
        self.buffer.is_quiet() && self.window.is_finished()
    }

    /// One cycle: a program to load, and memory's response.
    pub fn cycle(&mut self, start: Option<Range>, response: Option<&MemoryResponse>) -> Loading {
        let loading = if self.loading {
            self.load(response)
        } else {
            Loading::default()
        };
        self.settled = start.is_none();
        if let Some(range) = start {
            self.start(range);
        }
        loading
    }

    fn start(&mut self, range: Range) {
        self.loading = true;
        self.row = 0;
        self.instructions = (range.length / WORD_BYTES) as u32;
        self.status = if range.length > self.most {
            Status::Unsupported
        } else if range.length % WORD_BYTES != 0 || range.length == 0 {
            Status::Malformed
        } else {
            Status::Ok
        };
        if self.status == Status::Ok {
            let offset = range.address % self.port_bytes;
            self.next = range.address / self.port_bytes;
            self.left = (range.length + offset).div_ceil(self.port_bytes);
            self.unreadable = range.wraps();
            self.buffer.clear();
            self.window.start(range.address, range.length);
        }
    }

    fn load(&mut self, response: Option<&MemoryResponse>) -> Loading {
        let mut loading = Loading::default();
        let offer = self.window.offer();
        let stop = offer.fault;
        let whole = offer.available as u64 == self.port_bytes || offer.last;
        let takes = whole && offer.available != 0;
        if takes {
            loading.row = Some((self.row, self.words()));
            self.row += 1;
        }
        if self.settled && self.is_finished() && !stop {
            loading.done = Some((self.status, self.instructions));
            self.loading = false;
        }
        let given_up = stop || self.unreadable;
        let asks = (self.left != 0 && !given_up)
            .then(|| self.buffer.free())
            .flatten();
        if let Some(tag) = asks {
            loading.asks = Some((self.next * self.port_bytes, tag));
            self.next += 1;
            self.left -= 1;
        }
        if given_up {
            self.left = 0;
        }
        let enters = self.buffer.beat().filter(|_| self.window.has_room());
        let taken = if takes { offer.available } else { 0 };
        self.window.cycle(enters, self.unreadable, taken);
        let answer = response.map(|response| (usize::from(response.tag >> 1), beat(response)));
        self.buffer.cycle(asks.is_some(), enters.is_some(), answer);
        if stop {
            self.window.stop();
            self.status = Status::AccessFault;
        }
        self.unreadable = false;
        loading
    }

    fn words(&self) -> Vec<u32> {
        let bytes: Vec<u8> = self.window.bytes().collect();
        bytes
            .chunks_exact(WORD_BYTES as usize)
            .map(|word| u32::from_le_bytes(word.try_into().expect("a word has four bytes")))
            .collect()
    }
}

fn beat(response: &MemoryResponse) -> Beat {
    Beat {
        fault: response.fault,
        data: response.data,
    }
}
