use crate::hardware::Hardware;
use crate::pause::Pause;
use rackwright_cpu::{Stop, Timing};
use rackwright_unit::UnitError;

/// How far a window of time has come. Harts take turns in it, in the order of their numbers.
#[derive(Clone, Copy, Default, Debug)]
pub struct Window {
    /// The hart whose turn it is.
    pub turn: usize,
    /// Whether it has begun and not ended.
    pub open: bool,
}

/// How the turn of a hart goes on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Turn {
    /// It runs on.
    On,
    /// Its turn is over; the next hart's begins.
    Over,
    /// The window is looked at again: it goes on with the same hart, or begins anew if the workload has closed it.
    Again,
    /// The machine comes back.
    Paused(Pause),
}

/// What runs on a machine, and how long the windows are in which its harts take turns.
///
/// [`Machine::run`](crate::Machine::run) calls these methods in a fixed order, so that what a machine does depends neither
/// on where its runs are cut nor on the host.
pub trait Workload<T: Timing> {
    /// An instant on the clock on whose grid windows lie.
    type Time: Copy;
    /// Why a run cannot go on.
    type Error;

    /// Does what a run begins with, and what a window goes on with; gives why it does not.
    fn resume(&mut self, _hardware: &mut Hardware<T>, _window: &Window) -> Option<Pause> {
        None
    }

    /// Opens the next window; gives why there is none before `until`.
    ///
    /// # Errors
    /// When nothing will ever happen.
    fn open(&mut self, hardware: &mut Hardware<T>, until: Self::Time) -> Result<Option<Pause>, Self::Error>;

    /// Begins the turn of a hart.
    fn begin(&mut self, _hardware: &mut Hardware<T>, _hart: usize) {}

    /// The cycle to which a hart may run at once; `None` when its turn is over.
    fn limit(
        &mut self,
        hardware: &mut Hardware<T>,
        hart: usize,
        until: Self::Time,
    ) -> Option<rackwright_time::Cycle>;

    /// Does what the hart has stopped for whose turn it is.
    ///
    /// # Errors
    /// When the software did what it may not, or a unit did.
    fn stopped(
        &mut self,
        hardware: &mut Hardware<T>,
        window: &mut Window,
        stop: Result<Stop, UnitError>,
    ) -> Result<Turn, Self::Error>;

    /// Ends the turn of a hart.
    fn end(&mut self, _hardware: &mut Hardware<T>, _hart: usize) {}

    /// Ends the window: all harts have had their turns.
    fn close(&mut self, hardware: &mut Hardware<T>, until: Self::Time);
}
