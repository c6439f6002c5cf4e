//! A load on the fabric during a measurement.

use crate::bench::{check_size, window, Bench, Run, BUFFER, BUFFER_BYTES};
use crate::enumeration::Found;
use crate::error::FabricError;
use crate::fabric::Fabric;
use rackwright_registers::traffic::{self, start};

/// A card that reads the host's memory at its maximum rate, while another one is measured.
#[derive(Clone, Copy, Debug)]
pub struct Beside<'a> {
    /// The card.
    pub by: &'a Found,
    /// Bytes of its requests, a power of two from 16 on.
    pub size: u32,
    /// The settings of its reads; `count` is more than it ever executes.
    pub bench: Bench,
}

impl Fabric {
    /// The run of a card that reads a buffer of its own while another one is measured.
    pub(crate) fn run_beside(&self, beside: &Beside<'_>, by: &Found) -> Result<Run, FabricError> {
        let card = beside.by.card;
        let name = &self.cards[card].name;
        if card == by.card {
            return Err(FabricError::Description(format!(
                "card {name} is measured, and cannot be the load beside"
            )));
        }
        self.check_traffic(beside.by)?;
        check_size(beside.size)?;
        Ok(Run {
            writes: false,
            registers: window(beside.by, 0, name)?,
            card,
            peer: None,
            buffer: BUFFER + BUFFER_BYTES,
            target: BUFFER + BUFFER_BYTES,
            size: u64::from(beside.size),
            bench: beside.bench,
            outstanding: beside.bench.outstanding,
        })
    }

    /// Starts the additional load, and waits until its outstanding requests have completed once.
    pub(crate) fn begin_beside(&mut self, beside: &Run) -> Result<(), FabricError> {
        self.start(beside)?;
        let (card, steady) = (beside.card, beside.outstanding as usize);
        if self.run(self.deadline(), |fabric| {
            fabric.cards[card].stamps.len() >= steady
        })? {
            return Ok(());
        }
        Err(self.unfinished(beside))
    }

    /// Stops it, and compares the data that it has read.
    pub(crate) fn end_beside(&mut self, beside: &Run) -> Result<(), FabricError> {
        self.write_register(traffic::START.within(beside.registers), start::STOP.put(1))?;
        self.run(self.deadline(), Fabric::is_quiet)?;
        let done = self.read_register(traffic::DONE.within(beside.registers))?.data;
        if done == u64::from(beside.bench.count) {
            return Err(FabricError::Description(format!(
                "card {} had read everything before the measurement ended",
                self.cards[beside.card].name
            )));
        }
        self.check_read(beside, done)
    }
}
