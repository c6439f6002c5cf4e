use crate::hardware::Hardware;
use crate::pause::Pause;
use rackwright_cpu::Stop;
use rackwright_unit::UnitError;

/// The progress of a window of time. Harts take turns in it, in the order of their numbers.
#[derive(Clone, Copy, Default, Debug)]
pub struct Window {
    /// The hart whose turn it is.
    pub turn: usize,
    /// Whether it has started and not ended.
    pub open: bool,
}

/// How the turn of a hart continues.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Turn {
    /// It runs on.
    On,
    /// Its turn is over; the next hart's begins.
    Over,
    /// The window is examined again: it continues with the same hart, or is opened again if the workload has closed it.
    Again,
    /// The machine returns.
    Paused(Pause),
}

/// The software on a machine, and the policy for the lengths of the windows in which its harts take turns.
///
/// [`Machine::run`](crate::Machine::run) calls these methods in a fixed order, so that the behaviour of a machine
/// depends neither on the division into runs nor on the host.
pub trait Workload<C> {
    /// An instant on the clock on whose grid windows lie.
    type Time: Copy;
    /// The reason why a run cannot continue.
    type Error;

    /// Executed at the start of a run, and before a window continues; returns the reason if it does not.
    fn resume(&mut self, _hardware: &mut Hardware<C>, _window: &Window) -> Option<Pause> {
        None
    }

    /// Opens the next window; returns the reason if there is none before `until`.
    ///
    /// # Errors
    /// If there is no further event.
    fn open(&mut self, hardware: &mut Hardware<C>, until: Self::Time) -> Result<Option<Pause>, Self::Error>;

    /// Begins the turn of a hart.
    fn begin(&mut self, _hardware: &mut Hardware<C>, _hart: usize) {}

    /// The cycle to which a hart may run at once; `None` when its turn is over.
    fn limit(
        &mut self,
        hardware: &mut Hardware<C>,
        hart: usize,
        until: Self::Time,
    ) -> Option<rackwright_time::Cycle>;

    /// Handles the stop of the current hart.
    ///
    /// # Errors
    /// If the software or a unit has violated a rule.
    fn stopped(
        &mut self,
        hardware: &mut Hardware<C>,
        window: &mut Window,
        stop: Result<Stop, UnitError>,
    ) -> Result<Turn, Self::Error>;

    /// Ends the turn of a hart.
    fn end(&mut self, _hardware: &mut Hardware<C>, _hart: usize) {}

    /// Ends the window: all harts have had their turns.
    fn close(&mut self, hardware: &mut Hardware<C>, until: Self::Time);
}
