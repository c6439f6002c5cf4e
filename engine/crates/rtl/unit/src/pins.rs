use crate::activity::Activity;
use crate::clock::UnitClock;
use crate::record::Record;
use rackwright_rtl::{Design, Instance};

/// The pins of a unit, which all its ports share: the RTL behind them, and its known state.
pub(crate) struct Pins {
    /// The unit's name among those of its hart.
    pub(crate) name: String,
    pub(crate) instance: Instance,
    pub(crate) clock: UnitClock,
    pub(crate) activity: Activity,
    pub(crate) record: Record,
}

impl Pins {
    /// The design that the unit is a copy of.
    pub(crate) fn design(&self) -> &Design {
        self.instance.design()
    }
}
