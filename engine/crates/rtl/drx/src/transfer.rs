use crate::fifo::Fifo;

/// Transfers that wait for an engine.
const WAITING: usize = 64;

/// Bytes to move between memory and the scratchpad.
#[derive(Debug, Clone, Copy, Default)]
pub struct Transfer {
    /// Where in memory.
    pub address: u64,
    /// The place in the scratchpad.
    pub place: u32,
    /// How many.
    pub size: u32,
    /// Its instruction.
    pub index: u32,
}

/// The part of a transfer that is in one beat: `count` bytes from `offset` of the beat.
#[derive(Debug, Clone, Copy, Default)]
pub struct TransferBeat {
    /// The beat's address.
    pub address: u64,
    /// The first of its bytes.
    pub offset: u32,
    /// How many.
    pub count: u32,
    /// Their place in the scratchpad.
    pub place: u32,
    /// Their instruction.
    pub index: u32,
    /// No other follows.
    pub last: bool,
}

/// Waiting transfers of one direction, and the one that is being split into beats.
#[derive(Debug, Clone)]
pub struct Cutter {
    waiting: Fifo<Transfer, WAITING>,
    rest: Option<Transfer>,
    beat_bytes: u32,
    /// Addresses of the scratchpad are below it.
    end: u32,
}

impl Cutter {
    /// A cutter with these sizes of beats and of the scratchpad.
    pub fn new(beat_bytes: usize, scratchpad: usize) -> Cutter {
        Cutter {
            waiting: Fifo::new(),
            rest: None,
            beat_bytes: beat_bytes as u32,
            end: scratchpad as u32,
        }
    }

    /// Whether it takes one more transfer.
    pub fn has_room(&self) -> bool {
        self.waiting.has_room()
    }

    /// No transfer is being split.
    pub fn is_empty(&self) -> bool {
        self.rest.is_none()
    }

    /// The next beat.
    pub fn beat(&self) -> Option<TransferBeat> {
        let rest = self.rest.as_ref()?;
        let offset = rest.address as u32 & (self.beat_bytes - 1);
        let room = self.beat_bytes - offset;
        Some(TransferBeat {
            address: rest.address - u64::from(offset),
            offset,
            count: rest.size.min(room),
            place: rest.place,
            index: rest.index,
            last: rest.size <= room,
        })
    }

    /// A cycle: whether the beat is taken, and a transfer that enters.
    pub fn cycle(&mut self, taken: Option<TransferBeat>, enters: Option<Transfer>) {
        if let (Some(beat), Some(rest)) = (taken, &mut self.rest) {
            rest.address = beat.address.wrapping_add(u64::from(self.beat_bytes));
            rest.place = (rest.place + beat.count) & (self.end - 1);
            rest.size -= beat.count;
            if beat.last {
                self.rest = None;
            }
        }
        if self.rest.is_none() {
            self.rest = self.waiting.pop();
        }
        if let Some(transfer) = enters {
            self.waiting.push(transfer);
        }
    }

    /// Gives up all.
    pub fn clear(&mut self) {
        self.waiting.clear();
        self.rest = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transfer_in_beats() {
        let mut cutter = Cutter::new(32, 1024);
        let transfer = Transfer {
            address: 0x1010,
            place: 5,
            size: 50,
            index: 7,
        };
        cutter.cycle(None, Some(transfer));
        assert!(cutter.beat().is_none());
        cutter.cycle(None, None);
        let first = cutter.beat().expect("it is being cut");
        assert_eq!((first.address, first.offset, first.count), (0x1000, 16, 16));
        cutter.cycle(Some(first), None);
        let second = cutter.beat().expect("a beat is left");
        assert_eq!((second.address, second.count, second.place), (0x1020, 32, 21));
        cutter.cycle(Some(second), None);
        let third = cutter.beat().expect("a beat is left");
        assert_eq!((third.count, third.last), (2, true));
        cutter.cycle(Some(third), None);
        assert!(cutter.is_empty());
    }
}
