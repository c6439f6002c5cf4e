use rackwright_rtl::StreamFlit;
use rackwright_state::{state, Pass, State, StateError};
use rackwright_time::unit::Cycle;
use rackwright_time::{Domain, Unit};
use std::collections::VecDeque;

/// A frame that left a unit, in cycles of the unit or of its destination.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
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

/// Assembles frames from the flits of a unit's stream ports.
#[derive(Debug, Default)]
pub(crate) struct Assembler {
    /// By port.
    open: Vec<Option<SentFrame>>,
    frames: VecDeque<SentFrame>,
}

impl<C: Domain> State for SentFrame<C> {
    fn pass(&mut self, by: &mut Pass<'_>) -> Result<(), StateError> {
        self.first.pass(by)?;
        self.last.pass(by)?;
        self.port.pass(by)?;
        self.bytes.pass(by)
    }
}

state!(Assembler { open, frames });

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

#[cfg(test)]
mod tests {
    use super::*;
    use rackwright_contract::Flit;

    #[test]
    fn frames_of_two_ports_are_kept_apart() {
        let mut assembler = Assembler::default();
        for (port, cycle, bytes, last) in [
            (0, 1, b"one, an", false),
            (1, 1, b"another", false),
            (0, 2, b"d no mo", true),
            (1, 2, b" one ..", true),
        ] {
            assembler.add(&StreamFlit::new(port, Cycle::new(cycle), Flit { bytes, last }));
        }
        let frames: Vec<_> = std::iter::from_fn(|| assembler.take())
            .map(|frame| (frame.port, String::from_utf8(frame.bytes).unwrap()))
            .collect();
        let expected = [(0, "one, and no mo"), (1, "another one ..")];
        assert_eq!(frames, expected.map(|(port, text)| (port, text.to_string())));
    }
}
