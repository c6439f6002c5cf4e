//! The device of a card behind its link: a function in RTL, the model of the unit `traffic`, or a unit in RTL behind
//! the model of a function, or a device of the machine.

mod configuration;
mod device;
mod device_control;
mod error_messages;
mod model;
mod registers;
mod rtl;
mod target;
mod transmitter;
mod unit;

pub(crate) use device::{Device, DeviceDescription, HERTZ as DEVICE_HERTZ};
pub(crate) use model::{Model, ModelDescription};
pub(crate) use rtl::Rtl;
pub(crate) use unit::Unit;

use crate::class::Class;
use crate::credits::{Amount, Credits};
use crate::error::FabricError;
use crate::packet::Header;
use crate::pool::Packet;
use rackwright_device::RestoreError;
use rackwright_rtl::Broken;
use rackwright_time::unit::Cycle;

/// Bytes of a beat of packets; a header takes a whole beat.
pub(crate) const BEAT: u64 = 16;
/// The longest payload of writes.
const PAYLOAD: u64 = 512;
/// When nothing happens.
const NEVER: u64 = u64::MAX;
/// Maximum time after its reset until a function advertises its credits: the fabric starts then.
const FIRST_CYCLES: Cycle = Cycle::new(64);

/// An output of a function at the end of one of its cycles.
pub(crate) enum Given<'a> {
    /// A packet, the last of whose bytes leaves in this cycle.
    Packet(&'a Header, &'a [u8]),
    /// One that cannot be read.
    Malformed,
    /// So much of its room is free again.
    Freed(Class, Amount),
    /// A request of its run is done: when it was issued and when it was done, 32 bits each.
    Stamp(u64),
}

/// A function, on a clock of its own.
pub(crate) enum Function {
    /// In RTL.
    Rtl(Box<Rtl>),
    /// As a model.
    Model(Box<Model>),
    /// A unit behind a model.
    Unit(Box<Unit>),
    /// A device of the machine.
    Device(Box<Device>),
}

impl Function {
    /// The room that it advertises.
    pub(crate) fn credits(&self) -> Credits {
        match self {
            Function::Rtl(rtl) => rtl.credits(),
            Function::Model(model) => model.credits(),
            Function::Unit(unit) => unit.credits(),
            Function::Device(device) => device.credits(),
        }
    }

    /// The first cycle that it has not simulated.
    pub(crate) fn cycle(&self) -> Cycle {
        match self {
            Function::Rtl(rtl) => rtl.cycle(),
            Function::Model(model) => model.cycle(),
            Function::Unit(unit) => unit.cycle(),
            Function::Device(device) => device.cycle(),
        }
    }

    /// Whether it is idle.
    pub(crate) fn is_idle(&self) -> bool {
        match self {
            Function::Rtl(rtl) => rtl.is_idle(),
            Function::Model(model) => model.is_idle(),
            Function::Unit(unit) => unit.is_idle(),
            Function::Device(device) => device.is_idle(),
        }
    }

    /// The sums of its events.
    pub(crate) fn events(&self) -> Vec<(String, u64)> {
        match self {
            Function::Rtl(rtl) => rtl.events(),
            Function::Model(model) => model.events(),
            Function::Unit(unit) => unit.events(),
            Function::Device(device) => device.events(),
        }
    }

    /// The unit whose card has memory.
    pub(crate) fn memory(&self) -> Option<&Unit> {
        match self {
            Function::Unit(unit) => Some(&**unit).filter(|unit| unit.has_memory()),
            _ => None,
        }
    }

    /// The same, to write.
    pub(crate) fn memory_mut(&mut self) -> Option<&mut Unit> {
        match self {
            Function::Unit(unit) => Some(&mut **unit).filter(|unit| unit.has_memory()),
            _ => None,
        }
    }

    /// Its state, for [`Function::restore`].
    ///
    /// # Errors
    /// [`FabricError::Card`] for one that cannot be saved.
    pub(crate) fn save(&self, card: &str) -> Result<Vec<u8>, FabricError> {
        match self {
            Function::Model(model) => Ok(model.save()),
            Function::Device(device) => device.save(card),
            Function::Rtl(_) | Function::Unit(_) => Err(FabricError::Card {
                card: card.to_string(),
                reason: "it is RTL, whose state a checkpoint cannot contain".to_string(),
            }),
        }
    }

    /// Restores the state of another function of the same kind.
    ///
    /// # Errors
    /// [`RestoreError`] when it is none.
    pub(crate) fn restore(&mut self, state: &[u8]) -> Result<(), RestoreError> {
        match self {
            Function::Model(model) => model.restore(state),
            Function::Device(device) => device.restore(state),
            Function::Rtl(_) | Function::Unit(_) => Err(RestoreError { device: "card" }),
        }
    }

    /// Has the limit of a class be known to it from a cycle on.
    pub(crate) fn grant(&mut self, cycle: Cycle, initial: bool, class: Class, limit: Amount) {
        match self {
            Function::Rtl(rtl) => rtl.grant(cycle, initial, class, limit),
            Function::Model(model) => model.grant(cycle, initial, class, limit),
            Function::Unit(unit) => unit.grant(cycle, initial, class, limit),
            Function::Device(device) => device.grant(cycle, initial, class, limit),
        }
    }

    /// Passes an incoming packet, from a cycle on.
    pub(crate) fn arrive(&mut self, cycle: Cycle, packet: &Packet) {
        match self {
            Function::Rtl(rtl) => rtl.arrive(cycle, packet),
            Function::Model(model) => model.arrive(cycle, packet),
            Function::Unit(unit) => unit.arrive(cycle, packet),
            Function::Device(device) => device.arrive(cycle, packet),
        }
    }

    /// Advances to the cycle `end`. `give` receives its outputs and their cycles.
    ///
    /// # Errors
    /// [`FabricError::Stopped`] if an assertion in it fails.
    pub(crate) fn advance(
        &mut self,
        end: Cycle,
        card: &str,
        give: impl FnMut(Cycle, Given<'_>),
    ) -> Result<(), FabricError> {
        match self {
            Function::Rtl(rtl) => rtl.advance(end, card, give),
            Function::Unit(unit) => unit.advance(end, card, give),
            Function::Model(model) => {
                model.advance(end, give);
                Ok(())
            }
            Function::Device(device) => {
                device.advance(end, give);
                Ok(())
            }
        }
    }
}

/// The credits of a function with room for `packets` requests of each class; completions have infinite credits (2.6.1).
fn credits(packets: u64) -> Credits {
    let amount = |data| Amount {
        headers: packets,
        data,
    };
    let posted = amount(packets * PAYLOAD / BEAT);
    Credits::new([posted, amount(packets), Amount::default()])
}

fn stopped(card: &str, broken: Broken) -> FabricError {
    let (cycle, reason) = match broken {
        Broken::Stopped(cycle, reason) => (cycle, reason),
        Broken::Idle(cycle) => (cycle, "it was not idle".to_string()),
    };
    FabricError::Stopped {
        card: card.to_string(),
        cycle,
        reason,
    }
}

/// Up to eight bytes as a word.
fn word_of(bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(word)
}
