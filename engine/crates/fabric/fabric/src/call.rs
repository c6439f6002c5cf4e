//! Calls of a unit on a card, as software on the host makes them.

use crate::bench::window;
use crate::enumeration::Found;
use crate::error::FabricError;
use crate::fabric::Fabric;
use crate::parts::{Part, Parts};
use rackwright_time::fabric::Cycles;

/// A call: the values for the unit's registers, and the word of memory that it writes on completion.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// Offsets and values of registers of eight bytes, in the order of the writes.
    pub writes: &'a [(u64, u64)],
    /// Address of the completion flag.
    pub flag: u64,
}

/// The duration of a call.
#[derive(Clone, Copy, Debug)]
pub struct Called {
    /// From the first write of the host until the flag is in its memory.
    pub span: Cycles,
    /// Completed requests of the card, and the average time of one outside of the card.
    pub reads: u64,
    /// The same, by part.
    pub parts: Parts,
}

impl Fabric {
    /// Makes a call of the unit on a card, and waits until all is quiet again.
    ///
    /// # Errors
    /// [`FabricError`] when the unit does not write its flag.
    pub fn call(&mut self, by: &Found, call: &Call<'_>) -> Result<Called, FabricError> {
        let name = self.cards[by.card].name.clone();
        let registers = window(by, 0, &name)?;
        let card = &mut self.cards[by.card];
        (card.spent, card.answered) = (Parts::default(), 0);
        self.host.awaits(call.flag);
        let begin = self.now;
        for (offset, value) in call.writes {
            self.write_register(registers + offset, *value)?;
        }
        self.run(self.deadline(), |fabric| fabric.host.came().is_some())?;
        let unfinished = || FabricError::Card {
            card: name,
            reason: format!("it does not write its completion flag at {:#x}", call.flag),
        };
        let came = self.host.came().ok_or_else(unfinished)?;
        self.run(self.deadline(), Fabric::is_quiet)?;
        let card = &self.cards[by.card];
        let mut parts = Parts::default();
        for part in Part::ALL {
            parts.add(part, Cycles::new(card.spent.of(part).0 / card.answered.max(1)));
        }
        Ok(Called {
            span: came.since(begin),
            reads: card.answered,
            parts,
        })
    }

    /// Reads the host's memory, or that of a card by its window, for an inspection that takes no time.
    ///
    /// # Errors
    /// [`FabricError::Fault`] outside of them.
    pub fn read_memory(&self, address: u64, data: &mut [u8]) -> Result<(), FabricError> {
        match self.cards.iter().find_map(|card| card.memory_at(address)) {
            Some(unit) => unit.read_memory(address, data),
            None => Ok(self.host.memory.read(address, data)?),
        }
    }

    /// Writes them, at no cost either; with `warm`, the host's last-level cache holds its data then.
    ///
    /// # Errors
    /// [`FabricError::Fault`] outside of them.
    pub fn write_memory(&mut self, address: u64, data: &[u8], warm: bool) -> Result<(), FabricError> {
        if let Some(unit) = self.cards.iter_mut().find_map(|card| card.memory_at_mut(address)) {
            return unit.write_memory(address, data);
        }
        self.host.memory.write(address, data)?;
        if warm && !data.is_empty() {
            self.host.warm(address..address + data.len() as u64);
        }
        Ok(())
    }
}
