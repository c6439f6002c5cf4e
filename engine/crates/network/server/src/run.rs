use crate::error::ServerError;
use rackwright_machine::{Hardware, Processor};
use rackwright_state::{Pass, StateError};
use rackwright_stats::{Counters, Digest};
use rackwright_time::Cycle;
use rackwright_unit::Wait;

/// Whether a run continues.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Progress {
    /// The requested cycle is reached.
    Running,
    /// The program has ended with this status.
    Exited(i32),
}

/// A run behind one interface, for any timing model and kind of program.
pub(crate) trait Run: Send {
    fn run(&mut self, limit: Cycle) -> Result<Progress, ServerError>;
    fn cycle(&self) -> Cycle;
    fn hardware(&self) -> &dyn Observed;
    fn output(&self) -> Vec<u8>;
    fn error_output(&self) -> Vec<u8>;
    /// System calls of the program that are not emulated.
    fn unknown_calls(&self) -> Vec<&'static str> {
        Vec::new()
    }
    /// Passes its state, if it can be saved.
    fn pass(&mut self, _by: &mut Pass<'_>) -> Result<(), StateError> {
        Err(StateError::Unsaved("a server alone cannot be saved".to_string()))
    }
    fn digest(&self, digest: &mut Digest);
}

/// The externally visible state of the hardware of a machine, for any timing model.
pub(crate) trait Observed {
    fn instructions(&self) -> u64;
    fn counters(&self) -> Counters;
    fn unit_cycles(&self) -> u64;
    fn wait(&self) -> Option<Wait>;
}

impl<C: Processor> Observed for Hardware<C> {
    fn instructions(&self) -> u64 {
        self.instructions()
    }

    fn counters(&self) -> Counters {
        self.counters()
    }

    fn unit_cycles(&self) -> u64 {
        self.unit_cycles()
    }

    fn wait(&self) -> Option<Wait> {
        self.wait()
    }
}
