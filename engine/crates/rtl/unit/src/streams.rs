use crate::frames::{Assembler, SentFrame};
use crate::pins::Pins;
use rackwright_contract::flits_of;
use rackwright_rtl::{Direction, RtlError, StreamFlit};
use rackwright_time::unit;

/// The stream ports of a unit, in use.
pub struct Streams<'a> {
    pub(crate) sent: &'a mut Assembler,
    pub(crate) pins: &'a mut Pins,
}

impl Streams<'_> {
    /// Number of the port through which frames reach the unit.
    ///
    /// # Errors
    /// [`RtlError::NoPort`] when the unit has none.
    pub fn input(&self) -> Result<u8, RtlError> {
        self.find(|(_, direction)| direction == Direction::In)
    }

    /// Number of the port `name` through which frames reach the unit.
    ///
    /// # Errors
    /// [`RtlError::NoPort`] if the unit has no port of that name.
    pub fn input_named(&self, name: &str) -> Result<u8, RtlError> {
        self.find(|port| port == (name, Direction::In))
    }

    /// Number of the port `name` through which frames leave the unit.
    ///
    /// # Errors
    /// [`RtlError::NoPort`] if the unit has no port of that name.
    pub fn output_named(&self, name: &str) -> Result<u8, RtlError> {
        self.find(|port| port == (name, Direction::Out))
    }

    fn find(&self, wanted: impl Fn((&str, Direction)) -> bool) -> Result<u8, RtlError> {
        let manifest = &self.pins.design().manifest;
        let found = manifest.stream_ports().position(wanted);
        found.map(|port| port as u8).ok_or_else(|| RtlError::NoPort {
            unit: manifest.unit.clone(),
            contract: "stream",
        })
    }

    /// Offers a flit to a port.
    pub fn flit(&mut self, flit: StreamFlit) {
        self.pins.record.digest.arrives(&flit);
        self.pins.instance.flit(flit);
        self.pins.activity.disturb();
    }

    /// Sends a frame to the port `port`, its flit number `n` in the cycle `at(n)`.
    pub fn frame(&mut self, port: u8, frame: &[u8], at: impl Fn(u64) -> unit::Cycle) {
        for (number, flit) in (0..).zip(flits_of(frame)) {
            self.flit(StreamFlit::new(port, at(number), flit));
        }
    }

    /// The next frame that left the unit.
    pub fn take_frame(&mut self) -> Option<SentFrame> {
        self.sent.take()
    }
}
