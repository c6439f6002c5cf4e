use rackwright_rtl::Instance;
use rackwright_stats::UnitObserver;
use rackwright_time::{unit, Cycle};
use std::sync::Arc;

/// The observation of a unit.
pub(crate) struct Observed {
    observer: Arc<dyn UnitObserver>,
    /// The number of its first event.
    first: usize,
    /// Since when it has had work without a break.
    busy: Option<unit::Cycle>,
}

impl Observed {
    pub(crate) fn by(observer: Arc<dyn UnitObserver>, first: usize) -> Observed {
        Observed {
            observer,
            first,
            busy: None,
        }
    }

    /// Reports the events of a window from `begin` on, in which the unit had work or not and after which it is idle or
    /// not. `seen` returns the hart's cycle for one of the unit.
    pub(crate) fn tell(
        &mut self,
        instance: &Instance,
        begin: unit::Cycle,
        (worked, idle): (bool, bool),
        seen: impl Fn(unit::Cycle) -> Cycle,
    ) {
        for index in 0..instance.design().manifest.events().count() {
            self.observer.counted(self.first + index, instance.event(index));
        }
        if worked {
            self.busy = self.busy.or(Some(begin));
        }
        if idle {
            if let Some(begin) = self.busy.take() {
                self.observer
                    .worked(self.first, seen(begin), seen(instance.cycle()));
            }
        }
    }
}
