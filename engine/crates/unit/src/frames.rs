use rackwright_rtl::StreamFlit;
use rackwright_time::unit::Cycle;
use rackwright_time::{Domain, Unit};
use std::collections::VecDeque;

/// Bytes of a flit.
pub const FLIT_BYTES: usize = 8;

/// A frame that left a unit, in cycles of the unit or of what it left for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentFrame<C: Domain = Unit> {
    /// When its first flit left.
    pub first: rackwright_time::Cycle<C>,
    /// When its last flit left.
    pub last: rackwright_time::Cycle<C>,
    /// Number of the stream port through which it left.
    pub port: u8,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// Puts frames together out of the flits of a unit's stream ports.
#[derive(Debug, Default)]
pub(crate) struct Assembler {
    /// By port.
    open: Vec<Option<SentFrame>>,
    frames: VecDeque<SentFrame>,
}

impl Assembler {
    pub(crate) fn add(&mut self, flit: &StreamFlit) {
        let cycle = Cycle::new(flit.cycle);
        let port = usize::from(flit.port);
        if self.open.len() <= port {
            self.open.resize_with(port + 1, || None);
        }
        let frame = self.open[port].get_or_insert_with(|| SentFrame {
            first: cycle,
            last: cycle,
            port: flit.port,
            bytes: Vec::new(),
        });
        let count = flit.keep.trailing_ones() as usize;
        frame.bytes.extend(&flit.data.to_le_bytes()[..count]);
        frame.last = cycle;
        if flit.last != 0 {
            self.frames.extend(self.open[port].take());
        }
    }

    pub(crate) fn take(&mut self) -> Option<SentFrame> {
        self.frames.pop_front()
    }
}

/// A flit of up to 8 `bytes` for the stream port `port`.
pub fn flit(port: u8, cycle: Cycle, bytes: &[u8], last: bool) -> StreamFlit {
    let mut data = [0; FLIT_BYTES];
    data[..bytes.len()].copy_from_slice(bytes);
    StreamFlit {
        cycle: cycle.0,
        data: u64::from_le_bytes(data),
        port,
        keep: ((1_u32 << bytes.len()) - 1) as u8,
        last: u8::from(last),
    }
}

/// How many flits a frame of so many bytes has.
pub fn flits(bytes: usize) -> usize {
    bytes.div_ceil(FLIT_BYTES)
}

/// The bytes of a frame flit by flit, and whether each is the last.
pub fn flits_of(frame: &[u8]) -> impl Iterator<Item = (&[u8], bool)> {
    let count = flits(frame.len());
    let flits = frame.chunks(FLIT_BYTES).enumerate();
    flits.map(move |(index, bytes)| (bytes, index + 1 == count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_of_two_ports_are_kept_apart() {
        let mut assembler = Assembler::default();
        for (port, cycle, bytes, last) in [
            (0, 1, b"one, an", false),
            (1, 1, b"another", false),
            (0, 2, b"d no mo", true),
            (1, 2, b" one ..", true),
        ] {
            assembler.add(&flit(port, Cycle::new(cycle), bytes, last));
        }
        let frames: Vec<_> = std::iter::from_fn(|| assembler.take())
            .map(|frame| (frame.port, String::from_utf8(frame.bytes).unwrap()))
            .collect();
        let expected = [(0, "one, and no mo"), (1, "another one ..")];
        assert_eq!(frames, expected.map(|(port, text)| (port, text.to_string())));
    }
}
