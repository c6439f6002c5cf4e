use rackwright_time::{unit, Clock, Crossing, Cycle, Cycles, Hart, Unit};

/// The clock of a unit beside that of harts and memory.
#[derive(Clone, Copy)]
pub struct UnitClock {
    to_hart: Crossing<Unit, Hart>,
    to_unit: Crossing<Hart, Unit>,
    window: unit::Cycles,
}

impl UnitClock {
    /// The clock of harts, for a unit whose responses take at least `shortest`.
    pub(crate) fn shared(shortest: Cycles) -> UnitClock {
        let to_unit = Crossing::NONE;
        UnitClock {
            to_hart: Crossing::NONE,
            to_unit,
            window: to_unit.fitting(shortest),
        }
    }

    /// The clock `own` beside that of harts, `hart`, instead.
    pub(crate) fn apart(self, own: Clock, hart: Clock) -> UnitClock {
        let shortest = self.to_hart.fitting(self.window);
        let to_unit = Crossing::new(hart, own);
        UnitClock {
            to_hart: Crossing::new(own, hart),
            to_unit,
            window: to_unit.fitting(shortest).max(unit::Cycles::new(1)),
        }
    }

    /// The hart's cycle in which it observes what the unit does in the unit's `cycle`.
    pub fn seen_by_hart(&self, cycle: unit::Cycle) -> Cycle {
        self.to_hart.seen(cycle)
    }

    /// The unit's cycle in which it observes what the hart does in the hart's `cycle`.
    pub fn seen_by_unit(&self, cycle: Cycle) -> unit::Cycle {
        self.to_unit.seen(cycle)
    }

    /// The longest span between two exchanges with memory.
    pub fn window(&self) -> unit::Cycles {
        self.window
    }
}
