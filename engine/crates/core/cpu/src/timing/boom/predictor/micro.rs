//! The jumps that the first cycle of a fetch knows. BOOM has 16 chunks in each of two banks, with a way selected by a
//! hash; in this model, a chunk has one place among twice as many.

use rackwright_state::{state, Pass, State, StateError};

const CHUNKS: usize = 64;

/// A jump that is always followed, and the counter of a branch, one above the core's so that zero is free.
const JUMP: u8 = 5;
const UNKNOWN: u8 = 0;
const NEVER: u8 = 1;
const LIKELY: u8 = 3;
const ALWAYS: u8 = 4;

#[derive(Clone, Copy, Default)]
struct Chunk {
    number: u64,
    places: [u8; 4],
}

pub(super) struct Micro([Chunk; CHUNKS]);

impl Micro {
    pub(super) fn new() -> Micro {
        Micro([Chunk::default(); CHUNKS])
    }

    /// The state of a jump's place, for changes.
    #[inline(always)]
    fn place(&mut self, site: u64) -> &mut u8 {
        let number = site >> 3;
        let chunk = &mut self.0[(number ^ number >> 6) as usize % CHUNKS];
        if chunk.number != number {
            *chunk = Chunk {
                number,
                places: [UNKNOWN; 4],
            };
        }
        &mut chunk.places[(site >> 1) as usize % 4]
    }

    /// Whether the branch is expected to be taken, if it is known; learns whether it is.
    #[inline(always)]
    pub(super) fn branch(&mut self, site: u64, taken: bool) -> Option<bool> {
        let place = self.place(site);
        let known = *place;
        *place = match (known, taken) {
            (UNKNOWN | JUMP, false) => NEVER,
            (UNKNOWN | JUMP, true) => ALWAYS,
            (counter, true) => (counter + 1).min(ALWAYS),
            (counter, false) => (counter - 1).max(NEVER),
        };
        (known != UNKNOWN).then_some(known >= LIKELY)
    }

    /// Whether the jump is known; remembers it.
    #[inline(always)]
    pub(super) fn jump(&mut self, site: u64) -> bool {
        std::mem::replace(self.place(site), JUMP) == JUMP
    }
}

state!(Chunk { number, places });

impl State for Micro {
    fn pass(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        self.0.pass(by)
    }
}
